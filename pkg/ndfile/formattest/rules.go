package formattest

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// says checks that an error names the file and, in files of named arrays, the
// array. The functions of package ndfile name the file; methods need not, their
// callers know it, and path is "".
func (s *suite) says(err error, path, name string, named bool) {
	s.tb.Helper()
	if err == nil {
		return // reported by fails
	}
	if !strings.Contains(err.Error(), path) {
		s.errorf("the error does not name the file %s: %v", path, err)
	}
	if named && s.kind != ndfile.Single && !strings.Contains(err.Error(), strconv.Quote(name)) {
		s.errorf("the error does not name the array %q: %v", name, err)
	}
}

// checkErrors makes bad requests of good files.
func checkErrors(s *suite) {
	mem, path := ndfile.NewMem(), s.path("errors")
	_, err := s.open(mem, s.path("missing"))
	s.in("Open of nothing").fails(err, ndfile.ErrNotFound)
	s.says(err, s.path("missing"), "", false)
	_, err = s.format.Open(ctx, mem, s.path("missing"), ndfile.OpenOptions{})
	s.in("Format.Open of nothing").fails(err, ndfile.ErrNotFound)
	_, err = s.load(mem, s.path("missing"), nil)
	s.in("Load of nothing").fails(err, ndfile.ErrNotFound)
	s.says(err, s.path("missing"), "", false)
	_, err = s.create(mem, "/no folder"+s.path("f"), ndfile.WriteOptions{}, nil)
	if err == nil { // a format may touch the disk at Close only
		err = s.save(mem, "/no folder"+s.path("f"), s.sample(2), ndfile.WriteOptions{})
	}
	s.in("Create in a folder that does not exist").fails(err, ndfile.ErrNotFound)
	s.says(err, "/no folder", "", false)

	shape := []int64{4, 3}
	if !s.stores(shape) {
		shape = shape[:1]
	}
	d := s.dtypes[0]
	if i := slices.IndexFunc(s.dtypes, func(d ndarray.DType) bool { return !d.IsVar() }); i >= 0 {
		d = s.dtypes[i]
	}
	a := s.random("", d, shape...)
	c := s.files([]*array{a})[0]
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	before := s.tree(mem, "/")
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()

	_, err = f.Array("no such array")
	s.in("unknown name").fails(err, ndfile.ErrName)
	s.says(err, "", "no such array", true)
	src, err := f.Array(a.name)
	s.ok(err)

	full := ndarray.Full(shape)
	long := append(slices.Clone(shape), 1)
	shifted := ndarray.Full(shape)
	shifted.Start[0] = 1
	negative := ndarray.Full(shape)
	negative.Start[0], negative.Count[0] = -1, 1
	huge := ndarray.Full(shape)
	huge.Step = slices.Repeat([]int64{1}, len(shape))
	huge.Step[0] = math.MaxInt64
	still := ndarray.Full(shape)
	still.Step = make([]int64, len(shape))
	fewer := slices.Clone(shape)
	fewer[0]--
	short := layouts[0].buffer(d, shape)
	short.Data = short.Data[:len(short.Data)-1]
	far := layouts[0].buffer(d, shape)
	far.Strides = slices.Repeat([]int64{math.MaxInt64}, len(shape))
	for _, bad := range []struct {
		name  string
		box   ndarray.Box
		dst   ndarray.Buffer
		kinds []*ndfile.ErrorKind
	}{
		{"a box of other rank", ndarray.Full(long), layouts[0].buffer(d, long), []*ndfile.ErrorKind{ndfile.ErrShape}},
		{"a box without axes", ndarray.Box{}, layouts[0].buffer(d, nil), []*ndfile.ErrorKind{ndfile.ErrShape}},
		{"a box beyond the end", shifted, layouts[0].buffer(d, shape), []*ndfile.ErrorKind{ndfile.ErrBounds}},
		{"a negative start", negative, layouts[0].buffer(d, negative.Count), []*ndfile.ErrorKind{ndfile.ErrBounds}},
		{"a huge step", huge, layouts[0].buffer(d, shape), []*ndfile.ErrorKind{ndfile.ErrBounds}},
		{"a step of 0", still, layouts[0].buffer(d, shape), []*ndfile.ErrorKind{ndfile.ErrBounds}},
		{"a destination of another shape", full, layouts[0].buffer(d, fewer), []*ndfile.ErrorKind{ndfile.ErrShape}},
		{"a destination of another rank", full, layouts[0].buffer(d, long), []*ndfile.ErrorKind{ndfile.ErrShape}},
		{"a destination that is too short", full, short, []*ndfile.ErrorKind{ndfile.ErrBounds, ndfile.ErrBuffer, ndfile.ErrShape}},
		{"strides that overflow", full, far, []*ndfile.ErrorKind{ndfile.ErrBounds, ndfile.ErrShape}},
		{"a dtype that does not hold the values", full, layouts[0].buffer(ndarray.MustParse("|V77"), shape), []*ndfile.ErrorKind{ndfile.ErrDType}},
		{"no dtype", full, ndarray.Buffer{Shape: shape, Data: make([]byte, 1000)}, []*ndfile.ErrorKind{ndfile.ErrDType}},
	} {
		s := s.in("ReadBox with %s", bad.name)
		memory := slices.Clone(bad.dst.Data)
		err := src.ReadBox(ctx, bad.box, bad.dst)
		s.fails(err, bad.kinds...)
		s.says(err, "", a.name, true)
		if !slices.Equal(memory, bad.dst.Data) {
			s.errorf("the destination was changed")
		}
		if m, ok := src.(ndfile.Masked); ok {
			err := m.ReadMasked(ctx, bad.box, bad.dst, make([]byte, count(bad.box.Count)))
			s.in("masked").fails(err, bad.kinds...)
		}
	}

	s.in("WriteBox on a file open for reading").fails(src.WriteBox(ctx, full, layouts[0].buffer(d, shape)), ndfile.ErrReadOnly)
	if m, ok := src.(ndfile.Masked); ok {
		s.in("WriteMasked on a file open for reading").fails(m.WriteMasked(ctx, full, layouts[0].buffer(d, shape), nil), ndfile.ErrReadOnly)
	}
	if str, ok := src.(ndfile.Strings); ok {
		err := str.WriteStrings(ctx, full, make([]int64, count(shape)+1), nil, nil)
		s.in("WriteStrings on a file open for reading").fails(err, ndfile.ErrReadOnly, ndfile.ErrDType)
	}
	_, err = f.Add(ctx, "new", ndfile.Spec{DType: d, Shape: shape})
	s.in("Add to a file open for reading").fails(err, ndfile.ErrReadOnly)
	s.ok(f.Close(ctx))
	s.sameTree(mem, before)
}

