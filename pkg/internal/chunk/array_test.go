package chunk

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// TestNotFiles: what is in the place of a chunk but not a file is refused, read
// and written, at once.
func TestNotFiles(t *testing.T) {
	dir := t.TempDir()
	open := func(separator string, follow bool, commit vfs.Commit) *Array {
		return newArray(t, vfs.OS, []int64{4, 1}, []int64{40, 1}, func(a *Array) {
			a.Folder, a.AppendPath, a.FollowSymlinks, a.Write.Commit = dir, pathIn(dir, separator), follow, commit
		})
	}
	real := open(".", false, vfs.CommitAtomic)
	if err := real.WriteBox(ctx, ndarray.Full([]int64{40, 1}), bytesOf(bytes.Repeat([]byte{5}, 40), 40, 1)); err != nil {
		t.Fatal(err)
	}
	os.Remove(dir + "/c.1.0")
	os.Remove(dir + "/c.2.0")
	os.Remove(dir + "/c.3.0")
	os.Symlink("c.0.0", dir+"/c.1.0")
	os.Mkdir(dir+"/c.2.0", 0o777)
	syscall.Mkfifo(dir+"/c.3.0", 0o666)
	os.Symlink(dir, dir+"/c") // c/0/0 is not there, but c/x is in another folder
	os.Mkdir(dir+"/0", 0o777)
	os.WriteFile(dir+"/0/0", nil, 0o666)

	data := bytesOf([]byte{1, 2, 3, 4}, 4, 1)
	for _, commit := range []vfs.Commit{vfs.CommitAtomic, vfs.CommitDirect} {
		for _, c := range []struct {
			separator string
			chunk     int64
			follow    bool
			want      error
		}{
			{".", 1, false, ndfile.ErrNotSupported}, {".", 2, false, ndfile.ErrCorrupt}, {".", 3, false, ndfile.ErrCorrupt},
			{".", 2, true, ndfile.ErrCorrupt}, {".", 3, true, ndfile.ErrCorrupt}, {"/", 0, false, ndfile.ErrNotSupported},
		} {
			a := open(c.separator, c.follow, commit)
			box := ndarray.Box{Start: []int64{4 * c.chunk, 0}, Count: []int64{4, 1}}
			item := ndarray.Box{Start: []int64{4*c.chunk + 1, 0}, Count: []int64{1, 1}}
			for what, err := range map[string]error{
				"read": a.ReadBox(ctx, box, data), "read an item": a.ReadBox(ctx, item, bytesOf(make([]byte, 1), 1, 1)),
				"write": a.WriteBox(ctx, box, data), "write an item": a.WriteBox(ctx, item, bytesOf(make([]byte, 1), 1, 1)),
				"check": a.CheckChunk(ctx, []int64{c.chunk, 0}),
			} {
				var e *ndfile.Error
				if !errors.Is(err, c.want) || !errors.As(err, &e) || !strings.HasPrefix(e.Path, dir+"/c") {
					t.Errorf("%s chunk %d, follow %v: %v, want %v", what, c.chunk, c.follow, err, c.want)
				}
			}
		}
	}
	a := open(".", true, vfs.CommitAtomic)
	if err := a.ReadBox(ctx, ndarray.Box{Start: []int64{4, 0}, Count: []int64{4, 1}}, data); err != nil || data.Data[0] != 5 {
		t.Errorf("a link that may be followed: %v", err)
	}
	if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{4, 0}, Count: []int64{1, 1}}, bytesOf([]byte{9}, 1, 1)); err != nil {
		t.Error(err)
	}
	if got, err := read2(real, 0, 0); got != 9 || err != nil {
		t.Errorf("what a link leads to: %d, %v", got, err)
	}
	if link, err := os.Readlink(dir + "/c.1.0"); err != nil || link != "c.0.0" {
		t.Errorf("the link is gone: %v", err)
	}
}

