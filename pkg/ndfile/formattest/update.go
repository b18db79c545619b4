package formattest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// step is something that can be done to a file that is open for changes, and to
// its model. After an error the model counts for nothing.
type step struct {
	name string
	able func(s *suite, c *content) bool
	do   func(s *suite, f ndfile.File, c *content) error
	// mix: a crash may leave some chunks old and others new; else everything is
	// old or new.
	mix bool
}

var steps = []step{
	{"write", func(s *suite, c *content) bool { return len(c.arrays) > 0 }, (*suite).stepWrite, true},
	{"raw chunk", func(s *suite, c *content) bool { return s.has(ndfile.CapChunked) && len(c.arrays) > 0 }, (*suite).stepRaw, true},
	{"attrs", func(s *suite, c *content) bool {
		return s.has(ndfile.CapFileAttrs) || s.has(ndfile.CapArrayAttrs) && len(c.arrays) > 0
	}, (*suite).stepAttrs, false},
	{"append", (*suite).appends, (*suite).stepAppend, false},
	{"grow", (*suite).grows, (*suite).stepGrow, false},
	{"shrink", (*suite).grows, (*suite).stepShrink, false},
	{"reshape", (*suite).reshapes, (*suite).stepReshape, false},
	{"widen", func(s *suite, c *content) bool { return s.kind != ndfile.Table && s.appends(c) }, (*suite).stepWiden, false},
	{"add", func(s *suite, c *content) bool { return s.kind != ndfile.Single }, (*suite).stepAdd, true},
	{"remove", func(s *suite, c *content) bool { return s.removes() && len(c.arrays) > 1 }, (*suite).stepRemove, false},
}

func stepOf(name string) step {
	return steps[slices.IndexFunc(steps, func(st step) bool { return st.name == name })]
}

// grows tells whether the arrays of a file can change their length.
func (s *suite) grows(c *content) bool {
	if s.kind == ndfile.Table {
		return s.has(ndfile.CapRows) && len(c.arrays) > 0
	}
	return s.has(ndfile.CapResize) && len(c.arrays) > 0
}

// reshapes tells whether the arrays of a file can change all of their shape.
func (s *suite) reshapes(c *content) bool { return s.kind != ndfile.Table && s.grows(c) }

// appends tells whether arrays can be appended to: texts are written after a Resize.
func (s *suite) appends(c *content) bool {
	return s.grows(c) && !slices.ContainsFunc(c.arrays, func(a *array) bool { return a.dtype.IsVar() })
}

func (s *suite) removes() bool { return s.has(ndfile.CapRemove) && s.kind != ndfile.Single }

// pick gives a random array of a file and its model.
func (s *suite) pick(f ndfile.File, c *content) (ndfile.Array, *array, error) {
	a := c.arrays[s.rng.IntN(len(c.arrays))]
	dst, err := f.Array(a.name)
	return dst, a, err
}

func (s *suite) stepWrite(f ndfile.File, c *content) error {
	dst, a, err := s.pick(f, c)
	if err != nil {
		return err
	}
	return s.change(a, dst)
}

// change writes random elements into a random box of an array and its model.
func (s *suite) change(a *array, dst ndfile.Array) error {
	box := s.box(a.shape)
	b := s.random("", a.dtype, box.Count...)
	if a.masked {
		s.hide(b, 3)
	}
	a.assign(box, b)
	return a.writeBox(dst, box, s.layout())
}

