package rawarray

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Load implements [ndfile.OneShot]: one read for a small file; of a larger one
// what is not in the first read goes straight to the caller's memory.
func (format) Load(ctx context.Context, fsys ndfile.FS, path string, sink *ndfile.Sink) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n, rest, err := fsys.ReadSmall(path, s.buf[:])
	if err != nil {
		return err
	}
	size := int64(n)
	if rest != nil {
		defer rest.Close()
		if size, err = rest.Size(); err != nil {
			return err
		}
	}
	h := &s.head
	if err := h.parse(s.buf[:n], size); err != nil {
		return err
	}
	if !sink.Wants(nil) {
		return sink.Finish()
	}
	li, err := sink.Add(nil, h.dtype, h.shape(), ndfile.InfoSingle)
	if err != nil {
		return err
	}
	li.DataLen = h.size
	var dst []byte
	if li.DataOffset, dst, err = sink.Reserve(h.size); err != nil {
		return err
	}
	if dst != nil {
		at := h.dataOffset()
		got := copy(dst, s.buf[at:n])
		if got < len(dst) {
			if err := flat.ReadFull(ctx, rest, dst[got:], at+int64(got)); err != nil {
				return err
			}
		}
		if h.dtype.Swapped() {
			ndarray.SwapBytes(dst, h.dtype)
		}
	}
	return sink.Finish()
}
