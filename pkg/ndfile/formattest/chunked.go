package formattest

import (
	"bytes"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// chunks is a wish for the shape of a chunk, often such that there are several;
// never many.
func (s *suite) chunks(shape []int64) []int64 {
	if len(shape) == 0 || s.rng.IntN(4) == 0 {
		return nil
	}
	chunks := make([]int64, len(shape))
	for axis, n := range shape {
		least := max((n+3)/4, 1)
		chunks[axis] = least + s.rng.Int64N(n+2-least)
	}
	return chunks
}

// storedFill is the fill value as a Spec has it.
func (a *array) storedFill() []byte {
	fill := slices.Clone(a.unset)
	if fill != nil && a.dtype.Swapped() {
		ndarray.SwapBytes(fill, a.dtype)
	}
	return fill
}

// grid is the number of chunks along each axis.
func grid(shape, chunks []int64) []int64 {
	n := make([]int64, len(shape))
	for axis := range shape {
		n[axis] = (shape[axis] + chunks[axis] - 1) / chunks[axis]
	}
	return n
}

// checkChunks asks for chunks of all shapes. A wish is kept along axis 0; along the
// others it is kept or the whole axis is taken.
func checkChunks(s *suite) {
	for i, d := range s.dtypes {
		for _, test := range []struct {
			shape, chunks []int64
			expected      int64
		}{
			{[]int64{7}, nil, 0}, {[]int64{7}, []int64{3}, 0}, {[]int64{7}, []int64{1}, 0}, {[]int64{7}, []int64{7}, 0}, {[]int64{7}, []int64{20}, 0},
			{[]int64{7}, nil, 100000}, {[]int64{0}, nil, 0}, {[]int64{0}, []int64{4}, 100}, {[]int64{5, 4}, nil, 0}, {[]int64{5, 4}, []int64{2, 3}, 0},
			{[]int64{5, 4}, []int64{5, 4}, 0}, {[]int64{5, 4}, []int64{8, 1}, 0}, {[]int64{2, 3, 4}, []int64{1, 2, 3}, 0}, {[]int64{4, 0}, []int64{2, 2}, 0},
		} {
			if !s.stores(test.shape) {
				continue
			}
			s := s.in("%s %v, chunks %v, %d rows expected", d, test.shape, test.chunks, test.expected)
			a := s.random("", d, test.shape...)
			a.chunks = test.chunks
			c := s.files([]*array{a})[0]
			mem, path := ndfile.NewMem(), s.path("f")
			f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
			s.ok(err)
			spec := a.spec()
			spec.ExpectedRows = test.expected
			dst, err := f.Add(ctx, a.name, spec)
			s.ok(err)
			made := dst.Spec().Chunks
			s.checkWish(made, test.shape, test.chunks)
			s.ok(a.writeBox(dst, ndarray.Full(a.shape), s.layout()))
			s.ok(f.Close(ctx))
			s.expect(mem, path, c)
			f, err = s.open(mem, path)
			s.ok(err)
			src, err := f.Array(a.name)
			s.ok(err)
			if got := src.Spec().Chunks; !slices.Equal(got, made) {
				s.errorf("chunks %v, when it was made %v", got, made)
			}
			s.ok(f.Abort())
		}
		if i == 0 {
			s.checkBadChunks(d)
		}
	}
	s.checkOpenCost()
}

// checkWish checks the shape of chunks.
func (s *suite) checkWish(got, shape, wish []int64) {
	s.tb.Helper()
	if len(got) != len(shape) || slices.ContainsFunc(got, func(n int64) bool { return n < 1 }) {
		s.errorf("chunks %v of an array of shape %v", got, shape)
		return
	}
	for axis := range wish {
		if got[axis] != wish[axis] && (axis == 0 || got[axis] != max(shape[axis], 1)) {
			s.errorf("chunks %v", got)
		}
	}
}

// checkBadChunks asks for chunks that cannot be.
func (s *suite) checkBadChunks(d ndarray.DType) {
	for _, chunks := range [][]int64{{0}, {-1}, {}, {2, 2}, {1 << 40}, {1 << 62}} {
		f, err := s.create(ndfile.NewMem(), s.path("f"), ndfile.WriteOptions{}, nil)
		s.ok(err)
		c := s.files([]*array{s.random("", d, 5)})[0]
		c.arrays[0].chunks = chunks
		_, err = f.Add(ctx, c.arrays[0].name, c.arrays[0].spec())
		s.in("chunks %v of an array of shape [5]", chunks).fails(err, refusals...)
		s.ok(f.Abort())
	}
}

// checkOpenCost: opening looks at metadata only, however many chunks there are.
func (s *suite) checkOpenCost() {
	var cost [2]int
	for i, n := range []int64{3, 90} {
		a := s.random("", s.dtypes[0], n)
		a.chunks = []int64{3}
		c := s.files([]*array{a})[0]
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(s.writeWhole(mem, path, c, ndfile.WriteOptions{}))
		watched := newWatch(mem)
		f, err := s.open(watched, path)
		s.ok(err)
		cost[i] = len(watched.ops)
		if slices.Contains(watched.ops, "readdir") && !s.listed() {
			s.errorf("Open lists a folder")
		}
		s.ok(f.Abort())
	}
	if cost[0] != cost[1] {
		s.errorf("Open takes %d calls for one chunk, and %d for thirty", cost[0], cost[1])
	}
}

// checkCompression asks for all ways of compressing: kept or refused.
func checkCompression(s *suite) {
	d := s.fixed()
	kept := 0
	try := func(comp ndfile.Compression, must bool) {
		s := s.in("%+v", comp)
		a := s.random("", d, 90)
		a.chunks = []int64{40}
		for k := range a.elems { // some of it repeats
			if k%3 > 0 {
				a.elems[k] = a.elems[0]
			}
		}
		c := s.files([]*array{a})[0]
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
		s.ok(err)
		spec := a.spec()
		spec.Codecs = comp.Codecs()
		dst, err := f.Add(ctx, a.name, spec)
		if err != nil || !must {
			s.fails(err, refusals...)
			s.ok(f.Abort())
			return
		}
		kept++
		spec.Codecs[0].Name = "" // the format has a copy
		s.ok(a.writeBox(dst, ndarray.Full(a.shape), layouts[0]))
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
		f, err = s.open(mem, path)
		s.ok(err)
		src, err := f.Array(a.name)
		s.ok(err)
		kept := src.Spec()
		if got, ok := kept.Compression(); !ok || got != comp {
			s.errorf("the file has %+v", got)
		}
		s.ok(f.Abort())
	}
	for _, codec := range []string{"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"} {
		for _, level := range []int{0, 1, 5, 9} {
			for shuffle := range 3 {
				try(ndfile.Compression{Codec: codec, Level: level, Shuffle: shuffle}, true)
			}
		}
		for _, bad := range [][2]int{{10, 1}, {-1, 1}, {5, 3}, {5, -1}} {
			try(ndfile.Compression{Codec: codec, Level: bad[0], Shuffle: bad[1]}, false)
		}
	}
	for _, codec := range []string{"", "LZ4", "no such codec"} {
		try(ndfile.Compression{Codec: codec, Level: 5, Shuffle: 1}, false)
	}
	if kept == 0 {
		s.errorf("every compression is refused")
	}
}

// checkFill leaves elements unwritten: they have the fill value, also where the
// array grows. Numbers must be kept; other values are kept or refused.
func checkFill(s *suite) {
	if s.has(ndfile.CapWriteOnce) {
		return // everything must be written
	}
	for _, d := range s.dtypes {
		if d.IsVar() {
			continue
		}
		for _, order := range []ndarray.Order{ndarray.Little, ndarray.Big} {
			for _, unset := range s.fills(d) {
				s.tryFill(d.WithOrder(order), unset)
			}
		}
	}
	f, err := s.create(ndfile.NewMem(), s.path("f"), ndfile.WriteOptions{}, nil)
	s.ok(err)
	a := s.files([]*array{s.random("", s.dtypes[0], 3)})[0].arrays[0]
	spec := a.spec()
	for _, n := range []int{0, s.dtypes[0].Size + 1} {
		spec.Fill = make([]byte, n)
		_, err = f.Add(ctx, a.name, spec)
		s.in("a fill value of %d bytes for %s", n, s.dtypes[0]).fails(err, refusals...)
	}
	s.ok(f.Abort())
}

// fills are fill values of a dtype in native order; nil is the default.
func (s *suite) fills(d ndarray.DType) [][]byte {
	if d.Kind == ndarray.Record || d.Kind == ndarray.Raw {
		return [][]byte{nil, bytes.Repeat([]byte{1}, d.Size)}
	}
	one := s.element(d, 2)
	for bytes.Count(one, []byte{0}) == len(one) {
		one = s.element(d, 2)
	}
	return [][]byte{nil, s.element(d, 0), one}
}

func (s *suite) tryFill(d ndarray.DType, unset []byte) {
	s = s.in("%s, fill value %x", d, unset)
	shape := []int64{6, 3}
	if !s.stores(shape) {
		shape = shape[:1]
	}
	a := s.random("", d, shape...)
	a.unset = unset
	c := s.files([]*array{a})[0]
	for _, written := range []string{"nothing", "rows", "boxes"} {
		s := s.in("%s written", written)
		mem, path := ndfile.NewMem(), s.path("f")
		f, err := s.create(mem, path, ndfile.WriteOptions{}, nil)
		s.ok(err)
		dst, err := f.Add(ctx, a.name, a.spec())
		if err != nil && unset != nil && !(d.IsNumeric() && d.Size <= 8 || d.Kind == ndarray.Bool) {
			s.fails(err, refusals...)
			s.ok(f.Abort())
			return
		}
		s.ok(err)
		values := *a
		a.elems = slices.Repeat([][]byte{a.blank()}, count(shape))
		switch written {
		case "rows":
			box := rowBox(shape, 1, 3)
			a.assign(box, values.sub(box))
			s.ok(a.writeBox(dst, box, s.layout()))
		case "boxes":
			for range 3 {
				s.ok(s.change(a, dst))
			}
		}
		s.ok(f.Close(ctx))
		s.expect(mem, path, c)
		f, err = s.open(mem, path)
		s.ok(err)
		src, err := f.Array(a.name)
		s.ok(err)
		got := array{dtype: src.Spec().DType}
		got.adopt(src.Spec())
		if !bytes.Equal(got.blank(), a.blank()) {
			s.errorf("the file has the fill value %x", got.blank())
		}
		s.ok(f.Abort())
		if s.has(ndfile.CapUpdate) && s.grows(c) {
			f, err = s.session(mem, path, c)
			s.ok(err)
			s.ok(s.stepGrow(f, c))
			s.ok(f.Close(ctx))
			s.in("grown").expect(mem, path, c)
		}
		*a = values
	}
}

// copyChunks copies all chunks of an array as they are stored.
func (s *suite) copyChunks(dst, src ndfile.Array) {
	s.tb.Helper()
	spec := src.Spec()
	from, to := src.(ndfile.Chunked), dst.(ndfile.Chunked)
	if from.ChunkEncoding() == "" || from.ChunkEncoding() != to.ChunkEncoding() {
		s.errorf("encodings %q and %q", from.ChunkEncoding(), to.ChunkEncoding())
	}
	whole := int64(count(spec.Chunks) * spec.DType.Size)
	each(grid(spec.Shape, spec.Chunks), func(_ int, index []int64) {
		s := s.in("chunk %v", index)
		raw, size, err := from.ReadChunk(ctx, index, nil)
		s.ok(err)
		if raw == nil {
			return
		}
		if size <= 0 || size > whole || size%int64(spec.DType.Size) != 0 {
			s.errorf("it decodes to %d bytes; a chunk has %d", size, whole)
		}
		for _, n := range []int{1, len(raw), len(raw) + 100} {
			buf := bytes.Repeat([]byte{untouched}, n)
			again, _, err := from.ReadChunk(ctx, index, buf)
			s.ok(err)
			if !bytes.Equal(again, raw) {
				s.errorf("read into %d bytes it is another", n)
			}
			if n >= len(raw) && &again[0] != &buf[0] {
				s.errorf("a buffer of %d bytes is not used for %d bytes", n, len(raw))
			}
		}
		s.ok(to.WriteChunk(ctx, slices.Clone(index), raw))
	})
}

// checkRawChunks copies stored chunks from one store to another, and into places
// where they do not fit.
func checkRawChunks(s *suite) {
	shape, chunks := []int64{7, 3}, []int64{3, 2}
	if !s.stores(shape) {
		shape, chunks = shape[:1], chunks[:1]
	}
	for _, d := range s.dtypes {
		if d.IsVar() {
			continue
		}
		s := s.in("%s", d)
		a := s.random("", d, shape...)
		a.chunks = chunks
		c := s.files([]*array{a})[0]
		mem, path, copied := ndfile.NewMem(), s.path("f"), s.path("copy")
		s.ok(s.writeWhole(mem, path, c, ndfile.WriteOptions{}))
		f, err := s.open(mem, path)
		s.ok(err)
		src, err := f.Array(a.name)
		s.ok(err)
		g, err := s.create(mem, copied, ndfile.WriteOptions{}, nil)
		s.ok(err)
		dst, err := g.Add(ctx, a.name, src.Spec())
		s.ok(err)
		s.copyChunks(dst, src)
		s.ok(g.Close(ctx))
		s.in("copied into a new file").expect(mem, copied, c)
		if s.has(ndfile.CapUpdate) {
			old := s.random("", d, shape...)
			old.chunks = src.Spec().Chunks
			s.ok(s.writeWhole(mem, copied, s.files([]*array{old})[0], ndfile.WriteOptions{}))
			g, err = s.update(mem, copied)
			s.ok(err)
			dst, err = g.Array(a.name)
			s.ok(err)
			s.copyChunks(dst, src)
			s.ok(g.Close(ctx))
			s.in("copied over another").expect(mem, copied, c)
			s.badChunks(mem, copied, c, src)
		}
		raw, _, err := src.(ndfile.Chunked).ReadChunk(ctx, make([]int64, len(shape)), nil)
		s.ok(err)
		err = src.(ndfile.Chunked).WriteChunk(ctx, make([]int64, len(shape)), raw)
		s.in("WriteChunk on a file open for reading").fails(err, ndfile.ErrReadOnly)
		for _, index := range badIndices(shape) {
			_, _, err := src.(ndfile.Chunked).ReadChunk(ctx, index, nil)
			s.in("ReadChunk %v", index).fails(err, ndfile.ErrBounds, ndfile.ErrShape)
		}
		s.ok(f.Abort())
	}
	s.checkUnwritten()
}

func badIndices(shape []int64) [][]int64 {
	last := make([]int64, len(shape))
	last[len(last)-1] = 1 << 40
	return [][]int64{last, slices.Repeat([]int64{-1}, len(shape)), make([]int64, len(shape)+1), {}}
}

// badChunks writes bytes that are no chunk of the array.
func (s *suite) badChunks(mem *ndfile.Mem, path string, c *content, src ndfile.Array) {
	a := c.arrays[0]
	first := make([]int64, len(a.shape))
	raw, _, err := src.(ndfile.Chunked).ReadChunk(ctx, first, nil)
	s.ok(err)
	// A chunk of more elements than this array's have.
	other := s.random("", a.dtype, append([]int64{20}, a.shape[1:]...)...)
	other.chunks = append([]int64{10}, a.chunks[1:]...)
	s.ok(s.writeWhole(mem, s.path("other"), s.files([]*array{other})[0], ndfile.WriteOptions{}))
	h, err := s.open(mem, s.path("other"))
	s.ok(err)
	from, err := h.Array(other.name)
	s.ok(err)
	larger, _, err := from.(ndfile.Chunked).ReadChunk(ctx, first, nil)
	s.ok(err)
	s.ok(h.Abort())

	f, err := s.update(mem, path)
	s.ok(err)
	dst, err := f.Array(a.name)
	s.ok(err)
	for _, bad := range []struct {
		name string
		raw  []byte
	}{
		{"no bytes", nil}, {"one byte", raw[:1]}, {"a chunk cut short", raw[:len(raw)-1]}, {"the head of a chunk", raw[:min(16, len(raw)-1)]},
		{"noise", bytes.Repeat([]byte{0x8f, 3}, 40)}, {"a larger chunk", larger},
	} {
		err := dst.(ndfile.Chunked).WriteChunk(ctx, first, bad.raw)
		s.in("WriteChunk of %s", bad.name).fails(err, ndfile.ErrNotSupported, ndfile.ErrCorrupt, ndfile.ErrArgument)
	}
	for _, index := range badIndices(a.shape) {
		err := dst.(ndfile.Chunked).WriteChunk(ctx, index, raw)
		s.in("WriteChunk %v", index).fails(err, ndfile.ErrBounds, ndfile.ErrShape)
	}
	s.ok(f.Close(ctx))
	s.in("after chunks that were refused").expect(mem, path, c)
}

// checkUnwritten reads chunks that were never written.
func (s *suite) checkUnwritten() {
	if s.has(ndfile.CapWriteOnce) {
		return
	}
	a := s.random("", s.dtypes[0], 9)
	a.chunks = []int64{4}
	a.elems = slices.Repeat([][]byte{a.blank()}, 9)
	c := s.files([]*array{a})[0]
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.fileWith(mem, path, c, ndfile.WriteOptions{}, func(ndfile.Array, *array) error { return nil }))
	s.in("nothing written").expect(mem, path, c)
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	src, err := f.Array(a.name)
	s.ok(err)
	for i := range int64(3) {
		_, _, err := src.(ndfile.Chunked).ReadChunk(ctx, []int64{i}, nil)
		s.in("ReadChunk of one that was never written").ok(err)
	}
}

