package zarr

import (
	"context"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// textArray is an array whose elements have variable length. Beside what array has
// it implements [ndfile.Strings].
type textArray struct{ *array }

// notFixed refuses memory of elements of a fixed size.
func (a textArray) notFixed() error {
	leave, err := a.enter(false)
	if err != nil {
		return err
	}
	defer leave()
	return a.located(ndfile.NewError(ndfile.ErrDType, "elements of variable length ("+a.file.meta.dtype.String()+") are read and written as texts"))
}

func (a textArray) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error { return a.notFixed() }

func (a textArray) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error { return a.notFixed() }

// Append implements [ndfile.Resizer]: resize the array and write the texts.
func (a textArray) Append(context.Context, int, ndarray.Buffer) error { return a.notFixed() }

// ReadStrings implements [ndfile.Strings].
func (a textArray) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (need int64, err error) {
	leave, err := a.enter(false)
	if err != nil {
		return 0, err
	}
	defer leave()
	need, err = a.chunks.ReadTexts(ctx, box, offsets, data, mask)
	return need, a.located(err)
}

// WriteStrings implements [ndfile.Strings]. Elements cannot be missing.
func (a textArray) WriteStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) error {
	leave, err := a.enter(true)
	if err != nil {
		return err
	}
	defer leave()
	for _, missing := range mask {
		if missing != 0 {
			return a.located(ndfile.NewError(ndfile.ErrNotSupported, a.file.version.format+" has no missing elements"))
		}
	}
	return a.located(a.chunks.WriteTexts(ctx, box, offsets, data))
}
