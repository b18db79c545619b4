// Package edit is what files of all formats share when they are changed: the mode
// and the end of a file, the lock that keeps other writers out, the check that
// nobody who takes no locks was at work, attributes that are written if they were
// changed, and errors with the path of the caller in place of a temporary one.
package edit
