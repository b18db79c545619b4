package ndfile

import (
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/store"
)

// FS is the file system that formats work on.
type FS = vfs.FS

// WriteOptions say how a new file becomes visible: atomically (the default: a
// temporary file in the same folder, then a rename) or written in place, with
// or without fsync, over an existing file or not.
type WriteOptions = vfs.WriteOptions

// The ways in which a new file becomes visible.
const (
	CommitAtomic = vfs.CommitAtomic
	CommitDirect = vfs.CommitDirect
)

// OS is the machine's file system, by direct system calls.
var OS = vfs.OS

// Near is OS for one goroutine and many small files, in Load and Save.
type Near = vfs.Near

// LockWatch is told of the descriptors of lock files, which the children of a fork
// inherit and must close.
type LockWatch = vfs.LockWatch

// WatchLocks sets the one that is told. It is called before the first file is opened.
func WatchLocks(w LockWatch) { vfs.Locks = w }

// Mem is a file system in memory, for tests and scratch work.
type Mem = vfs.Mem

// NewMem gives an empty file system in memory.
func NewMem() *Mem { return vfs.NewMem() }

// OfStore is a file system over a store, for everything here that reads: paths are
// keys. What would change something fails.
func OfStore(r store.Reader) FS { return vfs.OfStore(r) }
