package flat

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Load implements [ndfile.OneShot]: one read for a small file; of a larger one
// what is not in the first read goes straight to the caller's memory.
func (f *Format) Load(ctx context.Context, fsys ndfile.FS, path string, sink *ndfile.Sink) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n, rest, err := fsys.ReadSmall(ctx, path, s.buf[:])
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
	if err := f.ReadHeader(ctx, h, rest, s.buf[:n], size, sink.Limits); err != nil {
		return err
	}
	none := func(dst []byte) []byte { return append(dst, "{}"...) }
	return sink.Each(1, none, func(int) []byte { return nil }, func(int) error {
		li, err := sink.Add(nil, h.DType, h.Shape, ndfile.InfoSingle)
		if err != nil {
			return err
		}
		if sink.Meta {
			sink.AddMeta(li, &ndfile.Spec{DType: h.DType}, func(dst []byte) []byte { return dst }, none)
		}
		if sink.Bare {
			return nil
		}
		li.DataLen = h.size
		var dst []byte
		if li.DataOffset, dst, err = sink.Reserve(h.size); err != nil || dst == nil {
			return err
		}
		return h.load(ctx, dst, s.buf[:n], rest)
	})
}

// load reads all elements into dst, row-major and in the machine's byte order.
// content is the beginning of the file and rest the file, nil when that is all.
func (h *Header) load(ctx context.Context, dst, content []byte, rest vfs.File) error {
	native := h.DType.Native()
	whole := ndarray.Buffer{DType: native, Shape: h.Shape, Data: dst}
	swap := h.DType.IsSwapOf(native)
	if h.Encoding == nil && (h.Fortran || !swap && !h.DType.Equal(native)) {
		if rest != nil {
			l := h.Block
			return l.ReadBox(ctx, ndarray.Full(l.Shape), whole)
		}
		src := ndarray.Buffer{DType: h.DType, Shape: h.Shape, Data: content[h.Offset:]}
		var err error
		if src.Strides, err = h.strides(); err != nil {
			return err
		}
		return ndarray.Copy(whole, src)
	}
	if h.Encoding != nil {
		if _, err := h.decode(ctx, dst, content, rest); err != nil {
			return err
		}
		if swap {
			ndarray.SwapBytes(dst, h.DType)
		}
		return nil
	}
	got := 0
	if h.Offset < int64(len(content)) {
		got = copy(dst, content[h.Offset:])
	}
	if swap && rest != nil { // what was read belongs to no whole element, and is in the cache
		return readSwapped(ctx, rest, dst, h.Offset, h.DType)
	}
	if got < len(dst) {
		if err := ReadFull(ctx, rest, dst[got:], h.Offset+int64(got)); err != nil {
			return err
		}
	}
	if swap {
		ndarray.SwapBytes(dst, h.DType)
	}
	return nil
}
