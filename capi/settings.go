package main

// #include "native.h"
import "C"

import "sync/atomic"

// epoch counts the forks between this process and the one that loaded the library.
func epoch() uint8 { return uint8(C.ndfile_shared.epoch) }

func stackMisses() int64 { return atomic.LoadInt64((*int64)(&C.ndfile_stack_misses)) }
