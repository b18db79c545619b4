package ndfile

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// fake is a format that does what it is told and notes how it is called.
type fake struct {
	name      string
	exts      []string
	match     Match
	detectErr error
	err       error // of Open and Create
	file      *fakeFile

	opens, creates int
	opened         OpenOptions
	created        CreateOptions
	fsys           FS // of the last call
}

func (f *fake) Name() string         { return f.name }
func (f *fake) Extensions() []string { return f.exts }
func (f *fake) Caps() Caps           { return CapCreate | CapMasked | CapStrings }

func (f *fake) Detect(context.Context, FS, string) (Match, error) { return f.match, f.detectErr }

func (f *fake) Open(_ context.Context, fsys FS, _ string, opt OpenOptions) (File, error) {
	f.opens++
	f.opened, f.fsys = opt, fsys
	if f.err != nil {
		return nil, f.err
	}
	return f.file, nil
}

func (f *fake) Create(_ context.Context, fsys FS, _ string, opt CreateOptions) (File, error) {
	f.creates++
	f.created, f.fsys = opt, fsys
	if f.err != nil {
		return nil, f.err
	}
	if f.file == nil {
		f.file = &fakeFile{kind: Dataset}
	}
	return f.file, nil
}

// fakeOneShot is a fake that is an OneShot too.
type fakeOneShot struct {
	fake
	loadErr      error // also of Save
	loads, saves int
}

func (f *fakeOneShot) Load(_ context.Context, _ FS, _ string, sink *Sink) error {
	f.loads++
	if f.loadErr != nil {
		sink.N, sink.Need = 9, 99 // half done
	}
	return f.loadErr
}

func (f *fakeOneShot) Save(context.Context, FS, string, []Item, SaveOptions) error {
	f.saves++
	return f.loadErr
}

type fakeFile struct {
	kind                       Kind
	arrays                     []*fakeArray
	plain                      bool // arrays are neither Masked nor Strings
	addErr, writeErr, closeErr error
	closed, aborted            bool
}

func (f *fakeFile) Kind() Kind                  { return f.kind }
func (f *fakeFile) Attrs() *Attrs               { return nil }
func (f *fakeFile) Close(context.Context) error { f.closed = true; return f.closeErr }
func (f *fakeFile) Abort() error                { f.aborted = true; return nil }

func (f *fakeFile) Names() (names []string) {
	for _, a := range f.arrays {
		names = append(names, a.name)
	}
	return names
}

func (f *fakeFile) Array(name string) (Array, error) {
	i := slices.IndexFunc(f.arrays, func(a *fakeArray) bool { return a.name == name })
	if i < 0 {
		return nil, ErrName
	}
	return f.arrays[i], nil
}

func (f *fakeFile) Add(_ context.Context, name string, spec Spec) (Array, error) {
	if f.addErr != nil {
		return nil, f.addErr
	}
	a := &fakeArray{name: name, spec: spec, err: f.writeErr}
	f.arrays = append(f.arrays, a)
	if f.plain {
		return struct{ Array }{a}, nil
	}
	return a, nil
}

// fakeArray is an array that is only read and written whole.
type fakeArray struct {
	name    string
	spec    Spec
	err     error
	data    []byte
	offsets []int64
	mask    []byte
}

func (a *fakeArray) Spec() Spec    { return a.spec }
func (a *fakeArray) Attrs() *Attrs { return nil }

func (a *fakeArray) ReadBox(_ context.Context, _ ndarray.Box, dst ndarray.Buffer) error {
	if a.err != nil {
		return a.err
	}
	return ndarray.Copy(dst, ndarray.Buffer{DType: a.spec.DType, Shape: a.spec.Shape, Data: a.data})
}

func (a *fakeArray) WriteBox(_ context.Context, _ ndarray.Box, src ndarray.Buffer) error {
	a.data = slices.Clone(src.Data)
	return a.err
}

func (a *fakeArray) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	copy(mask, a.mask)
	return a.ReadBox(ctx, box, dst)
}

func (a *fakeArray) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	a.mask = slices.Clone(mask)
	err := a.WriteBox(ctx, box, src)
	for i, m := range mask {
		if m != 0 {
			a.data[i] = 0
		}
	}
	return err
}

func (a *fakeArray) ReadStrings(_ context.Context, _ ndarray.Box, offsets []int64, data, mask []byte) (int64, error) {
	if a.err != nil {
		return 0, a.err
	}
	copy(offsets, a.offsets)
	copy(mask, a.mask)
	if len(data) < len(a.data) {
		return int64(len(a.data)), ErrBuffer
	}
	return int64(copy(data, a.data)), nil
}

func (a *fakeArray) WriteStrings(_ context.Context, _ ndarray.Box, offsets []int64, data, mask []byte) error {
	a.offsets, a.data, a.mask = slices.Clone(offsets), slices.Clone(data), slices.Clone(mask)
	return a.err
}