// stepRaw copies a whole chunk of an array over another of it.
func (s *suite) stepRaw(f ndfile.File, c *content) error {
	dst, a, err := s.pick(f, c)
	if err != nil {
		return err
	}
	ch, chunks := dst.(ndfile.Chunked), dst.Spec().Chunks
	random := func() (index []int64, box ndarray.Box, whole bool) {
		index, box, whole = make([]int64, len(chunks)), ndarray.Full(chunks), true
		for axis, n := range grid(a.shape, chunks) {
			if n == 0 {
				return index, box, false
			}
			index[axis] = s.rng.Int64N(n)
			box.Start[axis] = index[axis] * chunks[axis]
			whole = whole && box.Start[axis]+chunks[axis] <= a.shape[axis]
		}
		return index, box, whole
	}
	from, src, ok1 := random()
	to, box, ok2 := random()
	if slices.Contains(a.shape, 0) {
		return nil
	}
	if !ok1 || !ok2 { // not of one size
		to, box = from, src
	}
	raw, _, err := ch.ReadChunk(ctx, from, nil)
	if err != nil {
		return err
	}
	if raw == nil { // never written
		return s.change(a, dst)
	}
	if !slices.Equal(from, to) {
		a.assign(box, a.sub(src))
	}
	return ch.WriteChunk(ctx, to, raw)
}