func (s *suite) stepAttrs(f ndfile.File, c *content) error {
	to, model := f.Attrs(), &c.attrs
	if len(c.arrays) > 0 && s.has(ndfile.CapArrayAttrs) && (!s.has(ndfile.CapFileAttrs) || s.rng.IntN(2) == 0) {
		dst, a, err := s.pick(f, c)
		if err != nil {
			return err
		}
		to, model = dst.Attrs(), &a.attrs
	}
	if to == nil {
		return fmt.Errorf("there are no attributes")
	}
	if *model == nil {
		*model = ndfile.NewAttrs()
	}
	v := pyjson.Int(s.rng.Int64N(1 << 40))
	key := fmt.Sprint("key", s.rng.IntN(4))
	if keys := (*model).Keys(); len(keys) > 0 && s.rng.IntN(4) == 0 {
		to.Delete(keys[0])
		(*model).Delete(keys[0])
	}
	to.Set(key, v)
	(*model).Set(key, v)
	return nil
}

func (s *suite) stepAppend(f ndfile.File, c *content) error {
	return s.appendRows(f, c, s.rng.Int64N(4))
}

// appendRows adds random rows to a table, or to an array of another file.
func (s *suite) appendRows(f ndfile.File, c *content, n int64) error {
	if s.kind != ndfile.Table {
		dst, a, err := s.pick(f, c)
		if err != nil {
			return err
		}
		return s.appendTo(dst, a, 0, n)
	}
	more := s.moreRows(f, c, n)
	err := f.(ndfile.RowResizer).AppendRows(ctx, s.buffers(more))
	for _, b := range more.arrays {
		c.find(b.name).extend(0, b)
	}
	return err
}

// appendTo appends n random rows along an axis of an array.
func (s *suite) appendTo(dst ndfile.Array, a *array, axis int, n int64) error {
	shape := slices.Clone(a.shape)
	shape[axis] = n
	b := s.random("", a.dtype, shape...)
	err := dst.(ndfile.Resizer).Append(ctx, axis, b.fill(s.layout().buffer(b.dtype, b.shape)))
	if axis == 0 || !notSupported(err) {
		a.extend(axis, b)
	}
	return err
}

func (s *suite) stepGrow(f ndfile.File, c *content) error {
	return s.resizeRows(f, c, func(rows int64) int64 { return rows + 1 + s.rng.Int64N(6) })
}

func (s *suite) stepShrink(f ndfile.File, c *content) error {
	return s.resizeRows(f, c, func(rows int64) int64 { return s.rng.Int64N(rows + 1) })
}

// resizeRows changes the number of rows of a table, or of an array of another file.
func (s *suite) resizeRows(f ndfile.File, c *content, to func(rows int64) int64) error {
	if s.kind == ndfile.Table {
		n := to(c.rows())
		for _, a := range c.arrays {
			a.resize(append([]int64{n}, a.shape[1:]...))
		}
		return f.(ndfile.RowResizer).ResizeRows(ctx, n)
	}
	dst, a, err := s.pick(f, c)
	if err != nil {
		return err
	}
	a.resize(append([]int64{to(a.shape[0])}, a.shape[1:]...))
	return dst.(ndfile.Resizer).Resize(ctx, a.shape)
}

func (s *suite) stepReshape(f ndfile.File, c *content) error {
	dst, a, err := s.pick(f, c)
	if err != nil {
		return err
	}
	shape := slices.Clone(a.shape)
	for axis := range shape {
		shape[axis] = max(shape[axis]-2+s.rng.Int64N(5), 1)
	}
	return s.resize(dst, a, shape)
}

func notSupported(err error) bool { return err != nil && ndfile.KindOf(err) == ndfile.ErrNotSupported }

// stepWiden appends along the last axis, where the format can.
func (s *suite) stepWiden(f ndfile.File, c *content) error {
	dst, a, err := s.pick(f, c)
	if err != nil {
		return err
	}
	axis := len(a.shape) - 1
	if err = s.appendTo(dst, a, axis, 1+s.rng.Int64N(3)); axis > 0 && notSupported(err) {
		return nil
	}
	return err
}

