package zarr

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// model is an array of 2-byte integers in memory: what is not in values is the
// fill value.
type model struct {
	shape  []int64
	fill   uint16
	values map[string]uint16
}

func (m *model) clone() *model {
	return &model{slices.Clone(m.shape), m.fill, maps.Clone(m.values)}
}

// each walks a box.
func each(box ndarray.Box, fn func(k int, index []int64)) {
	n, _ := ndarray.Count(box.Count)
	at := make([]int64, len(box.Count))
	for k := range int(n) {
		index := slices.Clone(box.Start)
		for axis := range index {
			step := int64(1)
			if box.Step != nil {
				step = box.Step[axis]
			}
			index[axis] += at[axis] * step
		}
		fn(k, index)
		for axis := len(at) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < box.Count[axis] {
				break
			}
			at[axis] = 0
		}
	}
}

// bytes are the elements, little endian.
func (m *model) bytes() []byte {
	var b []byte
	each(ndarray.Full(m.shape), func(_ int, index []int64) {
		v, ok := m.values[fmt.Sprint(index)]
		if !ok {
			v = m.fill
		}
		b = append(b, byte(v), byte(v>>8))
	})
	return b
}

// write stores random elements and gives them.
func (m *model) write(rng *rand.Rand, box ndarray.Box) ndarray.Buffer {
	n, _ := ndarray.Count(box.Count)
	b := make([]byte, 2*n)
	each(box, func(k int, index []int64) {
		v := uint16(rng.IntN(1 << 16))
		b[2*k], b[2*k+1] = byte(v), byte(v>>8)
		m.values[fmt.Sprint(index)] = v
	})
	return ndarray.Buffer{DType: ndarray.MustParse("<i2"), Shape: box.Count, Data: b}
}

func (m *model) resize(shape []int64) {
	m.shape = slices.Clone(shape)
	inside := map[string]uint16{}
	each(ndarray.Full(shape), func(_ int, index []int64) {
		if v, ok := m.values[fmt.Sprint(index)]; ok {
			inside[fmt.Sprint(index)] = v
		}
	})
	m.values = inside
}

func (m *model) append(rng *rand.Rand, axis int, n int64) ndarray.Buffer {
	box := ndarray.Full(m.shape)
	box.Start[axis], box.Count[axis] = m.shape[axis], n
	m.shape[axis] += n
	return m.write(rng, box)
}

// check compares a store with the model.
func (m *model) check(t testing.TB, fsys ndfile.FS, path string) error {
	t.Helper()
	f, err := Format0.Open(ctx, fsys, path, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer f.Close(ctx)
	a, _ := f.Array("")
	return m.checkArray(a)
}

func (m *model) checkArray(a ndfile.Array) error {
	if spec := a.Spec(); !slices.Equal(spec.Shape, m.shape) {
		return fmt.Errorf("shape %v, expected %v", spec.Shape, m.shape)
	}
	dst, _ := ndarray.NewBuffer(ndarray.MustParse("<i2"), m.shape)
	if err := a.ReadBox(ctx, ndarray.Full(m.shape), dst); err != nil {
		return err
	}
	if want := m.bytes(); !bytes.Equal(dst.Data, want) {
		for i := range want {
			if dst.Data[i] != want[i] {
				return fmt.Errorf("shape %v: element %d is %x, expected %x", m.shape, i/2, dst.Data[i&^1:][:2], want[i&^1:][:2])
			}
		}
	}
	return nil
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(4, 4)) }

// newModel creates a store and its model.
func newModel(t testing.TB, fsys ndfile.FS, path string, shape, chunks []int64, opt ndfile.WriteOptions) *model {
	t.Helper()
	m := &model{shape: slices.Clone(shape), fill: 0x0a0b, values: map[string]uint16{}}
	f, err := Format0.Create(ctx, fsys, path, ndfile.CreateOptions{WriteOptions: opt})
	if err == nil {
		_, err = f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("<i2"), Shape: shape, Chunks: chunks, Fill: []byte{0x0b, 0x0a},
			Codecs: ndfile.Compression{Codec: "lz4", Level: 1}.Codecs()})
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func update(t testing.TB, fsys ndfile.FS, path string) (ndfile.File, ndfile.Array) {
	t.Helper()
	return openArray(t, fsys, path, ndfile.OpenOptions{Mode: ndfile.Update})
}

