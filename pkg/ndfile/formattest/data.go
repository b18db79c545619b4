package formattest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// checkCaps proves that the optional interfaces are there exactly when the bits
// of Caps say so.
func checkCaps(s *suite) {
	if !s.has(ndfile.CapCreate) {
		s.fatalf("the suite needs CapCreate")
	}
	if s.has(ndfile.CapUpdate | ndfile.CapWriteOnce) {
		s.errorf("CapUpdate and CapWriteOnce exclude each other")
	}
	s.implements("Format", s.format, 0)
	if s.format.Name() == "" || strings.ToLower(s.format.Name()) != s.format.Name() {
		s.errorf("Name %q is not a word in lower case", s.format.Name())
	}
	for _, ext := range s.format.Extensions() {
		if !strings.HasPrefix(ext, ".") || ext != strings.ToLower(ext) {
			s.errorf("extension %q: expected a dot and lower case", ext)
		}
	}
	for _, d := range s.dtypes {
		if d.IsVar() && !s.has(ndfile.CapStrings) {
			s.errorf("Config.DTypes has %s, but CapStrings is not set", d)
		}
	}
	if s.has(ndfile.CapStrings) && !slices.ContainsFunc(s.dtypes, ndarray.DType.IsVar) {
		s.errorf("CapStrings is set, but Config.DTypes has no dtype of variable length")
	}
	c := s.sample(4)
	mem := ndfile.NewMem()
	path := s.path("caps")
	err := s.fileWith(mem, path, c, ndfile.WriteOptions{}, func(dst ndfile.Array, a *array) error {
		s.checkInterfaces("created", dst)
		return a.writeBox(dst, ndarray.Full(a.shape), layouts[0])
	})
	s.ok(err)
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	if f.Kind() != s.kind {
		s.errorf("Kind is %v, when created it was %v", f.Kind(), s.kind)
	}
	var either ndfile.Caps
	if s.kind == ndfile.Single && (s.has(ndfile.CapRows) || s.has(ndfile.CapGroups)) { // one type of file may be for arrays and others
		either = ndfile.CapRows | ndfile.CapRemove | ndfile.CapGroups
	}
	s.implements("File", f, either)
	for _, name := range f.Names() {
		a, err := f.Array(name)
		s.ok(err)
		s.checkInterfaces("opened", a)
	}
	if s.has(ndfile.CapFileAttrs) && f.Attrs() == nil {
		s.errorf("CapFileAttrs is set, but File.Attrs gives nil")
	}
}

// implements proves of a format, file or array that it has the methods of each
// ability exactly when its bit is set, but for those bits where either is right.
func (s *suite) implements(of string, value any, either ndfile.Caps) {
	for _, a := range ndfile.Abilities {
		if a.Of != of || a.Cap&either != 0 {
			continue
		}
		if ok := reflect.TypeOf(value).Implements(a.Interface); ok != s.has(a.Cap) {
			s.errorf("%s implemented: %t, ability %q: %t", a.Interface.Name(), ok, a.Name, !ok)
		}
	}
}

func (s *suite) checkInterfaces(what string, a ndfile.Array) {
	s = s.in("%s array of dtype %s", what, a.Spec().DType)
	either := ndfile.CapStrings // depends on the dtype: see below
	if _, ok := a.(ndfile.Mapper); !ok && what == "created" {
		either |= ndfile.CapMap
	}
	if s.kind == ndfile.Table {
		either |= ndfile.CapResize
	}
	s.implements("Array", a, either)
	if s.has(ndfile.CapArrayAttrs) && a.Attrs() == nil {
		s.errorf("CapArrayAttrs is set, but Attrs gives nil")
	}
	str, ok := a.(ndfile.Strings)
	switch {
	case ok && !s.has(ndfile.CapStrings):
		s.errorf("Strings is implemented, CapStrings is not set")
	case !ok && a.Spec().DType.IsVar():
		s.errorf("Strings is not implemented")
	case ok && !a.Spec().DType.IsVar() && what == "opened":
		_, err := str.ReadStrings(ctx, ndarray.Full(a.Spec().Shape), make([]int64, count(a.Spec().Shape)+1), nil, nil)
		s.in("ReadStrings").fails(err, ndfile.ErrDType, ndfile.ErrNotSupported)
	}
}

