package ds

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// writer is a ds file being created. The header comes first in the file and holds
// every offset, so elements are kept in a file, the spool, until Close: the new one
// itself where it can be (see place.go), or a temporary one. In memory are one block
// and the masks as bits. Its methods and those of its arrays exclude each other.
type writer struct {
	fsys ndfile.FS
	opt  ndfile.WriteOptions
	file bool // what is replaced is a file, or nothing

	edit.Dataset[*pending]
	out   *vfs.Replace // the new file, where that is the spool
	spool vfs.File     // nil until something is written
	end   int64        // of what is used of the spool
}

// Create starts a file. Each variable takes its data as consecutive blocks of
// whole rows along the first axis (else ErrOrder); plain numbers, which are not
// masked, take boxes anywhere and as often as wanted. All elements must have been
// written when the file is closed.
func (format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := refuseTrailing(&opt); err != nil {
		return nil, err
	}
	info, err := fsys.Lstat(path)
	file := err != nil || info.Mode == vfs.Regular
	switch {
	case err != nil && ndfile.KindOf(err) != ndfile.ErrNotFound:
		return nil, err
	case err == nil && opt.Exclusive:
		return nil, ndfile.NewError(ndfile.ErrExists, ndfile.ErrExists.Text)
	case err == nil && info.Mode == vfs.Dir:
		return nil, ndfile.NewError(ndfile.ErrExists, "the path is a folder")
	}
	w := &writer{fsys: fsys, opt: opt.WriteOptions, file: file}
	w.Begin(path, opt.Attrs.Clone())
	return w, nil
}

// refuseTrailing: a reader would not mind bytes behind the data, but they mean
// nothing in a ds file.
func refuseTrailing(opt *ndfile.CreateOptions) error {
	if opt.Trailing == nil {
		return nil
	}
	return ndfile.NewError(ndfile.ErrNotSupported, "the ds format has no bytes after the data")
}

// Add declares a variable. Bytes and Unicode dtypes of fixed size are stored as
// str and unicode, without the NULs at their end; other dtypes that the format
// has no type for are ErrDType.
func (w *writer) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	w.Lock()
	defer w.Unlock()
	name = strings.Clone(name)
	if w.IsClosed {
		return nil, ndfile.ErrClosed()
	}
	if w.Members[name] != nil {
		return nil, ndfile.NewError(ndfile.ErrNameExists, ndfile.ErrNameExists.Text).In(name)
	}
	spec.Shape, spec.Dims = slices.Clone(spec.Shape), slices.Clone(spec.Dims)
	spec.Attrs, spec.Extra = spec.Attrs.Clone(), spec.Extra.Clone()
	if spec.Attrs == nil {
		spec.Attrs = attributes(spec.Extra)
	}
	e, err := newEntry(name, &spec)
	if err != nil {
		return nil, ndfile.Locate(err, "", name, true)
	}
	p := &pending{entry: e, w: w, spec: spec, base: -1}
	p.enc.dtype = e.dtype()
	w.Declare(name, p)
	return p, nil
}

// Close writes the file. Nothing is left of it after an error.
func (w *writer) Close(ctx context.Context) error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return ndfile.ErrClosed()
	}
	err := w.commit(ctx)
	if e := w.drop(); err == nil && e != nil {
		err = e
	}
	return err
}

func (w *writer) Abort() error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return ndfile.ErrClosed()
	}
	return w.drop()
}

// extent is a part of the spool.
type extent struct{ at, n int64 }

// pending is a variable of a file being created.
type pending struct {
	entry
	w    *writer
	spec ndfile.Spec

	base int64         // plain numbers: where they are in the spool, -1: nowhere yet
	done flat.Coverage // and which have been written

	rows  int64   // all others: how many rows have been written
	enc   encoder // with bits that wait for the next rows
	bits  []byte  // the mask
	masks packer  // and the bits of it that wait
	full  int64   // elements that are not missing
	bytes int64   // of strings
	data  []extent
	text  []extent // of strings; data has their lengths
}

func (p *pending) Spec() ndfile.Spec { return p.spec }

func (p *pending) Attrs() *ndfile.Attrs { return p.spec.Attrs }

