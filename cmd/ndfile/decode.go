package main

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// addDecode adds the flag for values that are not as attributes say.
func addDecode(cmd *cobra.Command) {
	cmd.Flags().Bool("raw", false, "values as they are stored")
}

func decodes(cmd *cobra.Command) bool { return !flag(cmd, "raw") }

// decoded is an array as its attributes say: with a mask for elements that stand for
// missing ones, as float64 where there is a scale or an offset, as datetimes where the
// units are of a time since a day.
type decoded struct {
	ndfile.Array
	spec               ndfile.Spec
	how                decoding
	seconds, epoch     float64 // of a time: in one of its units, and since 1970
	parts              float64 // of the datetimes, in a second
	numbers, datetimes bool
}

// decode gives the array itself where there is nothing to decode.
func decode(a ndfile.Array) ndfile.Array {
	s := a.Spec()
	if d, err := plotDType(s.DType); s.NoData || err != nil || d.Kind == ndarray.Complex || d.Kind == ndarray.Datetime || d.Kind == ndarray.Timedelta {
		return a
	}
	d := &decoded{Array: a, spec: s, how: decodingOf(a.Attrs(), false)}
	d.seconds, d.epoch, d.datetimes = timeUnit(d.how.units, d.how.calendar)
	d.numbers = d.how.scale != 1 || d.how.offset != 0
	gaps := len(d.how.missing) > 0 || !math.IsInf(d.how.least, -1) || !math.IsInf(d.how.most, 1)
	switch {
	case d.datetimes:
		unit := "s"
		if d.parts = 1; d.seconds < 1 || d.seconds == 1 && s.DType.Kind == ndarray.Float {
			unit, d.parts = "us", 1e6
		}
		d.spec.DType = ndarray.MustParse("M8[" + unit + "]")
	case d.numbers:
		d.spec.DType = ndarray.MustParse("f8")
	case !gaps:
		return a
	}
	d.spec.Masked = s.Masked || gaps || d.datetimes
	return d
}

func (d *decoded) Spec() ndfile.Spec { return d.spec }

// ReadBox implements ndfile.Array.
func (d *decoded) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	return d.ReadMasked(ctx, box, dst, make([]byte, n))
}

// ReadMasked implements ndfile.Masked.
func (d *decoded) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	stored := d.Array.Spec().DType
	wide, err := plotDType(stored)
	if err != nil {
		return err
	}
	b, err := readBlock(ctx, d.Array, box, wide)
	if err != nil {
		return err
	}
	values := b
	if !d.numbers && !d.datetimes { // elements stay what they are
		if values, err = readBlock(ctx, d.Array, box, stored); err != nil {
			return err
		}
	}
	own, err := ndarray.NewBuffer(d.spec.DType.Native(), box.Count)
	if err != nil {
		return err
	}
	for i := range b.n {
		v := number(wide, b.element(i))
		gap := b.missing(i) || math.IsNaN(v) && (d.datetimes || containsNaN(d.how.missing)) || !math.IsNaN(v) && math.IsNaN(d.how.unpack(v))
		if mask[i] = 0; gap {
			mask[i] = 1
			continue
		}
		when := (d.epoch + (v*d.how.scale+d.how.offset)*d.seconds) * d.parts
		if d.datetimes && math.Abs(when) >= 1<<62 { // no datetime is so far
			mask[i] = 1
			continue
		}
		at := own.Data[i*int64(own.DType.Size):][:own.DType.Size]
		switch v = v*d.how.scale + d.how.offset; {
		case d.datetimes:
			binary.NativeEndian.PutUint64(at, uint64(int64(math.Round(when))))
		case d.numbers:
			binary.NativeEndian.PutUint64(at, math.Float64bits(v))
		default:
			copy(at, values.element(i))
		}
	}
	return ndarray.Copy(dst, own)
}

// WriteMasked implements ndfile.Masked.
func (d *decoded) WriteMasked(context.Context, ndarray.Box, ndarray.Buffer, []byte) error {
	return ndfile.NewError(ndfile.ErrReadOnly, "decoded values are not written")
}

// unitsOf names what decoded values are counted in, "" for times.
func unitsOf(a ndfile.Array) string {
	d := decodingOf(a.Attrs(), false)
	if _, _, isTime := timeUnit(d.units, d.calendar); isTime {
		return ""
	}
	return d.units
}

func containsNaN(list []float64) bool {
	for _, v := range list {
		if math.IsNaN(v) {
			return true
		}
	}
	return false
}
