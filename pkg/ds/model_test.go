package ds

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// randomContent makes a variable of any type and shape.
func randomContent(r *rand.Rand, most int64) content {
	names := []string{"<f8", ">f8", "<f4", "|i1", "<i2", ">i2", "<i4", "<i8", "|u1", "<u2", "<u4", ">u8", "|b1", "bytes", "str"}
	return randomOf(r, ndarray.MustParse(names[r.IntN(len(names))]), most)
}

// randomOf makes a variable of one type; its dtype has the order to be stored,
// its data are in that order.
func randomOf(r *rand.Rand, d ndarray.DType, most int64) content {
	c := content{dtype: d, shape: []int64{}}
	for n := most; len(c.shape) < 4 && r.IntN(4) > 0; {
		extent := r.Int64N(min(n, 40) + 1)
		if len(c.shape) == 0 && r.IntN(3) == 0 {
			extent = r.Int64N(n + 1)
		}
		c.shape = append(c.shape, extent)
		n /= max(extent, 1)
	}
	n := c.count()
	if d.IsVar() {
		for range n {
			s := make([]byte, r.IntN(9))
			for i := range s {
				s[i] = byte(r.Uint32())
			}
			if d.Kind == ndarray.VarString {
				s = []byte(string([]rune(string(s)))) // each stray byte becomes U+FFFD
			}
			if r.IntN(2000) == 0 {
				s = bytes.Repeat([]byte("long "), 30000)
			}
			c.strings = append(c.strings, string(s))
		}
	} else {
		c.data = make([]byte, n*int64(d.Size))
		for i := range c.data {
			c.data[i] = byte(r.Uint32())
			if d.Kind == ndarray.Bool {
				c.data[i] &= 1
			}
		}
	}
	if c.masked = r.IntN(2) == 0; c.masked {
		c.mask = make([]byte, n)
		rate := r.Float64()
		for i := range c.mask {
			if r.Float64() < rate {
				c.mask[i] = 1
			}
		}
	}
	return c
}

// stored is the content as reading gives it: native, and plain when nothing is
// missing.
func (c content) stored() content {
	out := content{dtype: c.dtype.Native(), shape: c.shape}
	out.masked = bytes.IndexByte(c.mask, 1) >= 0
	if out.masked {
		out.mask = c.mask
	}
	out.data = bytes.Clone(c.data)
	out.strings = slices.Clone(c.strings)
	if c.dtype.Swapped() {
		ndarray.SwapBytes(out.data, c.dtype)
	}
	for i, m := range out.mask {
		if m == 0 {
			continue
		}
		if c.dtype.IsVar() {
			out.strings[i] = ""
		} else {
			clear(out.data[i*c.dtype.Size : (i+1)*c.dtype.Size])
		}
	}
	return out
}

// at selects a box the slow way.
func (c content) at(box ndarray.Box) content {
	out := content{dtype: c.dtype, shape: box.Count, masked: c.masked}
	if c.masked {
		out.mask = []byte{}
	}
	if !c.dtype.IsVar() {
		out.data = []byte{}
	}
	n, _ := ndarray.Count(box.Count)
	index := make([]int64, len(c.shape))
	for range n {
		flat := int64(0)
		for axis := range index {
			step := int64(1)
			if box.Step != nil {
				step = box.Step[axis]
			}
			flat = flat*c.shape[axis] + box.Start[axis] + index[axis]*step
		}
		if c.masked {
			out.mask = append(out.mask, c.mask[flat])
		}
		if c.dtype.IsVar() {
			out.strings = append(out.strings, c.strings[flat])
		} else {
			size := int64(c.dtype.Size)
			out.data = append(out.data, c.data[flat*size:(flat+1)*size]...)
		}
		for axis := len(index) - 1; axis >= 0; axis-- {
			if index[axis]++; index[axis] < box.Count[axis] {
				break
			}
			index[axis] = 0
		}
	}
	return out
}