func (p *pending) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	p.w.Lock()
	defer p.w.Unlock()
	if p.w.IsClosed {
		return p.inArray(ndfile.ErrClosed())
	}
	return p.inArray(ndfile.NewError(ndfile.ErrNotSupported, "a ds file cannot be read while it is written"))
}

func (p *pending) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	return p.ReadBox(ctx, box, dst)
}

func (p *pending) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (int64, error) {
	return 0, p.ReadBox(ctx, box, ndarray.Buffer{})
}

func (p *pending) inArray(err error) error { return ndfile.Locate(err, "", p.name, true) }

// isPlain reports whether elements have a place of their own in the spool.
func (p *pending) isPlain() bool { return !p.spec.Masked && p.code < boolCode }

func (p *pending) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	return p.WriteMasked(ctx, box, src, nil)
}

// WriteMasked is WriteBox for arrays added with Masked; others take a mask only
// when nothing in it is missing.
func (p *pending) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	p.w.Lock()
	defer p.w.Unlock()
	return p.inArray(p.write(ctx, box, src, mask))
}

func (p *pending) write(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if err := p.accepts(box); err != nil {
		return err
	}
	if p.spec.DType.IsVar() {
		return ndfile.NewError(ndfile.ErrDType, "the elements are strings of any length: use WriteStrings")
	}
	in, err := newInput(box.Count, src, mask)
	if err != nil {
		return err
	}
	if p.isPlain() {
		if in.present() < in.count {
			return errNotMasked()
		}
		return p.writePlain(ctx, box, src)
	}
	if to := p.enc.dtype; p.isString() && src.DType.Kind != p.spec.DType.Kind || !p.isString() && !ndarray.CanConvert(src.DType, to) {
		return ndfile.NewError(ndfile.ErrDType, "no exact conversion from "+src.DType.String()+" to "+p.spec.DType.String())
	}
	return p.writeRows(ctx, box, &in)
}

func (p *pending) WriteStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) error {
	p.w.Lock()
	defer p.w.Unlock()
	err := p.accepts(box)
	if err == nil && !p.spec.DType.IsVar() {
		err = ndfile.NewError(ndfile.ErrDType, "the elements are "+p.spec.DType.String()+", not strings of any length")
	}
	var in input
	if err == nil {
		in, err = newStrings(box.Count, offsets, data, mask)
	}
	if err == nil {
		err = p.writeRows(ctx, box, &in)
	}
	return p.inArray(err)
}

func errNotMasked() error {
	return ndfile.NewError(ndfile.ErrMasked, "missing elements in an array that was not declared as masked")
}

// accepts checks what every write has in common.
func (p *pending) accepts(box ndarray.Box) error {
	switch {
	case p.w.IsClosed:
		return ndfile.ErrClosed()
	case p.noData:
		return ndfile.NewError(ndfile.ErrNoData, "the variable was declared to have no data")
	}
	return box.Check(p.shape)
}

// writePlain writes a box of plain numbers to its place.
func (p *pending) writePlain(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if slices.Contains(box.Count, 0) {
		return nil
	}
	spool, err := p.w.room()
	if err != nil {
		return err
	}
	if p.base < 0 {
		n, err := ndarray.NBytes(p.shape, p.enc.dtype.Size)
		if err != nil {
			return err
		}
		end, ok := ndarray.Add(p.w.end, n)
		if !ok {
			return ndfile.NewError(ndfile.ErrLimit, "the file takes more than 2^63 bytes")
		}
		p.base, p.w.end = p.w.end, end
	}
	l := flat.Block{File: spool, Offset: p.base, DType: p.enc.dtype, Shape: p.shape}
	if err := l.WriteBox(ctx, box, src); err != nil {
		return err
	}
	return p.done.Add(box, p.shape)
}

// nextRows checks that a box is the rows that are due and counts them.
func (p *pending) nextRows(box ndarray.Box) (n int64, err error) {
	if len(p.shape) == 0 {
		if p.rows > 0 {
			return 0, ndfile.NewError(ndfile.ErrOrder, "the scalar has been written already")
		}
		return 1, nil
	}
	ok := box.Start[0] == p.rows
	for axis, count := range box.Count {
		ok = ok && (box.Step == nil || box.Step[axis] == 1 || count < 2) && (axis == 0 || box.Start[axis] == 0 && count == p.shape[axis])
	}
	if !ok {
		return 0, ndfile.NewError(ndfile.ErrOrder, "the next block must be whole rows from row "+strconv.FormatInt(p.rows, 10)+
			" on: the elements take no fixed room in a ds file")
	}
	return box.Count[0], nil
}

