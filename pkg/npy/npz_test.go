package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestArchives: what numpy.savez and numpy.savez_compressed wrote.
func TestArchives(t *testing.T) {
	want := fixtures(t)
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		raw := content(t, name)
		f, err := open(t, Archive, raw)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Abort()
		if names := []string{"x", "be", "f", "naïve ☃", "group/y", "empty"}; f.Kind() != ndfile.Dataset || !slices.Equal(f.Names(), names) {
			t.Errorf("%s: a %s of %q", name, f.Kind(), f.Names())
		}
		for _, key := range f.Names() {
			a, err := f.Array(key)
			if err != nil {
				t.Fatal(err)
			}
			b := all(t, a)
			e := want["npz/"+key]
			e.check(t, b)
			checkBoxes(t, a, b)
			if err := a.WriteBox(ctx, ndarray.Full(b.Shape), b); !errors.Is(err, ndfile.ErrReadOnly) {
				t.Errorf("WriteBox: %v", err)
			}
		}
		if _, err := f.Array("x.npy"); !errors.Is(err, ndfile.ErrName) {
			t.Errorf("another name: %v", err)
		}
		if _, err := f.Add(ctx, "new", ndfile.Spec{}); !errors.Is(err, ndfile.ErrReadOnly) {
			t.Errorf("Add: %v", err)
		}
		sink := &ndfile.Sink{Buf: make([]byte, 4096), Infos: make([]ndfile.LoadInfo, 9)}
		if err := ndfile.Load(ctx, []ndfile.Format{Format, Archive}, in(t, raw), "/x", sink); err != nil || sink.N != 6 {
			t.Errorf("Load: %d arrays, %v", sink.N, err)
		}
	}
}

