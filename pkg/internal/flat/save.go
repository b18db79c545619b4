package flat

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Save implements [ndfile.OneShot]. Contiguous data is written from the caller's
// memory as it is; other data is packed first when it is small.
func (f *Format) Save(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(items) != 1 {
		return ndfile.NewError(ndfile.ErrArgument, f.Called+" holds one array, found "+decimal(int64(len(items))))
	}
	if err := f.checkFile(&opt); err != nil {
		return err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	h, it := &s.head, &items[0]
	head, err := f.NewHeader(h, s.buf[:0], it.Name, ndfile.Spec{DType: it.Data.DType, Shape: it.Data.Shape, Masked: it.Mask != nil,
		Dims: it.Dims, Attrs: it.Attrs, Extra: it.Extra})
	if err != nil {
		return err
	}
	if err := it.Data.Check(); err != nil {
		return err
	}
	var data []byte
	room := s.buf[min(len(head), len(s.buf)):]
	switch {
	case h.Encoding != nil:
		if data, err = h.encodeItem(head, it.Data); err != nil {
			return err
		}
	case it.Data.DType.Equal(h.DType) && it.Data.IsContiguous():
		data = it.Data.Bytes()
	case h.size <= int64(len(room)):
		data = room[:h.size]
		if err := ndarray.Copy(ndarray.Buffer{DType: h.DType, Shape: h.Shape, Data: data}, it.Data); err != nil {
			return err
		}
	default:
		return ndfile.SaveByFile(ctx, f, fsys, path, items, opt) // in pieces
	}
	s.parts = [3][]byte{head, data, opt.Trailing}
	err = fsys.WriteFile(path, s.parts[:], opt.WriteOptions)
	s.parts = [3][]byte{} // they are the caller's
	return err
}