// checkBadSpecs adds arrays and writes boxes that cannot be.
func checkBadSpecs(s *suite) {
	d := s.dtypes[0]
	name := "v"
	if s.kind == ndfile.Single {
		name = ""
	}
	for _, bad := range []struct {
		name  string
		spec  ndfile.Spec
		kinds []*ndfile.ErrorKind
	}{
		{"a negative extent", ndfile.Spec{DType: d, Shape: []int64{-1}}, []*ndfile.ErrorKind{ndfile.ErrShape}},
		{"too many elements", ndfile.Spec{DType: d, Shape: []int64{1 << 40, 1 << 40}}, []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrLimit, ndfile.ErrNotSupported}},
		{"too many axes", ndfile.Spec{DType: d, Shape: slices.Repeat([]int64{1}, ndarray.MaxNDim+1)}, []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrLimit, ndfile.ErrNotSupported}},
		{"no dtype", ndfile.Spec{Shape: []int64{2}}, []*ndfile.ErrorKind{ndfile.ErrDType}},
		{"fewer dims than axes", ndfile.Spec{DType: d, Shape: []int64{2, 2}, Dims: []string{"x"}}, []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrValue, ndfile.ErrNotSupported}},
		{"more dims than axes", ndfile.Spec{DType: d, Shape: []int64{2}, Dims: []string{"x", "y"}}, []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrValue, ndfile.ErrNotSupported}},
	} {
		s := s.in("Add with %s", bad.name)
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
		s.ok(err)
		_, err = f.Add(ctx, name, bad.spec)
		s.fails(err, bad.kinds...)
		s.says(err, "", name, true)
		// The refusal does no harm.
		c := s.files([]*array{s.random("", d, 2)})[0]
		a := c.arrays[0]
		dst, err := f.Add(ctx, a.name, a.spec())
		s.ok(err)
		s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
	}

	for _, d := range s.dtypes {
		if d.IsVar() {
			continue
		}
		other := slices.IndexFunc(allDTypes, func(n string) bool {
			e := ndarray.MustParse(n)
			return !e.IsVar() && !ndarray.CanConvert(e, s.stored(d)) && !ndarray.CanConvert(e, d)
		})
		c := s.files([]*array{s.random("", d, 4)})[0]
		a := c.arrays[0]
		outside := ndarray.Box{Start: []int64{3}, Count: []int64{2}}
		for _, bad := range []struct {
			name  string
			box   ndarray.Box
			src   ndarray.Buffer
			kinds []*ndfile.ErrorKind
		}{
			{"a box beyond the end", outside, layouts[0].buffer(d, outside.Count), []*ndfile.ErrorKind{ndfile.ErrBounds, ndfile.ErrOrder}},
			{"a box of other rank", ndarray.Full([]int64{4, 1}), layouts[0].buffer(d, []int64{4, 1}), []*ndfile.ErrorKind{ndfile.ErrShape}},
			{"a source of another shape", ndarray.Full(a.shape), layouts[0].buffer(d, []int64{3}), []*ndfile.ErrorKind{ndfile.ErrShape}},
			{"a source that is too short", ndarray.Full(a.shape), ndarray.Buffer{DType: d, Shape: a.shape}, []*ndfile.ErrorKind{ndfile.ErrBounds, ndfile.ErrBuffer, ndfile.ErrShape}},
			{"a dtype that loses values", ndarray.Full(a.shape), layouts[0].buffer(ndarray.MustParse(allDTypes[other]), a.shape), []*ndfile.ErrorKind{ndfile.ErrDType}},
		} {
			s := s.in("%s, WriteBox with %s", d, bad.name)
			mem, path := ndfile.NewMem(), s.path("f")
			f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
			s.ok(err)
			dst, err := f.Add(ctx, a.name, a.spec())
			s.ok(err)
			err = dst.WriteBox(ctx, bad.box, bad.src)
			s.fails(err, bad.kinds...)
			s.says(err, "", a.name, true)
			s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
			s.ok(f.Close(ctx))
			s.expect(mem, path, c)
		}
	}
}

