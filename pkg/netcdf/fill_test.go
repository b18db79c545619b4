package netcdf

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var numberTypes = []string{"|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f4", "<f8"}

// free is freeValue over packed elements in memory.
func free(d ndarray.DType, data, mask []byte) ([]byte, error) {
	return freeValue(d, func(each func(data, mask []byte)) error {
		each(data, mask)
		return nil
	})
}

// TestFreeValue: what is found is no present element, and libnetcdf's own where
// that is free.
func TestFreeValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range numberTypes {
		d := ndarray.MustParse(name)
		usual := defaultFill(d)
		for _, n := range []int{0, 1, 200, 5000} {
			data, mask := make([]byte, n*d.Size), make([]byte, n)
			for i := range data {
				data[i] = byte(rng.Uint32())
			}
			for i := range mask {
				mask[i] = byte(rng.UintN(2))
			}
			if n > 0 {
				copy(data, usual)
				mask[0] = 0
			}
			p, err := free(d, data, mask)
			if err != nil {
				if d.Size > 1 || n < 256 {
					t.Errorf("%s, %d elements: %v", name, n, err)
				}
				continue
			}
			if n == 0 && !bytes.Equal(p, usual) {
				t.Errorf("%s: got %x, want libnetcdf's %x", name, p, usual)
			}
			var f fills
			f.add(d, p)
			for i, m := range mask {
				if m == 0 && f.has(d, data[i*d.Size:(i+1)*d.Size]) {
					t.Errorf("%s, %d elements: %x is element %d", name, n, p, i)
				}
			}
		}
	}
}

// TestFreeValueNone: 256 bytes leave none, and 255 leave one.
func TestFreeValueNone(t *testing.T) {
	d := ndarray.MustParse("|u1")
	data := make([]byte, 256)
	for i := range data {
		data[i] = byte(i)
	}
	if _, err := free(d, data, make([]byte, 256)); ndfile.KindOf(err) != ndfile.ErrValue {
		t.Errorf("all bytes: %v", err)
	}
	mask := make([]byte, 256)
	mask[77] = 1
	if p, err := free(d, data, mask); err != nil || p[0] != 77 {
		t.Errorf("all bytes but 77: %v, %v", p, err)
	}
}

// TestNumbers: every element becomes a value and comes back.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range numberTypes {
		d := ndarray.MustParse(name)
		for range 2000 {
			p := putBits(make([]byte, d.Size), rng.Uint64()>>rng.UintN(64))
			q, ok := element(d, number(d, p))
			if !ok || !bytes.Equal(p, q) && !(d.Kind == ndarray.Float && isNaN(d, p)) {
				t.Errorf("%s: %x becomes %v and %x", name, p, number(d, p).Text(), q)
			}
		}
	}
	for _, bad := range []struct {
		dtype string
		v     ndfile.Value
	}{
		{"|i1", ndfile.IntValue(128)}, {"|u1", ndfile.IntValue(-1)}, {"<u8", ndfile.IntValue(-1)}, {"<i4", ndfile.FloatValue(0.5)},
		{"<i4", ndfile.FloatValue(math.NaN())}, {"<f4", ndfile.FloatValue(0.1)}, {"<f4", ndfile.IntValue(1<<24 + 1)},
		{"<f8", ndfile.IntValue(1<<53 + 1)}, {"<i2", ndfile.StringValue("1")},
	} {
		if p, ok := element(ndarray.MustParse(bad.dtype), bad.v); ok {
			t.Errorf("%s of %s becomes %x", bad.dtype, ndfile.AppendJSONValue(nil, bad.v), p)
		}
	}
}
