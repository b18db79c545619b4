//go:build cgo

package netcdf

import (
	"context"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/formattest"
)

// The suite wants missing elements of every dtype, and NUL in strings. NetCDF has
// neither for its texts, so that the suite runs over a part of the dtypes at a time.
func TestFormat(t *testing.T) {
	needLibrary(t)
	for name, part := range map[string]restricted{
		"numbers": {Format, []string{"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"}, ndfile.CapStrings | ndfile.CapOneShot},
		"text":    {Format, []string{"|S3"}, ndfile.CapStrings | ndfile.CapMasked | ndfile.CapOneShot},
	} {
		t.Run(name, func(t *testing.T) {
			formattest.Run(t, formattest.Config{
				Format: part,
				DTypes: part.dtypes,
				Quirks: formattest.Quirks{
					Weak:     true, // other HDF5 files look the same
					Guesses:  true,
					OneOrder: true,
					Shapes:   func(shape []int64) bool { return len(shape) < maxAxes },
				},
			})
		})
	}
}

// TestClassicFormat: the same suite over classic files, which need no library.
func TestClassicFormat(t *testing.T) {
	for name, part := range map[string]restricted{
		"numbers": {classicOnly{Format}, []string{"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"}, ndfile.CapStrings | ndfile.CapOneShot},
		"text":    {classicOnly{Format}, []string{"|S3"}, ndfile.CapStrings | ndfile.CapMasked | ndfile.CapOneShot},
	} {
		t.Run(name, func(t *testing.T) {
			formattest.Run(t, formattest.Config{
				Format: part,
				DTypes: part.dtypes,
				Quirks: formattest.Quirks{
					Guesses:  true,
					OneOrder: true,
					Shapes:   classicShape,
				},
			})
		})
	}
}

// classicShape: an axis of length 0 is the unlimited dimension, which is the first.
func classicShape(shape []int64) bool {
	return len(shape) < maxAxes && (len(shape) == 0 || !slices.Contains(shape[1:], 0))
}

// classicOnly is the format whose new files are classic.
type classicOnly struct{ ndfile.Format }

func (c classicOnly) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	opt.Extra = ndfile.NewAttrs()
	opt.Extra.Set(keyModel, ndfile.StringValue(cdf5.String()))
	return c.Format.Create(ctx, fsys, path, opt)
}

// restricted is the format with some dtypes and without some Caps.
type restricted struct {
	ndfile.Format
	dtypes  []string
	without ndfile.Caps
}

func (r restricted) Caps() ndfile.Caps { return r.Format.Caps() &^ r.without }

func (r restricted) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	f, err := r.Format.Create(ctx, fsys, path, opt)
	if err != nil {
		return nil, err
	}
	return restrictedFile{f, r}, nil
}

type restrictedFile struct {
	ndfile.File
	r restricted
}

func (f restrictedFile) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if spec.DType.Check() == nil && !slices.Contains(f.r.dtypes, spec.DType.WithOrder(ndarray.Little).String()) {
		return nil, ndfile.NewError(ndfile.ErrDType, "not in this part").In(name)
	}
	if spec.Masked && f.r.Caps()&ndfile.CapMasked == 0 {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "not in this part").In(name)
	}
	return f.File.Add(ctx, name, spec)
}
