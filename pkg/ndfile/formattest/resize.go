package formattest

import (
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// resize changes the shape of an array and its model. Axes other than the first may
// be fixed: that is ErrNotSupported, and changes nothing.
func (s *suite) resize(dst ndfile.Array, a *array, shape []int64) error {
	err := dst.(ndfile.Resizer).Resize(ctx, shape)
	if !slices.Equal(shape[1:], a.shape[1:]) && notSupported(err) {
		return nil
	}
	a.resize(shape)
	return err
}

// alone tells whether the arrays of the format change their shapes on their own.
func (s *suite) alone() bool { return s.has(ndfile.CapResize) && s.kind != ndfile.Table }

// inAllStates does something to the array of a file that is being created, that is
// open for changes, and that is opened for each change. do calls again after each
// change, which compares everything with the model.
func (s *suite) inAllStates(c *content, do func(s *suite, dst ndfile.Array, a *array, again func() ndfile.Array)) {
	a := c.arrays[0]
	path := s.path("f")
	for _, state := range []string{"a new file", "a file open for changes", "a file opened again and again"} {
		if state != "a new file" && !s.has(ndfile.CapUpdate) {
			continue
		}
		s, c := s.in("%s", state), c.clone()
		a := c.find(a.name)
		mem := ndfile.NewMem()
		f, err := s.begin(mem, path, c, ndfile.WriteOptions{}, s.whole)
		s.ok(err)
		dst, err := f.Array(a.name)
		s.ok(err)
		reopen := func() {
			s.ok(f.Close(ctx))
			s.expect(mem, path, c)
			f, err = s.session(mem, path, c)
			s.ok(err)
			dst, err = f.Array(a.name)
			s.ok(err)
		}
		if state != "a new file" {
			reopen()
		}
		do(s, dst, a, func() ndfile.Array {
			s.checkOpen(f, c)
			s.checkBox(dst, a, ndarray.Full(a.shape))
			if state == "a file opened again and again" {
				reopen()
			}
			return dst
		})
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
		s.only(mem, path)
	}
}

// checkResize gives arrays other shapes: what is cut off never comes back.
func checkResize(s *suite) {
	if !s.alone() {
		return
	}
	for i, d := range s.dtypes {
		if d.IsVar() || i > 2 && s.rng.IntN(3) > 0 {
			continue
		}
		for _, chunks := range [][]int64{nil, {2, 2}, {3, 5}, {1, 1}} {
			plan := [][]int64{{6, 3}, {4, 3}, {7, 3}, {1, 3}, {8, 3}, {0, 3}, {5, 3}, {5, 3}, {5, 5}, {5, 1}, {5, 4}, {3, 6}, {6, 2}, {2, 2}, {6, 6}, {0, 0}, {4, 4}}
			shape := []int64{5, 3}
			if !s.stores(shape) {
				shape, plan = shape[:1], plan[:8]
				if chunks != nil {
					chunks = chunks[:1]
				}
			}
			s := s.in("%s %v, chunks %v", d, shape, chunks)
			a := s.random("", d, shape...)
			a.chunks = chunks
			s.inAllStates(s.files([]*array{a})[0], func(s *suite, dst ndfile.Array, a *array, again func() ndfile.Array) {
				for _, to := range plan {
					to = slices.Clone(to[:len(shape)])
					if !s.stores(to) {
						continue
					}
					s := s.in("Resize to %v", to)
					s.ok(s.resize(dst, a, to))
					dst = again()
					s.ok(s.change(a, dst))
				}
			})
		}
	}
	s.checkBadShapes()
}

// checkBadShapes gives an array shapes that it cannot have.
func (s *suite) checkBadShapes() {
	shape := []int64{5, 3}
	if !s.stores(shape) {
		shape = shape[:1]
	}
	d := s.fixed()
	s.inAllStates(s.files([]*array{s.random("", d, shape...)})[0], func(s *suite, dst ndfile.Array, a *array, again func() ndfile.Array) {
		r := dst.(ndfile.Resizer)
		bad := [][]int64{append(slices.Clone(shape), 1), shape[:len(shape)-1], {}, append([]int64{-1}, shape[1:]...)}
		if len(shape) > 1 || d.Size > 1 {
			bad = append(bad, append([]int64{math.MaxInt64}, shape[1:]...))
		}
		for _, to := range bad {
			s.in("Resize to %v", to).fails(r.Resize(ctx, to), ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrLimit, ndfile.ErrNotSupported)
			r = again().(ndfile.Resizer)
		}
		src := func(d ndarray.DType, shape ...int64) ndarray.Buffer { return layouts[0].buffer(d, shape) }
		wide := slices.Clone(shape)
		wide[len(wide)-1]++
		for _, b := range []struct {
			name  string
			axis  int
			src   ndarray.Buffer
			kinds []*ndfile.ErrorKind
		}{
			{"an axis before the first", -1, src(d, shape...), []*ndfile.ErrorKind{ndfile.ErrArgument, ndfile.ErrShape, ndfile.ErrBounds, ndfile.ErrNotSupported}},
			{"an axis behind the last", len(shape), src(d, shape...), []*ndfile.ErrorKind{ndfile.ErrArgument, ndfile.ErrShape, ndfile.ErrBounds, ndfile.ErrNotSupported}},
			{"more axes", 0, src(d, append(slices.Clone(shape), 1)...), []*ndfile.ErrorKind{ndfile.ErrShape}},
			{"no axes", 0, src(d), []*ndfile.ErrorKind{ndfile.ErrShape}},
			{"other extents", 0, src(d, wide...), []*ndfile.ErrorKind{ndfile.ErrShape}},
			{"too little memory", 0, ndarray.Buffer{DType: d, Shape: shape}, []*ndfile.ErrorKind{ndfile.ErrBounds, ndfile.ErrBuffer, ndfile.ErrShape}},
			{"a dtype that cannot be converted", 0, src(ndarray.MustParse("|V77"), shape...), []*ndfile.ErrorKind{ndfile.ErrDType}},
		} {
			if b.name == "other extents" && len(shape) == 1 {
				continue
			}
			s.in("Append of %s", b.name).fails(r.Append(ctx, b.axis, b.src), b.kinds...)
			r = again().(ndfile.Resizer)
		}
	})
}

// checkAppend appends along each axis, many times a little.
func checkAppend(s *suite) {
	if !s.alone() {
		return
	}
	for i, d := range s.dtypes {
		if d.IsVar() || i > 2 && s.rng.IntN(3) > 0 {
			continue
		}
		for _, chunks := range [][]int64{nil, {3, 2}, {4, 7}} {
			for _, shape := range [][]int64{{0, 3}, {5, 3}} {
				if !s.stores(shape) {
					shape = shape[:1]
					if chunks != nil {
						chunks = chunks[:1]
					}
				}
				s := s.in("%s %v, chunks %v", d, shape, chunks)
				a := s.random("", d, shape...)
				a.chunks = chunks
				s.inAllStates(s.files([]*array{a})[0], func(s *suite, dst ndfile.Array, a *array, again func() ndfile.Array) {
					for _, n := range []int64{1, 0, 2, 1, 7, 1, 1, 1, 4} {
						s.in("%d rows", n).ok(s.appendTo(dst, a, 0, n))
						dst = again()
					}
					for axis := 1; axis < len(shape); axis++ {
						for _, n := range []int64{1, 3, 0, 2} {
							s := s.in("%d along axis %d", n, axis)
							if err := s.appendTo(dst, a, axis, n); err != nil {
								s.fails(err, ndfile.ErrNotSupported)
							}
							dst = again()
						}
					}
					s.ok(s.change(a, dst))
				})
			}
		}
	}
}