// checkDetect looks at own files, at foreign ones and at things that are none.
func checkDetect(s *suite) {
	want := ndfile.Certain
	if s.cfg.Quirks.Weak {
		want = ndfile.Possible
	}
	mem := ndfile.NewMem()
	detect := func(path string, want ndfile.Match) {
		m, err := s.format.Detect(ctx, mem, path)
		guess := want == ndfile.NoMatch && m == ndfile.Possible && s.cfg.Quirks.Guesses
		if err != nil || m != want && !guess {
			s.errorf("Detect %s: %d, %v; expected %d", path, m, err, want)
		}
	}
	for i, rows := range []int64{3, 1} {
		path := s.path(fmt.Sprint("own", i))
		s.ok(s.save(mem, path, s.sample(rows), ndfile.WriteOptions{}))
		detect(path, want)
		// by content alone
		s.ok(mem.Rename(path, "/no extension"))
		detect("/no extension", want)
		f, err := ndfile.Detect(ctx, s.cfg.Formats, mem, "/no extension")
		if err != nil || f.Name() != s.format.Name() && !s.cfg.Quirks.Weak {
			s.errorf("ndfile.Detect: %v, %v", f, err)
		}
		s.ok(mem.Rename("/no extension", path))
	}
	other := map[string]string{"/empty": "", "/text": "Some text that is not an array.\n", "/json": "{\"a\": [1, 2]}\n", "/zeros": strings.Repeat("\x00", 100),
		"/noise": "\x89\xff\x01\x02" + strings.Repeat("\xf0\x9f", 50)}
	for _, path := range sorted(other) {
		s.ok(mem.WriteFile(path+s.cfg.Ext, [][]byte{[]byte(other[path])}, ndfile.WriteOptions{}))
		detect(path+s.cfg.Ext, ndfile.NoMatch)
		f, err := s.format.Open(ctx, mem, path+s.cfg.Ext, ndfile.OpenOptions{})
		s.in("Open %s", path).fails(err, ndfile.ErrFormat, ndfile.ErrCorrupt)
		if err == nil {
			f.Abort()
		}
	}
	s.ok(mem.Mkdir("/folder" + s.cfg.Ext))
	detect("/folder"+s.cfg.Ext, ndfile.NoMatch)
	_, err := s.format.Detect(ctx, mem, "/missing"+s.cfg.Ext)
	s.in("Detect of nothing").fails(err, ndfile.ErrNotFound)
	for _, g := range s.cfg.Formats {
		if g.Name() == s.format.Name() || g.Caps()&ndfile.CapCreate == 0 {
			continue
		}
		path := "/foreign " + g.Name() + g.Extensions()[0]
		it := s.random("", ndarray.MustParse("<f8"), 3).item(layouts[0])
		err := ndfile.Save(ctx, s.cfg.Formats, path, []ndfile.Item{it}, ndfile.SaveOptions{FS: mem, Format: g.Name()})
		if err != nil { // a dataset may want another name
			it.Name = "v"
			err = ndfile.Save(ctx, s.cfg.Formats, path, []ndfile.Item{it}, ndfile.SaveOptions{FS: mem, Format: g.Name()})
		}
		s.ok(err)
		detect(path, ndfile.NoMatch)
	}
}

// checkRoundTrip writes and reads every dtype in both orders, from and into
// every layout, in every way.
func checkRoundTrip(s *suite) {
	for _, d := range s.dtypes {
		orders := []ndarray.Order{ndarray.Little, ndarray.Big}
		if d.WithOrder(ndarray.Little).Equal(d.WithOrder(ndarray.Big)) {
			orders = orders[:1]
		}
		for _, order := range orders {
			var arrays []*array
			for _, shape := range [][]int64{{11}, {3, 4}, {2, 3, 4}} {
				if s.stores(shape) {
					arrays = append(arrays, s.random("", d.WithOrder(order), shape...))
				}
			}
			for _, w := range s.ways() {
				for _, c := range s.files(arrays) {
					s := s.in("%s, %s, %d arrays of shape %v", d.WithOrder(order), w.name, len(c.arrays), c.arrays[0].shape)
					mem := ndfile.NewMem()
					s.ok(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}))
					s.only(mem, s.path("f"))
					s.expect(mem, s.path("f"), c)
				}
			}
		}
		a := s.random("", d, 3, 5)
		if !s.stores(a.shape) {
			continue
		}
		for _, src := range layouts {
			c := s.files([]*array{a})[0]
			s := s.in("%s, %s source", d, src.name)
			mem := ndfile.NewMem()
			err := s.fileWith(mem, s.path("f"), c, ndfile.WriteOptions{}, func(dst ndfile.Array, a *array) error {
				return a.writeBox(dst, ndarray.Full(a.shape), src)
			})
			s.ok(err)
			f, err := s.open(mem, s.path("f"))
			s.ok(err)
			got, err := f.Array(a.name)
			s.ok(err)
			for _, dst := range layouts {
				b, err := readBox(got, ndarray.Full(a.shape), dst)
				if err == nil {
					err = s.sameArray(b, a)
				}
				if err != nil {
					s.errorf("%s destination: %v", dst.name, err)
				}
			}
			s.ok(f.Abort())
		}
	}
}

// checkShapes writes scalars, empty arrays and many axes in every way.
func checkShapes(s *suite) {
	for _, w := range s.ways() {
		var arrays []*array
		for i, shape := range s.shapes() {
			arrays = append(arrays, s.random("", s.dtypes[i%len(s.dtypes)], shape...))
		}
		for _, d := range s.dtypes {
			if d.IsVar() || d.Kind == ndarray.Bool {
				for _, shape := range s.shapes() {
					arrays = append(arrays, s.random("", d, shape...))
				}
			}
		}
		for _, c := range s.files(arrays) {
			s := s.in("%s, %d arrays, the first %s %v", w.name, len(c.arrays), c.arrays[0].dtype, c.arrays[0].shape)
			mem := ndfile.NewMem()
			s.ok(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}))
			s.expect(mem, s.path("f"), c)
		}
	}
	s.checkRefusedShapes()
}

// checkRefusedShapes: what Quirks.Shapes excludes is refused.
func (s *suite) checkRefusedShapes() {
	for _, shape := range [][]int64{{}, {0}, {3, 4}, {2, 0, 2}} {
		if s.stores(shape) {
			continue
		}
		mem := ndfile.NewMem()
		c := &content{arrays: []*array{s.random("v", s.dtypes[0], shape...)}}
		s.in("shape %v", shape).fails(s.save(mem, s.path("f"), c, ndfile.WriteOptions{}), refusals...)
		s.only(mem)
	}
}