func (s *suite) stepAdd(f ndfile.File, c *content) error {
	shape := []int64{s.rng.Int64N(6), 2}
	if s.kind == ndfile.Table && len(c.arrays) > 0 {
		shape[0] = c.rows()
	}
	if !s.stores(shape) || s.rng.IntN(2) == 0 {
		shape = shape[:1]
	}
	d := s.dtypes[s.rng.IntN(len(s.dtypes))]
	name := ""
	for i := 0; name == "" || c.find(name) != nil; i++ {
		name = fmt.Sprint("new", i)
	}
	a := s.random(name, d, shape...)
	if s.has(ndfile.CapArrayAttrs) {
		a.attrs = ndfile.NewAttrs()
		a.attrs.Set("late", pyjson.Bool(true))
	}
	c.arrays = append(c.arrays, a)
	dst, err := f.Add(ctx, name, a.spec())
	if err != nil {
		return err
	}
	return s.whole(dst, a)
}

func (s *suite) stepRemove(f ndfile.File, c *content) error {
	i := s.rng.IntN(len(c.arrays))
	name := c.arrays[i].name
	c.arrays = slices.Delete(slices.Clone(c.arrays), i, i+1)
	return f.(ndfile.Remover).Remove(ctx, name)
}

func flushes(f ndfile.File) bool { _, ok := f.(ndfile.Flusher); return ok }

// flush makes changes visible, where the file can.
func flush(f ndfile.File) error {
	if fl, ok := f.(ndfile.Flusher); ok {
		return fl.Flush(ctx, ndfile.FlushOptions{})
	}
	return nil
}

// session opens a file for changes and takes over what the model does not know.
func (s *suite) session(fsys ndfile.FS, path string, c *content) (ndfile.File, error) {
	f, err := s.update(fsys, path)
	if err != nil {
		return nil, err
	}
	for _, a := range c.arrays {
		dst, err := f.Array(a.name)
		if err != nil {
			f.Abort()
			return nil, err
		}
		a.adopt(dst.Spec())
	}
	return f, nil
}

// play does n random steps, and looks at the result of each through the open file.
func (s *suite) play(f ndfile.File, c *content, n int) {
	s.tb.Helper()
	var able []step
	for range n {
		able = able[:0]
		for _, st := range steps {
			if st.able(s, c) {
				able = append(able, st)
			}
		}
		st := able[s.rng.IntN(len(able))]
		s := s.in("%s", st.name)
		s.ok(st.do(s, f, c))
		if s.rng.IntN(4) == 0 {
			s.in("Flush").ok(flush(f))
		}
		s.checkOpen(f, c)
	}
}

// checkOpen compares shapes and some boxes of an open file with the model.
func (s *suite) checkOpen(f ndfile.File, c *content) {
	s.tb.Helper()
	if len(f.Names()) != len(c.arrays) {
		s.errorf("%d arrays, expected %d", len(f.Names()), len(c.arrays))
	}
	for _, a := range c.arrays {
		dst, err := f.Array(a.name)
		s.ok(err)
		if got := dst.Spec().Shape; !slices.Equal(got, a.shape) {
			s.fatalf("array %q has shape %v, expected %v", a.name, got, a.shape)
		}
		s.checkBox(dst, a, s.box(a.shape))
	}
	if t, ok := f.(ndfile.RowResizer); ok && s.kind == ndfile.Table && t.Rows() != c.rows() {
		s.errorf("%d rows, expected %d", t.Rows(), c.rows())
	}
}

