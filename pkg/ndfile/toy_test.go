package ndfile

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// toy is a format in memory that can do everything, as far as its caps allow.
// Files are kept by their path; the file system gets a mark in their place.
type toy struct {
	name     string
	caps     Caps
	kind     Kind
	encoding string // of chunks
	files    map[string]*toyFile
	// addErr refuses arrays, closing changes the file that is closed.
	addErr  func(name string, s *Spec) error
	closing func(f *toyFile)
	// oneAttrs: the attributes of file and array are the same.
	oneAttrs bool
	// adding changes arrays that are added.
	adding func(a *toyArray)
	// created is the file that was created last.
	created *toyFile
}

func newToy(name string, kind Kind, caps Caps) *toy {
	return &toy{name: name, kind: kind, caps: caps | CapCreate, encoding: "plain", files: map[string]*toyFile{}}
}

func (f *toy) Name() string         { return f.name }
func (f *toy) Extensions() []string { return []string{"." + f.name} }
func (f *toy) Caps() Caps           { return f.caps }

func (f *toy) Detect(_ context.Context, fsys FS, path string) (Match, error) {
	if _, err := fsys.Stat(path); err != nil {
		return NoMatch, err
	}
	if f.files[path] == nil {
		return NoMatch, nil
	}
	return Certain, nil
}

func (f *toy) Open(_ context.Context, _ FS, path string, _ OpenOptions) (File, error) {
	file := f.files[path]
	if file.openErr != nil {
		return nil, file.openErr
	}
	return file.as(), nil
}

func (f *toy) Create(_ context.Context, fsys FS, path string, opt CreateOptions) (File, error) {
	if opt.Attrs.Len() > 0 && f.caps&CapFileAttrs == 0 {
		return nil, NewError(ErrNotSupported, "a toy without attributes")
	}
	attrs := opt.Attrs.Clone()
	if attrs == nil {
		attrs = NewAttrs()
	}
	if _, bad := attrs.Get("bad"); bad {
		return nil, NewError(ErrValue, "a bad attribute")
	}
	f.created = &toyFile{toy: f, fsys: fsys, path: path, opt: opt, attrs: attrs}
	return f.created.as(), nil
}

type toyFile struct {
	*toy
	fsys    FS
	path    string
	opt     CreateOptions
	attrs   *Attrs
	arrays  []*toyArray
	openErr error
	aborted bool
}

// as hides trailing bytes where the format has none.
func (f *toyFile) as() File {
	if f.caps&CapTrailing != 0 {
		return struct {
			*toyFile
			Trailer
		}{f, toyTrailer{f}}
	}
	return f
}

type toyTrailer struct{ f *toyFile }

func (t toyTrailer) Trailing(context.Context) ([]byte, error) { return t.f.opt.Trailing, nil }

func (f *toyFile) Kind() Kind    { return f.kind }
func (f *toyFile) Attrs() *Attrs { return f.attrs }
func (f *toyFile) Abort() error  { f.aborted = true; return nil }

func (f *toyFile) Close(context.Context) error {
	if f.closing != nil {
		f.closing(f)
	}
	f.files[f.path] = f
	return f.fsys.WriteFile(f.path, [][]byte{[]byte(f.name)}, f.opt.WriteOptions)
}

func (f *toyFile) Names() (names []string) {
	for _, a := range f.arrays {
		names = append(names, a.name)
	}
	return names
}

func (f *toyFile) Array(name string) (Array, error) {
	for _, a := range f.arrays {
		if a.name == name {
			return a, nil
		}
	}
	return nil, NewError(ErrName, "").In(name)
}

func (f *toyFile) Add(_ context.Context, name string, s Spec) (Array, error) {
	for _, need := range []struct {
		cap  Caps
		used bool
	}{{CapMasked, s.Masked}, {CapDims, s.Dims != nil}, {CapArrayAttrs, s.Attrs.Len() > 0}, {CapStrings, s.DType.IsVar()},
		{CapChunked, s.Chunks != nil || s.Fill != nil || s.Codecs != nil}} {
		if need.used && f.caps&need.cap == 0 {
			return nil, NewError(ErrNotSupported, "a toy without that")
		}
	}
	if f.addErr != nil {
		if err := f.addErr(name, &s); err != nil {
			return nil, err
		}
	}
	a := newToyArray(name, s)
	a.file = f
	if f.oneAttrs {
		for _, key := range a.attrs.Keys() {
			v, _ := a.attrs.Get(key)
			f.attrs.Set(key, v)
		}
		a.attrs = f.attrs
	}
	if f.adding != nil {
		f.adding(a)
	}
	f.arrays = append(f.arrays, a)
	return a, nil
}

