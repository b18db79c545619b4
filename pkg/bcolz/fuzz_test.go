package bcolz

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// seedFiles adds the files of that name in all fixtures.
func seedFiles(f *testing.F, name string, add func(text []byte)) {
	n := 0
	ok(f, filepath.WalkDir("testdata", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) != name {
			return err
		}
		text, err := os.ReadFile(path)
		if len(text) < 2000 {
			add(text)
			n++
		}
		return err
	}))
	if n < 10 {
		f.Fatalf("%d files %s", n, name)
	}
}

// corrupt checks the error of a text.
func corrupt(t *testing.T, text []byte, err error) {
	t.Helper()
	if k := ndfile.KindOf(err); k != ndfile.ErrCorrupt && k != ndfile.ErrLimit && k != ndfile.ErrNotSupported {
		t.Fatalf("%q: %s, %v", text, k.C, err)
	}
	if off := ndfile.Offset(err); off < 0 || off > int64(len(text)) {
		t.Fatalf("%q: %v at byte %d", text, err, off)
	}
}

// FuzzStorage: what can be read is written again and read as the same.
func FuzzStorage(f *testing.F) {
	seedFiles(f, "storage", func(text []byte) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := storageOf(string(text))
		if err != nil {
			corrupt(t, text, err)
			return
		}
		if s.chunklen < 1 || s.dtype.Size < 1 || s.fill != nil && len(s.fill) != s.dtype.Size {
			t.Fatalf("%q: %+v", text, s)
		}
		if _, err := storable(s.dtype); err != nil || s.item != nil || s.fill == nil {
			return
		}
		again, err := storageOf(string(s.text()))
		if err != nil || string(again.text()) != string(s.text()) || string(again.fill) != string(s.fill) || !again.dtype.Equal(s.dtype) {
			t.Fatalf("%q is written as %q: %v", text, s.text(), err)
		}
	})
}

func FuzzSizes(f *testing.F) {
	seedFiles(f, "sizes", func(text []byte) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := metafile.Parse(text, ndfile.Limits{})
		var s sizes
		if err == nil {
			s, err = parseSizes(doc)
		}
		if err != nil {
			corrupt(t, text, err)
			return
		}
		if _, err := ndarray.NBytes(s.shape, 1); err != nil {
			return
		}
		doc, err = metafile.Parse(s.text(1), ndfile.Limits{})
		ok(t, err)
		again, err := parseSizes(doc)
		if err != nil || string(again.text(1)) != string(s.text(1)) {
			t.Fatalf("%q is written as %q: %v", text, s.text(1), err)
		}
	})
}

func FuzzRootdirs(f *testing.F) {
	seedFiles(f, rootdirsFile, func(text []byte) { f.Add(text) })
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := metafile.Parse(text, ndfile.Limits{})
		var names []string
		if err == nil {
			names, err = parseRootdirs(doc)
		}
		if err != nil {
			corrupt(t, text, err)
			return
		}
		for _, name := range names {
			if path := filepath.Join("/root", name); filepath.Dir(path) != "/root" || path == "/root" {
				t.Fatalf("%q leads to %s", name, path)
			}
		}
		doc, err = metafile.Parse(rootdirsText(names), ndfile.Limits{})
		ok(t, err)
		again, err := parseRootdirs(doc)
		if err != nil || strings.Join(again, "/") != strings.Join(names, "/") {
			t.Fatalf("%q is written as %q: %v", names, rootdirsText(names), err)
		}
	})
}

// FuzzRoot puts a root together from any texts. Whatever they say, reading ends
// without a panic and with little memory, Verify finds what reading does, and what
// can be read can be written and read again.
func FuzzRoot(f *testing.F) {
	seed := func(root string) {
		var texts [4][]byte
		for i, name := range []string{storageFile, sizesFile, attrsFile, "data/__0.blp"} {
			texts[i], _ = os.ReadFile(root + "/" + name)
			if len(texts[i]) > 4000 {
				return
			}
		}
		f.Add(texts[0], texts[1], texts[2], texts[3])
	}
	for _, pattern := range []string{"testdata/roots/*", "testdata/malformed/*", "testdata/roots/t_*/*"} {
		roots, err := filepath.Glob(pattern)
		ok(f, err)
		for _, root := range roots {
			seed(root)
		}
	}
	f.Fuzz(func(t *testing.T, storage, sizes, attrs, chunk []byte) {
		mem := ndfile.NewMem()
		ok(t, mem.Mkdir("/c"))
		ok(t, mem.Mkdir("/c/meta"))
		ok(t, mem.Mkdir("/c/data"))
		put(t, mem, "/c/"+storageFile, string(storage))
		put(t, mem, "/c/"+sizesFile, string(sizes))
		put(t, mem, "/c/"+attrsFile, string(attrs))
		put(t, mem, "/c/data/__0.blp", string(chunk))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		problems := 0
		ok(t, Format.(ndfile.Verifier).Verify(ctx, mem, "/c", ndfile.VerifyOptions{}, func(p ndfile.Problem) {
			if p.Kind == ndfile.ErrCorrupt {
				problems++
			}
		}))
		file, err := Format.Open(ctx, mem, "/c", ndfile.OpenOptions{})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Fatalf("%d bytes allocated", used)
		}
		if err != nil {
			if ndfile.KindOf(err) == ndfile.ErrInternal || problems == 0 {
				t.Fatalf("%v; %d problems", err, problems)
			}
			return
		}
		defer file.Close(ctx)
		ndfile.AppendJSON(nil, file.Attrs())
		a := array(t, file, "")
		s := a.Spec()
		if n, err := ndarray.NBytes(s.Shape, s.DType.Size); err != nil || n > 1<<20 {
			return
		}
		data, err := readAll(ctx, a)
		if err != nil {
			if ndfile.KindOf(err) == ndfile.ErrInternal || problems == 0 {
				t.Fatalf("%v; %d problems", err, problems)
			}
			return
		}
		if problems > 0 {
			t.Fatalf("it can be read, with %d problems", problems)
		}
		if _, err := storable(s.DType); err != nil || s.Shape[0]/s.Chunks[0] > 100 {
			return
		}
		if err := copyTo(t, mem, "/again", file); err != nil {
			if k := ndfile.KindOf(err); k != ndfile.ErrNotSupported && k != ndfile.ErrArgument {
				t.Fatal(err)
			}
			return
		}
		again := open(t, mem, "/again", ndfile.ReadOnly)
		same, err := readAll(ctx, array(t, again, ""))
		if err != nil || string(same) != string(data) {
			t.Fatalf("written again, the elements are others: %v", err)
		}
	})
}

// TestAttributes: a text passes the check exactly when it can be parsed.
func TestAttributes(t *testing.T) {
	for _, text := range []string{"{}", " {\n} \n", `{"a": [1, {"b": NaN}]}`, "", "[]", "{", "{}x", `{"a": }`, `{"a": 1,}`, "null", "{\"a\": \"\xff\"}",
		`{"a": ` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}", `{"a": 1, "a": 2}`} {
		a := &attributes{text: []byte(text)}
		_, err := pyjson.ParseObject([]byte(text), pyjson.Limits{})
		if (a.check() == nil) != (err == nil) {
			t.Errorf("%.40q: %v, parsed: %v", text, a.check(), err)
		}
	}
}