// checkBoxes reads random boxes of arrays of every dtype.
func checkBoxes(s *suite) {
	var arrays []*array
	for _, d := range s.dtypes {
		for _, shape := range [][]int64{{40}, {7, 6}, {3, 4, 5}, {2, 3, 2, 3}} {
			if s.stores(shape) {
				arrays = append(arrays, s.random("", d, shape...))
			}
		}
	}
	for _, c := range s.files(arrays) {
		mem := ndfile.NewMem()
		s.ok(s.save(mem, s.path("f"), c, ndfile.WriteOptions{}))
		f, err := s.open(mem, s.path("f"))
		s.ok(err)
		for _, a := range c.arrays {
			src, err := f.Array(a.name)
			s.ok(err)
			for range 25 {
				s.checkBox(src, a, s.box(a.shape))
			}
		}
		s.ok(f.Abort())
	}
}

// checkLarge writes and reads arrays that take several reads and blocks.
func checkLarge(s *suite) {
	for _, w := range s.ways() {
		if w.name == "boxes" {
			continue // one element a call
		}
		s, c := s.in("%s", w.name), s.large()
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(w.write(s, mem, path, c, ndfile.WriteOptions{}))
		s.only(mem, path)
		s.expect(mem, path, c)
		f, err := s.open(mem, path)
		s.ok(err)
		for _, a := range c.arrays {
			src, err := f.Array(a.name)
			s.ok(err)
			for range 4 {
				s.checkBox(src, a, s.box(a.shape))
			}
			for range 20 { // a few rows, anywhere
				row := s.rng.Int64N(a.shape[0])
				box := rowBox(a.shape, row, min(row+1+s.rng.Int64N(3), a.shape[0]))
				s.checkBox(src, a, box)
				if s.has(ndfile.CapMasked) {
					s.checkPlainRead(src, a, box)
				}
			}
		}
		s.ok(f.Abort())
	}
}

// checkBox reads one box and compares it with the model.
func (s *suite) checkBox(src ndfile.Array, a *array, box ndarray.Box) {
	s.tb.Helper()
	l := s.layout()
	got, err := readBox(src, box, l)
	if err == nil {
		err = sameElems(got.elems, a.sub(box).elems)
	}
	if err != nil {
		s.errorf("array %q, %s %v, box %v, %s: %v", a.name, a.dtype, a.shape, box, l.name, err)
	}
}

// allDTypes are one of each kind of dtype that there is.
var allDTypes = []string{"|b1", "|i1", "<i2", "<i4", "<i8", "<i16", "|u1", "<u2", "<u4", "<u8", "<u16", "<f2", "<f4", "<f8", "<f16", "bfloat16",
	"<c4", "<c8", "<c16", "<c32", "|S3", "<U3", "<M8[ns]", "<m8[s]", "|V5", `[["a", "<f8"], ["b", "|u1"]]`, "bytes", "str"}

// checkWidening reads every dtype as every other: the exact conversions give the
// values, the others are refused.
func checkWidening(s *suite) {
	for _, d := range s.dtypes {
		if d.IsVar() {
			continue
		}
		c := s.files([]*array{s.random("", d, 6)})[0]
		a := c.arrays[0]
		mem := ndfile.NewMem()
		s.ok(s.save(mem, s.path("f"), c, ndfile.WriteOptions{}))
		f, err := s.open(mem, s.path("f"))
		s.ok(err)
		src, err := f.Array(a.name)
		s.ok(err)
		full := ndarray.Full(a.shape)
		for _, name := range allDTypes {
			to := ndarray.MustParse(name)
			if to.IsVar() {
				continue
			}
			s := s.in("%s read as %s", d, to)
			dst, want := s.layout().buffer(to, a.shape), layouts[0].buffer(to, a.shape)
			err := src.ReadBox(ctx, full, dst)
			if !ndarray.CanConvert(s.stored(d), to) {
				s.fails(err, ndfile.ErrDType)
				continue
			}
			s.ok(err)
			s.ok(ndarray.Copy(want, a.fill(layouts[0].buffer(s.stored(d), a.shape))))
			got, err := drain(dst, nil)
			s.ok(err)
			expected, _ := drain(want, nil)
			if err := sameElems(got, expected); err != nil {
				s.errorf("%v", err)
			}
		}
		s.ok(f.Abort())
	}
}

// checkOtherDTypes: what the format does not store is refused, in every way, and
// nothing is left.
func checkOtherDTypes(s *suite) {
	for _, name := range allDTypes {
		d := ndarray.MustParse(name)
		if slices.ContainsFunc(s.dtypes, func(e ndarray.DType) bool { return e.Kind == d.Kind && (e.Size == d.Size || d.Kind >= ndarray.Bytes) }) {
			continue
		}
		for _, w := range s.ways() {
			mem := ndfile.NewMem()
			c := s.files([]*array{s.random("", d, 3)})[0]
			if !d.IsVar() && s.stored(d).IsVar() {
				s := s.in("%s, %s", d, w.name)
				s.ok(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}))
				s.expect(mem, s.path("f"), &content{arrays: []*array{s.asStored(c.arrays[0])}})
				continue
			}
			s := s.in("%s, %s, which Config.DTypes does not list", d, w.name)
			s.fails(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}), ndfile.ErrDType, ndfile.ErrNotSupported)
			s.only(mem)
		}
	}
}