// TestObjects: members of Python objects are refused, the others can be read.
func TestObjects(t *testing.T) {
	f, err := open(t, Archive, content(t, "objects.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if !slices.Equal(f.Names(), []string{"x"}) {
		t.Errorf("names: %q", f.Names())
	}
	mem := in(t, content(t, "objects.npz"))
	opt := ndfile.ConvertOptions{FS: mem, From: "npz", To: "npz"}
	losses, err := ndfile.Convert(ctx, []ndfile.Format{Archive}, "/x", "/y.npz", opt)
	if !errors.Is(err, ndfile.ErrLoss) || len(losses) != 1 || losses[0].Array != "o" || losses[0].What != "data" {
		t.Errorf("conversion: %v, %v", losses, err)
	}
	for range 2 {
		if _, err := f.Array("o"); !errors.Is(err, ndfile.ErrNotSupported) || !strings.Contains(err.Error(), `"o"`) {
			t.Errorf("o: %v", err)
		}
	}
	a, err := f.Array("x")
	if err != nil {
		t.Fatal(err)
	}
	e := fixtures(t)["npz/x"]
	e.check(t, all(t, a))
}

func TestArchiveDetect(t *testing.T) {
	for name, want := range map[string]ndfile.Match{"stored.npz": ndfile.Certain, "deflated.npz": ndfile.Certain, "nothing.npz": ndfile.Possible,
		"valid/one.npy": ndfile.NoMatch, "make.py": ndfile.NoMatch} {
		if m, err := Archive.Detect(ctx, in(t, content(t, name)), "/x"); m != want || err != nil {
			t.Errorf("%s: %d, %v", name, m, err)
		}
	}
	for name, raw := range map[string][]byte{"nothing": nil, "PK": []byte(zipMember), "text": pack(t, zip.Store, "a.txt", []byte("a"))} {
		if m, err := Archive.Detect(ctx, in(t, raw), "/x"); m != ndfile.NoMatch || err != nil {
			t.Errorf("%s: %d, %v", name, m, err)
		}
	}
	if m, err := Archive.Detect(ctx, ndfile.OS, t.TempDir()); m != ndfile.NoMatch || err != nil {
		t.Errorf("a folder: %d, %v", m, err)
	}
	if _, err := Archive.Open(ctx, in(t, content(t, "stored.npz")), "/x", ndfile.OpenOptions{Mode: ndfile.Update}); !errors.Is(err, ndfile.ErrNotSupported) {
		t.Errorf("r+: %v", err)
	}
}

// pack makes an archive; members are names and contents, in turn.
func pack(t testing.TB, method uint16, members ...any) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 9) })
	for i := 0; i < len(members); i += 2 {
		m, err := w.CreateHeader(&zip.FileHeader{Name: members[i].(string), Method: method})
		if err == nil {
			_, err = m.Write(members[i+1].([]byte))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// declare changes the sizes and flags that the directory gives of the only member.
func declare(raw []byte, change func(directory []byte)) []byte {
	raw = slices.Clone(raw)
	change(raw[bytes.LastIndex(raw, []byte("PK\x01\x02")):])
	return raw
}

// The places in the directory.
const (
	inFlags, inMethod, inChecksum, inPacked, inSize, inOffset = 8, 10, 16, 20, 24, 42
)

// TestMalformedArchives: damage and bombs are errors, by which step is told.
func TestMalformedArchives(t *testing.T) {
	le := binary.LittleEndian
	file := npy(1, dict("'|u1'", "False", "(1000,)"), make([]byte, 1000)...)
	stored, deflated := pack(t, zip.Store, "a.npy", file), pack(t, zip.Deflate, "a.npy", file)
	const whole, opening, looking, reading = "whole", "Open", "Array", "ReadBox"
	for name, c := range map[string]struct {
		raw  []byte
		step string
		kind *ndfile.ErrorKind
	}{
		"stored":             {stored, whole, nil},
		"deflated":           {deflated, whole, nil},
		"other members":      {pack(t, zip.Store, "b.txt", []byte("x"), "a.npy", file, "c/", []byte(nil)), whole, nil},
		"no archive":         {file, opening, ndfile.ErrFormat},
		"nothing":            {nil, opening, ndfile.ErrFormat},
		"no directory":       {stored[:len(stored)-30], opening, ndfile.ErrCorrupt},
		"the same name":      {pack(t, zip.Store, "a.npy", file, "a.npy", file), opening, ndfile.ErrCorrupt},
		"no UTF-8":           {pack(t, zip.Store, "\xff.npy", file), opening, ndfile.ErrNotSupported},
		"no .npy file":       {pack(t, zip.Deflate, "a.npy", []byte("hello")), looking, ndfile.ErrFormat},
		"an empty member":    {pack(t, zip.Deflate, "a.npy", []byte{}), looking, ndfile.ErrFormat},
		"less data":          {pack(t, zip.Deflate, "a.npy", file[:len(file)-1]), looking, ndfile.ErrCorrupt},
		"encrypted":          {declare(stored, func(d []byte) { d[inFlags] |= 1 }), looking, ndfile.ErrNotSupported},
		"bzip2":              {declare(stored, func(d []byte) { d[inMethod] = 12 }), looking, ndfile.ErrNotSupported},
		"too far":            {declare(stored, func(d []byte) { le.PutUint32(d[inOffset:], 1<<30) }), looking, ndfile.ErrCorrupt},
		"too long":           {declare(stored, func(d []byte) { le.PutUint32(d[inPacked:], 1<<30); le.PutUint32(d[inSize:], 1<<30) }), looking, ndfile.ErrCorrupt},
		"stored, other size": {declare(stored, func(d []byte) { le.PutUint32(d[inSize:], 5000) }), looking, ndfile.ErrCorrupt},
		"a bomb":             {declare(deflated, func(d []byte) { le.PutUint32(d[inSize:], 1<<31) }), looking, ndfile.ErrCorrupt},
		"longer than said":   {declare(pack(t, zip.Deflate, "a.npy", append(slices.Clone(file), 0)), func(d []byte) { le.PutUint32(d[inSize:], uint32(len(file))) }), reading, ndfile.ErrCorrupt},
		"shorter than said":  {declare(deflated, func(d []byte) { le.PutUint32(d[inSize:], uint32(len(file)+1)) }), reading, ndfile.ErrCorrupt},
		"another checksum":   {declare(deflated, func(d []byte) { d[inChecksum]++ }), reading, ndfile.ErrCorrupt},
	} {
		step := opening
		f, err := open(t, Archive, c.raw)
		var a ndfile.Array
		if err == nil {
			step = looking
			a, err = f.Array("a")
		}
		if err == nil {
			step = reading
			b, _ := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
			err = a.ReadBox(ctx, ndarray.Full(b.Shape), b)
		}
		if err == nil {
			step = whole
		}
		if step != c.step || c.kind != nil && ndfile.KindOf(err) != c.kind {
			t.Errorf("%s: %s: %v", name, step, err)
		}
	}
	// A shape beyond what the compressed bytes can hold, in a member that says so.
	bomb := npy(1, dict("'|u1'", "False", "(1099511627776,)"), make([]byte, 1000)...)
	f, err := open(t, Archive, pack(t, zip.Deflate, "a.npy", bomb))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Array("a"); !errors.Is(err, ndfile.ErrCorrupt) {
		t.Errorf("a shape without data: %v", err)
	}
}

// TestDirectoryLimit: the directory of an archive is bounded as headers are.
func TestDirectoryLimit(t *testing.T) {
	var members []any
	for range 4000 {
		members = append(members, strings.Repeat("x", 40)+decimal(int64(len(members)))+".npy", []byte{})
	}
	mem := in(t, pack(t, zip.Store, members...))
	for limit, kind := range map[int64]*ndfile.ErrorKind{1 << 10: ndfile.ErrLimit, 1 << 20: nil} {
		f, err := Archive.Open(ctx, mem, "/x", ndfile.OpenOptions{Limits: ndfile.Limits{MaxHeader: limit}})
		if kind != nil && ndfile.KindOf(err) != kind || kind == nil && (err != nil || len(f.Names()) != 4000) {
			t.Errorf("a limit of %d bytes: %v", limit, err)
		}
	}
}

// large is a member of several decoder windows, and its data.
func large(t testing.TB, method uint16) (raw, data []byte) {
	data = make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i*i>>9 ^ i>>13)
	}
	return pack(t, method, "a.npy", append(npy(1, dict("'|u1'", "False", "(1024, 1024)")), data...)), data
}