// TestMissing: a chunk without a file is the fill value or an error.
func TestMissing(t *testing.T) {
	m := vfs.NewMem()
	a := newArray(t, m, []int64{4}, []int64{10}, func(a *Array) { a.Fill = []byte{7} })
	if got := mustRead(t, a); !bytes.Equal(got, bytes.Repeat([]byte{7}, 10)) {
		t.Errorf("without a folder: %v", got)
	}
	if raw, size, err := a.ReadChunk(ctx, []int64{1}, nil); raw != nil || size != 0 || err != nil {
		t.Errorf("a chunk without a file: %v, %d, %v", raw, size, err)
	}
	if err := a.CheckChunk(ctx, []int64{1}); err != nil {
		t.Error(err)
	}
	if err := a.Refill(ctx, []int64{5}); err != nil {
		t.Error(err)
	}
	if _, err := m.Stat("/d"); err == nil {
		t.Error("reading made the folder")
	}
	dense := newArray(t, m, []int64{4}, []int64{10}, func(a *Array) { a.Sparse = false })
	_, err := readAll(dense)
	_, _, rawErr := dense.ReadChunk(ctx, []int64{0}, nil)
	item := ndarray.Box{Start: []int64{1}, Count: []int64{1}}
	for what, err := range map[string]error{"read": err, "chunk": rawErr, "check": dense.CheckChunk(ctx, []int64{0}), "refill": dense.Refill(ctx, []int64{3}),
		"write an item": dense.WriteBox(ctx, item, bytesOf([]byte{1}, 1))} {
		var e *ndfile.Error
		if !errors.Is(err, ndfile.ErrCorrupt) || !errors.As(err, &e) || e.Path != "/d/c.0" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestChunks: encoded chunks go from one array to another.
func TestChunks(t *testing.T) {
	m := vfs.NewMem()
	a := newArray(t, m, []int64{1000, 100}, []int64{2500, 100}, func(a *Array) { a.Header, a.ShortLast = testHeader{}, true })
	plain := make([]byte, 250_000)
	for i := range plain {
		plain[i] = byte(i * i >> 3) // more than the first read of a file
	}
	if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), bytesOf(plain, 2500, 100)); err != nil {
		t.Fatal(err)
	}
	b := newArray(t, m, a.Chunks, a.Shape(), func(b *Array) { b.Folder, b.AppendPath, b.ShortLast = "/e", pathIn("/e", "/"), true })
	buf := make([]byte, 90_000, 200_000)
	for i := range int64(3) {
		raw, size, err := a.ReadChunk(ctx, []int64{i, 0}, buf)
		if want := min(100_000, 250_000-i*100_000); err != nil || size != want {
			t.Fatalf("chunk %d: size %d, want %d, error %v", i, size, want, err)
		}
		if fits := len(raw) <= len(buf); fits != (&raw[0] == &buf[0]) {
			t.Errorf("%d bytes of chunk %d in the caller's buffer: %v", len(raw), i, !fits)
		}
		if err := b.WriteChunk(ctx, []int64{i, 0}, raw); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(mustRead(t, b), plain) {
		t.Error("the chunks changed on the way")
	}
	last, _, _ := a.ReadChunk(ctx, []int64{2, 0}, nil)
	first, _, _ := a.ReadChunk(ctx, []int64{0, 0}, nil)
	full := newArray(t, m, a.Chunks, a.Shape(), nil)
	for _, c := range []struct {
		what  string
		a     *Array
		index []int64
		raw   []byte
		want  error
	}{
		{"a short chunk", b, []int64{0, 0}, last, ndfile.ErrNotSupported}, {"a short chunk", full, []int64{2, 0}, last, ndfile.ErrNotSupported},
		{"a full chunk at the end", b, []int64{2, 0}, first, nil}, {"bytes behind", b, []int64{0, 0}, append(first[:len(first):len(first)], 0), ndfile.ErrCorrupt},
		{"nothing", b, []int64{0, 0}, nil, ndfile.ErrCorrupt}, {"half", b, []int64{0, 0}, first[:len(first)/2], ndfile.ErrCorrupt},
		{"no such chunk", b, []int64{3, 0}, first, ndfile.ErrBounds}, {"no such chunk", b, []int64{0}, first, ndfile.ErrBounds}, {"no such chunk", b, []int64{-1, 0}, first, ndfile.ErrBounds},
	} {
		if err := c.a.WriteChunk(ctx, c.index, c.raw); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if !bytes.Equal(mustRead(t, b), slices.Concat(plain[:200_000], plain[:50_000])) {
		t.Error("the last chunk is not the one that was put there")
	}
	if a.Codec.Name() != "blosc1" || (Plain{}).Name() != "bytes" {
		t.Error("names of codecs")
	}
}

// TestArguments: boxes, buffers and dtypes that do not fit change nothing.
func TestArguments(t *testing.T) {
	a := newArray(t, vfs.NewMem(), []int64{4, 5}, []int64{10, 5}, func(a *Array) { a.DType = ndarray.MustParse("<i2") })
	for _, c := range []struct {
		what  string
		box   ndarray.Box
		dtype string
		shape []int64
		want  error
	}{
		{"outside", ndarray.Box{Start: []int64{8, 0}, Count: []int64{3, 1}}, "<i2", []int64{3, 1}, ndarray.ErrBounds},
		{"one axis", ndarray.Box{Start: []int64{0}, Count: []int64{1}}, "<i2", []int64{1}, ndarray.ErrShape},
		{"another shape", ndarray.Full([]int64{10, 5}), "<i2", []int64{5, 10}, ndarray.ErrShape},
		{"another dtype", ndarray.Full([]int64{10, 5}), "S2", []int64{10, 5}, ndarray.ErrDType},
		{"nothing of another dtype", ndarray.Full([]int64{0, 5}), "S2", []int64{0, 5}, ndarray.ErrDType},
	} {
		buf, _ := ndarray.NewBuffer(ndarray.MustParse(c.dtype), c.shape)
		if err := a.ReadBox(ctx, c.box, buf); !errors.Is(err, c.want) {
			t.Errorf("read, %s: %v", c.what, err)
		}
		if err := a.WriteBox(ctx, c.box, buf); !errors.Is(err, c.want) {
			t.Errorf("write, %s: %v", c.what, err)
		}
	}
	buf, _ := ndarray.NewBuffer(a.DType, []int64{10, 5})
	buf.Data = buf.Data[1:]
	if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), buf); !errors.Is(err, ndarray.ErrBounds) {
		t.Errorf("memory that is too short: %v", err)
	}
	wide, _ := ndarray.NewBuffer(ndarray.MustParse("<i8"), []int64{10, 5})
	if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), wide); !errors.Is(err, ndarray.ErrDType) {
		t.Errorf("write what may not fit: %v", err)
	}
	if _, err := a.FS.Stat("/d"); err == nil {
		t.Error("something was written")
	}
	for what, c := range map[string]struct {
		shape []int64
		dtype string
		want  error
	}{"axes": {[]int64{1}, "<i2", ndarray.ErrShape}, "row": {[]int64{1, 4}, "<i2", ndarray.ErrShape}, "dtype": {[]int64{1, 5}, "<i4", ndarray.ErrDType}} {
		rows, _ := ndarray.NewBuffer(ndarray.MustParse(c.dtype), c.shape)
		if _, err := a.AppendRows(ctx, rows); !errors.Is(err, c.want) || a.Shape()[0] != 10 {
			t.Errorf("append, %s: %v", what, err)
		}
	}
	wrong := newArray(t, vfs.NewMem(), []int64{4, 4}, []int64{10, 5}, nil)
	if _, err := wrong.AppendRows(ctx, bytesOf(make([]byte, 5), 1, 5)); !errors.Is(err, ndfile.ErrNotSupported) {
		t.Errorf("rows over several chunks: %v", err)
	}
	most := newArray(t, vfs.NewMem(), []int64{4}, []int64{1<<63 - 1}, nil)
	if _, err := most.AppendRows(ctx, bytesOf(make([]byte, 1), 1)); !errors.Is(err, ndfile.ErrShape) {
		t.Errorf("more rows than can be counted: %v", err)
	}
	for _, index := range [][]int64{{0, 3}, {-1, 0}, {3, 0}} {
		if err := a.RefillChunk(ctx, index, []int64{10, 5}); !errors.Is(err, ndfile.ErrBounds) {
			t.Errorf("RefillChunk %v: %v", index, err)
		}
	}
}

