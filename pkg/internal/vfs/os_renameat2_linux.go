//go:build riscv64 || loong64

package vfs

import "golang.org/x/sys/unix"

const sysRenameat = unix.SYS_RENAMEAT2 // the older call does not exist here
