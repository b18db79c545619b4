package ndfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

const everything = CapFileAttrs | CapArrayAttrs | CapDims | CapMasked | CapStrings | CapChunked | CapTrailing

// convertToy converts the arrays of one toy to another and gives the new file.
func convertToy(t *testing.T, from, to *toy, opt ConvertOptions, change func(src *toyFile), arrays ...*toyArray) (*toyFile, []Loss, error) {
	t.Helper()
	mem := NewMem()
	src := stored(t, from, mem, "/src", arrays...)
	if change != nil {
		change(src)
	}
	opt.FS, opt.To = mem, to.name
	losses, err := Convert(t.Context(), []Format{from, to}, "/src", "/dst", opt)
	if err != nil {
		if _, e := mem.Lstat("/dst"); KindOf(err) != ErrCorrupt && e == nil {
			t.Errorf("%v, and the destination is there", err)
		}
		return nil, losses, err
	}
	return to.files["/dst"], losses, nil
}

func attrsOf(t *testing.T, text string) *Attrs {
	t.Helper()
	a, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func namedArray(name string, a *toyArray) *toyArray {
	a.name = name
	return a
}

// everyArray has all that an array can have.
func everyArray(t *testing.T) []*toyArray {
	nan := newToyArray("nan", Spec{DType: ndarray.MustParse(">f4"), Shape: []int64{4}})
	for i, bits := range []uint32{0x7fc00001, 0xff800001, 0x80000000, 0x7f800000} {
		binary.BigEndian.PutUint32(nan.data[4*i:], bits)
	}
	masked := newToyArray("masked", Spec{DType: ndarray.MustParse("<i2"), Shape: []int64{3, 2}, Masked: true, Dims: []string{"y", "x"},
		Attrs: attrsOf(t, `{"units": "m", "n": 123456789012345678901234567890, "o": {"b": 1.50, "a": [NaN]}}`)})
	copy(masked.data, []byte{1, 2, 3, 4, 0, 0, 7, 8, 9, 1, 2, 3})
	masked.mask[2] = 1
	text := newToyArray("text", Spec{DType: ndarray.MustParse("str"), Shape: []int64{2, 2}, Masked: true})
	text.texts, text.mask = []string{"a", "", "", "dåd"}, []byte{0, 0, 1, 0}
	return []*toyArray{
		namedArray("plain", numbered("<u2", nil, 3, 4)), nan, masked, text,
		newToyArray("bytes", Spec{DType: ndarray.MustParse("bytes"), Shape: nil}),
		newToyArray("none", Spec{DType: ndarray.MustParse("<f8"), NoData: true, Attrs: attrsOf(t, `{"a": null}`)}),
		newToyArray("empty", Spec{DType: ndarray.MustParse("S5"), Shape: []int64{0, 7}}),
		newToyArray("scalar", Spec{DType: ndarray.MustParse("|b1"), Shape: nil}),
	}
}

func TestConvertKeepsEverything(t *testing.T) {
	from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything)
	arrays := everyArray(t)
	file, losses, err := convertToy(t, from, to, ConvertOptions{}, func(src *toyFile) {
		src.attrs = attrsOf(t, `{"title": "x"}`)
		src.opt.Trailing = []byte("tail")
	}, arrays...)
	if err != nil || losses != nil {
		t.Fatal(losses, err)
	}
	if string(AppendJSON(nil, file.attrs)) != `{"title": "x"}` || string(file.opt.Trailing) != "tail" || !file.opt.Exclusive {
		t.Errorf("the file: %v, %q, %+v", file.attrs, file.opt.Trailing, file.opt.WriteOptions)
	}
	for i, a := range arrays {
		b := file.arrays[i]
		if b.name != a.name || !b.spec.DType.Equal(a.spec.DType) || !slices.Equal(b.spec.Shape, a.spec.Shape) || b.spec.Masked != a.spec.Masked || b.spec.NoData != a.spec.NoData ||
			!slices.Equal(b.spec.Dims, a.spec.Dims) || !bytes.Equal(AppendJSON(nil, b.attrs), AppendJSON(nil, a.attrs)) || b.spec.Extra != nil ||
			!bytes.Equal(b.data, a.data) && a.name != "masked" || !slices.Equal(b.texts, a.texts) || !bytes.Equal(b.mask, a.mask) {
			t.Errorf("%s: %+v", a.name, b)
		}
	}
}