// randomBox selects something of a shape.
func randomBox(r *rand.Rand, shape []int64) ndarray.Box {
	box := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape))}
	steps := r.IntN(2) == 0
	for axis, extent := range shape {
		step := int64(1)
		if steps {
			step = 1 + r.Int64N(1+min(extent, 5))
			box.Step = append(box.Step, step)
		}
		if extent == 0 {
			continue
		}
		box.Start[axis] = r.Int64N(extent)
		box.Count[axis] = r.Int64N((extent-1-box.Start[axis])/step+1) + 1
	}
	return box
}

// item makes the content an item, its data strided in a random way.
func (c content) item(r *rand.Rand, name string) ndfile.Item {
	it := ndfile.Item{Name: name, Data: bufferOf(c), Mask: c.mask}
	if c.dtype.IsVar() {
		it.Offsets, it.Data.Data = joined(c.strings)
		return it
	}
	if len(c.shape) > 0 && r.IntN(2) == 0 { // every third row of a larger array, backwards
		wide := ndarray.Buffer{DType: c.dtype, Shape: c.shape, Data: make([]byte, 3*len(c.data)+64)}
		wide.Strides, _ = ndarray.AppendStrides(nil, c.shape, c.dtype.Size)
		wide.Strides[0] *= -3
		wide.Offset = max(c.shape[0]-1, 0) * -wide.Strides[0]
		if err := ndarray.Copy(wide, it.Data); err == nil {
			it.Data = wide
		}
	}
	return it
}

