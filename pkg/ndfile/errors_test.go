package ndfile

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

var update = flag.Bool("update", false, "add new rows to testdata/errors.golden")

// TestErrorTable compares the table with the frozen one: rows are only added, at
// the end.
func TestErrorTable(t *testing.T) {
	const golden = "testdata/errors.golden"
	var text strings.Builder
	for _, k := range ErrorKinds {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\n", k.Code, k.C, k.Python, k.Base)
	}
	frozen, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	switch now := text.String(); {
	case !strings.HasPrefix(now, string(frozen)):
		t.Errorf("the error table changed; its rows are frozen. It is\n%s", now)
	case *update:
		if err := os.WriteFile(golden, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	case now != string(frozen):
		t.Errorf("the error table has new rows; run the test with -update")
	}
}

// TestErrorKinds checks what the generators of the bindings rely on.
func TestErrorKinds(t *testing.T) {
	c := regexp.MustCompile(`^NDF_ERR_[A-Z_]+$`)
	python := regexp.MustCompile(`^[A-Z][A-Za-z]+Error$`)
	builtin := map[string]bool{"RuntimeError": true, "ValueError": true, "BufferError": true, "FileNotFoundError": true, "FileExistsError": true,
		"PermissionError": true, "OSError": true, "BlockingIOError": true, "NotImplementedError": true, "KeyError": true, "TypeError": true, "IndexError": true, "MemoryError": true}
	seen := map[string]bool{}
	for i, k := range ErrorKinds {
		if k.Code != Code(-1-i) {
			t.Errorf("%s has code %d in row %d: codes are -1, -2, ... in order", k.C, k.Code, i)
		}
		if !c.MatchString(k.C) || !python.MatchString(k.Python) || k.Base != "" && !builtin[k.Base] {
			t.Errorf("bad names: %+v", *k)
		}
		for _, name := range []string{k.C, k.Python, k.Text} {
			if name == "" || seen[name] {
				t.Errorf("%q is empty or there twice", name)
			}
			seen[name] = true
		}
		if builtin[k.Python] {
			t.Errorf("%s hides the builtin", k.Python)
		}
		if k.Error() != k.Text {
			t.Errorf("%s: Error gives %q", k.C, k.Error())
		}
		if err := NewError(k, "x"); !errors.Is(err, k) || KindOf(fmt.Errorf("wrapped: %w", err)) != k || KindOf(k) != k {
			t.Errorf("%s is not found in its own error", k.C)
		}
	}
}

// pathError gives the error of a real call on a file system.
func pathError(t *testing.T, errno error) error {
	t.Helper()
	fault := vfs.NewFault(NewMem())
	fault.FailAt(0, errno)
	_, err := fault.Open("/f")
	if err == nil {
		t.Fatal("no error")
	}
	return err
}

func TestKindOf(t *testing.T) {
	_, syntax := ParseJSON([]byte(`{"a": tru}`))
	_, twice := ParseJSON([]byte(`{"a": 1, "a": 2}`))
	_, deep := ParseJSON([]byte(strings.Repeat(`{"a": `, 1000)))
	_, dtype := ndarray.Parse("<f5")
	_, overflow := ndarray.Count([]int64{1 << 40, 1 << 40})
	closed, err := NewMem().Create("/f", false)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	_, afterClose := closed.Size()
	for _, test := range []struct {
		name string
		err  error
		want *ErrorKind
	}{
		{"JSON syntax", syntax, ErrCorrupt},
		{"JSON key twice", twice, ErrCorrupt},
		{"JSON depth", deep, ErrLimit},
		{"dtype", dtype, ErrDType},
		{"bounds", ndarray.Full([]int64{3}).Check([]int64{2}), ErrBounds},
		{"rank", ndarray.Full([]int64{3}).Check(nil), ErrShape},
		{"overflow", overflow, ErrShape},
		{"canceled", context.Canceled, ErrCanceled},
		{"deadline", context.DeadlineExceeded, ErrCanceled},
		{"no file", pathError(t, syscall.ENOENT), ErrNotFound},
		{"exists", pathError(t, syscall.EEXIST), ErrExists},
		{"folder not empty", pathError(t, syscall.ENOTEMPTY), ErrExists},
		{"access", pathError(t, syscall.EACCES), ErrPermission},
		{"not permitted", pathError(t, syscall.EPERM), ErrPermission},
		{"memory", pathError(t, syscall.ENOMEM), ErrNoMemory},
		{"disk full", pathError(t, syscall.ENOSPC), ErrIO},
		{"disk error", pathError(t, syscall.EIO), ErrIO},
		{"is a folder", pathError(t, syscall.EISDIR), ErrIO},
		{"no errno", pathError(t, errors.New("strange")), ErrIO},
		{"after Close", afterClose, ErrHandle},
		{"standard not exist", fs.ErrNotExist, ErrNotFound},
		{"unknown", errors.New("strange"), ErrInternal},
		{"outer kind wins", NewError(ErrCorrupt, "").Because(pathError(t, syscall.EIO)), ErrCorrupt},
	} {
		if test.err == nil {
			t.Errorf("%s: no error to begin with", test.name)
			continue
		}
		if got := KindOf(test.err); got != test.want {
			t.Errorf("%s: %v is %s, expected %s", test.name, test.err, got.C, test.want.C)
		}
		if got := KindOf(fmt.Errorf("more: %w", test.err)); got != test.want {
			t.Errorf("%s, wrapped: %s, expected %s", test.name, got.C, test.want.C)
		}
	}
}

func TestErrorText(t *testing.T) {
	cause := errors.New("the cause")
	for _, test := range []struct {
		err  *Error
		want string
	}{
		{NewError(ErrMasked, ""), ErrMasked.Text},
		{NewError(ErrMasked, "3 of 5"), "3 of 5"},
		{NewError(ErrIO, "").Because(cause), "the cause"},
		{NewError(ErrIO, "reading").Because(cause), "reading: the cause"},
		{NewError(ErrCorrupt, "bad offset").On("/a/b.ds").In("te\"mp\n").At(12), `/a/b.ds: array "te\"mp\n": at byte 12: bad offset`},
		{NewError(ErrName, "").In(""), `array "": ` + ErrName.Text},
		{NewError(ErrCorrupt, "bad").At(0), "at byte 0: bad"},
		{NewError(ErrCorrupt, "bad").On("x").On("y"), "x: bad"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%q, expected %q", got, test.want)
		}
	}
}

func TestErrorCauses(t *testing.T) {
	disk := pathError(t, syscall.ENOSPC)
	err := fmt.Errorf("outer: %w", NewError(ErrIO, "writing").Because(disk).At(77))
	if !errors.Is(err, ErrIO) || !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrCorrupt) {
		t.Errorf("errors.Is of %v", err)
	}
	if Errno(err) != syscall.ENOSPC || Errno(ErrName) != 0 || Errno(nil) != 0 {
		t.Errorf("Errno: %v, %v", Errno(err), Errno(ErrName))
	}
	if Offset(err) != 77 || Offset(disk) != -1 || Offset(NewError(ErrIO, "")) != -1 || Offset(nil) != -1 {
		t.Errorf("Offset: %d, %d", Offset(err), Offset(disk))
	}
}

