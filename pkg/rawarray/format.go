package rawarray

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the RawArray format. Beside the methods of [ndfile.Format] it has
// those of [ndfile.OneShot].
var Format ndfile.Format = format{}

type format struct{}

// Name is "rawarray".
func (format) Name() string { return "rawarray" }

// Extensions has ".ra".
func (format) Extensions() []string { return extensions }

var extensions = []string{".ra"}

// Caps: a file is written once, and has neither attributes nor names of axes.
func (format) Caps() ndfile.Caps {
	return ndfile.CapCreate | ndfile.CapWriteOnce | ndfile.CapOneShot | ndfile.CapMap | ndfile.CapTrailing
}

// Detect looks for the magic word.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if err := ctx.Err(); err != nil {
		return ndfile.NoMatch, err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n, rest, err := fsys.ReadSmall(path, s.buf[:8])
	if rest != nil {
		rest.Close()
	}
	switch {
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return ndfile.NoMatch, nil
	case err != nil:
		return ndfile.NoMatch, err
	case n < 8 || binary.LittleEndian.Uint64(s.buf[:]) != magic:
		return ndfile.NoMatch, nil
	}
	return ndfile.Certain, nil
}

// scratch is what one call needs beside the caller's memory.
type scratch struct {
	head  header
	parts [3][]byte
	buf   [64 << 10]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
