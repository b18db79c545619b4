package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// Tests cannot name the types of C, but reflection can make them: call calls an export as a shim does, with a
// zeroed ndf_error, and gives the status and the error struct.
func call(export any, args ...any) (status int64, err reflect.Value) {
	f := reflect.ValueOf(export)
	in := make([]reflect.Value, f.Type().NumIn())
	for i := range in {
		t := f.Type().In(i)
		switch {
		case i == len(in)-1:
			in[i] = reflect.New(t.Elem())
			err = in[i].Elem()
		case i < len(args) && args[i] != nil:
			in[i] = reflect.ValueOf(args[i]).Convert(t)
		case t.Kind() == reflect.Pointer:
			in[i] = reflect.New(t.Elem())
		default:
			in[i] = reflect.Zero(t)
		}
	}
	return f.Call(in)[0].Int(), err
}

func message(err reflect.Value) string {
	var b []byte
	m := err.FieldByName("message")
	for i := range m.Len() {
		c := byte(m.Index(i).Int())
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// panickingFormat is a format that panics.
type panickingFormat struct{ ndfile.Format }

func (panickingFormat) Detect(_ context.Context, _ ndfile.FS, path string) (ndfile.Match, error) {
	return ndfile.Match("x"[len(path)+1]), nil // the path is empty
}

// Every export can be called with what is empty: handles that are 0, numbers that are
// 0, texts and structs of zeroes. It may refuse, but not fail inside.
func TestExports(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func() { // what this thread was told to ask
		f := reflect.ValueOf(ndfgo_set_interrupt)
		f.Call([]reflect.Value{reflect.Zero(f.Type().In(0)), reflect.Zero(f.Type().In(1)), reflect.Zero(f.Type().In(2))})
	}()
	for _, e := range exports {
		f := reflect.TypeOf(e)
		if f.Out(0).Kind() == reflect.Pointer { // a text
			var in []reflect.Value
			for i := range f.NumIn() {
				in = append(in, reflect.Zero(f.In(i)))
			}
			if reflect.ValueOf(e).Call(in)[0].IsNil() {
				t.Errorf("%v gives NULL", f)
			}
			continue
		}
		if status, err := call(e); status == int64(ndfile.ErrInternal.Code) {
			t.Errorf("%v: %s", f, message(err))
		}
	}
	if len(privates) == 0 {
		t.Error("no exports for the library's own C")
	}
}

// A panic becomes a status with its text; the stack goes to stderr, the first time only; later calls work.
func TestPanic(t *testing.T) {
	defer func(f []ndfile.Format) { all.Formats = f }(all.Formats)
	all.Formats = []ndfile.Format{panickingFormat{all.Formats[0]}}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	for range 3 {
		status, e := call(ndfgo_detect)
		if status != int64(ndfile.ErrInternal.Code) || !strings.Contains(message(e), "index out of range") {
			t.Errorf("status %d: %s", status, message(e))
		}
		if e.FieldByName("code").Int() != status || e.FieldByName("offset").Int() != -1 {
			t.Errorf("error struct: %v", e)
		}
	}
	os.Stderr = stderr
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil || bytes.Count(text, []byte("internal error")) != 1 || !bytes.Contains(text, []byte("export_test.go")) {
		t.Errorf("on stderr, %v:\n%s", err, text)
	}
	if status, e := call(ndfgo_handle_count); status != 0 {
		t.Errorf("afterwards: %d %s", status, message(e))
	}
}

// loader calls load with arguments in C's types, and gives what a field of them is afterwards.
func loader[A any](load func(*A, func(*ndfile.Sink) error) (bool, error), path string, buf []byte, infos []ndfile.LoadInfo) (run func() (bool, error), field func(string) int64) {
	infos[0].StructSize = uint32(infoSize)
	args := new(A)
	v := reflect.ValueOf(args).Elem()
	get := func(name string) reflect.Value {
		f := v.FieldByName(name)
		return reflect.NewAt(f.Type(), address(f.UnsafeAddr())).Elem()
	}
	get("buf").SetUint(uint64(uintptr(address(&buf[0]))))
	get("cap").SetInt(int64(len(buf)))
	get("infos").SetUint(uint64(uintptr(address(&infos[0]))))
	get("max_infos").SetInt(int64(len(infos)))
	from := fromPath(path)
	return func() (bool, error) { return load(args, from) }, func(name string) int64 { return get(name).Int() }
}

// Loading a small file again and again allocates nothing.
func TestLoadDoesNotAllocate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ds")
	text := "ds-1.0\n" +
		`{"x": {".size": [2], ".offset": 0, ".len": 8, ".type": "int32", ".missing": false, ".endian": "l"}, ".": {}}` +
		"\n\x01\x00\x00\x00\x02\x00\x00\x00"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	infos := make([]ndfile.LoadInfo, 4)
	run, found := loader(loadArgs, path, make([]byte, 4096), infos)
	if done, err := run(); err != nil || !done || found("ninfos") != 1 || found("need") < 8 || found("series") == 0 || infos[0].Count != 2 {
		t.Fatalf("%d arrays, count %d: %v", found("ninfos"), infos[0].Count, err)
	}
	if n := testing.AllocsPerRun(1000, func() { run() }); n >= 1 {
		t.Errorf("%v allocations a call", n)
	}
}
