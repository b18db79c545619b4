package vfs

import "syscall"

const (
	sysFstatat   = syscall.SYS_NEWFSTATAT
	sysRenameat2 = 316 // package syscall is older than the call
)
