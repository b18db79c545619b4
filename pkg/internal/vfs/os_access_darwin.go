package vfs

// takeAttributes is for Linux only: mode and owner are kept, ACLs and extended
// attributes are not.
func takeAttributes(fd int, like string, all, sameGroup bool) (changed bool, err error) {
	return false, nil
}