// TestRanges: rows of a deflated member, in order, backwards and from several
// goroutines; in order the archive is read once.
func TestRanges(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		raw, data := large(t, method)
		fault := vfs.NewFault(in(t, raw))
		f, err := Archive.Open(ctx, fault, "/x", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Array("a")
		if err != nil {
			t.Fatal(err)
		}
		row := func(i int64) {
			dst := ndarray.Buffer{DType: a.Spec().DType, Shape: []int64{1, 1024}, Data: make([]byte, 1024)}
			err := a.ReadBox(ctx, ndarray.Box{Start: []int64{i, 0}, Count: []int64{1, 1024}}, dst)
			if err != nil || !bytes.Equal(dst.Data, data[i*1024:][:1024]) {
				t.Errorf("method %d, row %d: %v", method, i, err)
			}
		}
		before := fault.Count()
		for i := range int64(1024) {
			row(i)
		}
		if calls := fault.Count() - before; calls > 1100 {
			t.Errorf("method %d: %d calls for %d bytes in order", method, calls, len(raw))
		}
		for i := int64(1023); i >= 0; i -= 100 {
			row(i)
		}
		var wait sync.WaitGroup
		for k := range int64(4) {
			wait.Go(func() {
				for i := range int64(8) {
					row(k*200 + i*16)
				}
			})
		}
		wait.Wait()
		broken := errors.New("broken disk")
		fault.FailFrom(fault.Count(), broken)
		b, _ := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
		if err := a.ReadBox(ctx, ndarray.Full(b.Shape), b); !errors.Is(err, broken) {
			t.Errorf("method %d: a failing read: %v", method, err)
		}
		fault.FailFrom(1<<62, nil)
		row(1000)
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := a.ReadBox(ctx, ndarray.Full(b.Shape), b); err == nil {
			t.Errorf("method %d: read after Close", method)
		}
	}
}

// TestChecksum: the fixture's own bytes, changed within a deflated member, are
// not given as data without an error.
func TestChecksum(t *testing.T) {
	raw, data := large(t, zip.Deflate)
	wrong := 0
	for at := 200; at < len(raw)-200; at += len(raw) / 50 {
		raw[at] ^= 4
		f, err := open(t, Archive, raw)
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Array("a")
		if err == nil {
			b, _ := ndarray.NewBuffer(a.Spec().DType, a.Spec().Shape)
			if err = a.ReadBox(ctx, ndarray.Full(b.Shape), b); err == nil && crc32.ChecksumIEEE(b.Data) != crc32.ChecksumIEEE(data) {
				t.Errorf("byte %d: wrong data without an error", at)
			}
		}
		if err != nil {
			wrong++
		}
		raw[at] ^= 4
	}
	if wrong < 40 {
		t.Errorf("%d of 50 changes were seen", wrong)
	}
}

// TestArchiveCopies: archives that are converted have the same members, deflated or
// not as before.
func TestArchiveCopies(t *testing.T) {
	for _, name := range []string{"stored.npz", "deflated.npz"} {
		mem := in(t, content(t, name))
		opt := ndfile.ConvertOptions{FS: mem, From: "npz", To: "npz"}
		if _, err := ndfile.Convert(ctx, []ndfile.Format{Archive}, "/x", "/y.npz", opt); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := Archive.Open(ctx, mem, "/y.npz", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := fixtures(t)
		for _, key := range f.Names() {
			a, err := f.Array(key)
			if err != nil {
				t.Fatal(err)
			}
			e := want["npz/"+key]
			e.check(t, all(t, a))
			if deflated := a.Spec().Extra != nil; deflated != (name == "deflated.npz") {
				t.Errorf("%s, %s: deflated %v", name, key, deflated)
			}
		}
		if len(f.Names()) != 6 {
			t.Errorf("%s: %q", name, f.Names())
		}
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}
