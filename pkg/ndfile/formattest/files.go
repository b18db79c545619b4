package formattest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxRead bounds in bytes what the suite reads of one array: damaged files may
// claim anything that their format can hold.
const maxRead = 4 << 20

// item is what Save takes of an array.
func (a *array) item(l layout) ndfile.Item {
	it := ndfile.Item{Name: a.name, Dims: a.dims, Attrs: a.attrs}
	it.Data = ndarray.Buffer{DType: a.dtype, Shape: a.shape}
	if a.masked {
		it.Mask = a.mask()
	}
	if a.dtype.IsVar() {
		it.Offsets, it.Data.Data = a.strings()
		return it
	}
	l.order = a.dtype.Order // on disk it is that of the data
	it.Data = a.fill(l.buffer(a.dtype, a.shape))
	return it
}

// spec is what Add takes of an array.
func (a *array) spec() ndfile.Spec {
	return ndfile.Spec{DType: a.dtype, Shape: a.shape, Masked: a.masked, NoData: a.noData, Dims: a.dims, Attrs: a.attrs,
		Chunks: a.chunks, Fill: a.storedFill()}
}

// writeBox writes a box of a model array into an array of a file.
func (a *array) writeBox(dst ndfile.Array, box ndarray.Box, l layout) error {
	b := a.sub(box)
	var mask []byte
	if a.masked {
		mask = b.mask()
	}
	if a.dtype.IsVar() {
		str, ok := dst.(ndfile.Strings)
		if !ok {
			return fmt.Errorf("an array of dtype %s does not implement Strings", a.dtype)
		}
		offsets, data := b.strings()
		return str.WriteStrings(ctx, box, offsets, data, mask)
	}
	src := b.fill(l.buffer(a.dtype, b.shape))
	if mask == nil {
		return dst.WriteBox(ctx, box, src)
	}
	m, ok := dst.(ndfile.Masked)
	if !ok {
		return fmt.Errorf("the array does not implement Masked")
	}
	return m.WriteMasked(ctx, box, src, mask)
}

// put writes all elements of a into a box of an array, one that need not be inside.
func (a *array) put(ctx context.Context, dst ndfile.Array, box ndarray.Box) error {
	if str, ok := dst.(ndfile.Strings); ok && a.dtype.IsVar() {
		offsets, data := a.strings()
		return str.WriteStrings(ctx, box, offsets, data, nil)
	}
	return dst.WriteBox(ctx, box, a.fill(layouts[0].buffer(a.dtype, a.shape)))
}

// way is one of the ways to write a file.
type way struct {
	name  string
	write func(s *suite, fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions) error
}

// ways are the ways that the format has.
func (s *suite) ways() []way {
	w := []way{
		{"save", (*suite).save},
		{"whole", (*suite).writeWhole},
		{"rows", (*suite).writeRows},
	}
	if !s.has(ndfile.CapWriteOnce) {
		w = append(w, way{"boxes", (*suite).writeBoxes})
	}
	return w
}

func (s *suite) layout() layout { return layouts[s.rng.IntN(len(layouts))] }

func (s *suite) save(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions) error {
	var items []ndfile.Item
	for _, a := range c.arrays {
		items = append(items, a.item(s.layout()))
	}
	return ndfile.Save(ctx, s.cfg.Formats, path, items, ndfile.SaveOptions{FS: fsys, Format: s.format.Name(), WriteOptions: opt, Attrs: c.attrs})
}

func (s *suite) create(fsys ndfile.FS, path string, opt ndfile.WriteOptions, attrs *ndfile.Attrs) (ndfile.File, error) {
	return ndfile.Create(ctx, s.cfg.Formats, path, ndfile.CreateOptions{FS: fsys, Format: s.format.Name(), WriteOptions: opt, Attrs: attrs})
}

// begin creates a file with the arrays of c, written by write, and leaves it open.
func (s *suite) begin(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions, write func(dst ndfile.Array, a *array) error) (ndfile.File, error) {
	f, err := s.create(fsys, path, opt, c.attrs)
	if err != nil {
		return nil, err
	}
	for _, a := range c.arrays {
		dst, err := f.Add(ctx, a.name, a.spec())
		if err == nil && !a.noData {
			err = write(dst, a)
		}
		if err != nil {
			f.Abort()
			return nil, err
		}
	}
	return f, nil
}

