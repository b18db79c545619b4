package npy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// expected is an entry of testdata/expected.json: what NumPy read.
type expected struct {
	DType     string // "" where it is too long to be listed
	Shape     []int64
	SHA256    string
	Rewritten bool
}

func fixtures(t testing.TB) map[string]expected {
	t.Helper()
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]expected
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 70 {
		t.Fatalf("%d fixtures, %v", len(all), err)
	}
	return all
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// in puts bytes into a file system.
func in(t testing.TB, raw []byte) *ndfile.Mem {
	t.Helper()
	mem := ndfile.NewMem()
	if err := mem.WriteFile("/x", [][]byte{raw}, ndfile.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return mem
}

func open(t testing.TB, f ndfile.Format, raw []byte) (ndfile.File, error) {
	t.Helper()
	return f.Open(ctx, in(t, raw), "/x", ndfile.OpenOptions{})
}

// load is Load of a .npy file into a buffer of the size it asks for, at most
// most bytes.
func load(t testing.TB, raw []byte, most int64) (*ndfile.Sink, error) {
	t.Helper()
	mem, one := in(t, raw), Format.(ndfile.OneShot)
	sink := &ndfile.Sink{Infos: make([]ndfile.LoadInfo, 1)}
	if err := one.Load(ctx, mem, "/x", sink); err != nil && !errors.Is(err, ndfile.ErrBuffer) {
		return nil, err
	}
	if sink.Need > most {
		t.Fatalf("a file of %d bytes needs %d", len(raw), sink.Need)
	}
	sink = &ndfile.Sink{Infos: sink.Infos, Buf: make([]byte, sink.Need)}
	return sink, one.Load(ctx, mem, "/x", sink)
}

func saved(t testing.TB, b ndarray.Buffer) []byte {
	t.Helper()
	mem := ndfile.NewMem()
	if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x", []ndfile.Item{{Data: b}}, ndfile.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	return written(t, mem)
}

func written(t testing.TB, mem *ndfile.Mem) []byte {
	t.Helper()
	f, err := mem.Open("/x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	return raw
}

// all reads a whole array as it is stored, row-major.
func all(t testing.TB, a ndfile.Array) ndarray.Buffer {
	t.Helper()
	b, err := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
	if err == nil {
		err = a.ReadBox(ctx, ndarray.Full(b.Shape), b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (e *expected) check(t testing.TB, b ndarray.Buffer) {
	t.Helper()
	if e.DType != "" && !b.DType.Equal(ndarray.MustParse(e.DType)) || !slices.Equal(b.Shape, e.Shape) {
		t.Errorf("%s %v, expected %s %v", b.DType, b.Shape, e.DType, e.Shape)
	}
	if sum := sha256.Sum256(b.Data); hex.EncodeToString(sum[:]) != e.SHA256 {
		t.Errorf("the elements differ: %x", b.Data[:min(len(b.Data), 64)])
	}
}

// TestFixtures: files of NumPy are read as NumPy reads them, in all ways, and
// written again as NumPy wrote them.
func TestFixtures(t *testing.T) {
	rewritten := 0
	for name, e := range fixtures(t) {
		if strings.HasPrefix(name, "npz/") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			raw := content(t, "valid/"+name)
			f, err := open(t, Format, raw)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Abort()
			a, err := f.Array("")
			if err != nil {
				t.Fatal(err)
			}
			b := all(t, a)
			e.check(t, b)
			checkBoxes(t, a, b)
			sink, err := load(t, raw, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			native, _ := ndarray.NewBuffer(b.DType.Native(), b.Shape)
			if err := ndarray.Copy(native, b); err != nil {
				t.Fatal(err)
			}
			li := &sink.Infos[0]
			if !bytes.Equal(sink.Buf[li.DataOffset:][:li.DataLen], native.Data) || !slices.Equal(li.Shape[:li.NDim], b.Shape) {
				t.Error("Load gives another array")
			}
			if e.Rewritten {
				rewritten++
				if got := saved(t, b); !bytes.Equal(got, raw) {
					t.Errorf("saved:\n%q\nexpected\n%q", got, raw)
				}
			}
		})
	}
	if rewritten < 50 {
		t.Errorf("%d files were written again", rewritten)
	}
}

// checkBoxes compares boxes with those of the array in memory.
func checkBoxes(t *testing.T, a ndfile.Array, whole ndarray.Buffer) {
	t.Helper()
	box := ndarray.Full(whole.Shape)
	box.Step = slices.Repeat([]int64{2}, len(whole.Shape))
	for axis, n := range whole.Shape {
		box.Start[axis] = min(1, max(n-1, 0))
		box.Count[axis] = (n - box.Start[axis] + 1) / 2
	}
	part, err := whole.Sub(box)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := ndarray.NewBuffer(whole.DType, box.Count)
	got, _ := ndarray.NewBuffer(whole.DType, box.Count)
	if err := ndarray.Copy(want, part); err != nil {
		t.Fatal(err)
	}
	turned := got // the memory in Fortran order
	backward := slices.Clone(box.Count)
	slices.Reverse(backward)
	if turned.Strides, err = ndarray.AppendStrides(nil, backward, got.DType.Size); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(turned.Strides)
	for _, dst := range []ndarray.Buffer{got, turned} {
		clear(dst.Data)
		if err := a.ReadBox(ctx, box, dst); err != nil {
			t.Fatal(err)
		}
		packed, _ := ndarray.NewBuffer(whole.DType, box.Count)
		if err := ndarray.Copy(packed, dst); err != nil || !bytes.Equal(packed.Data, want.Data) {
			t.Errorf("box %v: %x, expected %x, %v", box, packed.Data, want.Data, err)
		}
	}
	if len(box.Start) > 0 {
		box.Start[0] = whole.Shape[0] + 1
		if err := a.ReadBox(ctx, box, got); !errors.Is(err, ndfile.ErrBounds) {
			t.Errorf("a box outside: %v", err)
		}
	}
}

// npy is a file of a version with any text as its header.
func npy(version byte, text string, data ...byte) []byte {
	raw := append([]byte(magic), version, 0)
	if version == 1 {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(len(text)))
	} else {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(text)))
	}
	return append(append(raw, text...), data...)
}

// dict is a header.
func dict(descr, order, shape string) string {
	return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n"
}

// TestMalformed: what is no file that NumPy writes is refused, by Open and Load
// with the same error.
func TestMalformed(t *testing.T) {
	good := npy(1, dict("'|u1'", "False", "(3,)"), 1, 2, 3)
	version := func(major, minor byte) []byte {
		raw := slices.Clone(good)
		raw[6], raw[7] = major, minor
		return raw
	}
	header := func(descr, order, shape string) []byte {
		return npy(1, dict(descr, order, shape), make([]byte, 100)...)
	}
	for name, c := range map[string]struct {
		raw  []byte
		kind *ndfile.ErrorKind
	}{
		"no file":                     {nil, ndfile.ErrFormat},
		"another file":                {[]byte("rawarray"), ndfile.ErrFormat},
		"half the magic":              {good[:5], ndfile.ErrFormat},
		"the magic alone":             {good[:6], ndfile.ErrCorrupt},
		"no length":                   {good[:9], ndfile.ErrCorrupt},
		"no length, version 2":        {npy(2, "")[:11], ndfile.ErrCorrupt},
		"version 0":                   {version(0, 0), ndfile.ErrNotSupported},
		"version 1.1":                 {version(1, 1), ndfile.ErrNotSupported},
		"version 4":                   {version(4, 0), ndfile.ErrNotSupported},
		"half a header":               {good[:40], ndfile.ErrCorrupt},
		"a header of 4 GiB":           {[]byte(magic + "\x02\x00\xff\xff\xff\xffabc"), ndfile.ErrCorrupt},
		"a header of 2 MiB":           {npy(2, strings.Repeat(" ", 2<<20)), ndfile.ErrLimit},
		"less data":                   {good[:len(good)-1], ndfile.ErrCorrupt},
		"no header":                   {npy(1, ""), ndfile.ErrCorrupt},
		"no dict":                     {npy(1, "(1, 2)"), ndfile.ErrCorrupt},
		"code":                        {header("__import__('os').system('true')", "False", "()"), ndfile.ErrCorrupt},
		"a key less":                  {npy(1, "{'descr': '|u1', 'shape': ()}"), ndfile.ErrCorrupt},
		"a key more":                  {header("'|u1', 'x': 1", "False", "()"), ndfile.ErrCorrupt},
		"a key twice":                 {header("'|u1', 'descr': '<f8'", "False", "()"), ndfile.ErrCorrupt},
		"order is a number":           {header("'|u1'", "0", "()"), ndfile.ErrCorrupt},
		"shape is a list":             {header("'|u1'", "False", "[3]"), ndfile.ErrCorrupt},
		"shape is a number":           {header("'|u1'", "False", "(3)"), ndfile.ErrCorrupt},
		"a negative extent":           {header("'|u1'", "False", "(-1,)"), ndfile.ErrCorrupt},
		"an extent that is a bool":    {header("'|u1'", "False", "(True,)"), ndfile.ErrCorrupt},
		"an extent of 2^63":           {header("'|u1'", "False", "(9223372036854775808,)"), ndfile.ErrCorrupt},
		"2^64 elements":               {header("'|u1'", "False", "(4294967296, 4294967296)"), ndfile.ErrCorrupt},
		"2^64 bytes":                  {header("'<f8'", "False", "(2305843009213693952,)"), ndfile.ErrCorrupt},
		"65 axes":                     {header("'|u1'", "False", "("+strings.Repeat("1,", 65)+")"), ndfile.ErrLimit},
		"an unknown dtype":            {header("'<x8'", "False", "()"), ndfile.ErrCorrupt},
		"a dtype that is not NumPy's": {header("'bfloat16'", "False", "()"), ndfile.ErrCorrupt},
		"128 bits":                    {header("'<i16'", "False", "()"), ndfile.ErrCorrupt},
		"JSON for a dtype":            {header(`'[["a", "<f8"]]'`, "False", "()"), ndfile.ErrCorrupt},
		"a number for a dtype":        {header("8", "False", "()"), ndfile.ErrCorrupt},
		"elements without bytes":      {header("'|V0'", "False", "()"), ndfile.ErrCorrupt},
		"a record without fields":     {header("[]", "False", "()"), ndfile.ErrCorrupt},
		"a sub-array as the dtype":    {header("('|u1', (2,))", "False", "()"), ndfile.ErrCorrupt},
		"a field without a type":      {header("[('a',)]", "False", "()"), ndfile.ErrCorrupt},
		"a field of four":             {header("[('a', '|u1', (2,), 3)]", "False", "()"), ndfile.ErrCorrupt},
		"a field that is a list":      {header("[['a', '|u1']]", "False", "()"), ndfile.ErrCorrupt},
		"a name that is a number":     {header("[(1, '|u1')]", "False", "()"), ndfile.ErrCorrupt},
		"two fields of a name":        {header("[('a', '|u1'), ('a', '|u1')]", "False", "()"), ndfile.ErrCorrupt},
		"a negative sub-array":        {header("[('a', '|u1', (-2,))]", "False", "()"), ndfile.ErrCorrupt},
		"a sub-array of 2^62 bytes":   {header("[('a', '|u1', (4611686018427387904,))]", "False", "()"), ndfile.ErrCorrupt},
		"a deep record":               {header(strings.Repeat("[('a', ", 1000)+"'|u1'"+strings.Repeat(")]", 1000), "False", "()"), ndfile.ErrCorrupt},
		"UTF-8 that is none":          {npy(3, dict("[('\xff', '|u1')]", "False", "(1,)"), 1), ndfile.ErrCorrupt},
		"Python objects":              {content(t, "objects.npy"), ndfile.ErrNotSupported},
		"a field of Python objects":   {content(t, "object_field.npy"), ndfile.ErrNotSupported},
	} {
		_, err := open(t, Format, c.raw)
		if ndfile.KindOf(err) != c.kind || ndfile.Offset(err) < 0 || ndfile.Offset(err) > int64(len(c.raw)) {
			t.Errorf("%s: %v", name, err)
		}
		if _, again := load(t, c.raw, 1<<20); err == nil || again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Open: %v, Load: %v", name, err, again)
		}
	}
	if _, err := open(t, Format, good); err != nil {
		t.Error(err)
	}
}