func TestConvertWithinAFormat(t *testing.T) {
	f := newToy("a", Dataset, everything)
	a := namedArray("x", numbered("<i4", nil, 3))
	a.spec.Extra = attrsOf(t, `{".own": 1}`)
	file, _, err := convertToy(t, f, f, ConvertOptions{}, nil, a)
	if err != nil || file.arrays[0].spec.Extra == nil {
		t.Errorf("%v, %v", file, err)
	}
}

// Each thing that the destination has no place for is a loss of its own, without
// which nothing is written, and with it everything else is.
func TestConvertLosses(t *testing.T) {
	for _, test := range []struct {
		lacks  Caps
		losses []string
		kept   int // arrays
	}{
		{CapFileAttrs, []string{"file attributes"}, 8},
		{CapTrailing, []string{"trailing bytes"}, 8},
		{CapArrayAttrs, []string{`array "masked": attributes`, `array "none": attributes`}, 8},
		{CapDims, []string{`array "masked": dims`}, 8},
		{CapMasked, []string{`array "masked": mask`, `array "text": mask`}, 8},
		{CapStrings, []string{`array "text": data`, `array "bytes": data`}, 6},
		{CapChunked, nil, 8},
		{everything, []string{"file attributes", "trailing bytes", `array "masked": mask`, `array "masked": dims`, `array "masked": attributes`,
			`array "text": data`, `array "bytes": data`, `array "none": attributes`}, 6},
	} {
		for _, allow := range []bool{false, true} {
			from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything&^test.lacks)
			file, losses, err := convertToy(t, from, to, ConvertOptions{AllowLoss: allow}, func(src *toyFile) {
				src.attrs = attrsOf(t, `{"title": "x"}`)
				src.opt.Trailing = []byte("tail")
			}, everyArray(t)...)
			var texts []string
			for _, l := range losses {
				text, _, _ := strings.Cut(l.String(), " (")
				texts = append(texts, text)
				if l.Why == "" || err != nil && !strings.Contains(err.Error(), l.String()) {
					t.Errorf("%v: %v", l, err)
				}
			}
			if !slices.Equal(texts, test.losses) {
				t.Errorf("without %v: %q", test.lacks.Names(), texts)
			}
			switch {
			case !allow && test.losses != nil:
				if KindOf(err) != ErrLoss || !strings.HasPrefix(err.Error(), "/src: ") {
					t.Errorf("without %v: %v", test.lacks.Names(), err)
				}
			case err != nil:
				t.Errorf("without %v: %v", test.lacks.Names(), err)
			case len(file.arrays) != test.kept:
				t.Errorf("without %v: %v", test.lacks.Names(), file.Names())
			case test.lacks&CapMasked != 0: // missing elements are zeros
				b, _ := file.Array("masked")
				if a := b.(*toyArray); a.spec.Masked || !bytes.Equal(a.data, []byte{1, 2, 3, 4, 0, 0, 7, 8, 9, 1, 2, 3}) || slices.Contains(a.mask, 1) {
					t.Errorf("zeros: %v", a.data)
				}
			}
		}
	}
}

