package rawarray

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Save implements [ndfile.OneShot]. Contiguous data is written from the caller's
// memory as it is; other data is packed first when it is small.
func (f format) Save(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(items) != 1 {
		return ndfile.NewError(ndfile.ErrArgument, "a RawArray file holds one array, found "+decimal(len(items)))
	}
	it := &items[0]
	if err := checkFile(&opt); err != nil {
		return err
	}
	if err := checkArray(it.Name, it.Mask != nil, it.Dims, it.Attrs); err != nil {
		return err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	h := &s.head
	if err := h.fill(it.Data.DType, it.Data.Shape, it.Extra); err != nil {
		return err
	}
	if err := it.Data.Check(); err != nil {
		return err
	}
	head := h.append(s.buf[:0])
	var data []byte
	room := s.buf[len(head):]
	switch {
	case it.Data.DType.Equal(h.dtype) && it.Data.IsContiguous():
		data = it.Data.Bytes()
	case h.size <= int64(len(room)):
		data = room[:h.size]
		packed := ndarray.Buffer{DType: h.dtype, Shape: h.shape(), Data: data}
		if err := ndarray.Copy(packed, it.Data); err != nil {
			return err
		}
	default:
		return ndfile.SaveByFile(ctx, f, fsys, path, items, opt) // in pieces
	}
	s.parts = [3][]byte{head, data, opt.Trailing}
	err := fsys.WriteFile(path, s.parts[:], opt.WriteOptions)
	s.parts = [3][]byte{} // they are the caller's
	return err
}
