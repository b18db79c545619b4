package ndarray

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomBuffer is an array of random bytes with random strides: axes in any order,
// backwards, with gaps, and with strides of 0 where repeat allows them.
func randomBuffer(r *rand.Rand, d DType, shape []int64, repeat bool) Buffer {
	b := Buffer{DType: d, Shape: shape}
	if r.IntN(4) > 0 {
		b.Strides = make([]int64, len(shape))
		next := int64(d.Size + r.IntN(2)*r.IntN(5))
		order := r.Perm(len(shape))
		if r.IntN(3) == 0 {
			slices.Sort(order)
			slices.Reverse(order)
		}
		for _, axis := range order {
			b.Strides[axis] = next
			next = next*max(shape[axis], 1) + int64(r.IntN(2)*r.IntN(9))
			switch r.IntN(8) {
			case 0, 1:
				b.Strides[axis] *= -1
			case 2:
				if repeat {
					b.Strides[axis] = 0
				}
			}
			if shape[axis] == 1 && r.IntN(2) == 0 {
				b.Strides[axis] = []int64{0, math.MinInt64, math.MaxInt64}[r.IntN(3)]
			}
		}
	}
	low, high, err := Extent(shape, b.Strides, d.Size)
	if err != nil {
		panic(err)
	}
	b.Offset = r.Int64N(20) - low
	b.Data = make([]byte, b.Offset+high+r.Int64N(20))
	for i := range b.Data {
		b.Data[i] = byte(r.Uint32())
	}
	return b
}

// place is where in Data the element at an index is, by the definition of strides.
func place(b Buffer, index []int64) int64 {
	strides := b.Strides
	if strides == nil {
		strides, _ = AppendStrides(nil, b.Shape, b.DType.Size)
	}
	o := b.Offset
	for axis, i := range index {
		if i > 0 {
			o += i * strides[axis]
		}
	}
	return o
}

func at(b Buffer, index []int64) []byte {
	o := place(b, index)
	return b.Data[o : o+int64(b.DType.Size)]
}

// each calls fn for every index of a shape in row-major order.
func each(shape []int64, fn func(index []int64)) {
	n, _ := Count(shape)
	for flat := range n {
		index, rest := make([]int64, len(shape)), flat
		for axis := len(shape) - 1; axis >= 0; axis-- {
			index[axis], rest = rest%shape[axis], rest/shape[axis]
		}
		fn(index)
	}
}

// checkCopy copies and looks at each element, and at all that is no element.
func checkCopy(t *testing.T, dst, src Buffer) {
	t.Helper()
	before, beforeSrc := slices.Clone(dst.Data), slices.Clone(src.Data)
	if err := Copy(dst, src); err != nil {
		t.Fatalf("%s %v %v from %s %v: %v", dst.DType, dst.Shape, dst.Strides, src.DType, src.Strides, err)
	}
	if !slices.Equal(beforeSrc, src.Data) {
		t.Fatal("the source was changed")
	}
	was := dst
	was.Data = before
	each(dst.Shape, func(index []int64) {
		to, from := at(dst, index), at(src, index)
		same := sameValue(src.DType, from, dst.DType, to)
		if src.DType.Equal(dst.DType) {
			same = slices.Equal(to, from)
		}
		if !same {
			t.Fatalf("%s %v %v from %s %v at %v: %x from %x", dst.DType, dst.Shape, dst.Strides, src.DType, src.Strides, index, to, from)
		}
		copy(at(was, index), to)
	})
	if !slices.Equal(was.Data, dst.Data) {
		t.Fatalf("%s %v %v from %s %v: bytes between the elements were changed", dst.DType, dst.Shape, dst.Strides, src.DType, src.Strides)
	}
}

// copyTypes are the types of the random tests.
func copyTypes() (types []DType) {
	for name := range widerThan {
		if d := MustParse(name); !d.IsVar() {
			types = append(types, d.WithOrder(Little), d.WithOrder(Big))
		}
	}
	for _, name := range []string{"S0", "V1", "V16", `[["a","|u1"],["b",">f4",[2,3]],["n",[["x","<i2"],["y","<U2"],["z","<c8"]],2],["e","<f8",[0]]]`} {
		types = append(types, MustParse(name), MustParse(name).WithOrder(Big))
	}
	slices.SortFunc(types, func(a, b DType) int { return strings.Compare(a.String(), b.String()) })
	return types
}

func TestCopyModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	types := copyTypes()
	for _, from := range types {
		for _, to := range types {
			if !CanConvert(from, to) {
				d, s := Buffer{DType: to, Data: make([]byte, to.Size)}, Buffer{DType: from, Data: make([]byte, from.Size)}
				if err := Copy(d, s); !errors.Is(err, ErrDType) {
					t.Fatalf("%s from %s: %v", to, from, err)
				}
				continue
			}
			for range 4 {
				shape := randomShape(r)
				checkCopy(t, randomBuffer(r, to, shape, false), randomBuffer(r, from, shape, true))
			}
		}
	}
}

