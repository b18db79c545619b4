//go:build !riscv64 && !loong64

package vfs

import "syscall"

const sysRenameat = syscall.SYS_RENAMEAT