// checkWriteOrder writes blocks out of order, twice, by columns and not at all:
// each write is refused with ErrOrder or does what it says, and a refused one does
// no harm.
func checkWriteOrder(s *suite) {
	rows := func(from, to int64) ndarray.Box {
		return ndarray.Box{Start: []int64{from, 0}, Count: []int64{to - from, 2}}
	}
	column := func(i int64) ndarray.Box {
		return ndarray.Box{Start: []int64{0, i}, Count: []int64{6, 1}}
	}
	odd := ndarray.Box{Start: []int64{1, 0}, Count: []int64{3, 2}, Step: []int64{2, 1}}
	plans := []struct {
		name  string
		boxes []ndarray.Box
	}{
		{"backwards", []ndarray.Box{rows(3, 6), rows(0, 3)}},
		{"a gap", []ndarray.Box{rows(0, 2), rows(4, 6), rows(2, 4)}},
		{"twice", []ndarray.Box{rows(0, 6), rows(0, 6)}},
		{"overlapping", []ndarray.Box{rows(0, 4), rows(2, 6)}},
		{"the same rows again", []ndarray.Box{rows(0, 2), rows(0, 2), rows(2, 6)}},
		{"empty blocks", []ndarray.Box{rows(0, 0), rows(0, 3), rows(3, 3), rows(3, 6), rows(6, 6)}},
		{"columns", []ndarray.Box{column(0), column(1)}},
		{"every other row", []ndarray.Box{odd}},
		{"part of a row", []ndarray.Box{rows(0, 1), {Start: []int64{1, 0}, Count: []int64{1, 1}}, {Start: []int64{1, 1}, Count: []int64{1, 1}}}},
		{"half", []ndarray.Box{rows(0, 3)}},
		{"nothing", nil},
	}
	shape := []int64{6, 2}
	if !s.stores(shape) {
		return
	}
	for _, d := range s.dtypes {
		for _, masked := range []bool{false, true} {
			if masked && !s.has(ndfile.CapMasked) {
				continue
			}
			for _, p := range plans {
				s := s.in("%s, masked: %t, %s", d, masked, p.name)
				block := func(b ndarray.Box) *array {
					a := s.random("", d, b.Count...)
					if masked {
						s.hide(a, 3)
					}
					return a
				}
				want := block(ndarray.Full(shape))
				c := s.files([]*array{want})[0]
				mem, path := ndfile.NewMem(), s.path("f")
				f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
				s.ok(err)
				dst, err := f.Add(ctx, want.name, want.spec())
				s.ok(err)
				written := make([]bool, count(shape))
				try := func(b ndarray.Box) {
					src := block(b)
					// writeBox writes what the model holds
					model := *want
					model.elems = slices.Clone(want.elems)
					model.assign(b, src)
					if err := model.writeBox(dst, b, s.layout()); err != nil {
						s.fails(err, ndfile.ErrOrder)
						s.says(err, "", want.name, true)
						return
					}
					want.assign(b, src)
					for _, at := range picked(shape, b) {
						written[at] = true
					}
				}
				for _, b := range p.boxes {
					try(b)
				}
				if p.name != "half" && p.name != "nothing" {
					for row := range shape[0] {
						if !written[2*row] || !written[2*row+1] {
							try(rows(row, row+1))
						}
					}
				}
				err = f.Close(ctx)
				if slices.Contains(written, false) {
					s.in("Close with elements that were not written").fails(err, ndfile.ErrOrder)
					s.says(err, "", want.name, true)
					s.only(mem)
					continue
				}
				s.ok(err)
				s.expect(mem, path, c)
			}
		}
	}
	s.checkInterleaved()
}

