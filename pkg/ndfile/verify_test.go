package ndfile

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// stored puts a toy file with these arrays at a path.
func stored(t *testing.T, f *toy, fsys FS, path string, arrays ...*toyArray) *toyFile {
	t.Helper()
	file := &toyFile{toy: f, fsys: fsys, path: path, attrs: NewAttrs(), arrays: arrays}
	for _, a := range arrays {
		a.file = file
	}
	if err := file.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	file.closing = nil
	return file
}

func verify(t *testing.T, formats []Format, path string, opt VerifyOptions) (problems []Problem) {
	t.Helper()
	if err := Verify(t.Context(), formats, path, opt, func(p Problem) { problems = append(problems, p) }); err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestVerify(t *testing.T) {
	mem := NewMem()
	f := newToy("toy", Dataset, CapMasked|CapStrings)
	good := numbered("<i4", []int64{400_000}, 3<<20)
	good.name = "good"
	text := newToyArray("text", Spec{DType: ndarray.MustParse("str"), Shape: []int64{7}, Masked: true})
	masked := newToyArray("masked", Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{7, 2}, Masked: true})
	masked.mask[3], text.mask[2] = 1, 1
	empty := newToyArray("empty", Spec{DType: ndarray.MustParse("<f8"), Shape: []int64{0}})
	none := newToyArray("none", Spec{NoData: true})
	none.readErr = func(ndarray.Box) error { return errToy }
	file := stored(t, f, mem, "/a.toy", good, text, masked, empty, none)
	opt := VerifyOptions{FS: mem}
	if p := verify(t, []Format{f}, "/a.toy", opt); p != nil {
		t.Errorf("a good file: %v", p)
	}
	if rows := int64(0); len(good.reads) < 3 {
		t.Errorf("read at once: %v", good.reads)
	} else {
		for _, b := range good.reads { // all rows, each once, whole chunks
			if b.Start[0] != rows || 4*b.Count[0] > verifyBytes || b.Start[0]%400_000 != 0 {
				t.Errorf("read %v", b)
			}
			rows += b.Count[0]
		}
		if rows != 3<<20 {
			t.Errorf("%d rows were read", rows)
		}
	}
	// Each damaged array is one problem, the others are still read.
	good.readErr = func(box ndarray.Box) error {
		if box.Start[0] > 0 {
			return &Error{Kind: ErrCorrupt, Path: "/a.toy/chunk", Offset: 17, Msg: "expected x, found y"}
		}
		return nil
	}
	masked.readErr = func(ndarray.Box) error { return NewError(ErrMasked, "") }
	text.reads = nil
	want := []Problem{
		{Path: "/a.toy/chunk", Array: "good", HasArray: true, Kind: ErrCorrupt, Offset: 17, Msg: "expected x, found y"},
		{Path: "/a.toy", Array: "masked", HasArray: true, Kind: ErrMasked, Offset: -1, Msg: ErrMasked.Text},
	}
	if p := verify(t, []Format{f}, "/a.toy", opt); !slices.Equal(p, want) || len(text.reads) == 0 {
		t.Errorf("damaged: %+v", p)
	}
	// So is a file that does not open; one that fails for other reasons is an error.
	file.openErr = NewError(ErrLimit, "a long header").At(5)
	if p := verify(t, []Format{f}, "/a.toy", opt); !slices.Equal(p, []Problem{{Path: "/a.toy", Kind: ErrLimit, Offset: 5, Msg: "a long header"}}) {
		t.Errorf("does not open: %+v", p)
	}
	file.openErr = &vfs.PathError{Op: "open", Path: "/a.toy", Errno: syscall.EACCES}
	report := func(p Problem) { t.Errorf("a problem: %+v", p) }
	if err := Verify(t.Context(), []Format{f}, "/a.toy", opt, report); KindOf(err) != ErrPermission {
		t.Errorf("not permitted: %v", err)
	}
	file.openErr = nil
	good.readErr = func(ndarray.Box) error { return &vfs.PathError{Op: "read", Path: "/a.toy", Errno: syscall.EIO} }
	if err := Verify(t.Context(), []Format{f}, "/a.toy", opt, report); KindOf(err) != ErrIO {
		t.Errorf("the disk fails: %v", err)
	}
	if err := Verify(t.Context(), []Format{f}, "/b.toy", opt, report); KindOf(err) != ErrNotFound {
		t.Errorf("not there: %v", err)
	}
	delete(f.files, "/a.toy")
	if err := Verify(t.Context(), []Format{newToy("other", Dataset, 0)}, "/a.toy", opt, report); KindOf(err) != ErrFormat {
		t.Errorf("no format: %v", err)
	}
}

