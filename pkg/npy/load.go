package npy

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Load implements [ndfile.OneShot]: one read for a small file. Of a larger one
// the data goes straight to the caller's memory.
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
	if rest != nil {
		defer rest.Close()
		f, err := newFile(ctx, rest, sink.Limits)
		if err != nil {
			return err
		}
		return ndfile.LoadFile(ctx, f, sink)
	}
	return loadSmall(s.buf[:n], sink)
}

// loadSmall loads a file of which all bytes are given.
func loadSmall(content []byte, sink *ndfile.Sink) error {
	n, err := headerLength(content, int64(len(content)), sink.Limits)
	if err != nil {
		return err
	}
	h, err := parseHeader(content[:n], int64(len(content)))
	if err != nil {
		return err
	}
	if !sink.Wants(nil) {
		return sink.Finish()
	}
	li, err := sink.Add(nil, h.dtype, h.shape, ndfile.InfoSingle)
	if err != nil {
		return err
	}
	li.DataLen = h.size
	var data []byte
	if li.DataOffset, data, err = sink.Reserve(h.size); err != nil {
		return err
	}
	if data != nil {
		src := ndarray.Buffer{DType: h.dtype, Shape: h.shape, Data: content[n:]}
		if src.Strides, err = h.strides(); err != nil {
			return err
		}
		if err := ndarray.Copy(ndarray.Buffer{DType: h.dtype.Native(), Shape: h.shape, Data: data}, src); err != nil {
			return err
		}
	}
	return sink.Finish()
}