// checkInterleaved writes rows of all arrays of a file in turn.
func (s *suite) checkInterleaved() {
	c := s.sample(5)
	mem, path := ndfile.NewMem(), s.path("f")
	f, err := s.create(mem, path, ndfile.WriteOptions{}, c.attrs)
	s.ok(err)
	defer f.Abort()
	var dst []ndfile.Array
	for _, a := range c.arrays {
		to, err := f.Add(ctx, a.name, a.spec())
		s.ok(err)
		dst = append(dst, to)
	}
	for row := range c.arrays[0].shape[0] {
		for i, a := range c.arrays {
			s.ok(a.writeBox(dst[i], rowBox(a.shape, row, row+1), s.layout()))
		}
	}
	s.ok(f.Close(ctx))
	s.in("rows of all arrays in turn").expect(mem, path, c)
}

// checkReadWhileWriting reads what was written to a file that is being created:
// the values or a refusal.
func checkReadWhileWriting(s *suite) {
	c := s.sample(4)
	mem, path := ndfile.NewMem(), s.path("f")
	f, err := s.create(mem, path, ndfile.WriteOptions{}, c.attrs)
	s.ok(err)
	for _, a := range c.arrays {
		_, err := f.Add(ctx, a.name, a.spec())
		s.ok(err)
		if !slices.Contains(f.Names(), a.name) {
			s.errorf("Names does not list %q", a.name)
		}
		dst, err := f.Array(a.name)
		s.ok(err)
		if got := dst.Spec(); !got.DType.Native().Equal(s.stored(a.dtype).Native()) || !slices.Equal(got.Shape, a.shape) {
			s.errorf("Spec of %q is %s %v, expected %s %v", a.name, got.DType, got.Shape, a.dtype, a.shape)
		}
		for row := range a.shape[0] {
			s.ok(a.writeBox(dst, rowBox(a.shape, row, row+1), s.layout()))
			box := rowBox(a.shape, 0, row+1)
			got, err := readBox(dst, box, layouts[0])
			if err != nil {
				s.in("%q", a.name).fails(err, ndfile.ErrNotSupported, ndfile.ErrOrder)
				s.says(err, "", a.name, true)
			} else if err := sameElems(got.elems, a.sub(box).elems); err != nil {
				s.errorf("%q: %v", a.name, err)
			}
		}
	}
	s.ok(f.Close(ctx))
	s.expect(mem, path, c)
}

