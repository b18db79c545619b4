package formattest

import (
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// checkKinds: the first Add to a new file decides whether it is an array or a
// table.
func checkKinds(s *suite) {
	good := ndfile.Spec{DType: s.dtypes[0], Shape: []int64{3}}
	bad := ndfile.Spec{DType: s.dtypes[0], Shape: []int64{-1}}
	mem, path := ndfile.NewMem(), s.path("f")
	create := func() ndfile.File {
		f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
		s.ok(err)
		return f
	}
	is := func(s *suite, f ndfile.File, want ndfile.Kind, names ...string) {
		s.tb.Helper()
		if f.Kind() != want || len(f.Names()) != len(names) {
			s.errorf("kind %v with the names %q, expected %v with %q", f.Kind(), f.Names(), want, names)
		}
	}
	others := []*ndfile.ErrorKind{ndfile.ErrName, ndfile.ErrNameExists, ndfile.ErrNotSupported, ndfile.ErrArgument, ndfile.ErrValue, ndfile.ErrShape}

	f := create()
	is(s.in("a new file"), f, ndfile.Table)
	if n := f.(ndfile.RowResizer).Rows(); n != 0 {
		s.errorf("a table without columns has %d rows", n)
	}
	_, err := f.Add(ctx, "", bad)
	s.in("Add with a bad Spec").fails(err, refusals...)
	is(s.in("after an Add that was refused"), f, ndfile.Table)
	_, err = f.Add(ctx, "x", good)
	s.ok(err)
	is(s.in("after Add of a column"), f, ndfile.Table, "x")
	_, err = f.Add(ctx, "", good)
	s.in("Add without a name to a table").fails(err, others...)
	for _, shape := range [][]int64{{4}, {2, 3}, {}} {
		_, err = f.Add(ctx, "y", ndfile.Spec{DType: s.dtypes[0], Shape: shape})
		s.in("a column of shape %v beside one of 3 rows", shape).fails(err, refusals...)
	}
	is(s.in("after Adds that were refused"), f, ndfile.Table, "x")
	s.ok(f.Abort())

	f = create()
	_, err = f.Add(ctx, "x", bad)
	s.in("Add with a bad Spec").fails(err, refusals...)
	_, err = f.Add(ctx, "", good)
	s.ok(err)
	is(s.in("after Add without a name"), f, ndfile.Single, "")
	for _, name := range []string{"", "x"} {
		_, err = f.Add(ctx, name, good)
		s.in("Add of %q to a single array", name).fails(err, others...)
	}
	is(s.in("after Adds that were refused"), f, ndfile.Single, "")
	s.ok(f.Abort())

	s.in("a table without columns").refusedOrKept(create().Close(ctx), mem, path, &content{})
}

// rows is the number of rows of a table.
func (c *content) rows() int64 {
	if len(c.arrays) == 0 {
		return 0
	}
	return c.arrays[0].shape[0]
}

// moreRows is random rows for all columns of a table, in the order of its names.
func (s *suite) moreRows(f ndfile.File, c *content, n int64) *content {
	more := &content{}
	for _, name := range f.Names() {
		a := c.find(name)
		if a == nil {
			s.fatalf("the column %q is not in the model", name)
		}
		more.arrays = append(more.arrays, s.random(name, a.dtype, append([]int64{n}, a.shape[1:]...)...))
	}
	return more
}

// buffers are the columns of a table as AppendRows takes them.
func (s *suite) buffers(c *content) (columns []ndarray.Buffer) {
	for _, a := range c.arrays {
		columns = append(columns, a.fill(s.layout().buffer(a.dtype, a.shape)))
	}
	return columns
}

// checkRows changes the length of tables.
func checkRows(s *suite) {
	if s.kind != ndfile.Table {
		return
	}
	for _, opened := range []bool{false, true} {
		s := s.in("in a file that existed: %t", opened)
		c := s.sample(5)
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.begin(mem, path, c, ndfile.WriteOptions{}, s.whole)
		s.ok(err)
		if opened {
			s.ok(f.Close(ctx))
			f, err = s.session(mem, path, c)
			s.ok(err)
		}
		for _, n := range []int64{1, 0, 3, 11, 1, 1} {
			s := s.in("AppendRows of %d", n)
			s.ok(s.appendRows(f, c, n))
			s.checkOpen(f, c)
		}
		for _, n := range []int64{30, 7, 7, 20, 0, 4, 12} {
			s := s.in("ResizeRows to %d", n)
			s.ok(s.resizeRows(f, c, func(int64) int64 { return n }))
			s.checkOpen(f, c)
			s.ok(s.stepWrite(f, c))
		}
		s.badRows(f, c)
		names := f.Names()
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
		g, err := s.open(mem, path)
		s.ok(err)
		if got := g.Names(); !slices.Equal(got, names) {
			s.errorf("names %q, before Close %q", got, names)
		}
		if n := g.(ndfile.RowResizer).Rows(); n != c.rows() {
			s.errorf("%d rows, expected %d", n, c.rows())
		}
		s.ok(g.Abort())
	}
	s.checkOrder()
}

// badRows changes the length of a table in ways that cannot be: nothing changes.
func (s *suite) badRows(f ndfile.File, c *content) {
	t := f.(ndfile.RowResizer)
	kinds := []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrBounds, ndfile.ErrLimit}
	one := s.moreRows(f, c, 1)
	last := len(one.arrays) - 1
	ragged := s.moreRows(f, c, 1)
	ragged.arrays[last] = s.random("", ragged.arrays[last].dtype, append([]int64{2}, ragged.arrays[last].shape[1:]...)...)
	deeper := s.buffers(one)
	deeper[last] = layouts[0].buffer(one.arrays[last].dtype, append([]int64{1}, 4, 5, 6))
	scalar := s.buffers(one)
	scalar[0] = layouts[0].buffer(one.arrays[0].dtype, nil)
	for _, bad := range []struct {
		name    string
		columns []ndarray.Buffer
	}{
		{"no columns", nil}, {"a column too few", s.buffers(one)[:last]}, {"a column too many", append(s.buffers(one), s.buffers(one)[0])},
		{"columns of other lengths", s.buffers(ragged)}, {"rows of another shape", deeper}, {"a scalar", scalar},
	} {
		if bad.name == "columns of other lengths" && last == 0 {
			continue
		}
		s := s.in("AppendRows of %s", bad.name)
		s.fails(t.AppendRows(ctx, bad.columns), kinds...)
		s.checkOpen(f, c)
	}
	other := s.buffers(one)
	other[last] = layouts[0].buffer(ndarray.MustParse("|V77"), one.arrays[last].shape)
	s.in("AppendRows of another dtype").fails(t.AppendRows(ctx, other), ndfile.ErrDType)
	s.checkOpen(f, c)
	s.in("ResizeRows to -1").fails(t.ResizeRows(ctx, -1), kinds...)
	if slices.ContainsFunc(c.arrays, func(a *array) bool { return a.dtype.Size > 1 }) {
		s.in("ResizeRows beyond what can be counted").fails(t.ResizeRows(ctx, math.MaxInt64), kinds...)
	}
	for _, a := range c.arrays {
		dst, err := f.Array(a.name)
		s.ok(err)
		if r, ok := dst.(ndfile.Resizer); ok {
			s := s.in("a column on its own")
			s.fails(r.Resize(ctx, append([]int64{c.rows() + 1}, a.shape[1:]...)), ndfile.ErrNotSupported)
			s.fails(r.Append(ctx, 0, a.fill(layouts[0].buffer(a.dtype, a.shape))), ndfile.ErrNotSupported)
		}
	}
	for _, n := range []int64{c.rows() + 1, c.rows() - 1} {
		_, err := f.Add(ctx, "another length", ndfile.Spec{DType: s.dtypes[0], Shape: []int64{n}})
		s.in("Add of a column of %d rows to a table of %d", n, c.rows()).fails(err, refusals...)
	}
	s.checkOpen(f, c)
}

// checkOrder: columns keep the order in which they came.
func (s *suite) checkOrder() {
	mem, path := ndfile.NewMem(), s.path("f")
	names := []string{"zz", "a", "m", "b"}
	f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
	s.ok(err)
	for i, name := range names {
		if i == 3 && s.has(ndfile.CapUpdate) {
			s.ok(f.Close(ctx))
			f, err = s.update(mem, path)
			s.ok(err)
		}
		a := s.random(name, s.dtypes[i%len(s.dtypes)], 2)
		dst, err := f.Add(ctx, name, a.spec())
		s.ok(err)
		s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
	}
	s.ok(f.Close(ctx))
	f, err = s.open(mem, path)
	s.ok(err)
	if !slices.Equal(f.Names(), names) {
		s.errorf("names %q, expected %q", f.Names(), names)
	}
	s.ok(f.Abort())
}
