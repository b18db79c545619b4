package netcdf

import (
	"context"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new file. Its data model is the one that opt.Extra names, else the
// one that the Extra of the first array does, else NetCDF-4, whatever the extension.
// Only NetCDF-4 needs libnetcdf: without, it is ndfile.ErrNotSupported, with what
// was tried.
func (format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := &created{fsys: fsys, path: strings.Clone(path), attrs: ndfile.NewAttrs()}
	if opt.Attrs != nil {
		d.attrs = opt.Attrs.Clone()
	}
	if err := d.start(&opt); err != nil {
		return nil, d.located(err)
	}
	return d, nil
}

// created is a new file, whose data model may not be known before its first array.
type created struct {
	fsys  ndfile.FS
	path  string
	out   *vfs.Replace
	attrs *ndfile.Attrs
	extra extra

	mu     sync.Mutex
	file   ndfile.File // nil until the data model is known
	closed bool
}

func (d *created) start(opt *ndfile.CreateOptions) (err error) {
	if opt.Trailing != nil {
		return ndfile.NewError(ndfile.ErrNotSupported, "a NetCDF file has no bytes after the data")
	}
	if err := checkAttributes(d.attrs); err != nil {
		return err
	}
	if d.extra, err = parseExtra(opt.Extra, false); err != nil {
		return err
	}
	if d.out, err = vfs.NewReplace(d.fsys, d.path, opt.WriteOptions); err != nil {
		return err
	}
	if d.extra.hasModel {
		if err = d.decide(d.extra.model); err != nil {
			d.out.Abort()
		}
	}
	return err
}

// decide starts the file. The caller holds mu, or is alone.
func (d *created) decide(m model) (err error) {
	if m.isCDF() {
		d.file, err = d.newCDF(m)
	} else {
		d.file, err = d.newLibrary(m)
	}
	if err != nil {
		d.file = nil
	}
	return err
}

// newCDF starts a classic file.
func (d *created) newCDF(m model) (ndfile.File, error) {
	draft, err := newDraft(m, d.extra)
	if err != nil {
		return nil, err
	}
	w := &cdfWriter{fsys: d.fsys, out: d.out, draft: draft}
	w.Begin(d.path, d.attrs)
	return w, nil
}

func (d *created) Kind() ndfile.Kind       { return ndfile.Dataset }
func (d *created) Attrs() *ndfile.Attrs    { return d.attrs }
func (d *created) located(err error) error { return ndfile.Locate(err, d.path, "", false) }

// started is the file, or nil.
func (d *created) started() ndfile.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file
}

func (d *created) Names() []string {
	if f := d.started(); f != nil {
		return f.Names()
	}
	return nil
}

func (d *created) Array(name string) (ndfile.Array, error) {
	if f := d.started(); f != nil {
		return f.Array(name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, d.located(ndfile.ErrClosed())
	}
	return nil, d.located(ndfile.NewError(ndfile.ErrName, "").In(strings.Clone(name)))
}

// Add declares an array. In NetCDF-4 "group/name" puts it into a group. A name,
// attribute, dimension or dtype that NetCDF or the data model does not have is
// refused: see README.md.
func (d *created) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if err := d.first(&spec); err != nil {
		return nil, ndfile.Locate(err, d.path, strings.Clone(name), true)
	}
	return d.started().Add(ctx, name, spec)
}

// first decides the data model by the first array.
func (d *created) first(spec *ndfile.Spec) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return ndfile.ErrClosed()
	case d.file != nil:
		return nil
	}
	x, err := parseExtra(spec.Extra, true)
	if err != nil {
		return err
	}
	return d.decide(x.model)
}

// Close makes the file visible.
func (d *created) Close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.located(ndfile.ErrClosed())
	}
	d.closed = true
	if d.file == nil { // without arrays
		if err := d.decide(hdf5); err != nil {
			d.out.Abort()
			return d.located(err)
		}
	}
	return d.file.Close(ctx)
}

// Abort leaves nothing of the file.
func (d *created) Abort() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return d.located(ndfile.ErrClosed())
	}
	d.closed = true
	if d.file != nil {
		return d.file.Abort()
	}
	return d.located(d.out.Abort())
}
