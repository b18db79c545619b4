package npy

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
		return ndfile.NewError(ndfile.ErrArgument, "a .npy file holds one array, found "+decimal(int64(len(items))))
	}
	it := &items[0]
	if err := checkFile(&opt); err != nil {
		return err
	}
	if err := checkArray(it.Name, it.Mask != nil, it.Dims, it.Attrs, it.Extra); err != nil {
		return err
	}
	h, head, err := newHeader(it.Data.DType, it.Data.Shape)
	if err != nil {
		return err
	}
	if err := it.Data.Check(); err != nil {
		return err
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	var data []byte
	switch {
	case it.Data.IsContiguous():
		data = it.Data.Bytes()
	case h.size <= int64(len(s.buf)):
		data = s.buf[:h.size]
		if err := ndarray.Copy(ndarray.Buffer{DType: h.dtype, Shape: h.shape, Data: data}, it.Data); err != nil {
			return err
		}
	default:
		return ndfile.SaveByFile(ctx, f, fsys, path, items, opt) // in pieces
	}
	s.parts = [2][]byte{head, data}
	err = fsys.WriteFile(path, s.parts[:], opt.WriteOptions)
	s.parts = [2][]byte{} // they are the caller's
	return err
}