// calm runs fn and reports a panic.
func (s *suite) calm(what string, fn func() error) (err error) {
	s.tb.Helper()
	defer func() {
		s.tb.Helper()
		if p := recover(); p != nil {
			s.errorf("%s: panic: %v", what, p)
			err = ndfile.ErrInternal
		}
	}()
	return fn()
}

// checkLifecycle closes and aborts in every order, and uses files afterwards.
func checkLifecycle(s *suite) {
	old, c := s.sample(3), s.sample(4)
	a := c.arrays[0]
	for _, replace := range []bool{false, true} {
		s := s.in("replace: %t", replace)
		mem, path := ndfile.NewMem(), s.path("f")
		w := newWatch(mem)
		if replace {
			s.ok(s.save(mem, path, old, ndfile.WriteOptions{}))
		}
		before := s.tree(mem, "/")
		asBefore := func(s *suite) {
			s.tb.Helper()
			s.sameTree(mem, before)
			if open := w.left(); len(open) > 0 {
				s.errorf("still open: %q", open)
			}
		}

		// Abort at once, after Add, after a block.
		var f ndfile.File
		var dst ndfile.Array
		var err error
		start := func(steps int) {
			s.tb.Helper()
			f, err = s.create(w, path, ndfile.WriteOptions{}, c.attrs)
			s.ok(err)
			for i, b := range c.arrays {
				if steps < 2*i+1 {
					return
				}
				dst, err = f.Add(ctx, b.name, b.spec())
				s.ok(err)
				if steps < 2*i+2 {
					return
				}
				s.ok(b.writeBox(dst, ndarray.Full(b.shape), layouts[0]))
			}
		}
		for steps := range 2*len(c.arrays) + 1 {
			start(steps)
			now := s.tree(mem, "/")
			for p := range before {
				if now[p] != before[p] {
					s.errorf("%s changed before Close", p)
				}
			}
			if _, err := mem.Lstat(path); err == nil && !replace {
				s.errorf("the file appeared before Close")
			}
			s.ok(f.Abort())
			asBefore(s.in("Abort after %d steps", steps))
		}
		// After Abort nothing works any more, and nothing appears.
		if err := s.calm("Close after Abort", func() error { return f.Close(ctx) }); err == nil {
			s.errorf("Close after Abort succeeds")
		}
		s.calm("Abort after Abort", f.Abort)
		asBefore(s.in("use after Abort"))

		// After Close the file stays, whatever is called.
		start(2 * len(c.arrays))
		s.ok(f.Close(ctx))
		s.calm("Close after Close", func() error { return f.Close(ctx) })
		s.calm("Abort after Close", f.Abort)
		s.in("use after Close").expect(mem, path, c)
		s.only(mem, path)

		f, err = s.open(w, path)
		s.ok(err)
		_, err = f.Array(a.name)
		s.ok(err)
		s.ok(f.Close(ctx))
		s.calm("Close after Close of an opened file", func() error { return f.Close(ctx) })
		s.calm("Abort after Close of an opened file", f.Abort)
		if open := w.left(); len(open) > 0 {
			s.errorf("still open: %q", open)
		}
	}
	s.checkPathMemory(c)
}

// checkPathMemory: a format keeps no reference to path, which may lie in memory
// that the caller uses for something else afterwards.
func (s *suite) checkPathMemory(c *content) {
	mem, path := ndfile.NewMem(), s.path("memory of the caller")
	bytes := []byte(path)
	borrowed := unsafe.String(&bytes[0], len(bytes))
	f, err := s.create(mem, borrowed, ndfile.WriteOptions{}, c.attrs)
	s.ok(err)
	clear(bytes)
	for _, a := range c.arrays {
		dst, err := f.Add(ctx, a.name, a.spec())
		s.ok(err)
		s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
	}
	s.ok(f.Close(ctx))
	s.only(mem, path)
	s.expect(mem, path, c)
	copy(bytes, path)
	f, err = s.open(mem, borrowed)
	s.ok(err)
	clear(bytes)
	got, err := s.readFile(f)
	s.ok(err)
	if err := s.sameContent(got, c); err != nil {
		s.errorf("after the memory of the path changed: %v", err)
	}
	s.ok(f.Close(ctx))
}

