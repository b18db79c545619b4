package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fillSame fills values that Arrow has as NumPy has them.
func fillSame(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	if err := values.Begin(n, 2, 0); err != nil {
		return err
	}
	dst, err := values.Buffer(1, n*int64(c.dtype.Size))
	if err != nil {
		return err
	}
	return c.elements(ctx, dst, at, rows)
}

// fillBools packs bytes to bits.
func fillBools(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	raw, err := c.scratched(ctx, at, rows, n)
	if err != nil {
		return err
	}
	if err := values.Begin(n, 2, 0); err != nil {
		return err
	}
	bits, err := values.Buffer(1, (n+7)/8)
	if err != nil {
		return err
	}
	clear(bits)
	for i, b := range raw {
		if b != 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return nil
}

// fillBytes fills binary values without the NULs at their ends.
func fillBytes(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	size := c.dtype.Size
	return fillVariable(ctx, c, values, at, rows, n, func(dst, ends, src []byte) (int, error) {
		end := 0
		for i := range int(n) {
			end += copy(dst[end:], bytes.TrimRight(src[i*size:(i+1)*size], "\x00"))
			binary.NativeEndian.PutUint32(ends[4*i:], uint32(end))
		}
		return 0, nil
	})
}

// fillTexts fills texts, which are UCS4, as UTF-8 without the NULs at their ends.
func fillTexts(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	return fillVariable(ctx, c, values, at, rows, n, func(dst, ends, src []byte) (int, error) {
		i, bad := ndarray.NarrowTexts(dst, ends, src, c.dtype.Size)
		if i < 0 {
			return 0, nil
		}
		return i, ndfile.NewError(ndfile.ErrValue, "the character U+"+strconv.FormatUint(uint64(bad), 16)+" is none in UTF-8")
	})
}

// fillVariable fills values that have a length of their own. put stores elements at dst, which has as many bytes as src,
// and their ends, or gives the number of one that cannot be stored.
func fillVariable(ctx context.Context, c *column, values Memory, at, rows, n int64, put func(dst, ends, src []byte) (int, error)) error {
	raw, err := c.scratched(ctx, at, rows, n)
	if err != nil {
		return err
	}
	if err := values.Begin(n, 3, 0); err != nil {
		return err
	}
	offsets, err := values.Buffer(1, 4*(n+1))
	if err != nil {
		return err
	}
	dst, err := values.Buffer(2, int64(len(raw)))
	if err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(offsets, 0)
	if i, err := put(dst, offsets[4:], raw); err != nil {
		return rowError(err, at, rows, n, int64(i))
	}
	return nil
}

// rowError tells the row of value i of n.
func rowError(err error, at, rows, n, i int64) error {
	return ndfile.NewError(ndfile.KindOf(err), "row "+strconv.FormatInt(at+i/(n/rows), 10)).Because(err)
}

// fillTimes fills times of 64 bits.
func fillTimes(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	if err := values.Begin(n, 2, 0); err != nil {
		return err
	}
	dst, err := values.Buffer(1, 8*n)
	if err != nil {
		return err
	}
	if err := c.elements(ctx, dst, at, rows); err != nil {
		return err
	}
	return c.scale(values, dst, at, rows, n, func(i, t int64) bool {
		binary.NativeEndian.PutUint64(dst[8*i:], uint64(t))
		return true
	})
}

// fillDates fills days, which have 32 bits.
func fillDates(ctx context.Context, c *column, values Memory, at, rows, n int64) error {
	raw, err := c.scratched(ctx, at, rows, n)
	if err != nil {
		return err
	}
	if err := values.Begin(n, 2, 0); err != nil {
		return err
	}
	dst, err := values.Buffer(1, 4*n)
	if err != nil {
		return err
	}
	return c.scale(values, raw, at, rows, n, func(i, t int64) bool {
		binary.NativeEndian.PutUint32(dst[4*i:], uint32(t))
		return t == int64(int32(t))
	})
}

// scale multiplies n times of 64 bits by the factor of the type and hands them to put, which tells whether they fit. NaT
// is 0 and null.
func (c *column) scale(values Memory, raw []byte, at, rows, n int64, put func(i, t int64) bool) error {
	const nat = math.MinInt64
	var valid []byte // a bit for each; nil: no nulls
	nulls := int64(0)
	for i := range n {
		t := int64(binary.NativeEndian.Uint64(raw[8*i:]))
		if t == nat {
			if valid == nil {
				var err error
				if valid, err = values.Buffer(0, (n+7)/8); err != nil {
					return err
				}
				for k := range valid {
					valid[k] = 0xff
				}
			}
			valid[i/8] &^= 1 << (i % 8)
			nulls++
			put(i, 0)
			continue
		}
		if scaled := t * c.factor; scaled/c.factor != t || scaled == nat || !put(i, scaled) {
			err := ndfile.NewError(ndfile.ErrValue, "the time "+strconv.FormatInt(t, 10)+" of "+c.dtype.String()+" does not fit into Arrow's "+c.format)
			return rowError(err, at, rows, n, i)
		}
	}
	if nulls > 0 {
		values.SetNulls(nulls)
	}
	return nil
}
