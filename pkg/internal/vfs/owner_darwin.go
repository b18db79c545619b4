package vfs

// processTable and beganAt: the system does not tell in a file.
func processTable() (name string, ok bool)    { return "", false }
func beganAt(pid int) (ticks string, ok bool) { return "", false }