// resizeAs04 changes the shape as release 0.4 does: in the metadata alone.
func resizeAs04(t testing.TB, fsys ndfile.FS, path string, shape []int64) {
	t.Helper()
	s := newStore(&version0, fsys, path, false, ndfile.Limits{})
	m, err := s.readMeta(ctx)
	if err == nil {
		m.setShape(shape)
		err = s.writeDocument(meta0, m.doc, ndfile.WriteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestModel does random things to an array and to its model, among them what
// release 0.4 leaves on disk when it shrinks an array.
func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			rank := 1 + rng.IntN(3)
			shape, chunks := make([]int64, rank), make([]int64, rank)
			random := func() []int64 {
				s := make([]int64, rank)
				for axis := range s {
					s[axis] = rng.Int64N(12)
				}
				return s
			}
			copy(shape, random())
			for axis := range chunks {
				chunks[axis] = 1 + rng.Int64N(5)
			}
			mem := ndfile.NewMem()
			m := newModel(t, mem, "/x.zarr", shape, chunks, ndfile.WriteOptions{})
			f, a := update(t, mem, "/x.zarr")
			for step := range 40 {
				switch op := rng.IntN(8); op {
				case 0, 1, 2:
					box := randomBox(rng, m.shape)
					if err := a.WriteBox(ctx, box, m.write(rng, box)); err != nil {
						t.Fatal(err)
					}
				case 3:
					s := random()
					m.resize(s)
					if err := a.(ndfile.Resizer).Resize(ctx, s); err != nil {
						t.Fatal(err)
					}
				case 4, 5:
					axis := rng.IntN(rank)
					src := m.append(rng, axis, rng.Int64N(4))
					if err := a.(ndfile.Resizer).Append(ctx, axis, src); err != nil {
						t.Fatal(err)
					}
				case 6:
					if err := f.Close(ctx); err != nil {
						t.Fatal(err)
					}
					f, a = update(t, mem, "/x.zarr")
				case 7:
					s := slices.Clone(m.shape)
					for axis := range s {
						s[axis] = rng.Int64N(s[axis] + 1)
					}
					m.resize(s)
					resizeAs04(t, mem, "/x.zarr", s)
					f.Abort()
					f, a = update(t, mem, "/x.zarr")
				}
				if err := m.checkArray(a); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
				if err := m.check(t, mem, "/x.zarr"); err != nil {
					t.Fatalf("step %d, opened again: %v", step, err)
				}
			}
		})
	}
}

// TestResizeMany has more chunks than are looked for one by one.
func TestResizeMany(t *testing.T) {
	mem := ndfile.NewMem()
	m := newModel(t, mem, "/x.zarr", []int64{40, 41}, []int64{1, 2}, ndfile.WriteOptions{})
	rng := rand.New(rand.NewPCG(1, 1))
	f, a := update(t, mem, "/x.zarr")
	if err := a.WriteBox(ctx, ndarray.Full(m.shape), m.write(rng, ndarray.Full(m.shape))); err != nil {
		t.Fatal(err)
	}
	for _, shape := range [][]int64{{3, 3}, {1 << 40, 1}, {2, 1 << 40}, {7, 50}, {0, 1 << 50}, {40, 41}} {
		if err := a.(ndfile.Resizer).Resize(ctx, shape); err != nil {
			t.Fatal(err)
		}
		left := make([]int64, 2)
		for axis := range left {
			left[axis] = min(shape[axis], m.shape[axis], 60)
		}
		m.resize(left)
		m.shape = shape
		if shape[0]*shape[1] < 10000 {
			if err := m.checkArray(a); err != nil {
				t.Error(err)
			}
		}
	}
	f.Close(ctx)
	if list, _ := mem.ReadDir("/x.zarr/__zdata__"); len(list) != 0 {
		t.Errorf("%d chunks are left, expected none", len(list))
	}
	// The same with chunks left by release 0.4, and a new reader.
	f, a = update(t, mem, "/x.zarr")
	if err := a.WriteBox(ctx, ndarray.Full(m.shape), m.write(rng, ndarray.Full(m.shape))); err != nil {
		t.Fatal(err)
	}
	f.Close(ctx)
	resizeAs04(t, mem, "/x.zarr", []int64{2, 3})
	m.resize([]int64{2, 3})
	f, a = update(t, mem, "/x.zarr")
	m.resize([]int64{45, 45})
	if err := a.(ndfile.Resizer).Resize(ctx, []int64{45, 45}); err != nil {
		t.Fatal(err)
	}
	if err := m.checkArray(a); err != nil {
		t.Error(err)
	}
	f.Close(ctx)
}