// checkLoad tests the protocol of Load: all or one, short buffers, limits.
func checkLoad(s *suite) {
	for range 4 {
		c := s.sample(5)
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
		all, err := s.load(mem, path, nil)
		s.ok(err)
		if err := s.sameArrays(all, c, s.sameValues); err != nil {
			s.errorf("all: %v", err)
		}
		for _, a := range c.arrays {
			one, err := s.load(mem, path, &a.name)
			if err == nil {
				err = s.sameArrays(one, &content{arrays: []*array{a}}, s.sameValues)
			}
			if err != nil {
				s.errorf("array %q alone: %v", a.name, err)
			}
		}
		no := "no such array"
		_, err = s.load(mem, path, &no)
		s.in("Load of an unknown array").fails(err, ndfile.ErrName)
		s.in("Load of an unknown array").says(err, path, no, true)

		full := &ndfile.Sink{Buf: make([]byte, 1<<20), Infos: make([]ndfile.LoadInfo, 100)}
		s.ok(ndfile.Load(ctx, s.cfg.Formats, mem, path, full))
		for _, short := range []*ndfile.Sink{
			{Buf: make([]byte, full.Need-1), Infos: make([]ndfile.LoadInfo, full.N)},
			{Buf: make([]byte, full.Need/2), Infos: make([]ndfile.LoadInfo, full.N)},
			{Buf: make([]byte, full.Need), Infos: make([]ndfile.LoadInfo, full.N-1)},
			{Infos: make([]ndfile.LoadInfo, full.N)},
		} {
			s := s.in("Load into %d bytes of %d and %d infos of %d", len(short.Buf), full.Need, len(short.Infos), full.N)
			s.fails(ndfile.Load(ctx, s.cfg.Formats, mem, path, short), ndfile.ErrBuffer)
			if short.N != full.N || short.Need != full.Need {
				s.errorf("it says that %d bytes and %d infos are needed", short.Need, short.N)
			}
			for i := range short.Infos {
				if got, want := short.Infos[i], full.Infos[i]; got != want {
					s.errorf("info %d is %+v, expected %+v", i, got, want)
				}
			}
		}
	}
}

// checkMasks reads missing elements with a mask and without.
func checkMasks(s *suite) {
	for _, d := range s.dtypes {
		var arrays []*array
		for _, shape := range s.shapes() {
			for _, n := range []int{1, 3, 1 << 30} { // all, some, none missing
				arrays = append(arrays, s.hide(s.random("", d, shape...), n))
			}
		}
		for _, c := range s.files(arrays) {
			for _, w := range s.ways() {
				s := s.in("%s, %s, the first of shape %v", d, w.name, c.arrays[0].shape)
				mem, path := ndfile.NewMem(), s.path("f")
				s.ok(w.write(s, mem, path, c, ndfile.WriteOptions{}))
				s.expect(mem, path, c)
				f, err := s.open(mem, path)
				s.ok(err)
				for _, a := range c.arrays {
					src, err := f.Array(a.name)
					s.ok(err)
					s.checkPlainRead(src, a, ndarray.Full(a.shape))
					for range 6 {
						box := s.box(a.shape)
						s.checkBox(src, a, box)
						s.checkPlainRead(src, a, box)
					}
				}
				s.ok(f.Abort())
			}
		}
	}
	a := s.hide(s.random("", s.dtypes[0], 6), 2)
	c := s.files([]*array{a})[0]
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	src, err := f.Array(a.name)
	s.ok(err)
	for _, n := range []int{0, 5} {
		err = src.(ndfile.Masked).ReadMasked(ctx, ndarray.Full(a.shape), layouts[0].buffer(a.dtype, a.shape), make([]byte, n))
		s.in("a mask of %d bytes for 6 elements", n).fails(err, ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrBounds, ndfile.ErrBuffer)
	}
	// A mask of zeros and no mask are the same.
	mem = ndfile.NewMem()
	a = s.random("", s.dtypes[0], 4)
	c = s.files([]*array{a})[0]
	s.ok(s.fileWith(mem, path, c, ndfile.WriteOptions{}, func(dst ndfile.Array, a *array) error {
		box := ndarray.Full(a.shape)
		return dst.(ndfile.Masked).WriteMasked(ctx, box, a.fill(layouts[0].buffer(a.dtype, a.shape)), nil)
	}))
	s.in("WriteMasked without a mask").expect(mem, path, c)
	// A mask that Add was not told of is refused or kept.
	mem = ndfile.NewMem()
	s.hide(a, 2)
	f, err = s.create(mem, path, ndfile.WriteOptions{}, nil)
	s.ok(err)
	spec := a.spec()
	spec.Masked = false
	dst, err := f.Add(ctx, a.name, spec)
	s.ok(err)
	err = a.writeBox(dst, ndarray.Full(a.shape), layouts[0])
	if err == nil {
		err = f.Close(ctx)
	}
	s.in("a mask that Add was not told of").refusedOrKept(err, mem, path, c)
	f.Abort()
}