// Where caps do not tell, the destination is asked; what it refuses because of one
// thing is carried without it.
func TestConvertAsks(t *testing.T) {
	refuse := func(kind *ErrorKind, when func(name string, s *Spec) bool) func(string, *Spec) error {
		return func(name string, s *Spec) error {
			if when(name, s) {
				return NewError(kind, "no thank you").On("/dry").In(name)
			}
			return nil
		}
	}
	for _, test := range []struct {
		addErr func(name string, s *Spec) error
		losses []string
	}{
		{refuse(ErrValue, func(_ string, s *Spec) bool { _, ok := s.Attrs.Get("units"); return ok }), []string{`array "masked": attributes (no thank you)`}},
		{refuse(ErrValue, func(_ string, s *Spec) bool { return slices.Contains(s.Dims, "x") }), []string{`array "masked": dims (no thank you)`}},
		{refuse(ErrDType, func(_ string, s *Spec) bool { return s.Masked && s.DType.Kind == ndarray.Int }), []string{`array "masked": mask (no thank you)`}},
		{refuse(ErrShape, func(_ string, s *Spec) bool { return slices.Contains(s.Shape, 0) }), []string{`array "empty": data (no thank you)`}},
		{refuse(ErrArgument, func(name string, _ *Spec) bool { return name == "plain" }), []string{`array "plain": data (no thank you)`}},
		{refuse(ErrDType, func(_ string, s *Spec) bool { return s.DType.Kind == ndarray.Uint }), []string{`array "plain": data (no thank you)`}},
		{func(_ string, s *Spec) error { s.Shape = append(slices.Clone(s.Shape), 1); return nil }, nil},
	} {
		from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything)
		to.addErr = test.addErr
		_, losses, err := convertToy(t, from, to, ConvertOptions{AllowLoss: true}, nil, everyArray(t)...)
		var texts []string
		for _, l := range losses {
			texts = append(texts, l.String())
		}
		if test.losses == nil { // nothing is left
			if KindOf(err) != ErrShape || len(losses) > 0 {
				t.Errorf("nothing left: %v, %v", losses, err)
			}
			continue
		}
		if err != nil || !slices.Equal(texts, test.losses) {
			t.Errorf("%q, %v, expected %q", texts, err, test.losses)
		}
	}
	// Attributes of the file that it refuses.
	_, losses, err := convertToy(t, newToy("a", Dataset, everything), newToy("b", Dataset, everything), ConvertOptions{AllowLoss: true}, func(src *toyFile) {
		src.attrs = attrsOf(t, `{"bad": 1}`)
	}, numbered("<i4", nil, 2))
	if err != nil || len(losses) != 1 || losses[0] != (Loss{"", "file attributes", "a bad attribute"}) {
		t.Errorf("%v, %v", losses, err)
	}
	// How chunks are stored is no loss.
	for _, test := range []struct {
		refused func(s *Spec) bool
		none    bool // of them is kept
	}{
		{func(s *Spec) bool { return s.Fill != nil }, false},
		{func(s *Spec) bool { return s.Codecs != nil }, false},
		{func(s *Spec) bool { return s.Chunks != nil }, false},
		{func(s *Spec) bool { return s.Fill != nil || s.Codecs != nil || s.Chunks != nil }, true},
	} {
		to := newToy("b", Dataset, everything)
		to.addErr = refuse(ErrValue, func(_ string, s *Spec) bool { return test.refused(s) })
		a := namedArray("x", numbered("<i4", []int64{2}, 5))
		a.chunks = map[string]bool{"[0]": true, "[1]": true, "[2]": true}
		a.spec.Fill, a.spec.Codecs = []byte{1, 0, 0, 0}, Compression{Codec: "snappy"}.Codecs()
		file, losses, err := convertToy(t, newToy("a", Dataset, everything), to, ConvertOptions{}, nil, a)
		if err != nil || losses != nil || !bytes.Equal(file.arrays[0].data, a.data) {
			t.Fatalf("%v, %v", losses, err)
		}
		if got := file.arrays[0].spec; (got.Fill == nil && got.Codecs == nil && got.Chunks == nil) != test.none {
			t.Errorf("%+v", got)
		}
	}
}