// changes are what is done to an array of shape [7 5] in the tests of faults: how
// the model and the array change, and whether all or nothing of it is visible.
var changes = []struct {
	name   string
	atomic bool
	model  func(m *model, rng *rand.Rand) ndarray.Buffer
	do     func(a ndfile.Array, src ndarray.Buffer) error
}{
	{"grow", true, func(m *model, _ *rand.Rand) ndarray.Buffer { m.resize([]int64{9, 8}); return ndarray.Buffer{} },
		func(a ndfile.Array, _ ndarray.Buffer) error { return a.(ndfile.Resizer).Resize(ctx, []int64{9, 8}) }},
	{"shrink", true, func(m *model, _ *rand.Rand) ndarray.Buffer { m.resize([]int64{4, 2}); return ndarray.Buffer{} },
		func(a ndfile.Array, _ ndarray.Buffer) error { return a.(ndfile.Resizer).Resize(ctx, []int64{4, 2}) }},
	{"both", true, func(m *model, _ *rand.Rand) ndarray.Buffer { m.resize([]int64{3, 11}); return ndarray.Buffer{} },
		func(a ndfile.Array, _ ndarray.Buffer) error { return a.(ndfile.Resizer).Resize(ctx, []int64{3, 11}) }},
	{"append rows", true, func(m *model, rng *rand.Rand) ndarray.Buffer { return m.append(rng, 0, 4) },
		func(a ndfile.Array, src ndarray.Buffer) error { return a.(ndfile.Resizer).Append(ctx, 0, src) }},
	{"append columns", true, func(m *model, rng *rand.Rand) ndarray.Buffer { return m.append(rng, 1, 3) },
		func(a ndfile.Array, src ndarray.Buffer) error { return a.(ndfile.Resizer).Append(ctx, 1, src) }},
	{"write", false, func(m *model, rng *rand.Rand) ndarray.Buffer { return m.write(rng, middle) },
		func(a ndfile.Array, src ndarray.Buffer) error { return a.WriteBox(ctx, middle, src) }},
}

var middle = ndarray.Box{Start: []int64{1, 1}, Count: []int64{5, 3}}

// damaged makes an array of shape [7 5], with what release 0.4 leaves outside.
func damaged(t testing.TB, mem *ndfile.Mem) *model {
	t.Helper()
	m := newModel(t, mem, "/x.zarr", []int64{12, 12}, []int64{3, 2}, ndfile.WriteOptions{Sync: true})
	f, a := update(t, mem, "/x.zarr")
	if err := a.WriteBox(ctx, ndarray.Full(m.shape), m.write(rand.New(rand.NewPCG(3, 3)), ndarray.Full(m.shape))); err != nil {
		t.Fatal(err)
	}
	f.Close(ctx)
	resizeAs04(t, mem, "/x.zarr", []int64{7, 5})
	m.resize([]int64{7, 5})
	return m
}

