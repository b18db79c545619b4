package flat

import (
	"context"
	"io"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/store"
)

// Copying out of the page cache is work for a processor: of much, several do it.

const (
	// minShared is the least number of bytes that several threads read.
	minShared = 16 << 20
	// sharedPiece is what each of them reads at a time.
	sharedPiece = 4 << 20
)

// readShared fills p by several threads, and has each piece changed by then, where it is
// not nil. size is that of an element, which is not cut.
func readShared(ctx context.Context, f store.Value, p []byte, off int64, size int, then func([]byte)) error {
	piece := max(sharedPiece/size, 1) * size
	var mu sync.Mutex
	var first error
	at := int64(-1)
	err := ndfile.Parallel{}.Each(ctx, int64((len(p)+piece-1)/piece), func(ctx context.Context, _ int, i int64) {
		part := p[int(i)*piece : min((int(i)+1)*piece, len(p))]
		err := readOnce(ctx, f, part, off+i*int64(piece))
		if err == nil {
			if then != nil {
				then(part)
			}
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if at < 0 || i < at {
			at, first = i, err
		}
	})
	if first != nil {
		return first
	}
	return err
}

// isShared reports whether n bytes of a file are read by several threads.
func isShared(f store.Value, n int) bool {
	if n < minShared || ndfile.Threads() < 2 {
		return false
	}
	_, ok := f.(vfs.File) // others have requests that several threads would make more of
	return ok
}

// readOnce reads by the calling thread.
func readOnce(ctx context.Context, f store.Value, p []byte, off int64) error {
	n, err := store.ReadFull(ctx, f, p, off)
	if err == io.ErrUnexpectedEOF {
		return tooShort(int64(len(p)), off, off+int64(n))
	}
	return err
}