// A destination that stores another type gets the same values, and tells.
func TestConvertDTypes(t *testing.T) {
	for _, test := range []struct{ from, to, data, want string }{
		{"|b1", "|u1", "\x00\x01\x05", "\x00\x01\x01"},
		{"<i2", "<i4", "\x01\x00\xff\xff", "\x01\x00\x00\x00\xff\xff\xff\xff"},
		{"<i2", ">i2", "\x01\x00\xff\xfe", "\x00\x01\xfe\xff"}, // no loss
		{`[["a","<i2"],["b","|u1"]]`, "|V3", "abcdef", "abcdef"},
		{"|V2", "|V2", "abcd", "abcd"},
		{"|V2", "|V3", "abcd", ""},
		{"<i4", "<f4", "\x01\x00\x00\x00", ""},
		{"<i2", "<u2", "\x01\x00", ""},
		{"S3", "bytes", "ab\x00\x00\x00\x00c\x00d", "ab||c\x00d"},
		{"<U2", "str", "a\x00\x00\x00\xe5\x00\x00\x00\x00\xd8\x00\x00\x00\x00\x00\x00", "aå|\xed\xa0\x80"},
		{">U1", "str", "\x00\x00\x00a\x00\x01\xf6\x00", "a|\U0001f600"},
		{"S3", "str", "abc", ""},
		{"bytes", "S3", "abc", ""},
	} {
		from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything)
		to.addErr = func(_ string, s *Spec) error { s.DType = ndarray.MustParse(test.to); return nil }
		d := ndarray.MustParse(test.from)
		n := int64(1)
		if !d.IsVar() {
			n = int64(len(test.data) / d.Size)
		}
		src := newToyArray("x", Spec{DType: d, Shape: []int64{n}})
		src.spec.Fill = make([]byte, d.Size)
		copy(src.data, test.data)
		keep := newToyArray("keep", Spec{DType: ndarray.MustParse(test.to), Shape: []int64{1}})
		file, losses, err := convertToy(t, from, to, ConvertOptions{AllowLoss: true}, nil, src, keep)
		if err != nil {
			t.Errorf("%s to %s: %v", test.from, test.to, err)
			continue
		}
		if test.want == "" {
			if len(losses) != 1 || losses[0].What != "data" || !strings.Contains(losses[0].Why, d.String()) || len(file.arrays) != 1 {
				t.Errorf("%s to %s: %v", test.from, test.to, losses)
			}
			continue
		}
		if got := file.arrays[0].spec; (got.Fill != nil) != got.DType.Equal(d) {
			t.Errorf("%s to %s: fill value % x", test.from, test.to, got.Fill)
		}
		if same := d.Native().Equal(ndarray.MustParse(test.to).Native()); same != (losses == nil) || !same && losses[0].What != "dtype" {
			t.Errorf("%s to %s: %v", test.from, test.to, losses)
		}
		got := string(file.arrays[0].data) + strings.Join(file.arrays[0].texts, "|")
		if got != test.want {
			t.Errorf("%s to %s: %q, expected %q", test.from, test.to, got, test.want)
		}
	}
	// What is no character is refused, not bent.
	to := newToy("b", Dataset, everything)
	to.addErr = func(_ string, s *Spec) error { s.DType = ndarray.MustParse("str"); return nil }
	a := newToyArray("x", Spec{DType: ndarray.MustParse("<U1"), Shape: []int64{1}})
	copy(a.data, "\x00\x00\x11\x00")
	if _, _, err := convertToy(t, newToy("a", Dataset, everything), to, ConvertOptions{AllowLoss: true}, nil, a); KindOf(err) != ErrValue || !strings.HasPrefix(err.Error(), `/src: array "x": `) {
		t.Error(err)
	}
}

