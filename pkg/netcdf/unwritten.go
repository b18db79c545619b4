package netcdf

import (
	"bytes"
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Unwritten implements [ndfile.Unwritten]: elements that have NetCDF's default value
// and are shown as data. All of the array is read, if it can have some.
func (f *file) Unwritten(ctx context.Context, name string) (n int64, err error) {
	a := f.arrays[name]
	if a == nil || !a.filled || f.defaultFill || a.refused != nil {
		return 0, nil
	}
	fill := new(fills).withDefault(a.spec.DType)
	var data, mask []byte
	for box := range ndfile.RowBlocks(a.spec.Shape, a.spec.DType.Size, maxBlock) {
		k, err := ndarray.Count(box.Count)
		if err != nil {
			return 0, a.located(err)
		}
		size := int64(a.spec.DType.Size)
		data, mask = sized(data, k*size), sized(mask, k)
		if err := a.get(ctx, box.Start, box.Count, data); err != nil {
			return 0, a.located(err)
		}
		if fill.mark(a.spec.DType, data, mask) >= 0 {
			n += int64(bytes.Count(mask, []byte{1}))
		}
	}
	return n, nil
}
