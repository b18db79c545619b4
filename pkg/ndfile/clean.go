package ndfile

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// Rest says what a temporary file or folder is that [Clean] found.
type Rest uint8

const (
	// DeadRest: the process that made it has ended. It is nobody's.
	DeadRest Rest = iota
	// LiveRest: the process that made it is running.
	LiveRest
	// UnknownRest: it was made on another machine, in another container, or before
	// this machine was restarted: whether somebody writes it cannot be seen here.
	UnknownRest
	// OnlyRest: the process has ended, or is unknown, but there is nothing at the
	// path that it was to get, and it can be opened: it may be all that is left.
	OnlyRest
)

var restNames = [...]string{"dead", "alive", "unknown", "only copy"}

// String is the name: "dead", "alive", "unknown" or "only copy".
func (r Rest) String() string { return restNames[r] }

// Leftover is a temporary file or folder.
type Leftover struct {
	Path string
	// Bytes is the size of the file, or of all files in the folder.
	Bytes int64
	// ModTime is when it was changed last, in nanoseconds since 1970 UTC.
	ModTime int64
	Rest    Rest
	// Removed: it was asked for, and done.
	Removed bool
}

// CleanOptions are the options of [Clean].
type CleanOptions struct {
	// FS is the file system; nil is OS.
	FS FS
	// Remove removes what is DeadRest.
	Remove bool
	// Unknown also removes what is UnknownRest. Nobody must be writing there, on no
	// machine.
	Unknown bool
}

// Clean finds the temporary files and folders that writers have left in a folder
// and below it, and calls report for each, in the calling goroutine, after it was
// removed where that was asked for. What lies behind symbolic links is not looked at.
// Files of running processes, and what may be the only copy of something, stay.
func Clean(ctx context.Context, formats []Format, folder string, opt CleanOptions, report func(Leftover)) error {
	if opt.FS == nil {
		opt.FS = OS
	}
	c := cleaning{ctx: ctx, formats: formats, opt: opt, report: report}
	short := strings.TrimRight(folder, "/")
	if short == "" {
		short = folder
	}
	return Locate(c.folder(short), folder, "", false)
}

// cleaning is one call of Clean.
type cleaning struct {
	ctx     context.Context
	formats []Format
	opt     CleanOptions
	report  func(Leftover)
}

func (c *cleaning) folder(dir string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	entries, err := c.opt.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := dir + "/" + e.Name
		switch {
		case vfs.IsTempName(e.Name):
			err = c.rest(path, e)
		case e.Mode == vfs.Dir:
			err = c.folder(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a writer has just ended
			return err
		}
	}
	return nil
}

// rest judges a temporary file or folder.
func (c *cleaning) rest(path string, e vfs.DirEntry) error {
	info, err := c.opt.FS.Lstat(path)
	if err != nil {
		return err
	}
	l := Leftover{Path: path, Bytes: info.Size, ModTime: info.ModTime}
	if e.Mode == vfs.Dir {
		if l.Bytes, err = c.size(path); err != nil {
			return err
		}
	}
	switch vfs.Owner(e.Name) {
	case vfs.Alive:
		l.Rest = LiveRest
	case vfs.Unknown:
		l.Rest = UnknownRest
	}
	if l.Rest != LiveRest && c.onlyCopy(path) {
		l.Rest = OnlyRest
	}
	if c.opt.Remove && (l.Rest == DeadRest || l.Rest == UnknownRest && c.opt.Unknown) {
		if e.Mode == vfs.Dir {
			err = vfs.RemoveTree(c.opt.FS, path, nil)
		} else {
			err = c.opt.FS.Remove(path)
		}
		if err != nil {
			return err
		}
		l.Removed = true
	}
	c.report(l)
	return nil
}

// onlyCopy tells whether there is nothing in the place that a temporary file was to
// get, but the file is whole: where a file system cannot exchange folders, the old one
// has a temporary name for a moment.
func (c *cleaning) onlyCopy(path string) bool {
	if _, err := c.opt.FS.Lstat(vfs.TempTarget(path)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := Open(c.ctx, c.formats, path, OpenOptions{FS: c.opt.FS})
	if err != nil {
		return false
	}
	f.Abort()
	return true
}

// size is the number of bytes in a folder.
func (c *cleaning) size(dir string) (n int64, err error) {
	entries, err := c.opt.FS.ReadDir(dir)
	for i := 0; err == nil && i < len(entries); i++ {
		path := dir + "/" + entries[i].Name
		var more int64
		if entries[i].Mode == vfs.Dir {
			more, err = c.size(path)
		} else {
			var info vfs.Info
			info, err = c.opt.FS.Lstat(path)
			more = info.Size
		}
		n += more
	}
	return n, err
}