// checkPlainRead reads a box without a mask: ErrMasked if something is missing.
func (s *suite) checkPlainRead(src ndfile.Array, a *array, box ndarray.Box) {
	s.tb.Helper()
	s = s.in("array %q, %s %v, box %v, read without a mask", a.name, a.dtype, a.shape, box)
	want := a.sub(box)
	var got [][]byte
	var err error
	if a.dtype.IsVar() {
		offsets := make([]int64, len(want.elems)+1)
		_, all := want.strings()
		data := make([]byte, len(all))
		if _, err = src.(ndfile.Strings).ReadStrings(ctx, box, offsets, data, nil); err == nil {
			got, err = cut(offsets, data, nil)
		}
	} else {
		dst := s.layout().buffer(a.dtype, box.Count)
		if err = src.ReadBox(ctx, box, dst); err == nil {
			got, err = drain(dst, nil)
		}
	}
	if want.missing() {
		s.fails(err, ndfile.ErrMasked)
		return
	}
	if err == nil {
		err = sameElems(got, want.elems)
	}
	if err != nil {
		s.errorf("%v", err)
	}
}

// checkMaskedGarbage: what lies under the mask in memory does not reach the file.
func checkMaskedGarbage(s *suite) {
	for _, d := range s.dtypes {
		a := s.hide(s.random("", d, 9), 2)
		a.elems[4] = nil
		if d.IsVar() {
			continue // missing elements are empty
		}
		c := s.files([]*array{a})[0]
		var trees []map[string]string
		for garbage := range byte(2) {
			mem := ndfile.NewMem()
			it := a.item(layouts[0])
			for i, m := range it.Mask {
				if m != 0 {
					copy(it.Data.Data[i*d.Size:], bytes.Repeat([]byte{garbage}, d.Size))
				}
			}
			opt := ndfile.SaveOptions{FS: mem, Format: s.format.Name()}
			s.ok(ndfile.Save(ctx, s.cfg.Formats, s.path("f"), []ndfile.Item{it}, opt))
			s.expect(mem, s.path("f"), c)
			trees = append(trees, s.tree(mem, "/"))
		}
		if !maps.Equal(trees[0], trees[1]) {
			s.errorf("%s: what lies under the mask is stored", d)
		}
	}
}

// checkStrings tests the offsets protocol.
func checkStrings(s *suite) {
	for _, d := range s.dtypes {
		if !d.IsVar() {
			continue
		}
		s := s.in("%s", d)
		a := s.random("", d, 12)
		a.elems[0], a.elems[11], a.elems[5] = []byte{}, []byte{}, []byte("some text")
		c := s.files([]*array{a})[0]
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
		s.expect(mem, path, c)
		f, err := s.open(mem, path)
		s.ok(err)
		src, err := f.Array(a.name)
		s.ok(err)
		str := src.(ndfile.Strings)
		wantOffsets, want := a.strings()
		full := ndarray.Full(a.shape)
		for _, short := range []int{0, 1, len(want) - 1} {
			offsets := make([]int64, 13)
			need, err := str.ReadStrings(ctx, full, offsets, make([]byte, short), nil)
			s.in("%d bytes", short).fails(err, ndfile.ErrBuffer)
			if need != int64(len(want)) || !slices.Equal(offsets, wantOffsets) {
				s.errorf("%d bytes: need %d, offsets %v; expected %d, %v", short, need, offsets, len(want), wantOffsets)
			}
		}
		data := bytes.Repeat([]byte{untouched}, len(want)+4)
		need, err := str.ReadStrings(ctx, full, make([]int64, 13), data, nil)
		if err != nil || need != int64(len(want)) || !bytes.Equal(data[:need], want) || !bytes.Equal(data[need:], bytes.Repeat([]byte{untouched}, 4)) {
			s.errorf("into more bytes than needed: %d, %v, %q", need, err, data)
		}
		_, err = str.ReadStrings(ctx, full, make([]int64, 12), data, nil)
		s.in("too few offsets").fails(err, ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrBounds, ndfile.ErrBuffer)
		s.in("ReadBox").fails(src.ReadBox(ctx, full, layouts[0].buffer(ndarray.MustParse("<f8"), a.shape)), ndfile.ErrDType, ndfile.ErrNotSupported)
		s.ok(f.Abort())

		bad := []struct {
			name    string
			offsets []int64
			data    string
		}{
			{"falling offsets", []int64{0, 2, 1, 3}, "abc"},
			{"negative offset", []int64{0, -1, 1, 3}, "abc"},
			{"offsets beyond the data", []int64{0, 1, 2, 4}, "abc"},
			{"too few offsets", []int64{0, 1, 3}, "abc"},
			{"no offsets", nil, "abc"},
		}
		for _, b := range bad {
			mem := ndfile.NewMem()
			it := ndfile.Item{Name: a.name, Data: ndarray.Buffer{DType: d, Shape: []int64{3}, Data: []byte(b.data)}, Offsets: b.offsets}
			err := ndfile.Save(ctx, s.cfg.Formats, path, []ndfile.Item{it}, ndfile.SaveOptions{FS: mem, Format: s.format.Name()})
			s.in("%s", b.name).fails(err, ndfile.ErrShape, ndfile.ErrArgument, ndfile.ErrBounds, ndfile.ErrBuffer, ndfile.ErrValue)
			s.only(mem)
		}
		if d.Kind == ndarray.VarString {
			c := s.files([]*array{s.random("", d, 3)})[0]
			c.arrays[0].elems[1] = []byte("not UTF-8: \xff")
			s.in("text that is not UTF-8").saveOrRefuse(c)
		}
	}
}

