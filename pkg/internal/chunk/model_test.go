package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// testHeader is eight bytes, of which the last tells the low byte of the length.
type testHeader struct{}

func (testHeader) Size() int { return 8 }
func (testHeader) Append(dst []byte, n int) []byte {
	return append(append(dst, "header "...), byte(n))
}
func (testHeader) Check(p []byte) error {
	if string(p[:7]) != "header " {
		return ndfile.NewError(ndfile.ErrCorrupt, "not a header").At(0)
	}
	return nil
}

// pathIn gives the files of chunks in a folder the names of zarr, or with a
// folder an axis.
func pathIn(folder, separator string) func(dst []byte, index []int64) []byte {
	return func(dst []byte, index []int64) []byte {
		dst = append(dst, folder+"/c"...)
		for _, i := range index {
			dst = append(dst, separator...)
			dst = strconv.AppendInt(dst, i, 10)
		}
		return dst
	}
}

// newArray is an array in the folder /d of fsys, of one-byte elements unless
// change says otherwise.
func newArray(t testing.TB, fsys vfs.FS, chunks, shape []int64, change func(a *Array)) *Array {
	t.Helper()
	a := &Array{FS: fsys, Folder: "/d", AppendPath: pathIn("/d", "."), DType: ndarray.MustParse("|u1"),
		Chunks: chunks, Codec: Blosc{Codec: blosc.LZ4, Level: 5, Shuffle: blosc.ByteShuffle, TypeSize: 1}, Sparse: true}
	if change != nil {
		change(a)
	}
	if err := a.Init(shape); err != nil {
		t.Fatal(err)
	}
	return a
}

// model is an array in memory that has been through the same as an Array.
type model struct {
	t    *testing.T
	rng  *rand.Rand
	a    *Array
	want ndarray.Buffer // packed, of the Array's dtype
	log  []string
}

func (m *model) fatalf(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter %q\narray: %v in chunks of %v of %s, sparse %v, short %v", fmt.Sprintf(format, args...), m.log,
		m.a.shape, m.a.Chunks, m.a.DType, m.a.Sparse, m.a.ShortLast)
}

func (m *model) note(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *model) box() ndarray.Box {
	b := ndarray.Box{Start: []int64{}, Count: []int64{}, Step: []int64{}}
	for _, n := range m.want.Shape {
		start, step := m.rng.Int64N(n+1), int64(1)
		if m.rng.IntN(3) == 0 {
			step = 1 + m.rng.Int64N(n+3)
		}
		count := int64(0)
		if start < n {
			if count = (n-1-start)/step + 1; m.rng.IntN(2) == 0 {
				count = m.rng.Int64N(count + 1)
			}
		}
		if m.rng.IntN(4) == 0 {
			start, count, step = 0, n, 1
		}
		b.Start, b.Count, b.Step = append(b.Start, start), append(b.Count, count), append(b.Step, step)
	}
	if m.rng.IntN(3) == 0 && slices.Max(append(b.Step, 1)) == 1 {
		b.Step = nil
	}
	return b
}

// buffer is memory of any layout.
func (m *model) buffer(d ndarray.DType, shape []int64) ndarray.Buffer {
	b, err := ndarray.NewBuffer(d, shape)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.rng.IntN(2) == 0 {
		return b
	}
	b.Strides = make([]int64, len(shape))
	size := int64(d.Size) + m.rng.Int64N(3)
	for _, axis := range m.rng.Perm(len(shape)) {
		b.Strides[axis] = size
		size *= max(shape[axis], 1)
		if m.rng.IntN(3) == 0 {
			b.Offset += (max(shape[axis], 1) - 1) * b.Strides[axis]
			b.Strides[axis] *= -1
		}
	}
	b.Data = make([]byte, size+int64(d.Size))
	return b
}