// Layouts whose axes are longer than a tile, in every order of the axes.
func TestCopyTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, names := range [][2]string{{"<f4", "<f4"}, {">f8", "<f8"}, {"<f8", "<i4"}, {"|u1", "|u1"}, {"<u2", ">u2"}} {
		for _, shape := range [][]int64{{70, 65}, {3, 1100}, {1100, 3}, {33, 2, 40}, {5, 40, 34}} {
			for range 6 {
				checkCopy(t, randomBuffer(r, MustParse(names[0]), shape, false), randomBuffer(r, MustParse(names[1]), shape, true))
			}
		}
	}
}

// More axes than fit the fixed space, none of which merge.
func TestCopyManyAxes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	shape := slices.Repeat([]int64{2}, 11)
	checkCopy(t, randomBuffer(r, MustParse("<i4"), shape, false), randomBuffer(r, MustParse(">i2"), shape, true))
	shape = append(slices.Repeat([]int64{1}, 60), 2, 1, 3, 1)
	checkCopy(t, randomBuffer(r, MustParse("<i4"), shape, false), randomBuffer(r, MustParse("<i4"), shape, true))
}

func TestSubModel(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 5000 {
		shape := randomShape(r)
		b := randomBuffer(r, MustParse([]string{"<u2", "|S3", "|S0"}[r.IntN(3)]), shape, true)
		box := randomBox(r, shape)
		v, err := b.Sub(box)
		if err != nil || v.Check() != nil || !slices.Equal(v.Shape, box.Count) {
			t.Fatalf("%v of %v %v: %v, %v", box, shape, b.Strides, v.Shape, err)
		}
		contiguous := true
		var all []byte
		each(v.Shape, func(index []int64) {
			whole := slices.Clone(index)
			for axis := range whole {
				whole[axis] = box.Start[axis] + index[axis]*box.step(axis)
			}
			o := place(v, index)
			if o != place(b, whole) {
				t.Fatalf("%v of %v %v: another element at %v", box, shape, b.Strides, index)
			}
			contiguous = contiguous && o == v.Offset+int64(len(all))
			all = append(all, at(v, index)...)
		})
		if contiguous != v.IsContiguous() {
			t.Fatalf("%v of %v %v: IsContiguous is %v", box, shape, b.Strides, v.IsContiguous())
		}
		if bytes := v.Bytes(); v.IsContiguous() && !slices.Equal(bytes, all) || !v.IsContiguous() && bytes != nil {
			t.Fatalf("%v of %v %v: Bytes gives %x, want %x", box, shape, b.Strides, bytes, all)
		}
	}
}

func TestBufferErrors(t *testing.T) {
	i4 := MustParse("<i4")
	data := make([]byte, 24)
	for _, c := range []struct {
		b   Buffer
		err error
	}{
		{Buffer{DType: i4, Shape: []int64{2, 3}, Data: data}, nil},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Data: data, Offset: 1}, ErrBounds},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Data: data[:23]}, ErrBounds},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Strides: []int64{12, -4}, Data: data, Offset: 8}, nil},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Strides: []int64{12, -4}, Data: data, Offset: 7}, ErrBounds},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Strides: []int64{-12, 4}, Data: data, Offset: 12}, nil},
		{Buffer{DType: i4, Shape: []int64{2, 3}, Strides: []int64{12}, Data: data}, ErrShape},
		{Buffer{DType: i4, Shape: []int64{0}, Data: nil}, nil},
		{Buffer{DType: i4, Shape: []int64{0}, Data: data, Offset: 25}, ErrBounds},
		{Buffer{DType: i4, Data: data, Offset: -1}, ErrBounds},
		{Buffer{DType: i4, Data: data, Offset: math.MaxInt64}, ErrBounds},
		{Buffer{DType: i4, Data: data, Offset: math.MinInt64}, ErrBounds},
		{Buffer{DType: i4, Shape: []int64{math.MaxInt64}, Strides: []int64{0}, Data: data}, ErrOverflow},
		{Buffer{DType: i4, Shape: []int64{1 << 60}, Strides: []int64{0}, Data: data}, nil},
		{Buffer{DType: i4, Shape: []int64{-1}, Data: data}, ErrShape},
		{Buffer{DType: i4, Shape: []int64{2}, Strides: []int64{math.MinInt64}, Data: data}, ErrOverflow},
		{Buffer{DType: MustParse("str"), Shape: []int64{1}, Data: data}, ErrDType},
	} {
		if err := c.b.Check(); !errors.Is(err, c.err) {
			t.Errorf("%+v: %v, want %v", c.b, err, c.err)
		}
		if _, err := c.b.Sub(Full(c.b.Shape)); !errors.Is(err, c.err) {
			t.Errorf("%+v: Sub: %v, want %v", c.b, err, c.err)
		}
		good := Buffer{DType: i4, Shape: c.b.Shape, Data: data}
		if c.err != nil && !errors.Is(Copy(c.b, good), c.err) {
			t.Errorf("%+v: Copy to it: %v, want %v", c.b, Copy(c.b, good), c.err)
		}
		if c.err != nil && c.b.Bytes() != nil {
			t.Errorf("%+v: Bytes without check", c.b)
		}
	}
	a, b := Buffer{DType: i4, Shape: []int64{2, 3}, Data: data}, Buffer{DType: i4, Shape: []int64{3, 2}, Data: data}
	if err := Copy(a, b); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "expected [2, 3], found [3, 2]") {
		t.Errorf("other shape: %v", err)
	}
	a.Strides = []int64{0, 4}
	if err := Copy(a, Buffer{DType: i4, Shape: a.Shape, Data: data}); !errors.Is(err, ErrShape) {
		t.Errorf("destination with stride 0: %v", err)
	}
	if _, err := a.Sub(Box{[]int64{0, 0}, []int64{2, 4}, nil}); !errors.Is(err, ErrBounds) {
		t.Errorf("Sub beyond the shape: %v", err)
	}
	// No values of no size: the counts are beyond any loop, and there is nothing to do.
	none := Buffer{DType: MustParse("S0"), Shape: []int64{math.MaxInt64}}
	if err := Copy(none, none); err != nil {
		t.Error(err)
	}
	if err := CopyRun(nil, 0, none.DType, nil, 0, none.DType, math.MaxInt64); err != nil {
		t.Error(err)
	}
}