// TestAppendedRows: rows that wait in memory, and files with more rows than the
// array has, as bcolz leaves them.
func TestAppendedRows(t *testing.T) {
	m := vfs.NewMem()
	open := func(rows int64) *Array {
		return newArray(t, m, []int64{10}, []int64{rows}, func(a *Array) { a.Sparse, a.ShortLast = false, true })
	}
	a := open(0)
	data := []byte("0123456789abcdefghijklmnopqrst")
	if full, err := a.AppendRows(ctx, bytesOf(data[:25], 25)); err != nil || !full || a.Unflushed() != 5 {
		t.Fatalf("full %v, %d not flushed, %v", full, a.Unflushed(), err)
	}
	if _, err := m.Stat("/d/c.2"); err == nil {
		t.Error("the tail was written")
	}
	_, _, rawErr := a.ReadChunk(ctx, []int64{2}, nil)
	for what, err := range map[string]error{"resize": a.SetShape([]int64{3}), "chunk": rawErr} {
		if !errors.Is(err, ndfile.ErrOrder) {
			t.Errorf("%s with rows in memory: %v", what, err)
		}
	}
	if err := a.FlushRows(ctx); err != nil {
		t.Fatal(err)
	}
	// Nobody was told about the last five rows; now there are other ones.
	b := open(22)
	if got := mustRead(t, b); string(got) != string(data[:22]) {
		t.Errorf("read %s", got)
	}
	if _, err := b.AppendRows(ctx, bytesOf([]byte("XY"), 2)); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, b); string(got) != string(data[:22])+"XY" {
		t.Errorf("read %s", got)
	}
	if err := b.WriteBox(ctx, ndarray.Box{Start: []int64{21}, Count: []int64{2}}, bytesOf([]byte("--"), 2)); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, open(22)); string(got) != string(data[:21])+"-" {
		t.Errorf("the row in the file: %s", got)
	}
	if err := b.FlushRows(ctx); err != nil {
		t.Fatal(err)
	}
	if got := mustRead(t, open(24)); string(got) != string(data[:21])+"--Y" {
		t.Errorf("after the flush: %s", got)
	}
	if raw, size, err := open(24).ReadChunk(ctx, []int64{2}, nil); err != nil || size != 4 {
		t.Errorf("the last chunk: %v, %d bytes, %v", raw, size, err)
	}
	// A damaged last chunk is found before rows are taken that could not join it.
	m.WriteFile("/d/c.2", [][]byte{[]byte("damaged")}, vfs.WriteOptions{})
	if _, err := open(24).AppendRows(ctx, bytesOf([]byte("Z"), 1)); !errors.Is(err, ndfile.ErrCorrupt) {
		t.Errorf("append to a damaged chunk: %v", err)
	}
}