// TestLimit: Limits.MaxHeader bounds the header.
func TestLimit(t *testing.T) {
	raw := content(t, "valid/scalar.npy")
	for n, kind := range map[int64]*ndfile.ErrorKind{117: ndfile.ErrLimit, 118: nil} {
		f, err := Format.Open(ctx, in(t, raw), "/x", ndfile.OpenOptions{Limits: ndfile.Limits{MaxHeader: n}})
		if kind == nil && err != nil || kind != nil && ndfile.KindOf(err) != kind {
			t.Errorf("a limit of %d bytes: %v", n, err)
		}
		if err == nil {
			f.Abort()
		}
	}
}

// TestRefused: what a file cannot hold is refused by Save and by Create or Add.
func TestRefused(t *testing.T) {
	src, _ := ndarray.NewBuffer(ndarray.MustParse("<i4"), []int64{3})
	attrs, _ := ndfile.ParseJSON([]byte(`{"a": 1}`))
	plain := ndfile.Item{Data: src}
	named, masked, dims, attributed, extra := plain, plain, plain, plain, plain
	named.Name, masked.Mask, dims.Dims, attributed.Attrs, extra.Extra = "v", make([]byte, 3), []string{"x"}, attrs, attrs
	typed := func(d ndarray.DType) ndfile.Item {
		return ndfile.Item{Data: ndarray.Buffer{DType: d, Shape: []int64{1}, Data: make([]byte, 16)}}
	}
	field := ndarray.Field{Name: "a", DType: ndarray.MustParse("<f4")}
	bad, brain := field, field
	bad.Name, brain.DType = "\xff", ndarray.MustParse("bfloat16")
	for name, c := range map[string]struct {
		item ndfile.Item
		opt  ndfile.SaveOptions
		kind *ndfile.ErrorKind
	}{
		"a name":                {named, ndfile.SaveOptions{}, ndfile.ErrArgument},
		"a mask":                {masked, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		"dims":                  {dims, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		"array attributes":      {attributed, ndfile.SaveOptions{}, ndfile.ErrNotSupported},
		"extra":                 {extra, ndfile.SaveOptions{}, ndfile.ErrArgument},
		"file attributes":       {plain, ndfile.SaveOptions{Attrs: attrs}, ndfile.ErrNotSupported},
		"trailing bytes":        {plain, ndfile.SaveOptions{Trailing: []byte("x")}, ndfile.ErrNotSupported},
		"128 bits":              {typed(ndarray.MustParse("<i16")), ndfile.SaveOptions{}, ndfile.ErrDType},
		"half complex":          {typed(ndarray.MustParse("<c4")), ndfile.SaveOptions{}, ndfile.ErrDType},
		"no bytes":              {typed(ndarray.MustParse("|V0")), ndfile.SaveOptions{}, ndfile.ErrDType},
		"a record with a gap":   {typed(ndarray.DType{Kind: ndarray.Record, Size: 8, Fields: []ndarray.Field{field}}), ndfile.SaveOptions{}, ndfile.ErrDType},
		"a name without a text": {typed(ndarray.DType{Kind: ndarray.Record, Size: 4, Fields: []ndarray.Field{bad}}), ndfile.SaveOptions{}, ndfile.ErrDType},
		"a bfloat16 field":      {typed(ndarray.DType{Kind: ndarray.Record, Size: 2, Fields: []ndarray.Field{brain}}), ndfile.SaveOptions{}, ndfile.ErrDType},
	} {
		mem := ndfile.NewMem()
		if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x", []ndfile.Item{c.item}, c.opt); ndfile.KindOf(err) != c.kind {
			t.Errorf("Save of %s: %v", name, err)
		}
		f, err := Format.Create(ctx, mem, "/x", c.opt)
		if err == nil {
			err = ndfile.SaveFile(ctx, f, []ndfile.Item{c.item})
			f.Abort()
		}
		if ndfile.KindOf(err) != c.kind {
			t.Errorf("Create with %s: %v", name, err)
		}
		if list, _ := mem.ReadDir("/"); len(list) > 0 {
			t.Errorf("%s: left behind: %v", name, list)
		}
	}
	long := make([]ndarray.Field, 100)
	for i := range long {
		long[i] = ndarray.Field{Name: strings.Repeat("x", 20000) + decimal(int64(i)), DType: field.DType}
	}
	d, err := ndarray.NewRecord(long)
	if err != nil {
		t.Fatal(err)
	}
	item := ndfile.Item{Data: ndarray.Buffer{DType: d, Data: make([]byte, d.Size)}}
	if err := Format.(ndfile.OneShot).Save(ctx, ndfile.NewMem(), "/x", []ndfile.Item{item}, ndfile.SaveOptions{}); !errors.Is(err, ndfile.ErrLimit) {
		t.Errorf("a header of 2 MB: %v", err)
	}
}

// TestLarge saves and loads more than one read: as it is, and strided.
func TestLarge(t *testing.T) {
	src, _ := ndarray.NewBuffer(ndarray.MustParse("<f8"), []int64{300, 201})
	for i := range src.Data {
		src.Data[i] = byte(i*7 + i>>8)
	}
	turned := ndarray.Buffer{DType: src.DType, Shape: src.Shape, Strides: []int64{8, 2400}, Data: make([]byte, len(src.Data))}
	if err := ndarray.Copy(turned, src); err != nil {
		t.Fatal(err)
	}
	want := saved(t, src)
	if got := saved(t, turned); !bytes.Equal(got, want) {
		t.Error("strided: Save differs")
	}
	fortran := append(npy(1, dict("'<f8'", "True", "(300, 201)")), turned.Data...)
	for name, raw := range map[string][]byte{"C": want, "Fortran": fortran} {
		sink, err := load(t, raw, 1<<20)
		if err != nil || !bytes.Equal(sink.Buf[sink.Infos[0].DataOffset:][:len(src.Data)], src.Data) {
			t.Errorf("%s order: Load: %v", name, err)
		}
	}
}