// toyArray keeps elements as its dtype has them, row-major, or as strings.
type toyArray struct {
	file   *toyFile
	name   string
	spec   Spec
	attrs  *Attrs
	data   []byte
	texts  []string
	mask   []byte
	chunks map[string]bool // those that were written

	readErr  func(box ndarray.Box) error
	rowsOnly bool // takes only whole rows, in order
	nextRow  int64

	mu          sync.Mutex
	reads       []ndarray.Box
	writes      []ndarray.Box
	chunkReads  int
	chunkWrites int
	refuseChunk bool
}

func newToyArray(name string, s Spec) *toyArray {
	a := &toyArray{name: name, spec: s, attrs: s.Attrs.Clone(), chunks: map[string]bool{}}
	if a.attrs == nil {
		a.attrs = NewAttrs()
	}
	if s.NoData {
		return a
	}
	n, err := ndarray.Count(s.Shape)
	if err != nil {
		panic(err)
	}
	a.mask = make([]byte, n)
	if s.DType.IsVar() {
		a.texts = make([]string, n)
		return a
	}
	a.data = make([]byte, n*int64(s.DType.Size))
	if s.Fill != nil {
		for i := range n {
			copy(a.data[i*int64(s.DType.Size):], s.Fill)
		}
	}
	return a
}

func (a *toyArray) Spec() Spec    { return a.spec }
func (a *toyArray) Attrs() *Attrs { return a.attrs }

func (a *toyArray) all() ndarray.Buffer {
	return ndarray.Buffer{DType: a.spec.DType, Shape: a.spec.Shape, Data: a.data}
}

// each calls fn with the flat indices of a box, in order.
func (a *toyArray) each(box ndarray.Box, fn func(i int64)) error {
	return box.Runs(a.spec.Shape, func(first, n, step, _ int64) error {
		for i := range n {
			fn(first + i*step)
		}
		return nil
	})
}

func cloneBox(b ndarray.Box) ndarray.Box {
	return ndarray.Box{Start: slices.Clone(b.Start), Count: slices.Clone(b.Count), Step: slices.Clone(b.Step)}
}

func (a *toyArray) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	n, err := ndarray.Count(box.Count)
	if err != nil {
		return err
	}
	mask := make([]byte, n)
	if err := a.ReadMasked(ctx, box, dst, mask); err != nil {
		return err
	}
	if slices.Contains(mask, 1) {
		return NewError(ErrMasked, "")
	}
	return nil
}

func (a *toyArray) ReadMasked(_ context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	a.mu.Lock()
	a.reads = append(a.reads, cloneBox(box))
	a.mu.Unlock()
	if a.readErr != nil {
		if err := a.readErr(box); err != nil {
			return err
		}
	}
	src, err := a.all().Sub(box)
	if err == nil {
		err = ndarray.Copy(dst, src)
	}
	if err != nil {
		return err
	}
	if clear(mask); !slices.Contains(a.mask, 1) {
		return nil
	}
	k := 0
	err = a.each(box, func(i int64) { mask[k] = a.mask[i]; k++ })
	if slices.Contains(mask[:k], 1) {
		for i, b := 0, dst.Bytes(); i < k; i++ {
			if mask[i] != 0 {
				clear(b[i*dst.DType.Size : (i+1)*dst.DType.Size])
			}
		}
	}
	return err
}

func (a *toyArray) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	return a.WriteMasked(ctx, box, src, nil)
}

func (a *toyArray) WriteMasked(_ context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if a.rowsOnly {
		if box.Start[0] != a.nextRow || !slices.Equal(box.Count[1:], a.spec.Shape[1:]) {
			return NewError(ErrOrder, "whole rows only")
		}
		a.nextRow += box.Count[0]
	}
	a.writes = append(a.writes, cloneBox(box))
	dst, err := a.all().Sub(box)
	if err == nil {
		err = ndarray.Copy(dst, src)
	}
	if err != nil {
		return err
	}
	if a.spec.Chunks != nil {
		cells := newTiling(box, a.spec.Chunks, 1, 0)
		for cell := range cells.all() {
			a.chunks[a.key(cell)] = true
		}
	}
	if mask == nil && !slices.Contains(a.mask, 1) {
		return nil
	}
	k := 0
	return a.each(box, func(i int64) {
		if a.mask[i] = 0; mask != nil {
			a.mask[i] = mask[k]
		}
		k++
	})
}