// writeRows encodes the next rows to the end of the spool. Nothing is counted as
// written when that fails.
func (p *pending) writeRows(ctx context.Context, box ndarray.Box, in *input) error {
	rows, err := p.nextRows(box)
	if err != nil {
		return err
	}
	present := in.present()
	switch {
	case present == in.count:
		in.mask = nil
	case !p.spec.Masked:
		return errNotMasked()
	}
	if in.count == 0 {
		p.rows += rows
		return nil
	}
	text := int64(0)
	if p.isString() {
		if text, err = in.textLength(ctx, p.code); err != nil {
			return err
		}
	}
	spool, err := p.w.room()
	if err != nil {
		return err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	out := &sc.save.out
	*out = output{buf: sc.buf[:0], file: spool, off: p.w.end}
	enc := p.enc
	var middle int64 // where the lengths end and the strings begin
	if p.isString() {
		err = enc.lengths(ctx, out, in)
		middle = out.pos()
		if err == nil {
			err = enc.text(ctx, out, in)
		}
	} else {
		err = enc.data(ctx, out, in)
		middle = out.pos()
	}
	if err == nil {
		err = out.flush(ctx)
	}
	if err != nil {
		return err
	}
	if p.spec.Masked && in.mask == nil {
		if in.mask, err = ndfile.NewBytes(int(in.count)); err != nil {
			return err
		}
	}
	p.data = appendExtent(p.data, p.w.end, middle)
	p.text = appendExtent(p.text, middle, out.pos())
	p.w.end = out.pos()
	p.enc, p.rows, p.full, p.bytes = enc, p.rows+rows, p.full+present, p.bytes+text
	if p.spec.Masked {
		p.bits = p.masks.pack(p.bits, in.mask)
	}
	return nil
}

// appendExtent appends the part of the spool from at to end.
func appendExtent(list []extent, at, end int64) []extent {
	if at == end {
		return list
	}
	if n := len(list); n > 0 && list[n-1].at+list[n-1].n == at {
		list[n-1].n += end - at
		return list
	}
	return append(list, extent{at, end - at})
}

// measure sets what the header says: the length in bytes, of plain numbers if so many
// are there.
func (p *pending) measure(full int64) error {
	p.attrs = p.spec.Attrs
	if p.noData {
		return nil
	}
	return p.setLength(full, p.bytes)
}

// complete checks that everything has been written, and sets the length.
func (p *pending) complete() error {
	if p.noData {
		return p.measure(0)
	}
	full, missed := p.full, int64(-1)
	if p.isPlain() {
		missed, full = p.done.FirstMissing(p.count), p.count
	} else if n := int64(1); p.count > 0 {
		if len(p.shape) > 0 {
			n = p.shape[0]
		}
		if p.rows < n {
			missed = p.count / n * p.rows
		}
	}
	if missed >= 0 {
		return ndfile.NewError(ndfile.ErrOrder, "not completely written: of "+strconv.FormatInt(p.count, 10)+
			" elements, number "+strconv.FormatInt(missed, 10)+" is not there")
	}
	return p.measure(full)
}

// join copies the variable from the spool.
func (p *pending) join(ctx context.Context, out *output) error {
	if p.noData || p.count == 0 {
		return nil
	}
	if p.isPlain() {
		p.data = appendExtent(nil, p.base, p.base+p.length)
	}
	if p.missing {
		if err := out.write(ctx, p.bits); err != nil {
			return err
		}
		last := encoder{bits: p.masks}
		if err := last.finish(ctx, out); err != nil {
			return err
		}
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	for _, list := range [...][]extent{p.data, p.text} {
		for _, e := range list {
			for e.n > 0 {
				b := w.data[:min(e.n, int64(len(w.data)))]
				if err := flat.ReadFull(ctx, p.w.spool, b, e.at); err != nil {
					return err
				}
				if err := out.write(ctx, b); err != nil {
					return err
				}
				e.at, e.n = e.at+int64(len(b)), e.n-int64(len(b))
			}
		}
	}
	return p.enc.finish(ctx, out)
}