// checkUpdate changes an existing file, or sees that refused.
func checkUpdate(s *suite) {
	_, err := s.update(ndfile.NewMem(), s.path("missing"))
	s.in("Open of nothing for changes").fails(err, ndfile.ErrNotFound, ndfile.ErrNotSupported)
	for i, w := range append(s.ways(), s.ways()...) {
		s := s.in("written by %s", w.name)
		c := s.sample(6)
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(w.write(s, mem, path, c, ndfile.WriteOptions{}))
		before := s.tree(mem, "/")
		watched := newWatch(mem)
		f, err := s.update(watched, path)
		if !s.has(ndfile.CapUpdate) {
			s.fails(err, ndfile.ErrNotSupported)
			s.says(err, path, "", false)
			s.sameTree(mem, before)
			return
		}
		s.ok(err)
		s.ok(f.Close(ctx))
		s.in("opened and closed").sameTree(mem, before)
		for round := range 3 {
			s := s.in("session %d", round)
			f, err = s.session(watched, path, c)
			s.ok(err)
			s.play(f, c, 8)
			switch {
			case i%2 == 1 && round == 1 && flushes(f):
				s.ok(flush(f))
				s.ok(f.Abort())
			default:
				s.ok(f.Close(ctx))
			}
			s.closed(f, c)
			s.expect(mem, path, c)
			s.only(mem, path)
			if open := watched.left(); len(open) > 0 {
				s.errorf("still open: %q", open)
			}
		}
	}
	s.checkShared()
}

// closed uses a file that was open for changes: nothing works any more.
func (s *suite) closed(f ndfile.File, c *content) {
	s.tb.Helper()
	s.calm("Close after the end", func() error { return f.Close(ctx) })
	s.calm("Abort after the end", f.Abort)
	for _, st := range steps {
		if err := s.insist(st, f, c); err == nil {
			s.errorf("%s after the end succeeds", st.name)
		}
	}
}

// insist does a step that must fail until it does: some change nothing. Steps that
// cannot fail give errInapt.
func (s *suite) insist(st step, f ndfile.File, c *content) (err error) {
	s.tb.Helper()
	empty := slices.ContainsFunc(c.arrays, func(a *array) bool { return len(a.elems) == 0 })
	if st.name == "attrs" || empty || !st.able(s, c) {
		return errInapt
	}
	for range 20 {
		model := c.clone()
		if err = s.calm(st.name, func() error { return st.do(s, f, model) }); err != nil {
			break
		}
	}
	return err
}

var errInapt = errors.New("the step cannot fail")

// checkShared shares a store: that is not supported, or changes nothing for writes
// of regions by a single process.
func (s *suite) checkShared() {
	c := s.sample(4)
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	f, err := ndfile.Open(ctx, s.cfg.Formats, path, ndfile.OpenOptions{FS: mem, Mode: ndfile.Update, Shared: true})
	if err != nil {
		s.in("Open shared").fails(err, ndfile.ErrNotSupported)
		return
	}
	s = s.in("shared")
	s.ok(s.stepWrite(f, c))
	s.ok(f.Close(ctx))
	s.expect(mem, path, c)
}

// checkFlush aborts sessions: what was flushed stays, and what was not is dropped.
func checkFlush(s *suite) {
	path := s.path("f")
	start := func(s *suite) (*ndfile.Mem, *content, ndfile.File) {
		c := s.sample(9)
		mem := ndfile.NewMem()
		s.ok(s.writeRows(mem, path, c, ndfile.WriteOptions{}))
		f, err := s.session(mem, path, c)
		s.ok(err)
		return mem, c, f
	}
	_, c, f := start(s)
	canFlush := flushes(f)
	s.ok(f.Abort())
	if s.has(ndfile.CapChunked) {
		s := s.in("regions written, then Abort")
		mem, c, f := start(s)
		for range 5 {
			s.ok(s.stepWrite(f, c))
		}
		s.ok(f.Abort())
		s.expect(mem, path, c)
	}
	for _, name := range []string{"attrs", "append", "grow", "shrink", "add", "remove"} {
		st := stepOf(name)
		if !st.able(s, c) {
			continue
		}
		for _, plan := range []string{"abort", "flush, abort", "flush, more, abort", "flush, read, close"} {
			if plan != "abort" && !canFlush {
				continue
			}
			s := s.in("%s: %s", name, plan)
			mem, c, f := start(s)
			states := []*content{c.clone()}
			again := func(n int) {
				for range n {
					if st.able(s, c) {
						s.ok(st.do(s, f, c))
						states = append(states, c.clone())
					}
				}
			}
			again(3)
			if plan != "abort" {
				s.in("Flush").ok(flush(f))
				states = states[len(states)-1:]
				s.in("read by another after Flush").expect(mem, path, c)
			}
			if plan == "flush, more, abort" {
				again(2)
			}
			if plan == "flush, read, close" {
				s.ok(f.Close(ctx))
			} else {
				s.ok(f.Abort())
				if name == "attrs" {
					states = states[:1] // they are written by Flush and Close
				}
			}
			got, err := s.read(mem, path)
			s.ok(err)
			s.sameOr(s.among(got, states, st.mix))
			s.healthy(mem, path)
			s.only(mem, path)
			s.checkSurvivor(mem, path, got)
		}
	}
	if canFlush {
		s.checkEarlyFlush()
	}
}

