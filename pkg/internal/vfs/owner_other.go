//go:build !linux

package vfs

// The system does not tell in a file.

func processTable() (name string, ok bool)    { return "", false }
func beganAt(pid int) (ticks string, ok bool) { return "", false }

// Program names what a process of this machine runs, as far as it is known.
func Program(pid int) string { return "" }