// checkMap maps arrays of a file on disk.
func checkMap(s *suite) {
	for i, d := range s.dtypes {
		arrays := []*array{s.random("", d, 5, 4), s.random("", d.WithOrder(layouts[1].order), 7)}
		if !s.stores(arrays[0].shape) {
			arrays = arrays[1:]
		}
		if s.has(ndfile.CapMasked) {
			m := s.hide(s.random("", d, 6), 3)
			m.elems[0] = nil
			arrays = append(arrays, m)
		}
		for j, c := range s.files(arrays) {
			path := fmt.Sprintf("%s/map%d-%d%s", s.tb.TempDir(), i, j, s.cfg.Ext)
			s.ok(s.save(ndfile.OS, path, c, ndfile.WriteOptions{}))
			f, err := s.open(ndfile.OS, path)
			s.ok(err)
			type mapping struct {
				a     *array
				data  []byte
				unmap func() error
			}
			var maps []mapping
			for _, a := range c.arrays {
				s := s.in("%s, masked: %t", a.dtype, a.masked)
				src, err := f.Array(a.name)
				s.ok(err)
				data, unmap, err := src.(ndfile.Mapper).Map(ctx)
				spec := src.Spec()
				switch {
				case a.masked || d.IsVar() || spec.DType.Swapped():
					s.fails(err, ndfile.ErrNotSupported)
				case d.Kind == ndarray.Bool && errors.Is(err, ndfile.ErrNotSupported):
					// may be stored as bits
				default:
					s.ok(err)
					maps = append(maps, mapping{a, data, unmap})
				}
			}
			s.ok(f.Abort())
			for _, m := range maps { // the file is closed
				if want := bytes.Join(m.a.elems, nil); !bytes.Equal(m.data, want) {
					s.errorf("%s: mapped %x, expected %x", m.a.dtype, m.data, want)
				}
				s.ok(m.unmap())
			}
		}
	}
}

// value parses the text of a JSON value.
func value(text string) pyjson.Value {
	v, err := pyjson.Parse([]byte(text), pyjson.Limits{})
	if err != nil {
		panic(err)
	}
	return v
}

// checkAttrs stores attributes of files and arrays, or sees them refused.
func checkAttrs(s *suite) {
	common := ndfile.NewAttrs()
	for _, kv := range [][2]string{{"z", `"last first"`}, {"a", `1`}, {"float", `1.5`}, {"b c", `true`}, {"none", `null`}, {"list", `[1, 2.0, "x", null]`},
		{"é☃", `"naïve \ud83d\ude00"`}, {"empty", `""`}, {"negative", `-12`}} {
		common.Set(kv[0], value(kv[1]))
	}
	s.tryAttrs("ordinary", common, true)
	for _, kv := range [][2]string{{"big", `1234567890123456789012345678901234567890`}, {"one", `1.0`}, {"nan", `NaN`}, {"inf", `[Infinity, -Infinity]`},
		{"minus", `-0.0`}, {"e", `1e+300`}, {"nested", `{"b": {"z": 1, "a": [[], {}]}}`}, {"lone", `"\udcff"`}, {"", `1`}, {".", `1`}, {".size", `[3]`},
		{"\\", `1`}, {"\\.x", `2`}, {"a.b", `1`}, {"a/b", `1`}, {"nul\x00", `"\u0000"`}, {`quote"`, `"\""`}, {"long" + strings.Repeat("g", 300), `"x"`}} {
		attrs := ndfile.NewAttrs()
		attrs.Set(kv[0], value(kv[1]))
		s.tryAttrs(fmt.Sprintf("%.20q = %s", kv[0], kv[1]), attrs, false)
	}
	many := ndfile.NewAttrs()
	for i := range 200 {
		many.Set(fmt.Sprint("key", (i*37)%200), pyjson.Int(int64(i)))
	}
	s.tryAttrs("many", many, true)
	if s.oneAttrs() {
		s.checkOneAttrs()
	}
}

// checkOneAttrs: the attributes of a file of one array are those of the array,
// whichever way they came.
func (s *suite) checkOneAttrs() {
	a := s.files([]*array{s.random("", s.dtypes[0], 2)})[0].arrays[0]
	ofFile, both := ndfile.NewAttrs(), ndfile.NewAttrs()
	a.attrs = ndfile.NewAttrs()
	ofFile.Set("of the file", value("1"))
	a.attrs.Set("of the array", value("2"))
	both.Set("of the file", value("1"))
	both.Set("of the array", value("2"))
	for _, w := range s.ways() {
		s := s.in("attributes given to Create and to Add, %s", w.name)
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(w.write(s, mem, path, &content{attrs: ofFile, arrays: []*array{a}}, ndfile.WriteOptions{}))
		want := *a
		want.attrs = both
		s.expect(mem, path, &content{attrs: both, arrays: []*array{&want}})
	}
}

