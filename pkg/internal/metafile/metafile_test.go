package metafile

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

func parse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse([]byte(text), ndfile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOffset: the place is that of the value that counts, the last of a name,
// however the name is spelled and at any depth.
func TestOffset(t *testing.T) {
	for text, want := range map[string]int64{
		`{"a": 1}`: 6, `{"x": {"a": 2}, "a" : [3]}`: 22, `{"a": 1, "\u0061": 2}`: 19, `{"b": 1}`: 0, ` {"a":1}`: 6,
	} {
		if got := parse(t, text).Offset("a"); got != want {
			t.Errorf("%s: %d, expected %d", text, got, want)
		}
	}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	d, err := Parse([]byte(`{"deep": `+deep+`, "a": 1}`), ndfile.Limits{MaxDepth: 1000})
	if err != nil || d.Offset("a") != int64(len(deep)+16) {
		t.Errorf("behind a deep value: %v", err)
	}
}

func TestReaders(t *testing.T) {
	d := parse(t, `{"i": 7, "f": 7.5, "s": "x", "l": [1, -2], "m": [1, "x"], "e": []}`)
	if s, err := d.Str("s"); s != "x" || err != nil {
		t.Errorf("Str: %q, %v", s, err)
	}
	if n, err := d.Int("i", 0, 7); n != 7 || err != nil {
		t.Errorf("Int: %d, %v", n, err)
	}
	if l, err := d.Ints("l"); !slices.Equal(l, []int64{1, -2}) || err != nil {
		t.Errorf("Ints: %v, %v", l, err)
	}
	if l, err := d.Ints("e"); len(l) != 0 || err != nil {
		t.Errorf("no Ints: %v, %v", l, err)
	}
	for want, err := range map[string]error{
		`at byte 6: i: expected a string, found 7`:                                    second(d.Str("i")),
		`at byte 6: i: expected an integer from 8 to 9, found 7`:                      second(d.Int("i", 8, 9)),
		`at byte 6: i: expected an integer from 0 to 6, found 7`:                      second(d.Int("i", 0, 6)),
		`at byte 14: f: expected an integer from 0 to 9, found 7.5`:                   second(d.Int("f", 0, 9)),
		`at byte 6: i: expected a list of integers of 64 bits, found 7`:               second(d.Ints("i")),
		`at byte 48: m: expected a list of integers of 64 bits, found [1, "x"]`:       second(d.Ints("m")),
		`at byte 0: expected a member "z": a list of integers of 64 bits, found none`: second(d.Ints("z")),
		`at byte 14: odd`: d.Place("f", ndfile.NewError(ndfile.ErrCorrupt, "odd")),
		`at byte 3: odd`:  d.Place("f", ndfile.NewError(ndfile.ErrCorrupt, "odd").At(3)),
	} {
		if err == nil || err.Error() != want || ndfile.KindOf(err) != ndfile.ErrCorrupt {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestParse(t *testing.T) {
	lim := ndfile.Limits{MaxHeader: 20, MaxDepth: 2}
	for text, want := range map[string]*ndfile.ErrorKind{
		`[1]`: ndfile.ErrCorrupt, `{"a": 1`: ndfile.ErrCorrupt, ``: ndfile.ErrCorrupt, `{"a": [[1]]}`: ndfile.ErrLimit, `{"a": "` + strings.Repeat("x", 20) + `"}`: ndfile.ErrLimit,
	} {
		if _, err := Parse([]byte(text), lim); ndfile.KindOf(err) != want || ndfile.Offset(err) < 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestShort(t *testing.T) {
	long := parse(t, `{"list": [`+strings.Repeat("0, ", 100)+`0], "text": "`+strings.Repeat("x", 100)+`"}`)
	list, _ := long.Get("list")
	text, _ := long.Get("text")
	if got := Short(list); got != "a list of 101" {
		t.Error(got)
	}
	if got := Short(text); got != `"`+strings.Repeat("x", 59)+"..." {
		t.Error(got)
	}
}

// TestFiles: what there is in the place of a file or a folder.
func TestFiles(t *testing.T) {
	mem := vfs.NewMem()
	long := strings.Repeat("x", 20<<10)
	for _, err := range []error{
		mem.Mkdir("/folder"), mem.Symlink("/file", "/link"),
		mem.WriteFile("/file", [][]byte{[]byte("text")}, vfs.WriteOptions{}), mem.WriteFile("/long", [][]byte{[]byte(long)}, vfs.WriteOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	strict, loose := NewFiles(mem, false, ndfile.Limits{MaxHeader: 19 << 10}), NewFiles(mem, true, ndfile.Limits{})
	for _, c := range []struct {
		files *Files
		path  string
		mode  vfs.FileMode
		read  *ndfile.ErrorKind // nil: it is read
		is    *ndfile.ErrorKind // of mode; nil: it is
	}{
		{&strict, "/file", vfs.Regular, nil, nil}, {&strict, "/folder", vfs.Dir, ndfile.ErrCorrupt, nil},
		{&strict, "/file", vfs.Dir, nil, ndfile.ErrCorrupt}, {&strict, "/link", vfs.Regular, ndfile.ErrNotSupported, ndfile.ErrNotSupported}, {&loose, "/link", vfs.Regular, nil, nil},
		{&strict, "/long", vfs.Regular, ndfile.ErrLimit, nil}, {&loose, "/long", vfs.Regular, nil, nil},
	} {
		text, err := c.files.Read(context.Background(), c.path)
		if c.read == nil && (err != nil || c.path == "/long" && string(text) != long) || c.read != nil && (ndfile.KindOf(err) != c.read || !strings.Contains(err.Error(), c.path)) {
			t.Errorf("Read %s: %v", c.path, err)
		}
		if err := c.files.Expect(c.path, c.mode); (err != nil || c.is != nil) && (ndfile.KindOf(err) != c.is || !strings.Contains(err.Error(), c.path)) {
			t.Errorf("Expect %s: %v", c.path, err)
		}
	}
	_, err := strict.Read(context.Background(), "/none")
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(strict.Expect("/none", vfs.Dir), fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}
