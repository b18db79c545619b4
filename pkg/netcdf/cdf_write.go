package netcdf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// cdfWriter is a classic file being created. The header comes first in the file and
// depends on all variables, so elements are kept in a temporary file, the spool,
// until Close. Its methods and those of its arrays exclude each other.
type cdfWriter struct {
	fsys ndfile.FS
	out  *vfs.Replace

	edit.Dataset[ndfile.Array]
	draft *cdfDraft
	all   []*cdfArray
	spool vfs.File // nil until a variable is added
	end   int64    // of what is used of the spool
}

// cdfArray is a variable of it.
type cdfArray struct {
	*cdfNew
	w       *cdfWriter
	data    flat.Block // in the spool
	mask    flat.Block // where elements can be missing, and no attribute says which value that is
	late    bool       // there is such a mask
	missing bool       // some element is
	begun   bool       // elements were written
	cover   flat.Coverage
}

func (w *cdfWriter) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	w.Lock()
	defer w.Unlock()
	name = strings.Clone(name)
	a, err := w.add(name, &spec)
	if err != nil {
		return nil, ndfile.Locate(err, w.Path, name, true)
	}
	w.all = append(w.all, a)
	w.Declare(name, a)
	if _, numeric := dtypeOf(a.typ); numeric {
		w.Members[name] = &cdfMasked{a}
	}
	return w.Members[name], nil
}

func (w *cdfWriter) add(name string, spec *ndfile.Spec) (*cdfArray, error) {
	switch {
	case w.IsClosed:
		return nil, ndfile.ErrClosed()
	case w.draft.names[name]:
		return nil, ndfile.NewError(ndfile.ErrNameExists, "")
	}
	if w.spool == nil {
		file, err := w.fsys.CreatePrivate(w.fsys.TempName(w.out.File().Name()))
		if err != nil {
			return nil, err
		}
		w.spool = file
	}
	v, err := w.draft.define(name, spec)
	if err != nil {
		return nil, err
	}
	a := &cdfArray{cdfNew: v, w: w}
	n, _ := ndarray.NBytes(v.spec.Shape, v.spec.DType.Size) // checked by define
	a.data = flat.Block{File: w.spool, Offset: w.end, DType: numbersOf(v.spec.DType).WithOrder(ndarray.Big), Shape: v.spec.Shape}
	if v.typ == ncChar {
		a.data.DType = v.spec.DType
	}
	w.end += n
	if v.spec.Masked && v.element() == nil {
		a.await()
	}
	return a, nil
}

// await makes room for a mask: which value stands for missing elements is chosen
// when all are known.
func (a *cdfArray) await() {
	a.late = true
	a.mask = flat.Block{File: a.w.spool, Offset: a.w.end, DType: maskType, Shape: a.spec.Shape}
	n, _ := ndarray.Count(a.spec.Shape) // checked by define
	a.w.end += n
}

func (a *cdfArray) Spec() ndfile.Spec       { return a.spec }
func (a *cdfArray) Attrs() *ndfile.Attrs    { return a.attrs }
func (a *cdfArray) located(err error) error { return ndfile.Locate(err, a.w.Path, a.name, true) }

func (a *cdfArray) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	a.w.Lock()
	defer a.w.Unlock()
	if a.w.IsClosed {
		return a.located(ndfile.ErrClosed())
	}
	return a.located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is being written cannot be read: close it first"))
}

// WriteBox is as that of files with libnetcdf.
func (a *cdfArray) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	return a.write(ctx, box, src, nil)
}

// cdfMasked is a variable of numbers, which can be missing.
type cdfMasked struct{ *cdfArray }

// WriteMasked implements [ndfile.Masked].
func (a *cdfMasked) WriteMasked(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	return a.write(ctx, box, src, mask)
}

func (a *cdfMasked) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, _ []byte) error {
	return a.ReadBox(ctx, box, dst)
}

func (a *cdfArray) write(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	a.w.Lock()
	defer a.w.Unlock()
	if a.w.IsClosed {
		return a.located(ndfile.ErrClosed())
	}
	err := checkWrite(&a.spec, box, src, mask)
	if err == nil {
		err = a.put(ctx, box, src, mask)
	}
	if err == nil {
		err = a.cover.Add(box, a.spec.Shape)
	}
	return a.located(err)
}

// put stores checked elements in the spool, in blocks where something has to be
// done with them.
func (a *cdfArray) put(ctx context.Context, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	some := slices.ContainsFunc(mask, func(m byte) bool { return m != 0 })
	if some && !a.late && !a.begun && a.element() == nil {
		a.await() // although Add was not told
	}
	a.begun = true
	if a.late && mask == nil {
		n, _ := ndarray.Count(box.Count)
		var err error
		if mask, err = ndfile.NewBytes(int(n)); err != nil {
			return err
		}
	}
	if a.late {
		a.missing = a.missing || some
		if err := a.mask.WriteBox(ctx, box, ndarray.Buffer{DType: maskType, Shape: box.Count, Data: mask}); err != nil {
			return err
		}
		mask = nil
	}
	if a.given == nil && mask == nil && a.spec.DType.Kind != ndarray.Bool {
		return a.data.WriteBox(ctx, box, src)
	}
	axis, err := cut(ndarray.Box{Start: box.Start, Count: box.Count}, a.spec.DType.Size, 1)
	if err != nil || axis == done {
		return err
	}
	if axis >= 0 {
		return halves(box, axis, func(half, part ndarray.Box) error {
			s, err := src.Sub(part)
			if err != nil {
				return err
			}
			m, err := subMask(mask, box.Count, part)
			if err != nil {
				return err
			}
			return a.put(ctx, half, s, m)
		})
	}
	data, err := a.pack(box.Count, src, mask)
	if err != nil {
		return err
	}
	return a.data.WriteBox(ctx, box, ndarray.Buffer{DType: numbersOf(a.spec.DType), Shape: box.Count, Data: data})
}