func TestCopyRun(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	types := copyTypes()
	for range 20000 {
		from := types[r.IntN(len(types))]
		to := types[r.IntN(len(types))]
		if !CanConvert(from, to) {
			continue
		}
		n := r.Int64N(70)
		shape := []int64{n}
		dst, src := randomBuffer(r, to, shape, false), randomBuffer(r, from, shape, true)
		want := dst
		want.Data = slices.Clone(dst.Data)
		if err := Copy(want, src); err != nil {
			t.Fatal(err)
		}
		run := func(b Buffer) ([]byte, int64) {
			if b.Strides == nil {
				return b.Data[b.Offset:], int64(b.DType.Size)
			}
			if n > 1 && b.Strides[0] < 0 {
				return b.Data[:b.Offset+int64(b.DType.Size)], b.Strides[0]
			}
			return b.Data[b.Offset:], b.Strides[0]
		}
		d, ds := run(dst)
		s, ss := run(src)
		if err := CopyRun(d, ds, to, s, ss, from, n); err != nil || !slices.Equal(dst.Data, want.Data) {
			t.Fatalf("%d %s %d apart from %s %d apart: %v", n, to, ds, from, ss, err)
		}
	}
	i4, data := MustParse("<i4"), make([]byte, 16)
	for _, c := range []struct{ ds, ss, n int64 }{
		{4, 4, 5}, {8, 4, 3}, {4, -5, 4}, {4, 4, -1}, {4, 4, math.MinInt64}, {math.MinInt64, 4, 2}, {4, math.MaxInt64, 3}, {1 << 62, 4, 5}, {4, 4, math.MaxInt64},
	} {
		if err := CopyRun(data, c.ds, i4, data, c.ss, i4, c.n); !errors.Is(err, ErrBounds) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := CopyRun(data, 0, i4, data, 4, i4, 2); !errors.Is(err, ErrShape) {
		t.Errorf("destination with stride 0: %v", err)
	}
	if err := CopyRun(data[:3], 4, i4, data, 4, i4, 1); !errors.Is(err, ErrBounds) {
		t.Errorf("short slice: %v", err)
	}
	if err := CopyRun(data, 4, i4, data, 4, MustParse("<i8"), 0); !errors.Is(err, ErrDType) {
		t.Errorf("no conversion, no elements: %v", err)
	}
}

func BenchmarkCopy(b *testing.B) {
	const side = 2048
	shape := []int64{side, side}
	for _, c := range []struct {
		name, to, from string
		turned         bool
	}{
		{"memmove", "<f8", "<f8", false}, {"swap2", ">i2", "<i2", false}, {"swap4", ">f4", "<f4", false}, {"swap8", ">f8", "<f8", false},
		{"transpose4", "<f4", "<f4", true}, {"transpose8", "<f8", "<f8", true}, {"transposeSwap8", ">f8", "<f8", true},
		{"f4f8", "<f8", "<f4", false}, {"i4f8", "<f8", "<i4", false}, {"i2i4", "<i4", "<i2", false}, {"f2f4", "<f4", "<f2", false}, {"f4c8", "<c8", "<f4", false},
	} {
		b.Run(c.name, func(b *testing.B) {
			src, _ := NewBuffer(MustParse(c.from), shape)
			dst, _ := NewBuffer(MustParse(c.to), shape)
			if c.turned {
				size := int64(src.DType.Size)
				src.Strides = []int64{size, side * size}
			}
			b.SetBytes(int64(len(dst.Data)))
			for b.Loop() {
				if err := Copy(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