func TestConvertNames(t *testing.T) {
	for _, test := range []struct {
		from, to Kind
		names    []string
		option   string
		want     []string // nil: an error
		kind     *ErrorKind
	}{
		{Single, Single, []string{""}, "", []string{""}, nil},
		{Single, Dataset, []string{""}, "", []string{"data"}, nil},
		{Single, Dataset, []string{""}, "x", []string{"x"}, nil},
		{Single, Table, []string{""}, "", []string{""}, nil},
		{Single, Table, []string{""}, "x", []string{"x"}, nil},
		{Dataset, Single, []string{"x"}, "", []string{""}, nil},
		{Dataset, Single, []string{"x", "y"}, "y", []string{""}, nil},
		{Dataset, Single, []string{"x", "y"}, "", nil, ErrArgument},
		{Dataset, Single, []string{}, "", nil, ErrArgument},
		{Dataset, Single, []string{"x", "y"}, "z", nil, ErrName},
		{Dataset, Dataset, []string{"x", "y"}, "", []string{"x", "y"}, nil},
		{Dataset, Dataset, []string{"x", "y"}, "y", []string{"y"}, nil},
		{Dataset, Dataset, []string{}, "", []string{}, nil},
		{Dataset, Table, []string{"x", "y"}, "", []string{"x", "y"}, nil},
		{Dataset, Table, []string{"x", "y"}, "y", []string{""}, nil},
		{Table, Dataset, []string{"x", "y"}, "", []string{"x", "y"}, nil},
		{Table, Table, []string{"x", "y"}, "", []string{"x", "y"}, nil},
	} {
		var arrays []*toyArray
		for i, name := range test.names {
			arrays = append(arrays, namedArray(name, numbered("<i4", nil, int64(i+2))))
		}
		file, _, err := convertToy(t, newToy("a", test.from, everything), newToy("b", test.to, everything), ConvertOptions{Name: test.option}, nil, arrays...)
		if test.want == nil {
			if KindOf(err) != test.kind {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if names := file.Names(); !slices.Equal(names, test.want) {
			t.Errorf("%+v: %q", test, names)
		}
		if test.option == "y" && file.arrays[0].spec.Shape[0] != 3 {
			t.Errorf("%+v: another array", test)
		}
	}
}

// Formats in which file and array share their attributes.
func TestConvertSharedAttrs(t *testing.T) {
	for _, test := range []struct {
		fromShares, toShares bool
		file, array          string
		wantFile, wantArray  string
		losses               int
	}{
		{false, true, `{"f": 1}`, `{"a": 1}`, `{"a": 1}`, `{"a": 1}`, 1},
		{false, true, `{"f": 1}`, `{}`, `{"f": 1}`, `{"f": 1}`, 0},
		{false, true, `{}`, `{"a": 1}`, `{"a": 1}`, `{"a": 1}`, 0},
		{true, true, ``, `{"a": 1}`, `{"a": 1}`, `{"a": 1}`, 0},
		{true, false, ``, `{"a": 1}`, `{}`, `{"a": 1}`, 0},
	} {
		from, to := newToy("a", Single, everything), newToy("b", Single, everything)
		to.oneAttrs = test.toShares
		a := numbered("<i4", nil, 2)
		a.attrs = attrsOf(t, test.array)
		file, losses, err := convertToy(t, from, to, ConvertOptions{AllowLoss: true}, func(src *toyFile) {
			if src.attrs = a.attrs; !test.fromShares {
				src.attrs = attrsOf(t, test.file)
			}
		}, a)
		if err != nil || len(losses) != test.losses {
			t.Errorf("%+v: %v, %v", test, losses, err)
			continue
		}
		if f, a := string(AppendJSON(nil, file.attrs)), string(AppendJSON(nil, file.arrays[0].attrs)); f != test.wantFile || a != test.wantArray {
			t.Errorf("%+v: file %s, array %s", test, f, a)
		}
	}
}

// Chunks of the same encoding, dtype and shape go over as they are.
func TestConvertChunks(t *testing.T) {
	source := func() *toyArray {
		a := namedArray("x", numbered("<i4", []int64{4, 3}, 10, 7)) // 3 by 3 chunks
		for _, key := range []string{"[0, 0]", "[0, 1]", "[0, 2]", "[1, 0]", "[1, 2]", "[2, 0]", "[2, 1]", "[2, 2]"} {
			a.chunks[key] = true // but [1, 1]
		}
		for row := 4; row < 8; row++ {
			clear(a.data[4*(7*row+3) : 4*(7*row+6)])
		}
		return a
	}
	for _, test := range []struct {
		what   string
		change func(from, to *toy, a *toyArray)
		chunks int // copied as they are
		boxes  int // copied by elements
	}{
		{"all", func(_, _ *toy, _ *toyArray) {}, 8, 0},
		{"other encoding", func(from, _ *toy, _ *toyArray) { from.encoding = "other" }, 0, 1},
		{"other order", func(_, to *toy, _ *toyArray) {
			to.addErr = func(_ string, s *Spec) error { s.DType = ndarray.MustParse(">i4"); return nil }
		}, 0, 1},
		{"other chunks", func(_, to *toy, _ *toyArray) {
			to.addErr = func(_ string, s *Spec) error { s.Chunks = []int64{4, 4}; return nil }
		}, 0, 1},
		{"other fill", func(_, to *toy, a *toyArray) {
			to.addErr = func(_ string, s *Spec) error { s.Fill = []byte{9, 9, 9, 9}; return nil }
		}, 8, 1},
		{"the same fill, spelled", func(_, to *toy, a *toyArray) {
			to.addErr = func(_ string, s *Spec) error { s.Fill = make([]byte, 4); return nil }
		}, 8, 0},
		{"refused", func(_, to *toy, _ *toyArray) { to.adding = func(a *toyArray) { a.refuseChunk = true } }, 0, 8},
		{"a short one", func(from, _ *toy, _ *toyArray) { from.name = "short" }, 7, 1},
		{"masked", func(_, _ *toy, a *toyArray) { a.spec.Masked = true }, 0, 1},
	} {
		from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything)
		a := source()
		test.change(from, to, a)
		file, _, err := convertToy(t, from, to, ConvertOptions{}, nil, a)
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		b := file.arrays[0]
		same, _ := ndarray.NewBuffer(a.spec.DType, a.spec.Shape)
		if err := ndarray.Copy(same, b.all()); err != nil || !bytes.Equal(same.Data, a.data) {
			t.Errorf("%s: other elements", test.what)
		}
		if b.chunkWrites != test.chunks || len(b.writes) != test.boxes {
			t.Errorf("%s: %d chunks and %d boxes", test.what, b.chunkWrites, len(b.writes))
		}
	}
}

// Memory is bounded: blocks are whole chunks of the destination.
func TestConvertBlocks(t *testing.T) {
	to := newToy("b", Dataset, everything)
	to.addErr = func(_ string, s *Spec) error { s.Chunks = []int64{300, 1100}; return nil }
	a := namedArray("x", numbered("<f8", nil, 2000, 3000)) // 48 MB
	var steps []int64
	file, _, err := convertToy(t, newToy("a", Dataset, everything), to, ConvertOptions{Progress: func(done, total int64) bool {
		if total != 2*48_000_000 {
			t.Errorf("total %d", total)
		}
		steps = append(steps, done)
		return true
	}}, nil, a)
	if err != nil || !bytes.Equal(file.arrays[0].data, a.data) {
		t.Fatal(err)
	}
	if !slices.IsSorted(steps) || steps[0] != 0 || steps[len(steps)-1] != 96_000_000 {
		t.Errorf("progress %v", steps)
	}
	for _, b := range slices.Concat(a.reads, file.arrays[0].reads, file.arrays[0].writes) {
		if b.Count[0]*b.Count[1]*8 > convertBytes || b.Start[0]%300 != 0 || b.Start[1]%1100 != 0 {
			t.Errorf("block %v", b)
		}
	}
	if n := len(file.arrays[0].writes); n != 4 {
		t.Errorf("%d blocks", n)
	}
	// A destination that takes whole rows only gets them.
	to.addErr = nil
	to.adding = func(a *toyArray) { a.rowsOnly = true }
	a.spec.Chunks = []int64{2000, 100} // of which 10 are read at once
	if file, _, err = convertToy(t, newToy("a", Dataset, everything), newRows(to), ConvertOptions{}, nil, a); err != nil || !bytes.Equal(file.arrays[0].data, a.data) || len(file.arrays[0].writes) != 3 {
		t.Errorf("rows: %v", err)
	}
	// Long strings come in pieces.
	text := newToyArray("x", Spec{DType: ndarray.MustParse("bytes"), Shape: []int64{5}})
	for i := range text.texts {
		text.texts[i] = strings.Repeat("x", 7<<20)
	}
	if file, _, err = convertToy(t, newToy("a", Dataset, everything), newToy("b", Dataset, everything), ConvertOptions{}, nil, text); err != nil || !slices.Equal(file.arrays[0].texts, text.texts) {
		t.Fatal(err)
	}
	for _, b := range file.arrays[0].writes {
		if b.Count[0] > 2 {
			t.Errorf("strings %v", b)
		}
	}
}

// newRows is a toy without chunks that is otherwise like f.
func newRows(f *toy) *toy {
	to := newToy("rows", f.kind, f.caps&^CapChunked)
	to.adding = f.adding
	return to
}

// A destination that is not what was written is found out.
func TestConvertChecks(t *testing.T) {
	get := func(f *toyFile, name string) *toyArray {
		a, err := f.Array(name)
		if err != nil {
			t.Fatal(err)
		}
		return a.(*toyArray)
	}
	for what, spoil := range map[string]func(f *toyFile){
		`"plain": after the conversion element [1, 2] differs`:             func(f *toyFile) { get(f, "plain").data[13]++ },
		`"nan": after the conversion element [0]`:                          func(f *toyFile) { get(f, "nan").data[3]++ },
		`"masked": after the conversion whether element [1, 0] is missing`: func(f *toyFile) { get(f, "masked").mask[2] = 0 },
		`"masked": after the conversion element [2, 1]`:                    func(f *toyFile) { get(f, "masked").data[10]++ },
		`"masked": after the conversion an attribute`:                      func(f *toyFile) { get(f, "masked").attrs.Set("units", StringValue("s")) },
		`"none": after the conversion an attribute`:                        func(f *toyFile) { get(f, "none").attrs.Delete("a") },
		`"masked": after the conversion the list of axes`:                  func(f *toyFile) { get(f, "masked").spec.Dims = []string{"x", "y"} },
		`"text": after the conversion element [1, 1]`:                      func(f *toyFile) { get(f, "text").texts[3] = "d" },
		`"text": after the conversion whether element [1, 0] is missing`:   func(f *toyFile) { get(f, "text").mask[2] = 0 },
		`"empty": after the conversion the shape`:                          func(f *toyFile) { get(f, "empty").spec.Shape = []int64{7, 0} },
		`"none": after the conversion whether there is data`:               func(f *toyFile) { get(f, "none").spec.NoData = false },
		"after the conversion the list of arrays":                          func(f *toyFile) { f.arrays = f.arrays[1:] },
		"after the conversion the attributes of the file":                  func(f *toyFile) { f.attrs = NewAttrs() },
		"after the conversion what follows the data":                       func(f *toyFile) { f.opt.Trailing = []byte("tall") },
		`"scalar": after the conversion element []`:                        func(f *toyFile) { get(f, "scalar").data[0] = 1 },
		`"plain": bad sector`: func(f *toyFile) {
			get(f, "plain").readErr = func(ndarray.Box) error { return NewError(ErrCorrupt, "bad sector") }
		},
	} {
		for _, unchecked := range []bool{false, true} {
			to := newToy("b", Dataset, everything)
			to.closing = func(f *toyFile) {
				if f.path == "/dst" {
					spoil(f)
				}
			}
			_, _, err := convertToy(t, newToy("a", Dataset, everything), to, ConvertOptions{NoCheck: unchecked}, func(src *toyFile) {
				src.attrs = attrsOf(t, `{"title": "x"}`)
				src.opt.Trailing = []byte("tail")
			}, everyArray(t)...)
			if unchecked {
				if err != nil {
					t.Errorf("%s, unchecked: %v", what, err)
				}
			} else if KindOf(err) != ErrCorrupt || !strings.HasPrefix(err.Error(), "/dst: ") || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	// What a format changes without changing its meaning is no difference.
	to := newToy("b", Dataset, everything)
	to.closing = func(f *toyFile) {
		if f.path != "/dst" {
			return
		}
		a := get(f, "masked")
		o := attrsOf(t, `{"o": {"a": [NaN], "b": 1.5}, "n": 123456789012345678901234567890, "units": "m"}`)
		a.attrs = o
		get(f, "scalar").data[0] = 77
	}
	arrays := everyArray(t)
	arrays[7].data[0] = 1
	if _, _, err := convertToy(t, newToy("a", Dataset, everything), to, ConvertOptions{}, nil, arrays...); err != nil {
		t.Error(err)
	}
}

// Errors name the side, and leave nothing behind.
func TestConvertFails(t *testing.T) {
	broken := everyArray(t)
	broken[0].readErr = func(ndarray.Box) error { return NewError(ErrCorrupt, "bad sector") }
	from, to := newToy("a", Dataset, everything), newToy("b", Dataset, everything)
	_, _, err := convertToy(t, from, to, ConvertOptions{}, nil, broken...)
	if KindOf(err) != ErrCorrupt || err.Error() != `/src: array "plain": bad sector` || !to.created.aborted {
		t.Errorf("the source: %v", err)
	}
	to = newToy("b", Dataset, everything)
	asked := false
	to.addErr = func(name string, _ *Spec) error {
		if name == "nan" && asked { // when it is serious
			return NewError(ErrIO, "disk full")
		}
		asked = asked || name == "nan"
		return nil
	}
	if _, _, err := convertToy(t, from, to, ConvertOptions{}, nil, everyArray(t)...); KindOf(err) != ErrIO || err.Error() != `/dst: array "nan": disk full` || !to.created.aborted {
		t.Errorf("the destination: %v", err)
	}
	for stop := range int64(4) {
		to = newToy("b", Dataset, everything)
		calls := int64(0)
		_, _, err := convertToy(t, from, to, ConvertOptions{Progress: func(int64, int64) bool { calls++; return calls <= stop }}, nil, everyArray(t)...)
		if KindOf(err) != ErrCanceled || calls != stop+1 || stop > 0 && !to.created.aborted {
			t.Errorf("cancelled at %d: %v", stop, err)
		}
	}
	from = newToy("a", Dataset, everything)
	if _, _, err := convertToy(t, from, newToy("b", Dataset, 0), ConvertOptions{}, func(src *toyFile) { src.openErr = errToy }, everyArray(t)...); !errors.Is(err, errToy) || !strings.HasPrefix(err.Error(), "/src: ") {
		t.Errorf("does not open: %v", err)
	}
}

func TestConvertPaths(t *testing.T) {
	mem := NewMem()
	from, to, readOnly := newToy("a", Dataset, everything), &careful{toy: newToy("b", Dataset, everything)}, newToy("ro", Dataset, 0)
	readOnly.caps = 0
	formats := []Format{from, to, readOnly}
	stored(t, from, mem, "/src", namedArray("x", numbered("<i4", nil, 4)))
	if err := mem.Symlink("/src", "/link"); err != nil {
		t.Fatal(err)
	}
	if err := mem.WriteFile("/old.b", [][]byte{[]byte("old")}, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	convert := func(src, dst string, opt ConvertOptions) error {
		opt.FS = mem
		_, err := Convert(t.Context(), formats, src, dst, opt)
		return err
	}
	for _, test := range []struct {
		src, dst string
		opt      ConvertOptions
		kind     *ErrorKind
		text     string
	}{
		{"/none", "/x.b", ConvertOptions{}, ErrNotFound, "/none"},
		{"/src", "/x.c", ConvertOptions{}, ErrFormat, "/x.c"},
		{"/src", "/x.b", ConvertOptions{To: "c"}, ErrFormat, "c"},
		{"/src", "/x.b", ConvertOptions{From: "c"}, ErrFormat, "c"},
		{"/src", "/old.b", ConvertOptions{}, ErrExists, "/old.b"},
		{"/src", "/x.ro", ConvertOptions{}, ErrNotSupported, "/x.ro"},
		{"/src", "/src", ConvertOptions{To: "a", Overwrite: true}, ErrArgument, "already"},
		{"/src", "/link", ConvertOptions{To: "ro", Overwrite: true}, ErrArgument, "in place"},
	} {
		if err := convert(test.src, test.dst, test.opt); KindOf(err) != test.kind || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: %v", test, err)
		}
	}
	if to.created != nil {
		t.Error("a destination was begun")
	}
	if err := convert("/src", "/new.b", ConvertOptions{}); err != nil || to.files["/new.b"] == nil {
		t.Error(err)
	}
	if err := convert("/src", "/old.b", ConvertOptions{Overwrite: true}); err != nil || to.files["/old.b"] == nil || to.files["/old.b"].opt.Exclusive {
		t.Error(err)
	}
	if len(to.calls) > 0 {
		t.Error(to.calls)
	}
	// The source itself is migrated.
	if err := convert("/src", "/link", ConvertOptions{To: "b"}); err != nil || !slices.Equal(to.calls, []string{"migrate /link a"}) {
		t.Errorf("%v, %v", to.calls, err)
	}
	to.err = errToy
	if err := convert("/src", "/src", ConvertOptions{To: "b"}); !errors.Is(err, errToy) {
		t.Error(err)
	}
}

func TestSameAttrs(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{}`, `{}`, true},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, true},
		{`{"a": 1}`, `{"a": 1.0}`, false},
		{`{"a": 1}`, `{"b": 1}`, false},
		{`{"a": 1}`, `{"a": 1, "b": null}`, false},
		{`{"a": [1, {"x": 1, "y": NaN}]}`, `{"a": [1, {"y": NaN, "x": 1}]}`, true},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false},
		{`{"a": "1"}`, `{"a": 1}`, false},
		{`{"a": {}}`, `{"a": []}`, false},
	} {
		if sameAttrs(attrsOf(t, test.a), attrsOf(t, test.b)) != test.want {
			t.Errorf("%s, %s: expected %v", test.a, test.b, test.want)
		}
	}
	if !sameAttrs(nil, NewAttrs()) {
		t.Error("nothing is nothing")
	}
}

func TestValues(t *testing.T) {
	v, err := ParseValue([]byte(`[1, 2.5, "x"]`))
	if err != nil || !v.Equal(pyjson.List(IntValue(1), FloatValue(2.5), StringValue("x"))) {
		t.Errorf("%v, %v", v, err)
	}
	if f, ok := FloatValue(math.Inf(-1)).Float64(); !ok || !math.IsInf(f, -1) {
		t.Error("-Infinity")
	}
	if _, err := ParseValue([]byte(`1 2`)); KindOf(err) != ErrCorrupt {
		t.Error(err)
	}
}
