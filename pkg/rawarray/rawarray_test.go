package rawarray

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// numbers is an array of bytes that differ.
func numbers(d ndarray.DType, shape ...int64) ndarray.Buffer {
	b, err := ndarray.NewBuffer(d, shape)
	if err != nil {
		panic(err)
	}
	for i := range b.Data {
		b.Data[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestRecords: composites are stored as bytes; a record of their size reads them.
func TestRecords(t *testing.T) {
	rec := ndarray.MustParse(`[["info", "|S12"], ["index", "<u4"], ["v", ">f8", [8]]]`)
	src := numbers(rec, 3, 2)
	raw := ndarray.MustParse("|V80")
	asRaw := src
	asRaw.DType = raw
	file := saved(t, ndfile.Item{Data: src}, ndfile.SaveOptions{})
	for name, got := range map[string][]byte{
		"raw":                 saved(t, ndfile.Item{Data: asRaw}, ndfile.SaveOptions{}),
		"Create":              created(t, ndfile.Spec{DType: rec, Shape: src.Shape}, src, ndfile.CreateOptions{}),
		"records into raw":    created(t, ndfile.Spec{DType: raw, Shape: src.Shape}, src, ndfile.CreateOptions{}),
		"raw into raw":        created(t, ndfile.Spec{DType: raw, Shape: src.Shape}, asRaw, ndfile.CreateOptions{}),
		"other order, Create": created(t, ndfile.Spec{DType: rec, Shape: src.Shape}, swapped(t, src), ndfile.CreateOptions{}),
	} {
		if !bytes.Equal(got, file) {
			t.Errorf("%s: %x, expected %x", name, got, file)
		}
	}
	f, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, _ := f.Array("")
	if d := a.Spec().DType; !d.Equal(raw) {
		t.Fatalf("read as %s", d)
	}
	for _, d := range []ndarray.DType{rec, raw, ndarray.MustParse(`[["all", "|u1", [8, 10]]]`)} {
		if got := readAll(t, a, d); !bytes.Equal(got, src.Data) {
			t.Errorf("read as %s: %x", d, got)
		}
	}
	// A box with strides, as records.
	dst := ndarray.Buffer{DType: rec, Shape: []int64{2, 1}, Strides: []int64{-100, 80}, Offset: 100, Data: make([]byte, 180)}
	if err := a.ReadBox(ctx, ndarray.Box{Start: []int64{0, 1}, Count: []int64{2, 1}, Step: []int64{2, 1}}, dst); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(dst.Data[100:], src.Data[80:160]) || !bytes.Equal(dst.Data[:80], src.Data[400:]) {
		t.Errorf("a box as records: %x", dst.Data)
	}
	for _, d := range []string{`[["a", "|V79"]]`, "|V79", "|S80"} {
		dst := numbers(ndarray.MustParse(d), 3, 2)
		if err := a.ReadBox(ctx, ndarray.Full(a.Spec().Shape), dst); !errors.Is(err, ndfile.ErrDType) {
			t.Errorf("read as %s: %v", d, err)
		}
	}
}

// swapped is the same array in the other byte order.
func swapped(t *testing.T, b ndarray.Buffer) ndarray.Buffer {
	t.Helper()
	d := b.DType.WithOrder(ndarray.Big)
	if d.Equal(b.DType) {
		d = b.DType.WithOrder(ndarray.Little)
	}
	o := ndarray.Buffer{DType: d, Shape: b.Shape, Data: make([]byte, len(b.Data))}
	if err := ndarray.Copy(o, b); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestBool: whatever a true is in memory, in the file it is 1.
func TestBool(t *testing.T) {
	src := ndarray.Buffer{DType: ndarray.MustParse("|b1"), Shape: []int64{4}, Data: []byte{0, 1, 2, 0xff}}
	for _, file := range [][]byte{saved(t, ndfile.Item{Data: src}, ndfile.SaveOptions{}),
		created(t, ndfile.Spec{DType: src.DType, Shape: src.Shape}, src, ndfile.CreateOptions{})} {
		if !bytes.Equal(file, append(words(0, 0, eltUint, 1, 4, 1, 4), 0, 1, 1, 1)) {
			t.Errorf("%x", file)
		}
	}
}

// TestExtra: what the dtype does not tell is in Extra.
func TestExtra(t *testing.T) {
	for _, c := range []struct {
		raw  []byte
		want string
	}{
		{words(4, 0, eltInt, 4, 4, 0), `{}`},
		{words(4, 1, eltInt, 4, 4, 0), `{}`},
		{words(1, 1, eltInt, 1, 1, 0), `{"flags": 1}`},
		{words(12, 1, eltUser, 12, 12, 0), `{"flags": 1}`},
		{words(1, 0, eltBrain, 1, 1, 0), `{"eltype": 5, "extension": "RawArray.jl Boolean"}`},
		{words(16, 0, eltFloat, 16, 16, 0), `{"eltype": 3, "extension": "C long double"}`},
		{words(32, 1, eltComplex, 32, 32, 0), `{"flags": 1, "eltype": 4, "extension": "C long double complex"}`},
	} {
		f, err := open(c.raw)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := f.Array("")
		if got := string(ndfile.AppendJSON(nil, a.Spec().Extra)); got != c.want {
			t.Errorf("%s: %s, expected %s", a.Spec().DType, got, c.want)
		}
	}
}

// TestTrailing writes and reads the bytes behind the data.
func TestTrailing(t *testing.T) {
	src := numbers(ndarray.MustParse("<i4"), 3)
	text := []byte("any text\x00, or not")
	mem := ndfile.NewMem()
	if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", []ndfile.Item{{Data: src}}, ndfile.SaveOptions{Trailing: text}); err != nil {
		t.Fatal(err)
	}
	if raw := content(t, mem); !bytes.HasSuffix(raw, append(slices.Clone(src.Data), text...)) ||
		!bytes.Equal(raw, created(t, ndfile.Spec{DType: src.DType, Shape: src.Shape}, src, ndfile.CreateOptions{Trailing: text})) {
		t.Errorf("%x", raw)
	}
	for limit, ok := range map[int64]bool{0: true, int64(len(text)): true, int64(len(text)) - 1: false} {
		f, err := Format.Open(ctx, mem, "/x.ra", ndfile.OpenOptions{Limits: ndfile.Limits{MaxHeader: limit}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.(ndfile.Trailer).Trailing(ctx)
		if ok && (err != nil || !bytes.Equal(got, text)) || !ok && (!errors.Is(err, ndfile.ErrLimit) || !strings.Contains(err.Error(), "/x.ra")) {
			t.Errorf("limit %d: %q, %v", limit, got, err)
		}
		f.Abort()
	}
	large := make([]byte, ndfile.DefaultMaxHeader+1)
	if _, err := Format.Create(ctx, mem, "/y.ra", ndfile.CreateOptions{Trailing: large}); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("65 MiB of trailing bytes: %v", err)
	}
	if err := Format.(ndfile.OneShot).Save(ctx, mem, "/y.ra", []ndfile.Item{{Data: src}}, ndfile.SaveOptions{Trailing: large}); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("65 MiB of trailing bytes: %v", err)
	}
}

// TestTrailingFaults makes every call fail once while a file with trailing bytes
// is written over another: the old file stays or the new one is complete.
func TestTrailingFaults(t *testing.T) {
	src := numbers(ndarray.MustParse("<i4"), 3)
	old := []byte("old")
	want := saved(t, ndfile.Item{Data: src}, ndfile.SaveOptions{Trailing: []byte("text")})
	for i := int64(0); ; i++ {
		mem := ndfile.NewMem()
		if err := mem.WriteFile("/x.ra", [][]byte{old}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		fault := vfs.NewFault(mem)
		fault.FailAt(i, syscall.ENOSPC)
		err := func() error {
			f, err := Format.Create(ctx, fault, "/x.ra", ndfile.CreateOptions{Trailing: []byte("text")})
			if err != nil {
				return err
			}
			defer f.Abort()
			a, err := f.Add(ctx, "", ndfile.Spec{DType: src.DType, Shape: src.Shape})
			if err != nil {
				return err
			}
			if err := a.WriteBox(ctx, ndarray.Full(src.Shape), src); err != nil {
				return err
			}
			return f.Close(ctx)
		}()
		got := content(t, mem)
		if fault.Count() <= i { // no call is left to fail
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("without a fault: %v, %x", err, got)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) || !bytes.Equal(got, old) {
			t.Errorf("call %d fails: %v, the file is %x", i, err, got)
		}
	}
}

// TestAnyOrder writes random boxes of an array from several goroutines and
// compares what Close says with a model.
func TestAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := ndarray.MustParse("<u2")
	complete := 0
	for range 400 {
		shape := make([]int64, rng.IntN(4))
		for i := range shape {
			shape[i] = 1 + rng.Int64N(9)
		}
		src := numbers(d, shape...)
		var boxes []ndarray.Box
		for range rng.IntN(8) {
			b := ndarray.Box{Start: make([]int64, len(shape)), Count: make([]int64, len(shape)), Step: make([]int64, len(shape))}
			for i, n := range shape {
				b.Start[i] = rng.Int64N(min(n, 2))
				b.Step[i] = 1 + rng.Int64N(2)
				b.Count[i] = (n-b.Start[i]-1)/b.Step[i] + 1
			}
			boxes = append(boxes, b)
		}
		written := make([]bool, len(src.Data)/2)
		for _, b := range boxes {
			b.Runs(shape, func(first, n, step, _ int64) error {
				for i := range n {
					written[first+i*step] = true
				}
				return nil
			})
		}
		mem := ndfile.NewMem()
		f, err := Format.Create(ctx, mem, "/x.ra", ndfile.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Add(ctx, "", ndfile.Spec{DType: d, Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for _, b := range boxes {
			wait.Go(func() {
				part, err := src.Sub(b)
				if err == nil {
					err = a.WriteBox(ctx, b, part)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		err = f.Close(ctx)
		if missing := slices.Index(written, false); missing >= 0 {
			if !errors.Is(err, ndfile.ErrOrder) || !strings.Contains(err.Error(), "element "+decimal(missing)+" ") {
				t.Fatalf("%v, boxes %v, element %d is missing: %v", shape, boxes, missing, err)
			}
			if list, _ := mem.ReadDir("/"); len(list) > 0 {
				t.Fatalf("left behind: %v", list)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		complete++
		if got := content(t, mem); !bytes.Equal(got, saved(t, ndfile.Item{Data: src}, ndfile.SaveOptions{})) {
			t.Fatalf("%v, boxes %v: %x", shape, boxes, got)
		}
	}
	if complete < 50 || complete > 350 {
		t.Errorf("%d of 400 files were complete", complete)
	}
}

// TestRefused: what a file cannot hold is refused by Save, Create or Add.
func TestRefused(t *testing.T) {
	src := numbers(ndarray.MustParse("<i4"), 3)
	attrs, err := ndfile.ParseJSON([]byte(`{"a": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	plain := ndfile.Item{Data: src}
	named, masked, dims, attributed, short, outside := plain, plain, plain, plain, plain, plain
	short.Data.Data = short.Data.Data[:11]
	outside.Data.Strides = []int64{-4}
	named.Name, masked.Mask, dims.Dims, attributed.Attrs = "v", make([]byte, 3), []string{"x"}, attrs
	for _, c := range []struct {
		name  string
		items []ndfile.Item
		opt   ndfile.SaveOptions
		kind  *ndfile.ErrorKind
	}{
		{"nothing", nil, ndfile.SaveOptions{}, ndfile.ErrArgument},
		{"two arrays", []ndfile.Item{plain, plain}, ndfile.SaveOptions{}, ndfile.ErrArgument},
		{"a name", []ndfile.Item{named}, ndfile.SaveOptions{}, ndfile.ErrArgument},
		{"a mask", []ndfile.Item{masked}, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		{"dims", []ndfile.Item{dims}, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		{"array attributes", []ndfile.Item{attributed}, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		{"less data than the shape says", []ndfile.Item{short}, ndfile.SaveOptions{}, ndfile.ErrBounds},
		{"strides that lead outside", []ndfile.Item{outside}, ndfile.SaveOptions{}, ndfile.ErrBounds},
		{"file attributes", []ndfile.Item{plain}, ndfile.SaveOptions{Attrs: attrs}, ndfile.ErrNotSupported},
	} {
		mem := ndfile.NewMem()
		if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", c.items, c.opt); ndfile.KindOf(err) != c.kind {
			t.Errorf("Save of %s: %v", c.name, err)
		}
		if len(c.items) == 0 {
			continue
		}
		f, err := Format.Create(ctx, mem, "/x.ra", c.opt)
		if err == nil {
			err = ndfile.SaveFile(ctx, f, c.items)
			f.Abort()
		}
		if k := ndfile.KindOf(err); k != c.kind && (len(c.items) < 2 || k != ndfile.ErrNameExists) {
			t.Errorf("Create with %s: %v", c.name, err)
		}
		if list, _ := mem.ReadDir("/"); len(list) > 0 {
			t.Errorf("%s: left behind: %v", c.name, list)
		}
	}
	f, err := Format.Create(ctx, ndfile.NewMem(), "/x.ra", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); !errors.Is(err, ndfile.ErrOrder) {
		t.Errorf("Close without an array: %v", err)
	}
	if err := f.Close(ctx); !errors.Is(err, ndfile.ErrHandle) {
		t.Errorf("Close again: %v", err)
	}
	if _, err := f.Add(ctx, "", ndfile.Spec{DType: src.DType}); !errors.Is(err, ndfile.ErrHandle) {
		t.Errorf("Add after Close: %v", err)
	}
	mem := ndfile.NewMem()
	if err := mem.WriteFile("/x.ra", [][]byte{fixtures(t)[0].raw}, ndfile.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = Format.Open(ctx, mem, "/x.ra", ndfile.OpenOptions{Mode: ndfile.Update})
	if !errors.Is(err, ndfile.ErrNotSupported) || !strings.Contains(err.Error(), "save") || !strings.Contains(err.Error(), "command") {
		t.Errorf("r+: %v", err)
	}
}

// TestLarge saves and loads more than one read: as it is, strided, and in the
// other byte order.
func TestLarge(t *testing.T) {
	src := numbers(ndarray.MustParse("<f8"), 300, 201)
	want := append(words(0, 0, eltFloat, 8, 300*201*8, 2, 201, 300), src.Data...)
	turned := ndarray.Buffer{DType: src.DType, Shape: src.Shape, Strides: []int64{8, 2400}, Data: make([]byte, len(src.Data))}
	if err := ndarray.Copy(turned, src); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]ndarray.Buffer{"contiguous": src, "strided": turned} {
		if got := saved(t, ndfile.Item{Data: data}, ndfile.SaveOptions{}); !bytes.Equal(got, want) {
			t.Errorf("%s: Save differs", name)
		}
	}
	big := saved(t, ndfile.Item{Data: swapped(t, src)}, ndfile.SaveOptions{})
	native, err := ndarray.NewBuffer(src.DType.Native(), src.Shape)
	if err != nil {
		t.Fatal(err)
	}
	if err := ndarray.Copy(native, src); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(big, want) {
		t.Error("big endian is the same as little endian")
	}
	for _, raw := range [][]byte{want, big} {
		if !agree(t, raw) {
			t.Error("cannot be read")
		}
		sink := &ndfile.Sink{Buf: make([]byte, len(want)), Infos: make([]ndfile.LoadInfo, 1)}
		if err := load(raw, sink); err != nil || !bytes.Equal(sink.Buf[sink.Infos[0].DataOffset:][:len(src.Data)], native.Data) {
			t.Errorf("Load: %v", err)
		}
	}
	// Trailing bytes behind large data are not data.
	if !agree(t, append(want, "text"...)) {
		t.Error("with trailing bytes it cannot be read")
	}
}

// TestAllocs: one-shot calls for small files allocate nothing.
func TestAllocs(t *testing.T) {
	path := t.TempDir() + "/x.ra"
	one := Format.(ndfile.OneShot)
	for _, dtype := range []string{"<f8", ">f8", "|b1", "|V80"} {
		src := numbers(ndarray.MustParse(dtype), 3, 4)
		turned := src
		turned.Shape, turned.Strides = []int64{4, 3}, []int64{int64(src.DType.Size), int64(4 * src.DType.Size)}
		for name, data := range map[string]ndarray.Buffer{"contiguous": src, "strided": turned} {
			items := []ndfile.Item{{Data: data}}
			opt := ndfile.SaveOptions{Trailing: []byte("x")}
			if n := testing.AllocsPerRun(100, func() {
				if err := one.Save(ctx, ndfile.OS, path, items, opt); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("Save of %s %s: %v allocations", name, dtype, n)
			}
			sink := &ndfile.Sink{Buf: make([]byte, 4096), Infos: make([]ndfile.LoadInfo, 1)}
			if n := testing.AllocsPerRun(100, func() {
				sink.N, sink.Need = 0, 0
				if err := one.Load(ctx, ndfile.OS, path, sink); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("Load of %s: %v allocations", dtype, n)
			}
		}
	}
}