// check that a store is the old or the new array, or a mixture by chunks, and
// that nothing from outside comes back when it grows afterwards.
func oldOrNew(t testing.TB, mem *ndfile.Mem, old, new *model, atomic bool) (isNew bool) {
	t.Helper()
	isNew = new.check(t, mem, "/x.zarr") == nil
	if !isNew && old.check(t, mem, "/x.zarr") != nil {
		if atomic {
			t.Errorf("neither the old array (%v) nor the new one (%v)", old.check(t, mem, "/x.zarr"), new.check(t, mem, "/x.zarr"))
			return isNew
		}
		checkMixture(t, mem, old, new)
		return isNew
	}
	now := old.clone()
	if isNew {
		now = new.clone()
	}
	f, a := update(t, mem, "/x.zarr")
	defer f.Close(ctx)
	now.resize([]int64{13, 13})
	if err := a.(ndfile.Resizer).Resize(ctx, now.shape); err != nil {
		t.Errorf("growing afterwards: %v", err)
	} else if err := now.checkArray(a); err != nil {
		t.Errorf("grown afterwards: %v", err)
	}
	return isNew
}

// checkOpen is oldOrNew for an array that is open.
func checkOpen(t testing.TB, a ndfile.Array, old, new *model, atomic bool) {
	t.Helper()
	now := old.clone()
	if old.checkArray(a) != nil {
		if now = new.clone(); new.checkArray(a) != nil {
			if atomic {
				t.Errorf("the open array is neither old nor new: %v", new.checkArray(a))
			}
			return
		}
	}
	now.resize([]int64{13, 13})
	if err := a.(ndfile.Resizer).Resize(ctx, now.shape); err != nil {
		t.Errorf("growing the open array: %v", err)
	} else if err := now.checkArray(a); err != nil {
		t.Errorf("the open array grown: %v", err)
	}
}

// checkMixture: each chunk is old or new.
func checkMixture(t testing.TB, mem *ndfile.Mem, old, new *model) {
	t.Helper()
	f, a := openArray(t, mem, "/x.zarr", ndfile.OpenOptions{})
	defer f.Close(ctx)
	got := readBox(t, a, ndarray.Full(old.shape))
	for i := int64(0); i < old.shape[0]; i += 3 {
		for j := int64(0); j < old.shape[1]; j += 2 {
			box := ndarray.Box{Start: []int64{i, j}, Count: []int64{min(3, old.shape[0]-i), min(2, old.shape[1]-j)}}
			d := ndarray.MustParse("<i2")
			part := pick(t, d, old.shape, got, box)
			if !bytes.Equal(part, pick(t, d, old.shape, old.bytes(), box)) && !bytes.Equal(part, pick(t, d, old.shape, new.bytes(), box)) {
				t.Errorf("chunk at %d, %d is neither old nor new", i, j)
			}
		}
	}
}

// TestFaults makes each call of the file system fail, once and from then on.
func TestFaults(t *testing.T) {
	for _, c := range changes {
		for from, more := int64(0), true; more; from++ {
			for _, kind := range []string{"once", "short", "on"} {
				mem := ndfile.NewMem()
				old := damaged(t, mem)
				new := old.clone()
				src := c.model(new, newRand())
				fault := vfs.NewFault(mem)
				switch kind {
				case "once":
					fault.FailAt(from, syscall.EIO)
				case "short":
					fault.ShortWriteAt(from)
				default:
					fault.FailFrom(from, syscall.EIO)
				}
				f, err := Format0.Open(ctx, fault, "/x.zarr", ndfile.OpenOptions{Mode: ndfile.Update})
				if err == nil {
					a, _ := f.Array("")
					before := fault.Count()
					err = c.do(a, src)
					if err != nil && kind == "once" && from >= before {
						// The open array is as good as before, or has changed.
						checkOpen(t, a, old, new, c.atomic)
						if slices.Max(a.Spec().Shape) == 13 {
							f.Abort()
							continue // it grew
						}
					}
					f.Abort()
				}
				isNew := oldOrNew(t, mem, old, new, c.atomic)
				if err == nil && !isNew {
					t.Errorf("%s, call %d fails %s: no error, but nothing changed", c.name, from, kind)
				}
				if err != nil && !errors.Is(err, syscall.EIO) && kind != "short" {
					t.Errorf("%s, call %d fails %s: %v", c.name, from, kind, err)
				}
				if kind == "on" && from >= fault.Count() {
					more = false
				}
				if t.Failed() {
					t.Fatalf("%s, call %d fails %s: %v", c.name, from, kind, err)
				}
			}
		}
	}
}

