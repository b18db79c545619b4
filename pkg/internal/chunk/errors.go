package chunk

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// corrupt is the error of a damaged file.
func corrupt(offset int, format string, args ...any) *ndfile.Error {
	return ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf(format, args...)).At(int64(offset))
}

// located gives err the path of the chunk's file, where it has none.
func located(err error, path string) error {
	var e *ndfile.Error
	if errors.As(err, &e) {
		e.On(path)
	}
	return err
}

// fileError is the error of opening or writing the file of a chunk.
func (a *Array) fileError(err error, path string) error {
	var errno syscall.Errno
	errors.As(err, &errno)
	switch {
	case errno == syscall.ELOOP && !a.FollowSymlinks:
		return ndfile.NewError(ndfile.ErrNotSupported, "a symbolic link in a store; following them has to be asked for").On(path)
	case errno == syscall.EISDIR, errno == syscall.ESPIPE:
		return notAFile(path)
	case errno == syscall.ENOTDIR:
		return ndfile.NewError(ndfile.ErrCorrupt, "expected a folder of chunks, found a file in its place").On(path)
	}
	return err
}

func notAFile(path string) error {
	return ndfile.NewError(ndfile.ErrCorrupt, "something else than a file in the place of a chunk").On(path)
}
