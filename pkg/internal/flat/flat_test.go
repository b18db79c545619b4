package flat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// block is an array in a file, with bytes before and after it.
func block(t testing.TB, d ndarray.DType, shape []int64, r *rand.Rand) (Block, ndarray.Buffer, *vfs.Fault) {
	t.Helper()
	b, err := ndarray.NewBuffer(d, shape)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Data {
		b.Data[i] = byte(r.Uint32())
	}
	fault := vfs.NewFault(vfs.NewMem())
	f, err := fault.Create("x", true)
	if err != nil {
		t.Fatal(err)
	}
	const before = 13
	if _, err := f.WriteAt(append(append(make([]byte, before), b.Data...), 1, 2, 3), 0); err != nil {
		t.Fatal(err)
	}
	return Block{File: f, Offset: before, DType: d, Shape: shape}, b, fault
}

// randomBox selects something of a shape.
func randomBox(r *rand.Rand, shape []int64) ndarray.Box {
	box := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape)), Step: make([]int64, len(shape))}
	for axis, extent := range shape {
		box.Step[axis] = 1 + r.Int64N(3)*r.Int64N(2)
		if extent > 0 {
			box.Start[axis] = r.Int64N(extent)
			box.Count[axis] = 1 + r.Int64N((extent-1-box.Start[axis])/box.Step[axis]+1)
			if r.IntN(2) == 0 {
				box.Start[axis], box.Count[axis], box.Step[axis] = 0, extent, 1
			}
		}
	}
	return box
}

// strided gives memory for a shape in random strides: gaps, backwards, any order
// of the axes.
func strided(r *rand.Rand, d ndarray.DType, shape []int64) ndarray.Buffer {
	b := ndarray.Buffer{DType: d, Shape: shape, Strides: make([]int64, len(shape)), Offset: 5}
	stride := int64(d.Size)
	for _, axis := range r.Perm(len(shape)) {
		stride *= 1 + r.Int64N(2)
		b.Strides[axis] = stride
		stride *= max(shape[axis], 1)
		if r.IntN(3) == 0 {
			b.Offset += (max(shape[axis], 1) - 1) * b.Strides[axis]
			b.Strides[axis] = -b.Strides[axis]
		}
	}
	b.Data = make([]byte, b.Offset+stride+8)
	return b
}

// TestBoxes compares random boxes with those of the array in memory, read into
// and written from memory of any layout.
func TestBoxes(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := ndarray.MustParse([]string{"<f8", ">f8", "<i2", ">i4", "|u1", "|S5"}[r.IntN(6)])
		shape := []int64{}
		for range r.IntN(5) {
			shape = append(shape, 1+r.Int64N(9))
		}
		if seed%20 == 0 {
			shape = []int64{300, 4 + r.Int64N(3000)}
		}
		l, b, _ := block(t, d, shape, r)
		if l.Fortran = seed%3 == 1; l.Fortran {
			stride := int64(d.Size)
			b.Strides = make([]int64, len(shape))
			for axis, extent := range shape {
				b.Strides[axis] = stride
				stride *= extent
			}
		}
		for range 10 {
			box := randomBox(r, shape)
			want, err := b.Sub(box)
			if err != nil {
				t.Fatal(err)
			}
			to := d
			if r.IntN(2) == 0 {
				to = d.WithOrder([]ndarray.Order{ndarray.Little, ndarray.Big}[r.IntN(2)])
			}
			dst := strided(r, to, box.Count)
			if r.IntN(2) == 0 {
				dst, _ = ndarray.NewBuffer(to, box.Count)
			}
			if err := l.ReadBox(ctx, box, dst); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("seed %d: %v %v, Fortran %t, box %v into %v %v", seed, d, shape, l.Fortran, box, to, dst.Strides)
			equal(t, what, dst, want)
			src := strided(r, to, box.Count)
			for i := range src.Data {
				src.Data[i] = byte(r.Uint32())
			}
			if err := l.WriteBox(ctx, box, src); err != nil {
				t.Fatal(err)
			}
			if err := ndarray.Copy(want, src); err != nil { // want is a view of b
				t.Fatal(err)
			}
			whole, _ := ndarray.NewBuffer(d, shape)
			if err := l.ReadBox(ctx, ndarray.Full(shape), whole); err != nil {
				t.Fatal(err)
			}
			equal(t, what+": the file after writing", whole, b)
		}
		edges := make([]byte, 16)
		l.File.ReadAt(edges[:13], 0)
		l.File.ReadAt(edges[13:], 13+int64(len(b.Data)))
		if !bytes.Equal(edges, append(make([]byte, 13), 1, 2, 3)) {
			t.Fatalf("seed %d: bytes outside of the array were changed: %x", seed, edges)
		}
	}
}