// Close writes the file. Nothing is left of it after an error.
func (w *cdfWriter) Close(ctx context.Context) error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	err := w.commit(ctx)
	if err != nil {
		w.abort()
		return w.Located(err)
	}
	w.drop()
	return w.Located(w.out.Commit())
}

func (w *cdfWriter) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	vars := make([]*cdfNew, len(w.all))
	for i, a := range w.all {
		n, _ := ndarray.Count(a.spec.Shape) // checked by define
		if k := a.cover.FirstMissing(n); k >= 0 {
			return a.located(errIncomplete(k))
		}
		if err := a.sameFill(); err != nil {
			return a.located(err)
		}
		if a.missing {
			if err := a.choose(ctx); err != nil {
				return a.located(err)
			}
		}
		vars[i] = a.cdfNew
	}
	if err := w.draft.layOut(vars, w.Attrs()); err != nil {
		return err
	}
	out := &joiner{ctx: ctx, out: w.out.File(), spool: w.spool}
	if out.add(w.draft.append(nil)) != nil {
		return out.err
	}
	for i, a := range w.all {
		if v := &w.draft.vars[i]; !v.record {
			out.move(a.data.Offset, v.bytes)
			out.add(a.paddingOf(v.bytes))
		}
	}
	only := w.draft.onlyRecord()
	for r := range w.draft.records {
		for i, a := range w.all {
			if v := &w.draft.vars[i]; v.record {
				if out.move(a.data.Offset+r*v.bytes, v.bytes); v != only {
					out.add(a.paddingOf(v.bytes))
				}
			}
		}
		if out.err != nil {
			return out.err
		}
	}
	return out.flush()
}

// sameFill refuses attributes that were changed after elements were written, and
// say which of them are missing.
func (a *cdfArray) sameFill() error {
	all, err := encodeAll(a.attrs, a.spec.DType, nil, a.w.draft.model, a.types)
	if err != nil {
		return err
	}
	if now := a.fillsOf(all); !now.equal(a.given) {
		return errLateFill(attFill)
	}
	return nil
}

// choose finds a value for missing elements, and writes it.
func (a *cdfArray) choose(ctx context.Context) error {
	s := &spool{data: a.data, mask: a.mask}
	var err error
	a.ours, err = freeValue(numbersOf(a.spec.DType), func(each func(data, mask []byte)) error {
		return s.blocks(ctx, func(_ ndarray.Box, data ndarray.Buffer, mask []byte) error {
			each(data.Data, mask)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.blocks(ctx, func(box ndarray.Box, data ndarray.Buffer, mask []byte) error {
		if err := a.fillIn(data.Data, mask); err != nil {
			return err
		}
		return a.data.WriteBox(ctx, box, data)
	})
}

// Abort leaves nothing of the file.
func (w *cdfWriter) Abort() error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	return w.Located(w.abort())
}

func (w *cdfWriter) abort() error {
	w.drop()
	return w.out.Abort()
}

// drop closes the file and removes the spool.
func (w *cdfWriter) drop() {
	w.IsClosed = true
	if w.spool != nil {
		w.spool.Close() // its content is not needed any more
		w.fsys.Remove(w.spool.Name())
		w.spool = nil
	}
}

// joiner writes one piece after the other; err is the first error.
type joiner struct {
	ctx   context.Context
	out   vfs.File
	spool vfs.File
	at    int64
	buf   []byte
	err   error
}

// joined is how many bytes are collected before they are written.
const joined = 1 << 20

// add appends bytes.
func (j *joiner) add(p []byte) error {
	if j.err == nil {
		if j.buf = append(j.buf, p...); len(j.buf) >= joined {
			j.flush()
		}
	}
	return j.err
}

// move appends n bytes of the spool.
func (j *joiner) move(at, n int64) {
	for n > 0 && j.err == nil {
		k := min(n, joined)
		have := len(j.buf)
		j.buf = slices.Grow(j.buf, int(k))[:have+int(k)]
		if j.err = flat.ReadFull(j.ctx, j.spool, j.buf[have:], at); j.err == nil && len(j.buf) >= joined {
			j.flush()
		}
		at, n = at+k, n-k
	}
}

func (j *joiner) flush() error {
	if j.err == nil {
		j.err = flat.WriteFull(j.ctx, j.out, j.buf, j.at)
		j.at, j.buf = j.at+int64(len(j.buf)), j.buf[:0]
	}
	return j.err
}

// checkWrite checks a box, its elements and their mask.
func checkWrite(s *ndfile.Spec, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if err := box.Check(s.Shape); err != nil {
		return err
	}
	if !slices.Equal(box.Count, src.Shape) {
		return fmt.Errorf("%w: the buffer has shape %v, the box %v", ndarray.ErrShape, src.Shape, box.Count)
	}
	if err := src.Check(); err != nil {
		return err
	}
	if d := s.DType; d.IsVar() || !ndarray.CanConvert(src.DType, d) {
		return fmt.Errorf("%w: no exact conversion from %s to %s", ndarray.ErrDType, src.DType, d)
	}
	if n, _ := ndarray.Count(box.Count); mask != nil && int64(len(mask)) != n {
		return ndfile.NewError(ndfile.ErrArgument, fmt.Sprintf("the mask has %d bytes, the box %d elements", len(mask), n))
	}
	return nil
}
