package main

// #include "native.h"
import "C"

import "github.com/ndfile/ndfile/pkg/ndfile"

// Lock files are told to the C side, which closes them in a child of a fork.
var _ = watchLocks()

func watchLocks() (done struct{}) {
	ndfile.WatchLocks(ndfile.LockWatch{
		Forks: func() int64 { return int64(C.ndfile_forks()) },
		Open: func(fd int, open bool) {
			flag := C.int32_t(0)
			if open {
				flag = 1
			}
			C.ndfile_lock_file(C.int32_t(fd), flag)
		},
	})
	return done
}