// crashFS looks at the file system before each change to it.
type crashFS struct {
	ndfile.FS
	before func()
}

func (c crashFS) Create(path string, excl bool) (vfs.File, error) {
	c.before()
	return c.FS.Create(path, excl)
}
func (c crashFS) Rename(old, new string) error { c.before(); return c.FS.Rename(old, new) }
func (c crashFS) Remove(path string) error     { c.before(); return c.FS.Remove(path) }

// copyTree is a copy of a file system in memory.
func copyTree(t testing.TB, from *ndfile.Mem) *ndfile.Mem {
	t.Helper()
	to := ndfile.NewMem()
	var walk func(dir string)
	walk = func(dir string) {
		list, err := from.ReadDir(dir + "/")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			path := dir + "/" + e.Name
			if e.Mode == vfs.Dir {
				if err := to.Mkdir(path); err != nil {
					t.Fatal(err)
				}
				walk(path)
				continue
			}
			info, _ := from.Stat(path)
			buf := make([]byte, info.Size+1)
			n, _, err := from.ReadSmall(ctx, path, buf)
			if err == nil {
				err = to.WriteFile(path, [][]byte{buf[:n]}, ndfile.WriteOptions{Commit: ndfile.CommitDirect})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	walk("")
	return to
}

// TestKilled stops before every change of the file system.
func TestKilled(t *testing.T) {
	ndfile.SetThreads(1) // one change at a time
	defer ndfile.SetThreads(0)
	for _, c := range changes {
		mem := ndfile.NewMem()
		old := damaged(t, mem)
		new := old.clone()
		src := c.model(new, newRand())
		var stops []*ndfile.Mem // looked at later: chunks are locked now
		killed := crashFS{mem, func() { stops = append(stops, copyTree(t, mem)) }}
		f, a := update(t, vfs.NewFault(killed), "/x.zarr") // the Fault takes WriteFile to pieces
		if err := c.do(a, src); err != nil {
			t.Fatal(err)
		}
		f.Close(ctx)
		if len(stops) < 2 {
			t.Errorf("%s: %d changes seen", c.name, len(stops))
		}
		for i, stop := range stops {
			if oldOrNew(t, stop, old, new, c.atomic); t.Failed() {
				t.Fatalf("%s, killed before change %d", c.name, i)
			}
		}
		if err := new.check(t, mem, "/x.zarr"); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestWritersTogether: writers in one process, through one file and through two,
// lose nothing in the chunks that they share.
func TestWritersTogether(t *testing.T) {
	mem := ndfile.NewMem()
	m := newModel(t, mem, "/x.zarr", []int64{60, 8}, []int64{20, 3}, ndfile.WriteOptions{})
	shared := ndfile.OpenOptions{Mode: ndfile.Update, Shared: true}
	f, a := openArray(t, mem, "/x.zarr", shared)
	g, b := openArray(t, mem, "/x.zarr", shared)
	arrays := []ndfile.Array{a, b}
	var wg sync.WaitGroup
	for i := range int64(4) {
		var boxes []ndarray.Box
		var data []ndarray.Buffer
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		for row := i; row < 60; row += 4 {
			box := ndarray.Box{Start: []int64{row, 0}, Count: []int64{1, 8}}
			boxes, data = append(boxes, box), append(data, m.write(rng, box))
		}
		wg.Go(func() {
			for k := range boxes {
				if err := arrays[k%2].WriteBox(ctx, boxes[k], data[k]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.Close(ctx)
	g.Close(ctx)
	if err := m.check(t, mem, "/x.zarr"); err != nil {
		t.Error(err)
	}
	list, _ := mem.ReadDir("/x.zarr/__zdata__")
	for _, e := range list {
		if vfs.IsTempName(e.Name) {
			t.Errorf("%s is left", e.Name)
		}
	}
}