func TestLocate(t *testing.T) {
	if Locate(nil, "/f", "a", true) != nil {
		t.Error("an error out of nothing")
	}
	_, syntax := ParseJSON([]byte(`{`))
	for _, test := range []struct {
		name  string
		err   error
		path  string
		array bool
		want  string
		kind  *ErrorKind
	}{
		{"fills what is missing", NewError(ErrShape, "bad"), "/f", true, `/f: array "a": bad`, ErrShape},
		{"keeps what is there", NewError(ErrShape, "bad").On("/g").In("b"), "/f", true, `/g: array "b": bad`, ErrShape},
		{"keeps the empty name", NewError(ErrShape, "bad").In(""), "/f", true, `/f: array "": bad`, ErrShape},
		{"no array", NewError(ErrShape, "bad"), "/f", false, "/f: bad", ErrShape},
		{"gives a kind", ndarray.Full([]int64{1}).Check(nil), "/f", true, `/f: array "a": `, ErrShape},
		{"a bare kind", ErrName, "/f", true, `/f: array "a": ` + ErrName.Text, ErrName},
		{"a file system names the path itself", pathError(t, syscall.EIO), "/f", true, "open /f: input/output error", ErrIO},
		{"a file system names another path", pathError(t, syscall.EIO), "/g", false, "/g: open /f: input/output error", ErrIO},
		{"JSON", syntax, "/f", false, "/f: json: ", ErrCorrupt},
	} {
		err := Locate(test.err, test.path, "a", test.array)
		if !strings.HasPrefix(err.Error(), test.want) || KindOf(err) != test.kind || !errors.Is(err, test.kind) {
			t.Errorf("%s: %q, %s; expected %q, %s", test.name, err, KindOf(err).C, test.want, test.kind.C)
		}
		var syn *pyjson.SyntaxError
		if errors.As(err, &syn) && Offset(err) != -1 {
			t.Errorf("%s: offset %d: that of a JSON text is none in the file", test.name, Offset(err))
		}
		again := Locate(err, "/other", "other", false)
		if again.Error() != err.Error() && test.err.Error() != pathError(t, syscall.EIO).Error() {
			t.Errorf("%s: located again: %q, before %q", test.name, again, err)
		}
	}
}

// TestLocateCopies: path and name may lie in memory that dies after the call.
func TestLocateCopies(t *testing.T) {
	path, name := []byte("/path"), []byte("name")
	err := Locate(NewError(ErrShape, "bad"), borrow(path), borrow(name), true)
	clear(path)
	clear(name)
	if want := `/path: array "name": bad`; err.Error() != want {
		t.Errorf("%q, expected %q", err, want)
	}
}
