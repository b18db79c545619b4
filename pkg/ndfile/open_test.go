package ndfile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

func TestDetect(t *testing.T) {
	ctx := context.Background()
	no := &fake{name: "no", exts: []string{".x"}}
	maybe := &fake{name: "maybe", exts: []string{".m"}, match: Possible}
	perhaps := &fake{name: "perhaps", exts: []string{".x", ".y"}, match: Possible}
	sure := &fake{name: "sure", exts: []string{".s"}, match: Certain}
	for _, test := range []struct {
		formats []Format
		path    string
		want    Format
	}{
		{[]Format{no, maybe, perhaps, sure}, "/a.m", sure},
		{[]Format{maybe, perhaps}, "/a.x", perhaps},
		{[]Format{maybe, perhaps}, "/a.Y", perhaps},
		{[]Format{maybe, perhaps}, "/a.z", maybe},
		{[]Format{no, maybe}, "/a.x", maybe},
		{[]Format{no}, "/a.x", nil},
		{nil, "/a.x", nil},
	} {
		got, err := Detect(ctx, test.formats, NewMem(), test.path)
		if test.want == nil {
			if KindOf(err) != ErrFormat || !strings.HasPrefix(err.Error(), test.path+": ") || !strings.Contains(err.Error(), formatNames(test.formats)) {
				t.Errorf("%s: %v", test.path, err)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %v, %v; expected %s", test.path, got, err, test.want.Name())
		}
	}
	broken := &fake{name: "broken", detectErr: &vfs.PathError{Op: "open", Path: "/a", Errno: syscall.ENOENT}}
	if _, err := Detect(ctx, []Format{broken, sure}, NewMem(), "/a"); KindOf(err) != ErrNotFound || !strings.Contains(err.Error(), "/a") {
		t.Errorf("nothing there: %v", err)
	}
}

func TestOpen(t *testing.T) {
	ctx := context.Background()
	a := &fake{name: "a", exts: []string{".a"}, match: Certain, file: &fakeFile{}}
	b := &fake{name: "b", exts: []string{".b"}, file: &fakeFile{}}
	formats := []Format{a, b}
	b.err = NewError(ErrCorrupt, "not mine")
	f, err := Open(ctx, formats, "/x.b", OpenOptions{Mode: Update})
	if err != nil || f != File(a.file) || a.fsys != OS || a.opened.FS != nil || a.opened.Mode != Update {
		t.Errorf("by content: %v, %+v", err, a.opened)
	}
	b.err = nil
	if f, err = Open(ctx, formats, "/x.b", OpenOptions{}); err != nil || f != File(b.file) {
		t.Errorf("by the extension: %v", err)
	}
	mem := NewMem()
	if f, err = Open(ctx, formats, "/x.a", OpenOptions{Format: "b", FS: mem}); err != nil || f != File(b.file) || b.fsys != FS(mem) || b.opened.FS != nil {
		t.Errorf("by name: %v", err)
	}
	if _, err = Open(ctx, formats, "/x.a", OpenOptions{Format: "c"}); KindOf(err) != ErrFormat || err.Error() != `/x.a: unknown format "c"; known are a, b` {
		t.Errorf("by an unknown name: %v", err)
	}
	a.err = errors.New("odd")
	if _, err = Open(ctx, formats, "/x.a", OpenOptions{}); KindOf(err) != ErrInternal || err.Error() != "/x.a: odd" {
		t.Errorf("an error of the format: %v", err)
	}
	if _, err = Open(ctx, []Format{b}, "/x.a", OpenOptions{}); KindOf(err) != ErrFormat {
		t.Errorf("no format: %v", err)
	}
}

func TestCreate(t *testing.T) {
	ctx := context.Background()
	a := &fake{name: "a", exts: []string{".a", ".shared"}}
	b := &fake{name: "b", exts: []string{".b", ".shared", ".tar.b"}}
	formats := []Format{a, b}
	for _, test := range []struct{ path, format, want, text string }{
		{"/x.a", "", "a", ""},
		{"/x.TAR.B", "", "b", ""},
		{"/x.a", "b", "b", ""},
		{"/noext", "b", "b", ""},
		{"/x.shared", "", "", `/x.shared: the extension ".shared" names several formats; give one of a, b`},
		{"/x.c", "", "", `/x.c: the extension ".c" names no format; give one of a, b`},
		{"/x", "", "", `/x: the extension "" names no format; give one of a, b`},
		{".a", "", "", `.a: the extension ".a" names no format; give one of a, b`},
		{"/x.a", "z", "", `/x.a: unknown format "z"; known are a, b`},
	} {
		a.creates, b.creates = 0, 0
		_, err := Create(ctx, formats, test.path, CreateOptions{Format: test.format})
		if test.want == "" {
			if KindOf(err) != ErrFormat || err.Error() != test.text {
				t.Errorf("%s: %v, expected %s", test.path, err, test.text)
			}
			continue
		}
		got := map[string]int{"a": a.creates, "b": b.creates}
		if err != nil || got[test.want] != 1 || got["a"]+got["b"] != 1 {
			t.Errorf("%s as %q: %v, %v; expected %s", test.path, test.format, got, err, test.want)
		}
	}
	if a.fsys != OS && b.fsys != OS {
		t.Error("no file system by default")
	}
	for _, format := range []*fake{a, b} {
		_, err := Create(ctx, formats, "/x.a", CreateOptions{Format: format.name, Trailing: []byte("x")})
		if KindOf(err) != ErrNotSupported || !strings.HasPrefix(err.Error(), "/x.a: ") {
			t.Errorf("trailing bytes for a format without: %v", err)
		}
	}
	a.err = ErrPermission
	if _, err := Create(ctx, formats, "/x.a", CreateOptions{}); KindOf(err) != ErrPermission || !strings.HasPrefix(err.Error(), "/x.a: ") {
		t.Errorf("an error of the format: %v", err)
	}
}

func TestHasExtensionAllocs(t *testing.T) {
	var f Format = &fake{exts: []string{".a", ".ds"}}
	if n := testing.AllocsPerRun(100, func() {
		if !hasExtension(f, "/folder/file.DS") || hasExtension(f, "/folder/file.dsx") {
			panic("wrong")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNames(t *testing.T) {
	for k, want := range map[Kind]string{Single: "array", Dataset: "dataset", Table: "table", 0: "unknown"} {
		if k.String() != want {
			t.Errorf("%q, expected %q", k.String(), want)
		}
	}
	if got := (CapCreate | CapMasked | CapMap).Names(); !slices.Equal(got, []string{"create", "masked", "map"}) {
		t.Errorf("%v", got)
	}
	for i, a := range Abilities {
		if a.Cap != 1<<i || a.Name == "" || a.Text == "" || (a.Interface == nil) != (a.Of == "") {
			t.Errorf("row %d: %+v", i, a)
		}
	}
	if all := Caps(1<<len(Abilities) - 1).Names(); len(all) != len(Abilities) {
		t.Errorf("%v", all)
	}
}

func TestLimits(t *testing.T) {
	if (Limits{}).Header() != DefaultMaxHeader || (Limits{MaxHeader: 7}).Header() != 7 || (Limits{MaxHeader: -1}).Header() != DefaultMaxHeader {
		t.Error("Header")
	}
}

// A lock is for changes: to ask for one while reading is a mistake, in every format.
func TestLocksOfReaders(t *testing.T) {
	formats := []Format{newToy("one", Single, CapCreate)}
	mem := NewMem()
	for _, opt := range []OpenOptions{{FS: mem, Shared: true}, {FS: mem, RequireLock: true}} {
		if _, err := Open(t.Context(), formats, "/x.one", opt); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "/x.one") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}