func equal(t *testing.T, what string, got, want ndarray.Buffer) {
	t.Helper()
	var packed [2]ndarray.Buffer
	for i, b := range []ndarray.Buffer{got, want} {
		packed[i], _ = ndarray.NewBuffer(want.DType, want.Shape)
		if err := ndarray.Copy(packed[i], b); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(packed[0].Data, packed[1].Data) {
		t.Fatalf("%s: %x, want %x", what, packed[0].Data, packed[1].Data)
	}
}

// TestCalls counts system calls: neighbouring runs share one, far ones do not, and
// what goes by way of a buffer goes in pieces.
func TestCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		what  string
		d     string
		shape []int64
		box   ndarray.Box
		want  int64
	}{
		{"all", "<f8", []int64{100, 100}, ndarray.Full([]int64{100, 100}), 1},
		{"a column of a narrow array", "<f8", []int64{1000, 10}, ndarray.Box{Start: []int64{0, 3}, Count: []int64{1000, 1}}, 1},
		{"two columns of a narrow array", "<f8", []int64{100, 10}, ndarray.Box{Start: []int64{0, 3}, Count: []int64{100, 2}}, 1},
		{"two columns of a wide array", "<f8", []int64{10, 10000}, ndarray.Box{Start: []int64{0, 3}, Count: []int64{10, 2}}, 10},
		{"a column of a wide array", "<f8", []int64{10, 10000}, ndarray.Box{Start: []int64{0, 3}, Count: []int64{10, 1}}, 10},
		{"more than a piece", "|u1", []int64{5 << 19}, ndarray.Full([]int64{5 << 19}), 1},
		{"every other byte of more than a piece", "|u1", []int64{5 << 19}, ndarray.Box{Start: []int64{0}, Count: []int64{5 << 18}, Step: []int64{2}}, 10},
		{"nothing", "|u1", []int64{5}, ndarray.Box{Start: []int64{5}, Count: []int64{0}}, 0},
	} {
		l, b, fault := block(t, ndarray.MustParse(c.d), c.shape, r)
		for _, d := range []ndarray.DType{b.DType, b.DType.WithOrder(ndarray.Big)} {
			dst, _ := ndarray.NewBuffer(d, c.box.Count)
			before := fault.Count()
			if err := l.ReadBox(ctx, c.box, dst); err != nil {
				t.Fatal(err)
			}
			if n := fault.Count() - before; n != c.want {
				t.Errorf("%s as %v: %d calls, want %d", c.what, d, n, c.want)
			}
		}
	}
}