func TestVerifyProgress(t *testing.T) {
	mem := NewMem()
	f := newToy("toy", Table, 0)
	a, b, c := numbered("<i4", []int64{1 << 20}, 3<<20), numbered("<i4", nil, 10), numbered("<i4", nil, 10)
	a.name, b.name, c.name = "a", "b", "c"
	b.readErr = func(ndarray.Box) error { return ErrCorrupt }
	stored(t, f, mem, "/a", a, b, c)
	var steps [][2]int64
	opt := VerifyOptions{FS: mem, Progress: func(done, total int64) bool { steps = append(steps, [2]int64{done, total}); return true }}
	if p := verify(t, []Format{f}, "/a", opt); len(p) != 1 || !slices.Equal(steps, [][2]int64{{1, 5}, {2, 5}, {3, 5}, {5, 5}}) {
		t.Errorf("%v, %v", p, steps)
	}
	opt.Progress = func(done, _ int64) bool { return done < 2 }
	a.reads = nil
	if err := Verify(t.Context(), []Format{f}, "/a", opt, func(Problem) {}); KindOf(err) != ErrCanceled || len(a.reads) != 2 {
		t.Errorf("%v after %d reads", err, len(a.reads))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Verify(ctx, []Format{f}, "/a", VerifyOptions{FS: mem}, func(Problem) {}); KindOf(err) != ErrCanceled {
		t.Errorf("%v", err)
	}
}

// careful is a toy that is a Verifier, a Splitter and a Migrator.
type careful struct {
	*toy
	calls []string
	err   error
	split SplitOptions
}

func (f *careful) Verify(_ context.Context, _ FS, path string, opt VerifyOptions, report func(Problem)) error {
	f.calls = append(f.calls, "verify "+path)
	report(Problem{Path: path, Kind: ErrValue, Repaired: opt.Repair})
	return f.err
}

func (f *careful) Split(_ context.Context, _ FS, src string, parts []Part, opt SplitOptions) error {
	f.calls, f.split = append(f.calls, "split "+src+" "+parts[0].Path), opt
	return f.err
}

func (f *careful) Concat(_ context.Context, _ FS, srcs []string, dst string, opt SplitOptions) error {
	f.calls, f.split = append(f.calls, "concat "+strings.Join(srcs, " ")+" "+dst), opt
	return f.err
}

func (f *careful) Migrate(_ context.Context, _ FS, path string, from Format, _ ConvertOptions) error {
	f.calls = append(f.calls, "migrate "+path+" "+from.Name())
	return f.err
}

func TestVerifier(t *testing.T) {
	mem := NewMem()
	f := &careful{toy: newToy("toy", Single, 0)}
	stored(t, f.toy, mem, "/a")
	if p := verify(t, []Format{f}, "/a", VerifyOptions{FS: mem, Repair: true}); !slices.Equal(p, []Problem{{Path: "/a", Kind: ErrValue, Repaired: true}}) {
		t.Errorf("%+v", p)
	}
	f.err = errToy
	if err := Verify(t.Context(), []Format{f}, "/a", VerifyOptions{FS: mem}, func(Problem) {}); !errors.Is(err, errToy) || !strings.HasPrefix(err.Error(), "/a: ") {
		t.Error(err)
	}
}

func TestSplits(t *testing.T) {
	mem := NewMem()
	f, plain := &careful{toy: newToy("toy", Table, 0)}, newToy("plain", Table, 0)
	formats := []Format{plain, f}
	for _, path := range []string{"/a", "/b"} {
		stored(t, f.toy, mem, path)
	}
	stored(t, plain, mem, "/p")
	opt := SplitOptions{FS: mem, FollowSymlinks: true}
	if err := Split(t.Context(), formats, "/a", []Part{{"/x", 5}}, opt); err != nil || !f.split.FollowSymlinks {
		t.Error(err)
	}
	if err := Concat(t.Context(), formats, []string{"/a", "/b"}, "/c", opt); err != nil {
		t.Error(err)
	}
	if !slices.Equal(f.calls, []string{"split /a /x", "concat /a /b /c"}) {
		t.Error(f.calls)
	}
	f.calls = nil
	for _, test := range []struct {
		err  error
		kind *ErrorKind
		text string
	}{
		{Split(t.Context(), formats, "/a", nil, opt), ErrArgument, "/a"},
		{Split(t.Context(), formats, "/p", []Part{{"/x", 5}}, opt), ErrNotSupported, "plain"},
		{Split(t.Context(), formats, "/none", []Part{{"/x", 5}}, opt), ErrNotFound, "/none"},
		{Concat(t.Context(), formats, nil, "/c", opt), ErrArgument, "/c"},
		{Concat(t.Context(), formats, []string{"/a", "/p"}, "/c", opt), ErrArgument, "/p"},
		{Concat(t.Context(), formats, []string{"/p"}, "/c", opt), ErrNotSupported, "plain"},
		{Concat(t.Context(), formats, []string{"/a", "/c"}, "/c", opt), ErrArgument, "/c"},
		{Concat(t.Context(), formats, []string{"/a", "/none"}, "/c", opt), ErrNotFound, "/none"},
	} {
		if KindOf(test.err) != test.kind || !strings.Contains(test.err.Error(), test.text) {
			t.Errorf("%v, expected %s", test.err, test.kind.C)
		}
	}
	f.err = errToy
	if err := Split(t.Context(), formats, "/a", []Part{{"/x", 5}}, opt); !errors.Is(err, errToy) {
		t.Error(err)
	}
	if err := Concat(t.Context(), formats, []string{"/a"}, "/c", opt); !errors.Is(err, errToy) {
		t.Error(err)
	}
	if !slices.Equal(f.calls, []string{"split /a /x", "concat /a /c"}) {
		t.Error(f.calls)
	}
}
