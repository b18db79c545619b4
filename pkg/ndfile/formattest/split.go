package formattest

import (
	"bytes"
	"maps"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// splittable is a store that can be cut after every 6 rows.
func (s *suite) splittable(rows int64) *content {
	c := s.sample(rows)
	for i, a := range c.arrays {
		a.chunks = slices.Clone(a.shape)
		a.chunks[0] = int64(2 + i%2)
	}
	return c
}

// rowsOf is a part of a store.
func (c *content) rowsOf(from, to int64) *content {
	part := c.clone()
	for i, a := range c.arrays {
		part.arrays[i].shape = append([]int64{to - from}, a.shape[1:]...)
		part.arrays[i].elems = a.sub(rowBox(a.shape, from, to)).elems
	}
	return part
}

// checkSplit cuts stores into several and joins them again: no row is lost, and
// stored chunks are the same.
func checkSplit(s *suite) {
	sh, ok := s.format.(ndfile.Splitter)
	if !ok {
		return // reported by checkCaps
	}
	for _, plan := range [][]int64{{23}, {6, 17}, {12, 6, 5}, {6, 6, 11}, {18, 5}} {
		s := s.in("parts of %v rows", plan)
		c := s.splittable(23)
		mem := ndfile.NewMem()
		s.ok(s.writeRows(mem, s.path("whole"), c, ndfile.WriteOptions{}))
		before := s.tree(mem, s.path("whole"))
		var parts []ndfile.Part
		var paths []string
		for i, n := range plan {
			paths = append(paths, s.path(string(rune('a'+i))))
			parts = append(parts, ndfile.Part{Path: paths[i], Rows: n})
		}
		s.ok(sh.Split(ctx, mem, s.path("whole"), parts, ndfile.SplitOptions{}))
		row := int64(0)
		for i, p := range parts {
			s := s.in("part %d", i)
			s.expect(mem, p.Path, c.rowsOf(row, row+p.Rows))
			if s.has(ndfile.CapChunked) {
				s.sameChunks(mem, p.Path, s.path("whole"), row)
			}
			row += p.Rows
		}
		s.ok(sh.Concat(ctx, mem, paths, s.path("again"), ndfile.SplitOptions{}))
		s.in("joined").expect(mem, s.path("again"), c)
		if s.has(ndfile.CapChunked) {
			s.in("joined").sameChunks(mem, s.path("again"), s.path("whole"), 0)
		}
		s.only(mem, append(paths, s.path("whole"), s.path("again"))...)
		if !maps.Equal(before, s.tree(mem, s.path("whole"))) {
			s.errorf("the whole changed")
		}
	}
	s.badSplits(sh)
}

// sameChunks compares the stored chunks of a part with those of the whole from row on.
func (s *suite) sameChunks(mem *ndfile.Mem, part, whole string, row int64) {
	s.tb.Helper()
	p, err := s.open(mem, part)
	s.ok(err)
	defer p.Abort()
	w, err := s.open(mem, whole)
	s.ok(err)
	defer w.Abort()
	for _, name := range p.Names() {
		a, err := p.Array(name)
		s.ok(err)
		b, err := w.Array(name)
		s.ok(err)
		spec := a.Spec()
		each(grid(spec.Shape, spec.Chunks), func(_ int, index []int64) {
			got, _, err := a.(ndfile.Chunked).ReadChunk(ctx, index, nil)
			s.ok(err)
			at := slices.Clone(index)
			at[0] += row / spec.Chunks[0]
			want, _, err := b.(ndfile.Chunked).ReadChunk(ctx, at, nil)
			s.ok(err)
			if !bytes.Equal(got, want) {
				s.errorf("array %q: chunk %v is not chunk %v of the whole", name, index, at)
			}
		})
	}
}

// badSplits cuts and joins stores in ways that cannot be: nothing is made.
func (s *suite) badSplits(sh ndfile.Splitter) {
	mem, path := ndfile.NewMem(), s.path("whole")
	c := s.splittable(23)
	s.ok(s.writeRows(mem, path, c, ndfile.WriteOptions{}))
	before := s.tree(mem, "/")
	kinds := []*ndfile.ErrorKind{ndfile.ErrShape, ndfile.ErrArgument}
	for _, rows := range [][]int64{{1, 22}, {6, 1, 16}, {23, 6}, {6}, {6, 6}, {-6, 29}, {}} {
		var parts []ndfile.Part
		for i, n := range rows {
			parts = append(parts, ndfile.Part{Path: s.path(string(rune('a' + i))), Rows: n})
		}
		s := s.in("Split of 23 rows into %v", rows)
		s.fails(sh.Split(ctx, mem, path, parts, ndfile.SplitOptions{}), kinds...)
		s.sameTree(mem, before)
	}
	err := sh.Split(ctx, mem, s.path("missing"), []ndfile.Part{{Path: s.path("a"), Rows: 3}}, ndfile.SplitOptions{})
	s.in("Split of nothing").fails(err, ndfile.ErrNotFound)
	s.in("Concat of nothing").fails(sh.Concat(ctx, mem, []string{s.path("missing"), path}, s.path("a"), ndfile.SplitOptions{}), ndfile.ErrNotFound)
	s.in("Concat of no stores").fails(sh.Concat(ctx, mem, nil, s.path("a"), ndfile.SplitOptions{}), kinds...)
	s.in("Concat behind rows that do not fill a chunk").fails(sh.Concat(ctx, mem, []string{path, path}, s.path("a"), ndfile.SplitOptions{}), kinds...)
	exclusive := ndfile.SplitOptions{WriteOptions: ndfile.WriteOptions{Exclusive: true}}
	s.in("Split over what exists").fails(sh.Split(ctx, mem, path, []ndfile.Part{{Path: path, Rows: 23}}, exclusive), ndfile.ErrExists)
	s.in("Concat over what exists").fails(sh.Concat(ctx, mem, []string{path}, path, exclusive), ndfile.ErrExists)
	s.sameTree(mem, before)

	for _, other := range []struct {
		name   string
		change func(c *content)
		kinds  []*ndfile.ErrorKind
	}{
		{"another dtype", func(c *content) {
			a := c.arrays[0]
			i := slices.IndexFunc(s.dtypes, func(d ndarray.DType) bool { return d.Size > 0 && !d.Equal(a.dtype.Native()) })
			b := s.random("", s.dtypes[max(i, 0)], a.shape...)
			a.dtype, a.elems = b.dtype, b.elems
		}, []*ndfile.ErrorKind{ndfile.ErrDType, ndfile.ErrShape}},
		{"rows of another shape", func(c *content) {
			a := c.arrays[0]
			b := s.random("", a.dtype, a.shape[0], 9)
			a.shape, a.elems, a.chunks = b.shape, b.elems, []int64{a.chunks[0], 9}
		}, kinds},
		{"other chunks", func(c *content) {
			c.arrays[0].chunks = append([]int64{6}, c.arrays[0].chunks[1:]...)
		}, kinds},
		{"another name", func(c *content) { c.arrays[0].name = "other" }, append(kinds, ndfile.ErrName)},
		{"fewer arrays", func(c *content) { c.arrays = c.arrays[1:] }, append(kinds, ndfile.ErrName)},
	} {
		ofTables := other.name == "another name" || other.name == "fewer arrays"
		if s.kind == ndfile.Single && ofTables || other.name == "rows of another shape" && !s.stores([]int64{11, 9}) {
			continue
		}
		s := s.in("Concat with %s", other.name)
		mem := ndfile.NewMem()
		second := c.rowsOf(12, 23)
		other.change(second)
		s.ok(s.writeRows(mem, s.path("a"), c.rowsOf(0, 12), ndfile.WriteOptions{}))
		s.ok(s.writeRows(mem, s.path("b"), second, ndfile.WriteOptions{}))
		before := s.tree(mem, "/")
		s.fails(sh.Concat(ctx, mem, []string{s.path("a"), s.path("b")}, s.path("c"), ndfile.SplitOptions{}), other.kinds...)
		s.sameTree(mem, before)
	}
}