// checkEarlyFlush flushes a file that is being created: nothing appears before
// Close.
func (s *suite) checkEarlyFlush() {
	s = s.in("Flush of a new file")
	for _, closes := range []bool{false, true} {
		c := s.sample(4)
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.create(mem, path, ndfile.WriteOptions{}, c.attrs)
		s.ok(err)
		s.ok(flush(f))
		for _, a := range c.arrays {
			dst, err := f.Add(ctx, a.name, a.spec())
			s.ok(err)
			s.ok(flush(f))
			s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
			s.ok(flush(f))
		}
		if _, err := mem.Lstat(path); err == nil {
			s.errorf("the file appeared before Close")
		}
		if !closes {
			s.ok(f.Abort())
			s.only(mem)
			continue
		}
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
	}
}

// checkUpdateRules makes bad requests of files that are open for changes, and
// good ones of files that are open for reading: nothing changes.
func checkUpdateRules(s *suite) {
	c := s.sample(5)
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.writeRows(mem, path, c, ndfile.WriteOptions{}))
	before := s.tree(mem, "/")
	f, err := s.open(mem, path)
	s.ok(err)
	for _, st := range steps {
		if err := s.insist(st, f, c); err != errInapt {
			s.in("%s on a file open for reading", st.name).fails(err, ndfile.ErrReadOnly)
		}
	}
	if fl, ok := f.(ndfile.Flusher); ok {
		if err := s.calm("Flush", func() error { return fl.Flush(ctx, ndfile.FlushOptions{}) }); err != nil {
			s.in("Flush of a file open for reading").fails(err, ndfile.ErrReadOnly)
		}
	}
	if st := stepOf("attrs"); st.able(s, c) {
		s.ok(st.do(s, f, c.clone())) // they are lost
	}
	s.ok(f.Close(ctx))
	s.in("a file open for reading").sameTree(mem, before)

	f, err = s.session(mem, path, c)
	s.ok(err)
	spec := ndfile.Spec{DType: s.dtypes[0], Shape: []int64{5}}
	switch s.kind {
	case ndfile.Single:
		for _, name := range []string{"", "x"} {
			_, err = f.Add(ctx, name, spec)
			s.in("Add of %q to a file of one array", name).fails(err, refusals...)
		}
		if r, ok := f.(ndfile.Remover); ok {
			s.in("Remove from a file of one array").fails(r.Remove(ctx, ""), refusals...)
		}
		if r, ok := f.(ndfile.RowResizer); ok {
			s.in("AppendRows to a file of one array").fails(r.AppendRows(ctx, s.buffers(c)), refusals...)
			s.in("ResizeRows of a file of one array").fails(r.ResizeRows(ctx, 2), refusals...)
		}
	default:
		_, err = f.Add(ctx, c.arrays[0].name, spec)
		s.in("a name twice").fails(err, ndfile.ErrNameExists)
		_, err = f.Add(ctx, "bad", ndfile.Spec{DType: s.dtypes[0], Shape: []int64{-1}})
		s.in("Add with a bad Spec").fails(err, refusals...)
		if s.removes() {
			s.in("Remove of an unknown name").fails(f.(ndfile.Remover).Remove(ctx, "no such array"), ndfile.ErrName)
		}
	}
	a := c.arrays[max(slices.IndexFunc(c.arrays, func(a *array) bool { return !a.dtype.IsVar() }), 0)]
	outside := ndarray.Full(a.shape)
	outside.Start[0]++
	dst, err := f.Array(a.name)
	s.ok(err)
	s.in("a box beyond the end").fails(a.put(ctx, dst, outside), ndfile.ErrBounds)
	s.checkOpen(f, c)
	s.ok(f.Close(ctx))
	s.in("after requests that were refused").sameTree(mem, before)

	// A context that is over: an error of that kind, or all is done.
	over, cancel := context.WithCancel(ctx)
	cancel()
	f, err = s.session(mem, path, c)
	s.ok(err)
	dst, err = f.Array(a.name)
	s.ok(err)
	b := s.random("", a.dtype, a.shape...)
	old := c.clone()
	if err = b.put(over, dst, ndarray.Full(b.shape)); err != nil {
		s.in("WriteBox").fails(err, ndfile.ErrCanceled)
	}
	a.elems = b.elems
	s.ok(f.Close(ctx))
	got, err := s.read(mem, path)
	s.ok(err)
	s.in("WriteBox with a context that is over").sameOr(s.among(got, []*content{old, c}, true))
}