// packed is what a buffer holds, row-major.
func packed(t testing.TB, b ndarray.Buffer) []byte {
	t.Helper()
	p, err := ndarray.NewBuffer(b.DType, b.Shape)
	if err == nil {
		err = ndarray.Copy(p, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p.Data
}

func (m *model) random(b ndarray.Buffer) {
	p, _ := ndarray.NewBuffer(b.DType, b.Shape)
	for i := range p.Data {
		if p.Data[i] = byte(m.rng.IntN(3)); m.rng.IntN(50) == 0 {
			p.Data[i] = byte(m.rng.Int())
		}
	}
	if err := ndarray.Copy(b, p); err != nil {
		m.t.Fatal(err)
	}
}

// reads are dtypes that elements can be read as.
var reads = map[string][]string{"<i2": {"<i2", ">i2", "<i8", "<f4"}, ">u4": {">u4", "<u4", ">f8"}, "|u1": {"|u1", "<i2"},
	"S5": {"S5", "S9"}, "<M8[ns]": {"<M8[ns]", ">M8[ns]"}, "<c16": {"<c16", ">c16"}, `[["a","<i4"],["b","S3"]]`: {`[["a","<i4"],["b","S3"]]`, `[["a",">i4"],["b","S3"]]`}}

// writes are dtypes that elements can be written from.
var writes = map[string][]string{"<i2": {"<i2", ">i2", "|u1"}, ">u4": {">u4", "<u4", "<u2"}, "|u1": {"|u1", "|b1"},
	"S5": {"S5", "S2"}, "<M8[ns]": {"<M8[ns]", ">M8[ns]"}, "<c16": {"<c16", "<f8", "<i2"}, `[["a","<i4"],["b","S3"]]`: {`[["a","<i4"],["b","S3"]]`, `[["a",">i4"],["b","S3"]]`}}

func (m *model) pick(types map[string][]string) ndarray.DType {
	list := types[m.a.DType.String()]
	if list == nil {
		list = types[m.name()]
	}
	return ndarray.MustParse(list[m.rng.IntN(len(list))])
}

// name is the dtype's key in reads and writes.
func (m *model) name() string {
	for name := range reads {
		if ndarray.MustParse(name).Equal(m.a.DType) {
			return name
		}
	}
	m.t.Fatal(m.a.DType)
	return ""
}

func (m *model) read() {
	box := m.box()
	dst := m.buffer(m.pick(reads), box.Count)
	m.random(dst)
	if err := m.a.ReadBox(ctx, box, dst); err != nil {
		m.fatalf("ReadBox %v: %v", box, err)
	}
	sub, err := m.want.Sub(box)
	if err != nil {
		m.t.Fatal(err)
	}
	want, _ := ndarray.NewBuffer(dst.DType, box.Count)
	ndarray.Copy(want, sub)
	if got := packed(m.t, dst); !bytes.Equal(got, want.Data) {
		m.fatalf("box %v as %s: read %v, want %v", box, dst.DType, got, want.Data)
	}
}

func (m *model) write(box ndarray.Box) {
	src := m.buffer(m.pick(writes), box.Count)
	m.random(src)
	m.note("write %v", box)
	if err := m.a.WriteBox(ctx, box, src); err != nil {
		m.fatalf("WriteBox: %v", err)
	}
	sub, err := m.want.Sub(box)
	if err == nil {
		err = ndarray.Copy(sub, src)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// grow makes the model larger, with the fill value.
func (m *model) grow(shape []int64) {
	old := m.want
	m.want, _ = ndarray.NewBuffer(old.DType, shape)
	m.a.fill(m.want.Data)
	common := ndarray.Full(shape)
	for axis := range shape {
		common.Count[axis] = min(common.Count[axis], old.Shape[axis])
	}
	to, _ := m.want.Sub(common)
	from, _ := old.Sub(common)
	if err := ndarray.Copy(to, from); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) canAppend() bool {
	return len(m.want.Shape) > 0 && slices.Equal(m.want.Shape[1:], m.a.Chunks[1:])
}

func (m *model) append() {
	rows := slices.Clone(m.want.Shape)
	rows[0] = m.rng.Int64N(2*m.a.Chunks[0] + 3)
	if m.rng.IntN(2) == 0 {
		rows[0] = m.rng.Int64N(3)
	}
	src := m.buffer(m.pick(writes), rows)
	m.random(src)
	m.note("append %d", rows[0])
	before := m.a.Shape()[0]
	full, err := m.a.AppendRows(ctx, src)
	if err != nil {
		m.fatalf("AppendRows: %v", err)
	}
	if after := before + rows[0]; full != (before/m.a.Chunks[0] < after/m.a.Chunks[0]) {
		m.fatalf("a chunk became full: %v, from %d rows to %d", full, before, after)
	}
	shape := slices.Clone(m.want.Shape)
	shape[0] += rows[0]
	m.grow(shape)
	box := ndarray.Full(shape)
	box.Start[0], box.Count[0] = before, rows[0]
	to, _ := m.want.Sub(box)
	ndarray.Copy(to, src)
}

func (m *model) flush() {
	m.note("flush")
	if err := m.a.FlushRows(ctx); err != nil {
		m.fatalf("FlushRows: %v", err)
	}
	if m.a.Unflushed() != 0 {
		m.fatalf("%d rows after a flush", m.a.Unflushed())
	}
}

// resize does what a format does. Arrays of rows only shrink: they grow by
// append.
func (m *model) resize() {
	m.flush()
	old, shape := m.a.Shape(), slices.Clone(m.a.Shape())
	small := slices.Clone(shape)
	for axis := range shape {
		if m.rng.IntN(2) == 0 {
			shape[axis] = m.rng.Int64N(20)
		}
		if !m.a.Sparse || m.a.ShortLast {
			shape[axis] = min(shape[axis], old[axis])
		}
		small[axis] = min(shape[axis], old[axis])
	}
	m.note("resize %v", shape)
	remove := func() {
		for index := range m.a.Dropped(old, small) {
			m.a.FS.Remove(string(m.a.AppendPath(nil, index)))
		}
		if err := m.a.Refill(ctx, small); err != nil {
			m.fatalf("Refill: %v", err)
		}
	}
	shrinks := !slices.Equal(small, old)
	if !shrinks || m.rng.IntN(2) == 0 {
		remove()
	} else {
		defer remove()
	}
	if err := m.a.SetShape(shape); err != nil {
		m.fatalf("SetShape: %v", err)
	}
	m.grow(shape)
}

// reopen goes on with another Array on the same files.
func (m *model) reopen() {
	m.flush()
	b := &Array{FS: m.a.FS, Folder: m.a.Folder, AppendPath: m.a.AppendPath, DType: m.a.DType, Chunks: m.a.Chunks, Fill: m.a.Fill,
		Codec: m.a.Codec, Header: m.a.Header, Sparse: m.a.Sparse, ShortLast: m.a.ShortLast, FollowSymlinks: m.a.FollowSymlinks, Write: m.a.Write}
	if err := b.Init(m.a.Shape()); err != nil {
		m.fatalf("Init: %v", err)
	}
	m.a = b
	m.note("reopen")
}

func newModel(t *testing.T, seed uint64) *model {
	rng := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for name := range reads {
		names = append(names, name)
	}
	slices.Sort(names)
	fsys := vfs.NewMem()
	a := &Array{FS: fsys, Folder: "/d", DType: ndarray.MustParse(names[rng.IntN(len(names))]),
		Sparse: rng.IntN(2) == 0, FollowSymlinks: rng.IntN(2) == 0}
	a.AppendPath = pathIn("/d", []string{".", "/"}[rng.IntN(2)])
	var shape []int64
	for range rng.IntN(4) {
		chunk := 1 + rng.Int64N(7)
		a.Chunks = append(a.Chunks, chunk)
		shape = append(shape, []int64{rng.Int64N(20), 0, chunk, 1, 2 * chunk}[min(rng.IntN(20), 4)])
	}
	if len(shape) > 0 && rng.IntN(2) == 0 {
		a.ShortLast = true
		if rng.IntN(2) == 0 {
			copy(shape[1:], a.Chunks[1:])
		}
	}
	a.Codec = Plain{}
	if rng.IntN(3) > 0 {
		a.Codec = Blosc{Codec: blosc.Codec(rng.IntN(6)), Level: rng.IntN(6), Shuffle: blosc.Shuffle(rng.IntN(3)), TypeSize: a.DType.Size}
	}
	if rng.IntN(2) == 0 {
		a.Header = testHeader{}
	}
	if rng.IntN(2) == 0 {
		a.Write.Commit = vfs.CommitDirect
	}
	if rng.IntN(2) == 0 {
		for range a.DType.Size {
			a.Fill = append(a.Fill, byte(rng.Int()))
		}
	}
	m := &model{t: t, rng: rng, a: a}
	m.note("seed %d", seed)
	if err := a.Init(shape); err != nil {
		t.Fatal(err)
	}
	m.want, _ = ndarray.NewBuffer(a.DType, shape)
	a.fill(m.want.Data)
	if !a.Sparse {
		m.write(ndarray.Full(shape))
	}
	return m
}

// TestModel takes arrays of all kinds through random calls.
func TestModel(t *testing.T) {
	for seed := range uint64(600) {
		m := newModel(t, seed)
		for range 25 {
			switch k := m.rng.IntN(20); {
			case k < 9:
				m.read()
			case k < 13:
				m.write(m.box())
			case k < 16 && m.canAppend():
				m.append()
			case k == 16:
				m.flush()
			case k == 17:
				m.resize()
			case k == 18:
				m.reopen()
			}
		}
		m.flush()
		for index := range everyChunk(m.a) {
			if err := m.a.CheckChunk(ctx, index); err != nil {
				m.fatalf("chunk %v: %v", index, err)
			}
		}
	}
}

func everyChunk(a *Array) func(yield func([]int64) bool) {
	return func(yield func([]int64) bool) { indices(make([]int64, len(a.shape)), a.Grid(), yield) }
}

// TestDropped compares the two walks over the grid with going through all of it.
func TestDropped(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var chunks, old, new []int64
		for range rng.IntN(4) {
			chunks = append(chunks, 1+rng.Int64N(4))
			old = append(old, rng.Int64N(12))
			new = append(new, rng.Int64N(12))
		}
		a := newArray(t, vfs.NewMem(), chunks, old, nil)
		var dropped, edges []string
		for index := range everyChunk(a) {
			in, edge := true, false
			for axis, i := range index {
				in = in && i*chunks[axis] < new[axis]
				edge = edge || (i+1)*chunks[axis] > old[axis]
			}
			if !in {
				dropped = append(dropped, fmt.Sprint(index))
			}
			if edge {
				edges = append(edges, fmt.Sprint(index))
			}
		}
		compare := func(what string, want []string, walk func(func([]int64) bool)) {
			var got []string
			walk(func(index []int64) bool { got = append(got, fmt.Sprint(index)); return true })
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s of %v to %v in chunks of %v: %v, want %v", what, old, new, chunks, got, want)
			}
			walk(func([]int64) bool { return false }) // may end early
		}
		compare("Dropped", dropped, a.Dropped(old, new))
		compare("Edges", edges, a.Edges(old))
	}
}

// TestHuge: sparse arrays of any size cost what is read of them.
func TestHuge(t *testing.T) {
	a := newArray(t, vfs.NewMem(), []int64{1 << 16, 1000}, []int64{1 << 40, 1000}, func(a *Array) {
		a.DType, a.Fill = ndarray.MustParse("<f8"), []byte{0, 0, 0, 0, 0, 0, 0xf4, 0x3f} // 1.25
	})
	dst, _ := ndarray.NewBuffer(a.DType, []int64{3, 2})
	box := ndarray.Box{Start: []int64{1<<40 - 5, 0}, Count: []int64{3, 2}, Step: []int64{2, 500}}
	if n := testing.AllocsPerRun(10, func() {
		if err := a.ReadBox(ctx, box, dst); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
	if !bytes.Equal(dst.Data, bytes.Repeat(a.Fill, 6)) {
		t.Errorf("read % x", dst.Data)
	}
	if grid := a.Grid(); !slices.Equal(grid, []int64{1 << 24, 1}) {
		t.Errorf("grid %v", grid)
	}
	dropped := 0
	for range a.Dropped([]int64{1 << 40, 1000}, []int64{1<<40 - 1<<16, 1000}) {
		dropped++
	}
	if dropped != 1 {
		t.Errorf("%d chunks dropped", dropped)
	}
	wide := newArray(t, vfs.NewMem(), []int64{1, 1}, []int64{1<<62 + 5, 1}, nil)
	one, _ := ndarray.NewBuffer(wide.DType, []int64{2, 1})
	if err := wide.ReadBox(ctx, ndarray.Box{Start: []int64{0, 0}, Count: []int64{2, 1}, Step: []int64{1<<62 + 4, 9}}, one); err != nil {
		t.Error(err)
	}
}

// TestInit: whatever a stranger's metadata hold is refused with a reason.
func TestInit(t *testing.T) {
	for _, c := range []struct {
		dtype         string
		chunks, shape []int64
		want          error
	}{
		{"<i4", []int64{4}, []int64{4, 4}, ndfile.ErrCorrupt},
		{"<i4", []int64{0}, []int64{4}, ndfile.ErrCorrupt},
		{"<i4", []int64{-1}, []int64{4}, ndfile.ErrCorrupt},
		{"<i4", []int64{4}, []int64{-1}, ndfile.ErrCorrupt},
		{"<i4", []int64{1 << 29}, []int64{4}, ndfile.ErrLimit},
		{"<i4", []int64{1 << 40, 1 << 40}, []int64{0, 0}, ndfile.ErrLimit},
		{"<i4", []int64{1, 1}, []int64{1 << 40, 1 << 40}, ndfile.ErrCorrupt},
		{"<i4", []int64{1}, []int64{1 << 61}, ndfile.ErrCorrupt},
		{"<i4", slices.Repeat([]int64{1}, 65), slices.Repeat([]int64{1}, 65), ndfile.ErrLimit},
		{"str", []int64{4}, []int64{4}, ndfile.ErrNotSupported},
		{"S0", []int64{4}, []int64{4}, ndfile.ErrNotSupported},
	} {
		a := &Array{FS: vfs.NewMem(), Folder: "/d", DType: ndarray.MustParse(c.dtype), Chunks: c.chunks, Codec: Plain{}}
		if err := a.Init(c.shape); !errors.Is(err, c.want) {
			t.Errorf("%s, chunks %v, shape %v: %v, want %v", c.dtype, c.chunks, c.shape, err, c.want)
		}
	}
	a := newArray(t, vfs.NewMem(), []int64{4}, []int64{10}, nil)
	for _, shape := range [][]int64{{1, 2}, {-1}, nil} {
		if err := a.SetShape(shape); !errors.Is(err, ndfile.ErrCorrupt) || a.Shape()[0] != 10 {
			t.Errorf("SetShape %v: %v", shape, err)
		}
	}
}
