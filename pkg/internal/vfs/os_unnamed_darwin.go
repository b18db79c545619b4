package vfs

// writeUnnamed is for Linux only.
func writeUnnamed(dir uintptr, folder, name string, parts [][]byte, opt WriteOptions) bool {
	return false
}
