package ndfile

// Locked tells whether a file open for changes keeps other writers out, or in a
// shared one those of the same chunk. It is false where the file system has no
// locks, and for other files.
func Locked(f File) bool {
	l, ok := f.(Locker)
	return ok && l.Locked()
}

// Shared tells whether a file is open for changes with OpenOptions.Shared.
func Shared(f File) bool {
	l, ok := f.(Locker)
	return ok && l.Shared()
}