// fileWith is begin, and closes the file.
func (s *suite) fileWith(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions, write func(dst ndfile.Array, a *array) error) error {
	f, err := s.begin(fsys, path, c, opt, write)
	if err != nil {
		return err
	}
	return f.Close(ctx)
}

// whole writes all of an array at once.
func (s *suite) whole(dst ndfile.Array, a *array) error {
	return a.writeBox(dst, ndarray.Full(a.shape), s.layout())
}

func (s *suite) writeWhole(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions) error {
	return s.fileWith(fsys, path, c, opt, s.whole)
}

func (s *suite) writeRows(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions) error {
	return s.fileWith(fsys, path, c, opt, func(dst ndfile.Array, a *array) error {
		if len(a.shape) == 0 || a.shape[0] == 0 {
			return s.whole(dst, a)
		}
		for row := int64(0); row < a.shape[0]; {
			next := min(row+1+s.rng.Int64N(max(3, a.shape[0]/4)), a.shape[0])
			if err := a.writeBox(dst, rowBox(a.shape, row, next), s.layout()); err != nil {
				return err
			}
			row = next
		}
		return nil
	})
}

// writeBoxes writes each element alone, backwards, with random boxes between.
func (s *suite) writeBoxes(fsys ndfile.FS, path string, c *content, opt ndfile.WriteOptions) error {
	return s.fileWith(fsys, path, c, opt, func(dst ndfile.Array, a *array) (err error) {
		var boxes []ndarray.Box
		each(a.shape, func(_ int, index []int64) {
			b := ndarray.Box{Start: slices.Clone(index), Count: make([]int64, len(index))}
			for i := range b.Count {
				b.Count[i] = 1
			}
			boxes = append(boxes, b, s.box(a.shape))
		})
		for i := len(boxes) - 1; i >= 0 && err == nil; i-- {
			err = a.writeBox(dst, boxes[i], s.layout())
		}
		return err
	})
}

// open opens a file for reading.
func (s *suite) open(fsys ndfile.FS, path string) (ndfile.File, error) {
	return ndfile.Open(ctx, s.cfg.Formats, path, ndfile.OpenOptions{FS: fsys})
}

// adopt takes over the fill value of a Spec.
func (a *array) adopt(spec ndfile.Spec) {
	a.unset = slices.Clone(spec.Fill)
	if a.unset != nil && spec.DType.Swapped() {
		ndarray.SwapBytes(a.unset, spec.DType)
	}
}

// update opens a file for changes.
func (s *suite) update(fsys ndfile.FS, path string) (ndfile.File, error) {
	return ndfile.Open(ctx, s.cfg.Formats, path, ndfile.OpenOptions{FS: fsys, Mode: ndfile.Update, Sync: s.synced})
}

// readBox reads a box of an array of a file into a model array.
func readBox(src ndfile.Array, box ndarray.Box, l layout) (*array, error) {
	spec := src.Spec()
	a := &array{dtype: spec.DType, shape: box.Count, masked: spec.Masked, dims: spec.Dims, attrs: src.Attrs(), chunks: spec.Chunks}
	a.adopt(spec)
	n := count(box.Count)
	m, isMasked := src.(ndfile.Masked)
	var mask []byte
	if isMasked {
		mask = make([]byte, n)
		for i := range mask {
			mask[i] = untouched
		}
	}
	if spec.DType.IsVar() {
		str, ok := src.(ndfile.Strings)
		if !ok {
			return nil, fmt.Errorf("an array of dtype %s does not implement Strings", spec.DType)
		}
		offsets := make([]int64, n+1)
		need, err := str.ReadStrings(ctx, box, offsets, nil, mask)
		if err != nil && !errors.Is(err, ndfile.ErrBuffer) {
			return nil, err
		}
		if need < 0 || need > maxRead {
			return nil, ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("%d bytes of strings", need))
		}
		data := make([]byte, need)
		if need > 0 {
			if _, err = str.ReadStrings(ctx, box, offsets, data, mask); err != nil {
				return nil, err
			}
		}
		if err := checkMaskBytes(mask); err != nil {
			return nil, err
		}
		a.elems, err = cut(offsets, data, mask)
		return a, err
	}
	dst := l.buffer(spec.DType, box.Count)
	var err error
	if isMasked {
		err = m.ReadMasked(ctx, box, dst, mask)
	} else {
		err = src.ReadBox(ctx, box, dst)
	}
	if err == nil {
		err = checkMaskBytes(mask)
	}
	if err != nil {
		return nil, err
	}
	a.elems, err = drain(dst, mask)
	return a, err
}