// tryAttrs stores attributes in all the places that attributes can be given:
// kept if the format can, refused if it cannot, and nothing else.
func (s *suite) tryAttrs(what string, attrs *ndfile.Attrs, must bool) {
	places := []struct {
		name  string
		needs ndfile.Caps
		write func(fsys ndfile.FS, path string, a *array) error
	}{
		{"file, Save", ndfile.CapFileAttrs, func(fsys ndfile.FS, path string, a *array) error {
			return s.save(fsys, path, &content{attrs: attrs, arrays: []*array{a}}, ndfile.WriteOptions{})
		}},
		{"file, Create", ndfile.CapFileAttrs, func(fsys ndfile.FS, path string, a *array) error {
			return s.writeWhole(fsys, path, &content{attrs: attrs, arrays: []*array{a}}, ndfile.WriteOptions{})
		}},
		{"file, Attrs", ndfile.CapFileAttrs, func(fsys ndfile.FS, path string, a *array) error {
			return s.late(fsys, path, a, func(f ndfile.File, _ ndfile.Array) *ndfile.Attrs { return f.Attrs() }, attrs)
		}},
		{"array, Save", ndfile.CapArrayAttrs, func(fsys ndfile.FS, path string, a *array) error {
			b := *a
			b.attrs = attrs
			return s.save(fsys, path, &content{arrays: []*array{&b}}, ndfile.WriteOptions{})
		}},
		{"array, Add", ndfile.CapArrayAttrs, func(fsys ndfile.FS, path string, a *array) error {
			b := *a
			b.attrs = attrs
			return s.writeWhole(fsys, path, &content{arrays: []*array{&b}}, ndfile.WriteOptions{})
		}},
		{"array, Attrs", ndfile.CapArrayAttrs, func(fsys ndfile.FS, path string, a *array) error {
			return s.late(fsys, path, a, func(_ ndfile.File, a ndfile.Array) *ndfile.Attrs { return a.Attrs() }, attrs)
		}},
	}
	for _, p := range places {
		s := s.in("attributes %s, %s", what, p.name)
		a := s.files([]*array{s.random("", s.dtypes[0], 2)})[0].arrays[0]
		want := &content{arrays: []*array{a}}
		mem, path := ndfile.NewMem(), s.path("f")
		err := p.write(mem, path, a)
		if p.needs == ndfile.CapFileAttrs || s.oneAttrs() {
			want.attrs = attrs
		}
		if p.needs == ndfile.CapArrayAttrs || s.oneAttrs() {
			a.attrs = attrs
		}
		switch {
		case !s.has(p.needs):
			if errors.Is(err, errNoAttrs) {
				continue // there is nothing to set them in
			}
			s.fails(err, refusals...)
			s.only(mem)
		case must:
			s.ok(err)
			s.expect(mem, path, want)
		default:
			s.refusedOrKept(err, mem, path, want)
		}
	}
}

var errNoAttrs = errors.New("no Attrs")

// late sets attributes of a file that is being created.
func (s *suite) late(fsys ndfile.FS, path string, a *array, of func(ndfile.File, ndfile.Array) *ndfile.Attrs, attrs *ndfile.Attrs) error {
	f, err := s.create(fsys, path, ndfile.WriteOptions{}, nil)
	if err != nil {
		return err
	}
	defer f.Abort()
	dst, err := f.Add(ctx, a.name, a.spec())
	if err != nil {
		return err
	}
	if err := a.writeBox(dst, ndarray.Full(a.shape), layouts[0]); err != nil {
		return err
	}
	to := of(f, dst)
	if to == nil {
		return errNoAttrs
	}
	for _, k := range attrs.Keys() {
		v, _ := attrs.Get(k)
		to.Set(k, v)
	}
	return f.Close(ctx)
}

// refusedOrKept: err refuses, leaving nothing, or the file is as wanted.
func (s *suite) refusedOrKept(err error, mem ndfile.FS, path string, want *content) {
	s.tb.Helper()
	if err != nil {
		s.fails(err, refusals...)
		s.only(mem)
		return
	}
	s.only(mem, path)
	s.expect(mem, path, want)
}

// saveOrRefuse writes a file in every way: refused or kept.
func (s *suite) saveOrRefuse(c *content) {
	s.tb.Helper()
	for _, w := range s.ways() {
		mem := ndfile.NewMem()
		err := w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{})
		s.in("%s", w.name).refusedOrKept(err, mem, s.path("f"), c)
	}
}

// checkDims names axes.
func checkDims(s *suite) {
	for _, test := range []struct {
		dims []string
		must bool
	}{
		{[]string{"x", "y"}, true},
		{[]string{"naïve ☃", "with space"}, true},
		{[]string{"x", "x"}, false},
		{[]string{"", "y"}, false},
		{[]string{".a", "b/c"}, false},
	} {
		shape, dims := []int64{2, 3}, test.dims
		if !s.stores(shape) {
			shape, dims = shape[:1], dims[:1]
		}
		a := s.random("", s.dtypes[0], shape...)
		a.dims = dims
		c := s.files([]*array{a})[0]
		s := s.in("dims %q", dims)
		if !test.must || !s.has(ndfile.CapDims) {
			s.saveOrRefuse(c)
			continue
		}
		for _, w := range s.ways() {
			mem := ndfile.NewMem()
			s := s.in("%s", w.name)
			s.ok(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}))
			s.expect(mem, s.path("f"), c)
		}
	}
}