func (a *toyArray) ReadStrings(_ context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (need int64, err error) {
	a.reads = append(a.reads, cloneBox(box))
	k := 0
	offsets[0] = 0
	err = a.each(box, func(i int64) {
		if mask != nil {
			mask[k] = a.mask[i]
		}
		if need+int64(len(a.texts[i])) <= int64(len(data)) {
			copy(data[need:], a.texts[i])
		}
		need += int64(len(a.texts[i]))
		k++
		offsets[k] = need
	})
	if err == nil && need > int64(len(data)) {
		err = NewError(ErrBuffer, "")
	}
	return need, err
}

func (a *toyArray) WriteStrings(_ context.Context, box ndarray.Box, offsets []int64, data, mask []byte) error {
	a.writes = append(a.writes, cloneBox(box))
	k := 0
	return a.each(box, func(i int64) {
		a.texts[i] = string(data[offsets[k]:offsets[k+1]])
		if mask != nil {
			a.mask[i] = mask[k]
		}
		k++
	})
}

// key names the chunk that a box begins in.
func (a *toyArray) key(box ndarray.Box) string {
	var index []int64
	for axis, start := range box.Start {
		index = append(index, start/a.spec.Chunks[axis])
	}
	return shapeText(index)
}

// chunkBox is the part of a chunk that lies in the array.
func (a *toyArray) chunkBox(index []int64) ndarray.Box {
	box := ndarray.Full(a.spec.Shape)
	for axis, i := range index {
		box.Start[axis] = i * a.spec.Chunks[axis]
		box.Count[axis] = min(a.spec.Chunks[axis], a.spec.Shape[axis]-box.Start[axis])
	}
	return box
}

func (a *toyArray) ChunkEncoding() string { return a.file.encoding }

func (a *toyArray) ReadChunk(_ context.Context, index []int64, buf []byte) ([]byte, int64, error) {
	a.chunkReads++
	if !a.chunks[shapeText(index)] {
		return nil, 0, nil
	}
	whole, err := ndarray.NewBuffer(a.spec.DType, a.spec.Chunks)
	if err != nil {
		return nil, 0, err
	}
	box := a.chunkBox(index)
	part, err := whole.Sub(ndarray.Box{Start: make([]int64, len(index)), Count: box.Count})
	if err != nil {
		return nil, 0, err
	}
	src, err := a.all().Sub(box)
	if err == nil {
		err = ndarray.Copy(part, src)
	}
	raw := append(buf[:0], whole.Data...)
	if slices.Equal(index, []int64{0, 0}) && a.file.name == "short" {
		raw = raw[:len(raw)/2]
	}
	return raw, int64(len(raw)), err
}

func (a *toyArray) WriteChunk(_ context.Context, index []int64, raw []byte) error {
	if a.refuseChunk {
		return NewError(ErrNotSupported, "not this chunk")
	}
	whole := ndarray.Buffer{DType: a.spec.DType, Shape: a.spec.Chunks, Data: raw}
	if err := whole.Check(); err != nil {
		return err
	}
	a.chunkWrites++
	a.chunks[shapeText(index)] = true
	box := a.chunkBox(index)
	part, err := whole.Sub(ndarray.Box{Start: make([]int64, len(index)), Count: box.Count})
	if err != nil {
		return err
	}
	dst, err := a.all().Sub(box)
	if err != nil {
		return err
	}
	return ndarray.Copy(dst, part)
}

// toyTable makes a table of columns, of which chunks[i] rows are in a chunk (0: none).
func toyTable(cols ...*toyArray) *toyFile {
	f := &toyFile{toy: newToy("toy", Table, CapMasked|CapChunked), attrs: NewAttrs(), arrays: cols}
	for i, c := range cols {
		if c.name == "" {
			c.name = "c" + strconv.Itoa(i)
		}
	}
	return f
}

var errToy = errors.New("toy")