// checkExclusive creates files that must not exist, and files in place.
func checkExclusive(s *suite) {
	old, c := s.sample(3), s.sample(4)
	for _, w := range s.ways() {
		for _, commit := range []ndfile.WriteOptions{{}, {Commit: ndfile.CommitDirect}, {Sync: true}} {
			s := s.in("%s, %+v", w.name, commit)
			mem, path := ndfile.NewMem(), s.path("f")
			exclusive := commit
			exclusive.Exclusive = true
			s.ok(w.write(s, mem, path, old, exclusive))
			s.expect(mem, path, old)
			before := s.tree(mem, "/")
			err := w.write(s, mem, path, c, exclusive)
			s.fails(err, ndfile.ErrExists)
			s.sameTree(mem, before)
			s.ok(w.write(s, mem, path, c, commit))
			s.expect(mem, path, c)
			s.only(mem, path)
		}
	}
}

// checkCancel calls everything with a context that is over: an error of that
// kind, or all is done.
func checkCancel(s *suite) {
	over, cancel := context.WithCancel(ctx)
	cancel()
	c := s.sample(4)
	mem, path := ndfile.NewMem(), s.path("f")
	var items []ndfile.Item
	for _, a := range c.arrays {
		items = append(items, a.item(layouts[0]))
	}
	err := ndfile.Save(over, s.cfg.Formats, path, items, ndfile.SaveOptions{FS: mem, Format: s.format.Name(), Attrs: c.attrs})
	if err != nil {
		s.in("Save").fails(err, ndfile.ErrCanceled)
		s.only(mem)
		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	}
	s.expect(mem, path, c)
	f, err := ndfile.Open(over, s.cfg.Formats, path, ndfile.OpenOptions{FS: mem})
	if err != nil {
		s.in("Open").fails(err, ndfile.ErrCanceled)
		f, err = s.open(mem, path)
		s.ok(err)
	}
	defer f.Abort()
	for _, a := range c.arrays {
		if a.missing() || a.dtype.IsVar() {
			continue
		}
		src, err := f.Array(a.name)
		s.ok(err)
		dst := layouts[0].buffer(a.dtype, a.shape)
		if err := src.ReadBox(over, ndarray.Full(a.shape), dst); err != nil {
			s.in("ReadBox").fails(err, ndfile.ErrCanceled)
			continue
		}
		got, err := drain(dst, nil)
		if err == nil {
			err = sameElems(got, a.elems)
		}
		if err != nil {
			s.errorf("ReadBox: %v", err)
		}
	}
}

// checkOS does the usual things on the machine's own file system.
func checkOS(s *suite) {
	dir := s.tb.TempDir()
	path := dir + s.path("f")
	for _, w := range s.ways() {
		for _, opt := range []ndfile.WriteOptions{{}, {Sync: true}, {Commit: ndfile.CommitDirect}} {
			c := s.modest(5)
			s := s.in("%s, %+v", w.name, opt)
			s.ok(w.write(s, ndfile.OS, path, c, opt))
			s.expect(ndfile.OS, path, c)
			list, err := os.ReadDir(dir)
			s.ok(err)
			if len(list) != 1 {
				s.errorf("%d files in the folder, expected 1: %v", len(list), list)
			}
		}
	}
	other := dir + "/" + strings.Repeat("é", 60) + " ☃" + s.cfg.Ext
	c := s.modest(3)
	s.ok(s.save(ndfile.OS, other, c, ndfile.WriteOptions{}))
	s.expect(ndfile.OS, other, c)
	_, err := s.open(ndfile.OS, dir+s.path("missing"))
	s.fails(err, ndfile.ErrNotFound)
	if !errors.Is(err, os.ErrNotExist) {
		s.errorf("errors.Is(err, os.ErrNotExist) is false: %v", err)
	}
}
