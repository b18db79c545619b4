package npy

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the .npy format. Beside the methods of [ndfile.Format] it has those
// of [ndfile.OneShot].
var Format ndfile.Format = format{}

type format struct{}

// Name is "npy".
func (format) Name() string { return "npy" }

// Extensions has ".npy".
func (format) Extensions() []string { return extensions }

var extensions = []string{".npy"}

// Caps: a file is written once, and has neither attributes nor names of axes.
func (format) Caps() ndfile.Caps {
	return ndfile.CapCreate | ndfile.CapWriteOnce | ndfile.CapOneShot | ndfile.CapMap
}

// Detect looks for the magic bytes.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	head, err := firstBytes(ctx, fsys, path, s.buf[:len(magic)])
	if err != nil || string(head) != magic {
		return ndfile.NoMatch, err
	}
	return ndfile.Certain, nil
}

// firstBytes reads the beginning of a file, up to len(buf) bytes; nothing of what
// cannot be read in this way, as a folder.
func firstBytes(ctx context.Context, fsys ndfile.FS, path string, buf []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, rest, err := fsys.ReadSmall(path, buf)
	if rest != nil {
		rest.Close()
	}
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ESPIPE) {
		return nil, nil
	}
	return buf[:n], err
}

// scratch is what one call needs beside the caller's memory.
type scratch struct {
	parts [2][]byte
	buf   [64 << 10]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