// TestPadding: nothing but the fill value is written outside of the array, and
// what is cut off does not come back.
func TestPadding(t *testing.T) {
	for _, fill := range [][]byte{nil, {7}} {
		m := vfs.NewMem()
		a := newArray(t, m, []int64{4, 4}, []int64{5, 6}, func(a *Array) { a.Fill, a.Codec = fill, Plain{} })
		dirty := new(worker) // what is in memory
		if p, err := dirty.plain.Sized(100); err != nil {
			t.Fatal(err)
		} else {
			repeat(p, []byte{0xee})
		}
		workers.Put(dirty)
		if err := a.WriteBox(ctx, ndarray.Full(a.Shape()), bytesOf(bytes.Repeat([]byte{1}, 30), 5, 6)); err != nil {
			t.Fatal(err)
		}
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{4, 4}, Count: []int64{1, 1}}, bytesOf([]byte{2}, 1, 1)); err != nil {
			t.Fatal(err)
		}
		a.SetShape([]int64{8, 8})
		f := append(fill, 0)[0]
		want := slices.Concat(bytes.Repeat([]byte{1, 1, 1, 1, 1, 1, f, f}, 4), []byte{1, 1, 1, 1, 2, 1, f, f}, bytes.Repeat([]byte{f}, 24))
		if got := mustRead(t, a); !bytes.Equal(got, want) {
			t.Errorf("outside of the array: %v, want %v", got, want)
		}
		if err := a.Refill(ctx, []int64{1, 2}); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if i/8 < 4 && i%8 < 4 && (i/8 >= 1 || i%8 >= 2) {
				want[i] = f
			}
		}
		if got := mustRead(t, a); !bytes.Equal(got, want) {
			t.Errorf("after a cut: %v, want %v", got, want)
		}
		before, _ := m.Stat("/d/c.0.0")
		if err := a.Refill(ctx, []int64{1, 2}); err != nil {
			t.Fatal(err)
		}
		if after, _ := m.Stat("/d/c.0.0"); after.Ino != before.Ino {
			t.Error("a chunk that needs no change was written")
		}
	}
}

// TestTypeSizes: the codec's fields arrive in the chunk.
func TestTypeSizes(t *testing.T) {
	for _, c := range []Blosc{{Codec: blosc.Zstd, Level: 3, Shuffle: blosc.BitShuffle, TypeSize: 8}, {Codec: blosc.LZ4, Level: 5, TypeSize: 3, Compat18: true}} {
		raw, err := c.Encode(new(mem.Buffer), make([]byte, 10_000), 1)
		if err != nil {
			t.Fatal(err)
		}
		info, err := blosc.Info(raw)
		if err != nil || info.Codec != c.Codec || info.Shuffle != c.Shuffle || info.TypeSize != c.TypeSize || info.CBytes != len(raw) {
			t.Errorf("%+v: %+v, %v", c, info, err)
		}
		if _, err := (Blosc{Level: 10}).Encode(new(mem.Buffer), raw, 1); ndfile.KindOf(ndfile.CodecError(err, 0)) != ndfile.ErrArgument {
			t.Errorf("level 10: %v", err)
		}
	}
}
