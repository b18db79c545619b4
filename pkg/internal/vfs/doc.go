// Package vfs is the file system under ndfile: small interfaces for what array
// formats do with files and folders, and three implementations of them.
//
//   - OS is the real one. It calls the kernel directly: os.File would try epoll
//     on every regular file, which doubles the cost of reading a small one.
//   - Mem lives in memory, gives the errors of Linux, and can tell what would
//     survive a power failure: at least (Mem.CrashClone), or by chance (Mem.Cut).
//   - Fault wraps another file system and makes chosen calls fail.
//
// Replace and FS.WriteFile write a file so that it appears whole or not at all,
// Folder does that for a folder, RemoveTree removes one. NoFollow refuses
// symlinks.
//
// All paths are used as they are, without cleaning. They may be Go strings over
// memory that dies after the call: nothing retains them, errors and open files
// hold copies.
package vfs