// TestErrors is about files that are short, arguments that do not fit, and calls
// that fail.
func TestErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	l, b, fault := block(t, ndarray.MustParse("<i4"), []int64{10, 10}, r)
	full := ndarray.Full(l.Shape)
	kind := func(what string, err error, want *ndfile.ErrorKind) {
		t.Helper()
		if err == nil || ndfile.KindOf(err) != want {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	other := b
	other.Shape = []int64{100}
	kind("another shape", l.ReadBox(ctx, full, other), ndfile.ErrShape)
	kind("another shape, writing", l.WriteBox(ctx, full, other), ndfile.ErrShape)
	narrow, _ := ndarray.NewBuffer(ndarray.MustParse("<i2"), l.Shape)
	kind("a narrower type", l.ReadBox(ctx, full, narrow), ndfile.ErrDType)
	wide, _ := ndarray.NewBuffer(ndarray.MustParse("<i8"), l.Shape)
	kind("a wider type, writing", l.WriteBox(ctx, full, wide), ndfile.ErrDType)
	if err := l.ReadBox(ctx, full, wide); err != nil {
		t.Error(err)
	}
	equal(t, "widened", wide, widened(b))
	if err := l.WriteBox(ctx, full, narrow); err != nil {
		t.Error(err)
	}
	outside := ndarray.Box{Start: []int64{5, 0}, Count: []int64{10, 10}}
	kind("outside", l.ReadBox(ctx, outside, b), ndfile.ErrBounds)
	kind("outside, writing", l.WriteBox(ctx, outside, b), ndfile.ErrBounds)
	fortran := l
	fortran.Fortran, fortran.Shape = true, []int64{20, 5}
	tall, _ := ndarray.NewBuffer(l.DType, fortran.Shape)
	kind("another shape in Fortran order", fortran.ReadBox(ctx, full, tall), ndfile.ErrShape)
	kind("outside in Fortran order", fortran.ReadBox(ctx, full, b), ndfile.ErrBounds)
	kind("outside in Fortran order, writing", fortran.WriteBox(ctx, full, b), ndfile.ErrBounds)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	kind("canceled", l.ReadBox(canceled, full, b), ndfile.ErrCanceled)
	kind("canceled, writing", l.WriteBox(canceled, full, b), ndfile.ErrCanceled)
	broken := errors.New("broken disk")
	fault.FailAt(fault.Count(), broken)
	if err := l.ReadBox(ctx, full, b); !errors.Is(err, broken) {
		t.Errorf("a failing read: %v", err)
	}
	fault.FailAt(fault.Count(), broken)
	if err := l.WriteBox(ctx, full, b); !errors.Is(err, broken) {
		t.Errorf("a failing write: %v", err)
	}
	if err := l.File.Truncate(13 + 399); err != nil {
		t.Fatal(err)
	}
	err := l.ReadBox(ctx, full, b)
	kind("short", err, ndfile.ErrCorrupt)
	if ndfile.Offset(err) != 13 {
		t.Errorf("offset %d in %v", ndfile.Offset(err), err)
	}
	_, _, err = l.Map()
	kind("short, mapped", err, ndfile.ErrCorrupt)
	head := ndarray.Box{Start: []int64{0, 0}, Count: []int64{9, 10}}
	part, _ := ndarray.NewBuffer(l.DType, head.Count)
	if err := l.ReadBox(ctx, head, part); err != nil {
		t.Errorf("rows that are there: %v", err)
	}
	l.Offset = 1<<63 - 100
	kind("beyond all files", l.ReadBox(ctx, full, b), ndfile.ErrCorrupt)
}

func widened(b ndarray.Buffer) ndarray.Buffer {
	w, _ := ndarray.NewBuffer(ndarray.MustParse("<i8"), b.Shape)
	for i := range 100 {
		v := b.Data[4*i : 4*i+4]
		sign := byte(0)
		if v[3] >= 0x80 {
			sign = 0xff
		}
		copy(w.Data[8*i:], slices.Concat(v, []byte{sign, sign, sign, sign}))
	}
	return w
}

// TestMap maps an array, whatever its offset.
func TestMap(t *testing.T) {
	l, b, _ := block(t, ndarray.MustParse("<f8"), []int64{3, 4}, rand.New(rand.NewPCG(1, 1)))
	l.DType.Order = ndarray.NativeOrder
	if _, _, err := l.Map(); err == nil || ndfile.KindOf(err) != ndfile.ErrNotSupported {
		t.Errorf("in memory: %v", err)
	}
	f, err := vfs.OS.Create(filepath.Join(t.TempDir(), "x"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b.Data, l.Offset); err != nil {
		t.Fatal(err)
	}
	l.File = f
	data, unmap, err := l.Map()
	if err != nil || !bytes.Equal(data, b.Data) {
		t.Fatalf("%x, %v", data, err)
	}
	if err := unmap(); err != nil {
		t.Error(err)
	}
	l.DType.Order ^= ndarray.Little ^ ndarray.Big
	if _, _, err := l.Map(); err == nil || ndfile.KindOf(err) != ndfile.ErrNotSupported {
		t.Errorf("the other byte order: %v", err)
	}
	l.DType.Order = ndarray.NativeOrder
	l.Fortran = true
	if _, _, err := l.Map(); err == nil || ndfile.KindOf(err) != ndfile.ErrNotSupported {
		t.Errorf("Fortran order: %v", err)
	}
	l.Shape, l.Fortran = []int64{0, 4}, false
	if data, unmap, err := l.Map(); len(data) != 0 || err != nil || unmap() != nil {
		t.Errorf("without elements: %x, %v", data, err)
	}
}