func checkMaskBytes(mask []byte) error {
	for i, b := range mask {
		if b > 1 {
			return fmt.Errorf("mask byte %d is %d, expected 0 or 1", i, b)
		}
	}
	return nil
}

// read reads a whole file through Open.
func (s *suite) read(fsys ndfile.FS, path string) (*content, error) {
	f, err := s.open(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	return s.readFile(f)
}

func (s *suite) readFile(f ndfile.File) (*content, error) {
	c := &content{attrs: f.Attrs()}
	for _, name := range f.Names() {
		src, err := f.Array(name)
		if err != nil {
			return nil, err
		}
		if c.find(name) != nil {
			return nil, fmt.Errorf("Names lists %q twice", name)
		}
		spec := src.Spec()
		a := &array{dtype: spec.DType, noData: true, dims: spec.Dims, attrs: src.Attrs()}
		if !spec.NoData {
			n, err := ndarray.NBytes(spec.Shape, max(spec.DType.Size, 1))
			if err != nil {
				return nil, err
			}
			box := ndarray.Full(spec.Shape)
			if n > maxRead { // a damaged file; the last element will do
				for axis := range box.Start {
					box.Start[axis], box.Count[axis] = spec.Shape[axis]-1, 1
				}
			}
			if a, err = readBox(src, box, s.layout()); err != nil {
				return nil, err
			}
		}
		a.name = name
		c.arrays = append(c.arrays, a)
	}
	return c, checkDescription(f)
}

// load reads a file through Load: first into nothing, then into what is needed.
// one names the only array to load, nil loads all.
func (s *suite) load(fsys ndfile.FS, path string, one *string) (*content, error) {
	sink := &ndfile.Sink{}
	if one != nil {
		sink.One, sink.Name = true, *one
	}
	err := ndfile.Load(ctx, s.cfg.Formats, fsys, path, sink)
	if err != nil && !errors.Is(err, ndfile.ErrBuffer) {
		return nil, err
	}
	if sink.Need < 0 || sink.Need > maxRead || sink.N > maxRead {
		return nil, ndfile.NewError(ndfile.ErrLimit, fmt.Sprintf("%d bytes needed for %d arrays", sink.Need, sink.N)).On(path)
	}
	if err == nil && (sink.N > 0 || sink.Need > 0) {
		return nil, fmt.Errorf("Load into nothing succeeded, and needs %d bytes and %d infos", sink.Need, sink.N)
	}
	n, need := sink.N, sink.Need
	const beyond = 8
	buf := make([]byte, need+beyond)
	for i := range buf {
		buf[i] = untouched
	}
	sink.Infos, sink.Buf, sink.N, sink.Need = make([]ndfile.LoadInfo, n), buf[:need:need+beyond], 0, 0
	if err := ndfile.Load(ctx, s.cfg.Formats, fsys, path, sink); err != nil {
		return nil, err
	}
	if sink.N != n || sink.Need != need {
		return nil, fmt.Errorf("the second Load needs %d bytes and %d infos, the first %d and %d", sink.Need, sink.N, need, n)
	}
	for _, b := range buf[need:] {
		if b != untouched {
			return nil, fmt.Errorf("Load wrote behind the buffer")
		}
	}
	c, err := unpack(sink)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return c, err
}

// span is a part of a sink's buffer.
type span struct{ off, len int64 }

// unpack takes arrays out of a sink and checks how they lie in it.
func unpack(sink *ndfile.Sink) (*content, error) {
	c := &content{}
	var spans []span
	part := func(off, n, align int64) ([]byte, error) {
		if off < 0 || n < 0 || off > int64(len(sink.Buf))-n {
			return nil, fmt.Errorf("%d bytes at %d in a buffer of %d", n, off, len(sink.Buf))
		}
		if n > 0 && off%align != 0 {
			return nil, fmt.Errorf("offset %d is not a multiple of %d", off, align)
		}
		spans = append(spans, span{off, n})
		return sink.Buf[off : off+n], nil
	}
	text := func(off, n int64) (string, error) {
		b, err := part(off, n+1, 1)
		if err == nil && b[n] != 0 {
			err = fmt.Errorf("no NUL behind the text %q", b[:n])
		}
		if err != nil {
			return "", err
		}
		return string(b[:n]), nil
	}
	for i := range sink.Infos {
		li := &sink.Infos[i]
		a := &array{shape: slices.Clone(li.Shape[:li.NDim]), masked: li.Flags&ndfile.InfoMasked != 0, noData: li.Flags&ndfile.InfoNoData != 0}
		var err error
		if a.name, err = text(li.NameOffset, li.NameLen); err != nil {
			return nil, err
		}
		dtype := string(li.DType[:max(slices.Index(li.DType[:], 0), 0)])
		if li.DTypeLen > 0 {
			if dtype, err = text(li.DTypeOffset, li.DTypeLen); err != nil {
				return nil, err
			}
		}
		if a.dtype, err = ndarray.Parse(dtype); err != nil {
			return nil, err
		}
		c.arrays = append(c.arrays, a)
		if a.noData {
			continue
		}
		if li.Count != int64(count(a.shape)) || li.ItemSize != int64(a.dtype.Size) || a.dtype.Swapped() ||
			(li.Flags&ndfile.InfoStrings != 0) != a.dtype.IsVar() || a.masked != (li.MaskOffset >= 0) || a.dtype.IsVar() != (li.OffsetsOffset >= 0) {
			return nil, fmt.Errorf("array %q: the info does not fit together: %+v", a.name, li)
		}
		var mask []byte
		if a.masked {
			if mask, err = part(li.MaskOffset, li.Count, ndfile.Alignment); err != nil {
				return nil, err
			}
			if err := checkMaskBytes(mask); err != nil {
				return nil, err
			}
		}
		data, err := part(li.DataOffset, li.DataLen, ndfile.Alignment)
		if err != nil {
			return nil, err
		}
		if a.dtype.IsVar() {
			raw, err := part(li.OffsetsOffset, 8*(li.Count+1), ndfile.Alignment)
			if err != nil {
				return nil, err
			}
			offsets := make([]int64, li.Count+1)
			for i := range offsets {
				offsets[i] = int64(binary.NativeEndian.Uint64(raw[8*i:]))
			}
			if a.elems, err = cut(offsets, data, mask); err != nil {
				return nil, err
			}
			continue
		}
		if li.DataLen != li.Count*li.ItemSize {
			return nil, fmt.Errorf("array %q: %d bytes for %d elements of %d", a.name, li.DataLen, li.Count, li.ItemSize)
		}
		if a.elems, err = drain(ndarray.Buffer{DType: a.dtype, Shape: a.shape, Data: slices.Clone(data)}, mask); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.off - b.off) })
	for i := 1; i < len(spans); i++ {
		if end := spans[i-1].off + spans[i-1].len; spans[i].len > 0 && end > spans[i].off {
			return nil, fmt.Errorf("parts of the buffer overlap: %v, %v", spans[i-1], spans[i])
		}
	}
	return c, nil
}

// expect reads a file in both ways and compares it with the model; Verify must
// find nothing.
func (s *suite) expect(fsys ndfile.FS, path string, want *content) {
	s.tb.Helper()
	if err := s.compare(fsys, path, want); err != nil {
		s.errorf("%v", err)
	}
	s.healthy(fsys, path)
}

func (s *suite) compare(fsys ndfile.FS, path string, want *content) error {
	got, err := s.read(fsys, path)
	if err == nil {
		err = s.sameContent(got, want)
	}
	if err != nil {
		return fmt.Errorf("Open: %w", err)
	}
	loaded, err := s.load(fsys, path, nil)
	if err == nil {
		err = s.sameArrays(loaded, want, s.sameValues)
	}
	if err != nil {
		return fmt.Errorf("Load: %w", err)
	}
	for i, a := range got.arrays {
		if loaded.arrays[i].name != a.name {
			return fmt.Errorf("Load gives array %d as %q, Names as %q", i, loaded.arrays[i].name, a.name)
		}
	}
	return nil
}
