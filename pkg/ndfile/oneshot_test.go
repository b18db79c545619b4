package ndfile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// borrow gives the string in memory that somebody else owns.
func borrow(b []byte) string { return unsafe.String(&b[0], len(b)) }

func newSink(bytes, infos int) *Sink {
	return &Sink{Buf: make([]byte, bytes), Infos: make([]LoadInfo, infos)}
}

func TestSinkAdd(t *testing.T) {
	s := newSink(256, 2)
	li, err := s.Add([]byte("né"), ndarray.MustParse(">f8"), []int64{2, 3}, InfoMasked)
	if err != nil {
		t.Fatal(err)
	}
	native := ndarray.MustParse("<f8").Native().String()
	if li != &s.Infos[0] || li.NDim != 2 || !slices.Equal(li.Shape[:2], []int64{2, 3}) || li.Count != 6 || li.ItemSize != 8 ||
		li.Flags != InfoMasked || li.MaskOffset != -1 || li.OffsetsOffset != -1 || li.DataOffset != 0 || li.DataLen != 0 {
		t.Errorf("info %+v", li)
	}
	if got := string(s.Buf[li.NameOffset : li.NameOffset+li.NameLen+1]); got != "né\x00" {
		t.Errorf("name %q", got)
	}
	if got := string(li.DType[:len(native)+1]); got != native+"\x00" || li.DTypeLen != 0 {
		t.Errorf("dtype %q", got)
	}
	li, err = s.Add(nil, ndarray.MustParse("str"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if li.NDim != 0 || li.Count != 1 || li.ItemSize != 0 || li.Flags != InfoStrings || li.NameLen != 0 {
		t.Errorf("info of a scalar %+v", li)
	}
	unnamed := li
	for i := range s.Buf[s.Need:] {
		s.Buf[s.Need:][i] = 1
	}
	// More arrays than infos are counted.
	if li, err = s.Add([]byte("third"), ndarray.MustParse("|u1"), []int64{0}, InfoSingle); err != nil || li.Count != 0 || li.Flags != InfoSingle {
		t.Errorf("third: %+v, %v", li, err)
	}
	if s.N != 3 {
		t.Errorf("N is %d", s.N)
	}
	if err := s.Finish(); KindOf(err) != ErrBuffer || !strings.Contains(err.Error(), "3 are needed") {
		t.Errorf("Finish: %v", err)
	}
	if at := unnamed.NameOffset; at <= 0 || at >= s.Need || s.Buf[at] != 0 {
		t.Errorf("no NUL for the name \"\", at byte %d of %d", at, s.Need)
	}
}

func TestSinkLongDType(t *testing.T) {
	name := `[["` + strings.Repeat("x", 70) + `", "<f8"]]`
	s := newSink(512, 1)
	li, err := s.Add([]byte("n"), ndarray.MustParse(name), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.Buf[li.DTypeOffset : li.DTypeOffset+li.DTypeLen]); li.DType[0] != 0 || got != ndarray.MustParse(name).Native().String() {
		t.Errorf("dtype %q and %q", li.DType[:10], got)
	}
	if s.Buf[li.DTypeOffset+li.DTypeLen] != 0 {
		t.Error("no NUL behind the dtype")
	}
	// 63 bytes and a NUL fit, 64 do not.
	for _, n := range []int{63, 64} {
		pad := strings.Repeat("x", n-len(`[["", "|u1"]]`))
		s := newSink(512, 1)
		li, err := s.Add(nil, ndarray.MustParse(`[["`+pad+`", "|u1"]]`), nil, 0)
		if err != nil || (li.DTypeLen == 0) != (n == 63) {
			t.Errorf("a dtype of %d bytes: %v, DTypeLen %d", n, err, li.DTypeLen)
		}
	}
}

func TestSinkRefuses(t *testing.T) {
	s := newSink(64, 1)
	d := ndarray.MustParse("|u1")
	for _, test := range []struct {
		shape []int64
		want  *ErrorKind
	}{
		{slices.Repeat([]int64{1}, ndarray.MaxNDim+1), ErrLimit},
		{[]int64{-1}, ErrShape},
		{[]int64{math.MaxInt64, 2}, ErrShape},
	} {
		if _, err := s.Add(nil, d, test.shape, 0); KindOf(err) != test.want {
			t.Errorf("shape of %d axes: %v, expected %s", len(test.shape), err, test.want.C)
		}
	}
	if s.N != 0 || s.Need != 0 {
		t.Errorf("refused arrays are counted: %d, %d", s.N, s.Need)
	}
	if _, err := s.Add(nil, d, slices.Repeat([]int64{1}, ndarray.MaxNDim), 0); err != nil {
		t.Errorf("%d axes: %v", ndarray.MaxNDim, err)
	}
}

func TestSinkReserve(t *testing.T) {
	s := newSink(200, 0)
	steps := []struct {
		n, off, need int64
		fits         bool
	}{
		{3, 0, 3, true},
		{0, 64, 64, false}, // nothing takes no memory, but has a place
		{1, 64, 65, true},
		{64, 128, 192, true},
		{9, 192, 201, false},
		{8, 256, 264, false},
	}
	for i, step := range steps {
		off, dst, err := s.Reserve(step.n)
		if err != nil || off != step.off || s.Need != step.need || (dst != nil) != step.fits || step.fits && int64(len(dst)) != step.n {
			t.Errorf("step %d: %d, %d bytes, need %d, %v; expected %+v", i, off, len(dst), s.Need, err, step)
		}
		if dst != nil && (&dst[0] != &s.Buf[off] || cap(dst) != len(dst)) {
			t.Errorf("step %d: not the right part of the buffer", i)
		}
	}
	for _, n := range []int64{math.MaxInt64, math.MaxInt64 - 264, -1, math.MinInt64} {
		before := s.Need
		if _, dst, err := s.Reserve(n); KindOf(err) != ErrLimit || dst != nil || s.Need != before {
			t.Errorf("Reserve(%d): %v, need %d", n, err, s.Need)
		}
	}
	s.Need = math.MaxInt64 - 10
	if _, _, err := s.Reserve(1); KindOf(err) != ErrLimit {
		t.Errorf("alignment overflows: %v", err)
	}
}

func TestSinkFinish(t *testing.T) {
	s := &Sink{One: true, Name: "x"}
	if !s.Wants([]byte("x")) || s.Wants([]byte("y")) || !new(Sink).Wants([]byte("y")) {
		t.Error("Wants")
	}
	if err := s.Finish(); KindOf(err) != ErrName || !strings.Contains(err.Error(), `"x"`) {
		t.Errorf("not found: %v", err)
	}
	if err := new(Sink).Finish(); err != nil {
		t.Errorf("a file without arrays: %v", err)
	}
	s = newSink(10, 0)
	s.Need = 11
	if err := s.Finish(); KindOf(err) != ErrBuffer || !strings.Contains(err.Error(), "10 bytes, 11 are needed") {
		t.Errorf("short buffer: %v", err)
	}
	s.Need = 10
	if err := s.Finish(); err != nil {
		t.Errorf("exact buffer: %v", err)
	}
}

func TestSinkAllocs(t *testing.T) {
	s := newSink(4096, 4)
	name, shape, d := []byte("temperature"), []int64{4, 5}, ndarray.MustParse(">f8")
	if n := testing.AllocsPerRun(100, func() {
		s.reset()
		for range 5 { // the last has no info
			if !s.Wants(name) {
				panic("unwanted")
			}
			li, err := s.Add(name, d, shape, 0)
			if err != nil {
				panic(err)
			}
			if li.DataOffset, _, err = s.Reserve(160); err != nil {
				panic(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestInfoLayout(t *testing.T) {
	// The layout of struct ndf_load_info.
	var li LoadInfo
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"NDim", unsafe.Offsetof(li.NDim), 4},
		{"Flags", unsafe.Offsetof(li.Flags), 8},
		{"Count", unsafe.Offsetof(li.Count), 16},
		{"NameOffset", unsafe.Offsetof(li.NameOffset), 32},
		{"DataOffset", unsafe.Offsetof(li.DataOffset), 48},
		{"MaskOffset", unsafe.Offsetof(li.MaskOffset), 64},
		{"OffsetsOffset", unsafe.Offsetof(li.OffsetsOffset), 72},
		{"DTypeOffset", unsafe.Offsetof(li.DTypeOffset), 80},
		{"MetaOffset", unsafe.Offsetof(li.MetaOffset), 96},
		{"DimsOffset", unsafe.Offsetof(li.DimsOffset), 112},
		{"AttrsOffset", unsafe.Offsetof(li.AttrsOffset), 128},
		{"StoredOffset", unsafe.Offsetof(li.StoredOffset), 144},
		{"DType", unsafe.Offsetof(li.DType), 160},
		{"Shape", unsafe.Offsetof(li.Shape), 224},
		{"size", unsafe.Sizeof(li), 224 + 8*64},
	} {
		if f.got != f.want {
			t.Errorf("%s at %d, expected %d", f.name, f.got, f.want)
		}
	}
}

// testItems are a float array, a masked one and strings, with missing ones.
func testItems() []Item {
	attrs := NewAttrs()
	return []Item{
		{Name: "x", Data: ndarray.Buffer{DType: ndarray.MustParse("|i1"), Shape: []int64{2, 2}, Data: []byte{1, 2, 3, 4}}, Dims: []string{"a", "b"}, Attrs: attrs},
		{Name: "m", Data: ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: []int64{3}, Data: []byte{7, 8, 9}}, Mask: []byte{0, 1, 0}},
		{Name: "s", Data: ndarray.Buffer{DType: ndarray.MustParse("str"), Shape: []int64{3}, Data: []byte("abccc")}, Offsets: []int64{0, 2, 2, 5}, Mask: []byte{0, 1, 0}},
		{Name: "t", Data: ndarray.Buffer{DType: ndarray.MustParse("bytes"), Shape: []int64{1}, Data: []byte("q")}, Offsets: []int64{0, 1}},
	}
}

func TestSaveLoadFile(t *testing.T) {
	ctx := context.Background()
	mem := NewMem()
	f := &fake{name: "fake", exts: []string{".fake"}, match: Certain}
	attrs := NewAttrs()
	opt := SaveOptions{FS: mem, Attrs: attrs}
	if err := Save(ctx, []Format{f}, "/x.fake", testItems(), opt); err != nil {
		t.Fatal(err)
	}
	if !f.file.closed || len(f.file.arrays) != 4 || f.created.Attrs != attrs {
		t.Fatalf("saved: %+v", f.file)
	}
	if spec := f.file.arrays[0].Spec(); !slices.Equal(spec.Dims, []string{"a", "b"}) || spec.Attrs == nil || spec.Masked {
		t.Errorf("spec of x: %+v", spec)
	}

	// The first try needs everything, the second gives it.
	sink := &Sink{}
	if err := Load(ctx, []Format{f}, mem, "/x.fake", sink); KindOf(err) != ErrBuffer || sink.N != 4 {
		t.Fatalf("Load into nothing: %v, %d", err, sink.N)
	}
	need := sink.Need
	sink = newSink(int(need), 4)
	if err := Load(ctx, []Format{f}, mem, "/x.fake", sink); err != nil || sink.Need != need || sink.N != 4 {
		t.Fatalf("Load: %v, need %d of %d", err, sink.Need, need)
	}
	part := func(off, n int64) []byte { return sink.Buf[off : off+n] }
	for i, want := range []struct {
		name, data string
		mask       string
		offsets    []int64
		flags      uint32
	}{
		{name: "x", data: "\x01\x02\x03\x04"},
		{name: "m", data: "\x07\x00\x09", mask: "\x00\x01\x00", flags: InfoMasked},
		{name: "s", data: "abccc", mask: "\x00\x01\x00", offsets: []int64{0, 2, 2, 5}, flags: InfoMasked | InfoStrings},
		{name: "t", data: "q", offsets: []int64{0, 1}, flags: InfoStrings},
	} {
		li := &sink.Infos[i]
		if string(part(li.NameOffset, li.NameLen)) != want.name || string(part(li.DataOffset, li.DataLen)) != want.data || li.Flags != want.flags {
			t.Errorf("%s: %+v", want.name, li)
		}
		if want.mask != "" && string(part(li.MaskOffset, li.Count)) != want.mask {
			t.Errorf("%s: mask %v", want.name, part(li.MaskOffset, li.Count))
		}
		if want.offsets != nil {
			raw := make([]byte, 8*len(want.offsets))
			putInt64s(raw, want.offsets)
			if !bytes.Equal(part(li.OffsetsOffset, int64(len(raw))), raw) {
				t.Errorf("%s: offsets %v", want.name, part(li.OffsetsOffset, int64(len(raw))))
			}
		}
	}

	// One array, and none.
	sink = newSink(int(need), 4)
	sink.One, sink.Name = true, "t"
	if err := Load(ctx, []Format{f}, mem, "/x.fake", sink); err != nil || sink.N != 1 {
		t.Errorf("Load of one: %v, %d", err, sink.N)
	}
	sink.Name = "none"
	sink.reset()
	if err := Load(ctx, []Format{f}, mem, "/x.fake", sink); KindOf(err) != ErrName || !strings.Contains(err.Error(), "/x.fake") {
		t.Errorf("Load of none: %v", err)
	}
	if !f.file.aborted {
		t.Error("Load leaves the file open")
	}
}

func TestLoadKinds(t *testing.T) {
	ctx := context.Background()
	f := &fake{name: "fake", exts: []string{".fake"}, match: Certain, file: &fakeFile{kind: Single}}
	f.file.arrays = []*fakeArray{{spec: Spec{DType: ndarray.MustParse(">u2"), Shape: []int64{2}}, data: []byte{1, 2, 3, 4}}}
	sink := newSink(200, 1)
	if err := Load(ctx, []Format{f}, NewMem(), "/x.fake", sink); err != nil || sink.Infos[0].Flags != InfoSingle {
		t.Errorf("single: %v, %+v", err, sink.Infos[0])
	}
	f.file.kind = Dataset
	f.file.arrays[0].spec.NoData = true
	f.file.arrays[0].spec.Shape = nil
	sink = newSink(200, 1)
	if err := Load(ctx, []Format{f}, NewMem(), "/x.fake", sink); err != nil || sink.Infos[0].Flags != InfoNoData {
		t.Errorf("no data: %v, %+v", err, sink.Infos[0])
	}
	// A failing array is named, unless it is the only one.
	f.file.arrays[0] = &fakeArray{name: "bad", spec: Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{2}}, err: NewError(ErrCorrupt, "torn")}
	sink = newSink(200, 1)
	if err := Load(ctx, []Format{f}, NewMem(), "/x.fake", sink); KindOf(err) != ErrCorrupt || err.Error() != `/x.fake: array "bad": torn` {
		t.Errorf("a bad array: %v", err)
	}
	f.file.arrays[0] = &fakeArray{name: "bad", spec: Spec{DType: ndarray.MustParse("str"), Shape: []int64{2}}, err: NewError(ErrCorrupt, "torn")}
	if err := Load(ctx, []Format{f}, NewMem(), "/x.fake", newSink(200, 1)); KindOf(err) != ErrCorrupt {
		t.Errorf("bad strings: %v", err)
	}
	// Hostile shapes.
	for _, d := range []string{"|u1", "<f8", "str"} {
		f.file.arrays[0] = &fakeArray{name: "huge", spec: Spec{DType: ndarray.MustParse(d), Shape: []int64{math.MaxInt64}}}
		if err := Load(ctx, []Format{f}, NewMem(), "/x.fake", newSink(200, 1)); err == nil {
			t.Errorf("huge %s: no error", d)
		}
	}
}

func TestSaveFails(t *testing.T) {
	ctx := context.Background()
	mem := NewMem()
	opt := SaveOptions{FS: mem}
	items := testItems()
	for _, test := range []struct {
		name  string
		f     *fake
		items []Item
		want  *ErrorKind
		text  string
	}{
		{"Create", &fake{err: NewError(ErrPermission, "no")}, items, ErrPermission, "/x.fake: no"},
		{"Add", &fake{file: &fakeFile{kind: Dataset, addErr: NewError(ErrName, "no")}}, items, ErrName, `/x.fake: array "x": no`},
		{"Add to a single", &fake{file: &fakeFile{kind: Single, addErr: NewError(ErrName, "no")}}, items, ErrName, `/x.fake: no`},
		{"write", &fake{file: &fakeFile{kind: Dataset, writeErr: ndarray.ErrShape}}, items, ErrShape, `/x.fake: array "x": bad shape`},
		{"masks", &fake{file: &fakeFile{kind: Dataset, plain: true}}, items[1:], ErrNotSupported, `/x.fake: array "m": elements of this array cannot be missing`},
		{"strings", &fake{file: &fakeFile{kind: Dataset, plain: true}}, items[2:], ErrDType, `/x.fake: array "s": the format has no elements of variable length`},
		{"Close", &fake{file: &fakeFile{kind: Dataset, closeErr: NewError(ErrIO, "no")}}, nil, ErrIO, `/x.fake: no`},
	} {
		test.f.exts = []string{".fake"}
		err := Save(ctx, []Format{test.f}, "/x.fake", test.items, opt)
		if KindOf(err) != test.want || err.Error() != test.text {
			t.Errorf("%s: %v (%s), expected %q (%s)", test.name, err, KindOf(err).C, test.text, test.want.C)
		}
		if test.f.err == nil && !test.f.file.aborted && !test.f.file.closed {
			t.Errorf("%s: the file is neither aborted nor closed", test.name)
		}
	}
	if err := Save(ctx, nil, "/x.fake", items, SaveOptions{}); KindOf(err) != ErrFormat {
		t.Errorf("no formats: %v", err)
	}
}

// TestLoadChooses: the extension first, then the content; a OneShot before Open.
func TestLoadChooses(t *testing.T) {
	ctx := context.Background()
	shot := func(name, ext string, match Match, err error) *fakeOneShot {
		return &fakeOneShot{fake: fake{name: name, exts: []string{ext}, match: match, file: &fakeFile{kind: Dataset}}, loadErr: err}
	}
	wrong := NewError(ErrFormat, "no")
	for _, test := range []struct {
		name  string
		byExt *fakeOneShot
		other *fakeOneShot
		loads [2]int
		opens [2]int
		want  *ErrorKind
	}{
		{"by extension", shot("a", ".a", NoMatch, nil), shot("b", ".b", Certain, nil), [2]int{1, 0}, [2]int{}, nil},
		{"damaged", shot("a", ".a", NoMatch, NewError(ErrCorrupt, "no")), shot("b", ".b", Certain, nil), [2]int{1, 0}, [2]int{}, ErrCorrupt},
		{"by content", shot("a", ".a", NoMatch, wrong), shot("b", ".b", Certain, nil), [2]int{1, 1}, [2]int{}, nil},
		{"by content, damaged", shot("a", ".a", NoMatch, wrong), shot("b", ".b", Certain, NewError(ErrCorrupt, "no")), [2]int{1, 1}, [2]int{}, ErrCorrupt},
		{"none", shot("a", ".a", NoMatch, wrong), shot("b", ".b", NoMatch, nil), [2]int{1, 0}, [2]int{}, ErrFormat},
		{"itself, by Open", shot("a", ".a", Certain, wrong), shot("b", ".b", NoMatch, nil), [2]int{1, 0}, [2]int{1, 0}, nil},
	} {
		sink := newSink(100, 1)
		sink.Limits.MaxHeader = 5
		err := Load(ctx, []Format{test.byExt, test.other}, NewMem(), "/x.a", sink)
		switch {
		case test.want == nil && err != nil, test.want != nil && KindOf(err) != test.want:
			t.Errorf("%s: %v", test.name, err)
		case err != nil && !strings.HasPrefix(err.Error(), "/x.a: "):
			t.Errorf("%s: no path: %v", test.name, err)
		}
		if loads, opens := [2]int{test.byExt.loads, test.other.loads}, [2]int{test.byExt.opens, test.other.opens}; loads != test.loads || opens != test.opens {
			t.Errorf("%s: loads %v, opens %v; expected %v, %v", test.name, loads, opens, test.loads, test.opens)
		}
		if test.byExt.opens > 0 && test.byExt.opened.Limits.MaxHeader != 5 {
			t.Errorf("%s: the limits are lost", test.name)
		}
		if err == nil && sink.N != 0 {
			t.Errorf("%s: what the first format counted is kept", test.name)
		}
	}
	a := shot("a", ".a", Certain, nil)
	if err := Save(ctx, []Format{a}, "/x.A", nil, SaveOptions{FS: NewMem()}); err != nil || a.saves != 1 || a.creates != 0 {
		t.Errorf("Save by OneShot: %v, %d, %d", err, a.saves, a.creates)
	}
	if err := Save(ctx, []Format{shot("a", ".a", Certain, errors.New("odd"))}, "/x.a", nil, SaveOptions{FS: NewMem()}); KindOf(err) != ErrInternal || !strings.HasPrefix(err.Error(), "/x.a: ") {
		t.Errorf("Save that fails: %v", err)
	}
}