// checkRemove takes arrays out of a file: their data go with them.
func checkRemove(s *suite) {
	if !s.removes() {
		return
	}
	for _, opened := range []bool{false, true} {
		s := s.in("of a file that existed: %t", opened)
		c := s.sample(6)
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.begin(mem, path, c, ndfile.WriteOptions{}, s.whole)
		s.ok(err)
		if opened {
			s.ok(f.Close(ctx))
			f, err = s.session(mem, path, c)
			s.ok(err)
		}
		files := len(s.tree(mem, "/"))
		first := c.arrays[0]
		gone, err := f.Array(first.name)
		s.ok(err)
		r := f.(ndfile.Remover)
		s.ok(r.Remove(ctx, first.name))
		s.ok(flush(f))
		if s.isFolder(mem, path) && len(s.tree(mem, "/")) >= files {
			s.errorf("the data of a removed array are still there")
		}
		s.in("Remove of the same again").fails(r.Remove(ctx, first.name), ndfile.ErrName)
		_, err = f.Array(first.name)
		s.in("Array of a removed one").fails(err, ndfile.ErrName)
		if err := s.calm("WriteBox", func() error { return first.writeBox(gone, ndarray.Full(first.shape), layouts[0]) }); err == nil {
			s.errorf("a removed array can be written")
		}
		c.arrays = c.arrays[1:]
		s.checkOpen(f, c)
		// The name is free; nothing of the old array is in the new one.
		d := s.dtypes[len(s.dtypes)-1]
		again := s.random(first.name, d, 6)
		dst, err := f.Add(ctx, again.name, again.spec())
		s.ok(err)
		if s.has(ndfile.CapChunked) {
			again.elems = slices.Repeat([][]byte{again.blank()}, 6)
		} else {
			s.ok(again.writeBox(dst, ndarray.Full(again.shape), layouts[0]))
		}
		c.arrays = append(slices.Clone(c.arrays), again)
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)

		f, err = s.session(mem, path, c)
		s.ok(err)
		for _, a := range c.arrays {
			err := f.(ndfile.Remover).Remove(ctx, a.name)
			s.in("Remove of all").ok(err)
		}
		s.ok(f.Close(ctx))
		c = &content{attrs: c.attrs}
		s.in("nothing left").expect(mem, path, c)
		f, err = s.session(mem, path, c)
		s.ok(err)
		s.ok(s.stepAdd(f, c))
		s.ok(f.Close(ctx))
		s.in("a new beginning").expect(mem, path, c)
	}
}