// checkNames gives arrays all kinds of names.
func checkNames(s *suite) {
	if s.kind == ndfile.Single {
		a := s.random("", s.dtypes[0], 3)
		a.name = "x"
		s.in("a name in a file of one array").saveOrRefuse(&content{arrays: []*array{a}})
		return
	}
	c := &content{}
	for i, name := range s.cfg.Quirks.Names {
		a := s.random(name, s.dtypes[i%len(s.dtypes)], 3)
		c.arrays = append(c.arrays, a)
	}
	for _, w := range s.ways() {
		mem := ndfile.NewMem()
		s := s.in("ordinary names, %s", w.name)
		s.ok(w.write(s, mem, s.path("f"), c, ndfile.WriteOptions{}))
		s.expect(mem, s.path("f"), c)
		for _, a := range c.arrays {
			one, err := s.load(mem, s.path("f"), &a.name)
			s.ok(err)
			if err := s.sameArrays(one, &content{arrays: []*array{a}}, s.sameValues); err != nil {
				s.errorf("Load of %q: %v", a.name, err)
			}
		}
	}
	for _, name := range []string{"", ".", "..", ".hidden", "a/b", "/", "../x", `a\b`, `\`, `\.x`, "nul\x00", "not UTF-8 \xff", "lone \xed\xb2\x80", "tab\t", "new\nline",
		`quote"`, "__attrs__", "__meta__", strings.Repeat("long", 100), "CON"} {
		a := s.random(name, s.dtypes[0], 3)
		s.in("name %.30q", name).saveOrRefuse(&content{arrays: []*array{a}})
	}
	mem := ndfile.NewMem()
	twice := &content{arrays: []*array{s.random("v", s.dtypes[0], 3), s.random("v", s.dtypes[0], 3)}}
	for _, w := range s.ways() {
		s.in("a name twice, %s", w.name).fails(w.write(s, mem, s.path("f"), twice, ndfile.WriteOptions{}), ndfile.ErrNameExists)
		s.only(mem)
	}
}

// checkNoData adds an array without data: refused or kept.
func checkNoData(s *suite) {
	a := &array{name: "v", dtype: s.dtypes[0], noData: true}
	if s.kind == ndfile.Single {
		a.name = ""
	}
	mem, path := ndfile.NewMem(), s.path("f")
	c := &content{arrays: []*array{a}}
	err := s.writeWhole(mem, path, c, ndfile.WriteOptions{})
	s.refusedOrKept(err, mem, path, c)
	if err != nil {
		return
	}
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	src, err := f.Array(a.name)
	s.ok(err)
	s.fails(src.ReadBox(ctx, ndarray.Box{}, layouts[0].buffer(s.dtypes[0], nil)), ndfile.ErrNoData)
}

// checkTrailing lets bytes follow the data, or sees them refused.
func checkTrailing(s *suite) {
	c, path := s.sample(3), s.path("f")
	for _, text := range []string{"", "some trailing bytes", strings.Repeat("\x00\xff", 5000)} {
		opt := ndfile.SaveOptions{FS: ndfile.NewMem(), Format: s.format.Name(), Attrs: c.attrs}
		if text != "" {
			opt.Trailing = []byte(text)
		}
		var items []ndfile.Item
		for _, a := range c.arrays {
			items = append(items, a.item(s.layout()))
		}
		for _, way := range []string{"Save", "Create"} {
			s := s.in("%s, %d bytes", way, len(text))
			mem := ndfile.NewMem()
			opt.FS = mem
			var err error
			if way == "Save" {
				err = ndfile.Save(ctx, s.cfg.Formats, path, items, opt)
			} else {
				var f ndfile.File
				if f, err = ndfile.Create(ctx, s.cfg.Formats, path, opt); err == nil {
					if err = ndfile.SaveFile(ctx, f, items); err == nil {
						err = f.Close(ctx)
					}
					f.Abort()
				}
			}
			if text != "" && !s.has(ndfile.CapTrailing) {
				s.fails(err, ndfile.ErrNotSupported)
				s.only(mem)
				continue
			}
			s.ok(err)
			s.expect(mem, path, c)
			f, err := s.open(mem, path)
			s.ok(err)
			if tr, ok := f.(ndfile.Trailer); ok {
				got, err := tr.Trailing(ctx)
				if err != nil || string(got) != text {
					s.errorf("%d trailing bytes %.30q, %v", len(got), got, err)
				}
			}
			s.ok(f.Abort())
			if text == "" {
				continue
			}
			small := ndfile.OpenOptions{FS: mem, Limits: ndfile.Limits{MaxHeader: int64(len(text)) - 1}}
			if f, err = ndfile.Open(ctx, s.cfg.Formats, path, small); err == nil {
				_, err = f.(ndfile.Trailer).Trailing(ctx)
				f.Abort()
			}
			s.in("beyond the limit").fails(err, ndfile.ErrLimit)
		}
	}
}

// checkCopy writes the arrays of a file into another one, as they are described.
func checkCopy(s *suite) {
	for range 4 {
		c := s.sample(4)
		mem := ndfile.NewMem()
		s.ok(s.save(mem, s.path("a"), c, ndfile.WriteOptions{}))
		from, err := s.open(mem, s.path("a"))
		s.ok(err)
		to, err := s.create(mem, s.path("b"), ndfile.WriteOptions{}, from.Attrs().Clone())
		s.ok(err)
		for _, name := range from.Names() {
			src, err := from.Array(name)
			s.ok(err)
			spec := src.Spec()
			spec.Attrs = src.Attrs().Clone()
			dst, err := to.Add(ctx, name, spec)
			s.ok(err)
			a, err := readBox(src, ndarray.Full(spec.Shape), s.layout())
			s.ok(err)
			s.ok(a.writeBox(dst, ndarray.Full(spec.Shape), s.layout()))
		}
		s.ok(to.Close(ctx))
		s.ok(from.Abort())
		s.expect(mem, s.path("b"), c)
		s.expect(mem, s.path("a"), c)
	}
}