// writeRows writes a file through Create, in blocks of rows, arrays in turn.
func writeRows(t testing.TB, r *rand.Rand, fsys ndfile.FS, path string, all map[string]content) {
	t.Helper()
	f, err := Format.Create(ctx, fsys, path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		name string
		a    ndfile.Array
		row  int64
	}
	var jobs []job
	for name, c := range all {
		a, err := f.Add(ctx, name, ndfile.Spec{DType: c.dtype, Shape: c.shape, Masked: c.masked})
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := f.Add(ctx, name, ndfile.Spec{DType: c.dtype}); ndfile.KindOf(err) != ndfile.ErrNameExists {
			t.Fatalf("added twice: %v", err)
		}
		jobs = append(jobs, job{name, a, 0})
	}
	for len(jobs) > 0 {
		i := r.IntN(len(jobs))
		j := &jobs[i]
		c := all[j.name]
		box := ndarray.Full(c.shape)
		if len(c.shape) > 0 {
			box.Start[0] = j.row
			box.Count[0] = min(c.shape[0]-j.row, r.Int64N(c.shape[0]+1)+r.Int64N(2))
			j.row += box.Count[0]
		}
		if err := writeBox(r, j.a, c, box); err != nil {
			t.Fatal(j.name, err)
		}
		if len(c.shape) == 0 || j.row == c.shape[0] {
			jobs = slices.Delete(jobs, i, i+1)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// writeBox writes a part of a content.
func writeBox(r *rand.Rand, a ndfile.Array, c content, box ndarray.Box) error {
	part := c.at(box)
	it := part.item(r, "")
	switch {
	case c.dtype.IsVar():
		return a.(ndfile.Strings).WriteStrings(ctx, box, it.Offsets, it.Data.Data, it.Mask)
	case c.masked:
		return a.(ndfile.Masked).WriteMasked(ctx, box, it.Data, it.Mask)
	}
	return a.WriteBox(ctx, box, it.Data)
}

// TestModel writes random datasets in both ways, which must give the same bytes,
// and reads them in all ways.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		most := int64(300)
		if seed%10 == 0 {
			most = 40000
		}
		all := map[string]content{}
		for i := range r.IntN(6) {
			all[fmt.Sprint([]string{"v", "", ".", `\`, "ž"}[i%5], i)] = randomContent(r, most)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkModel(t, r, all) })
	}
}

func checkModel(t *testing.T, r *rand.Rand, all map[string]content) {
	fsys := ndfile.NewMem()
	var items []ndfile.Item
	for name, c := range all {
		items = append(items, c.item(r, name))
	}
	if err := save(fsys, "save.ds", items, nil); err != nil {
		t.Fatal(err)
	}
	writeRows(t, r, fsys, "rows.ds", all)
	if !bytes.Equal(readAll(t, fsys, "save.ds"), readAll(t, fsys, "rows.ds")) {
		t.Fatal("Save and Create give different files")
	}
	loaded, err := loadFile(fsys, "save.ds", nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Format.Open(ctx, fsys, "save.ds", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	if !slices.IsSorted(f.Names()) || len(f.Names()) != len(all) {
		t.Errorf("names %q", f.Names())
	}
	for name, c := range all {
		want := c.stored()
		same(t, "load "+name, loaded[name], want)
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, readArray(a), want)
		for range 12 {
			box := randomBox(r, c.shape)
			same(t, fmt.Sprintf("%s %v", name, box), readBox(a, box), want.at(box))
			checkStrided(t, r, a, box, want.at(box))
		}
		if t.Failed() {
			t.Fatalf("%s: %v %v", name, c.dtype, c.shape)
		}
	}
}

// checkStrided reads a box into memory of another order, with gaps.
func checkStrided(t *testing.T, r *rand.Rand, a ndfile.Array, box ndarray.Box, want content) {
	t.Helper()
	if want.dtype.IsVar() {
		return
	}
	order := []ndarray.Order{ndarray.Little, ndarray.Big}[r.IntN(2)]
	it := want.item(r, "") // only for its layout
	dst := it.Data
	dst.DType = want.dtype.WithOrder(order)
	dst.Data = make([]byte, len(dst.Data))
	mask := bytes.Repeat([]byte{7}, int(want.count()))
	if err := a.(ndfile.Masked).ReadMasked(ctx, box, dst, mask); err != nil {
		t.Error(err)
		return
	}
	got := ndarray.Buffer{DType: want.dtype, Shape: box.Count, Data: make([]byte, len(want.data))}
	if err := ndarray.Copy(got, dst); err != nil {
		t.Fatal(err)
	}
	if wantMask := append(make([]byte, len(mask)-len(want.mask)), want.mask...); !bytes.Equal(got.Data, want.data) || !bytes.Equal(mask, wantMask) {
		t.Errorf("box %v in strides %v: data %x, mask %x, want %x, %x", box, dst.Strides, got.Data, mask, want.data, wantMask)
	}
	missing := bytes.IndexByte(mask, 1) >= 0
	if err := a.ReadBox(ctx, box, dst); missing != (ndfile.KindOf(orNil(err)) == ndfile.ErrMasked) {
		t.Errorf("ReadBox with missing elements %v: %v", missing, err)
	}
}

func orNil(err error) error {
	if err == nil {
		return ndfile.ErrInternal
	}
	return err
}

// TestConcurrentReads reads boxes of one handle from many goroutines; the race
// detector does the rest.
func TestConcurrentReads(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fsys := ndfile.NewMem()
	all := map[string]content{}
	var items []ndfile.Item
	for i, d := range []string{"<f8", "<i2", "|b1", "bytes", "str"} {
		c := randomOf(r, ndarray.MustParse(d), 1)
		for c.count() < 9000 {
			c = randomOf(r, c.dtype, 20000)
		}
		name := fmt.Sprint(i)
		all[name] = c
		items = append(items, c.item(r, name))
	}
	if err := save(fsys, "x.ds", items, nil); err != nil {
		t.Fatal(err)
	}
	f, err := Format.Open(ctx, fsys, "x.ds", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	var wg sync.WaitGroup
	for g := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 4))
			for name, c := range all {
				a, err := f.Array(name)
				if err != nil {
					t.Error(err)
					return
				}
				want := c.stored()
				for range 10 {
					box := randomBox(r, c.shape)
					same(t, name, readBox(a, box), want.at(box))
				}
				a.Attrs()
			}
		})
	}
	wg.Wait()
}
