package ds

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Where elements wait until the header can be written. If all variables that are
// declared when the first of them is written take a room that is known, they get
// their places in the new file, behind the room of the header that there would be.
// When that is the header in the end, it is all that is missing. Else, as of a
// temporary file, the parts are joined in another one.

// room gives the spool.
func (w *writer) room() (vfs.File, error) {
	if w.spool != nil {
		return w.spool, nil
	}
	vars, size, err := w.layout()
	if err != nil {
		return nil, err
	}
	if size == 0 {
		w.spool, err = w.fsys.CreatePrivate(w.fsys.TempName(w.Path))
		return w.spool, err
	}
	if w.out, err = vfs.NewReplace(w.fsys, w.Path, w.opt); err != nil {
		return nil, err
	}
	for _, p := range vars {
		p.base, size = size, size+p.length
	}
	w.spool, w.end = w.out.File(), size
	return w.spool, nil
}

// layout gives the variables in the order of the file, and how long a header of them
// would be; 0: it cannot be told, or a file in place must not have been begun.
func (w *writer) layout() (vars []*pending, header int64, err error) {
	if !w.file || w.opt.Commit == ndfile.CommitDirect {
		return nil, 0, nil
	}
	end := int64(0)
	for _, p := range w.Members {
		if !p.noData && p.count > 0 && !p.isPlain() {
			return nil, 0, nil
		}
		if err := p.measure(p.count); err != nil {
			return nil, 0, err
		}
		sum, ok := ndarray.Add(end, p.length)
		if !ok {
			return nil, 0, ndfile.NewError(ndfile.ErrLimit, "the file takes more than 2^63 bytes")
		}
		end = sum
	}
	vars = w.sorted()
	header = int64(len(w.header(vars)))
	if _, ok := ndarray.Add(end, header); !ok {
		return nil, 0, ndfile.NewError(ndfile.ErrLimit, "the file takes more than 2^63 bytes")
	}
	return vars, header, nil
}

// sorted gives the variables in the order of the file.
func (w *writer) sorted() []*pending {
	vars := make([]*pending, 0, len(w.Order))
	for _, p := range w.Members {
		vars = append(vars, p)
	}
	slices.SortFunc(vars, func(a, b *pending) int { return compareEntries(&a.entry, &b.entry) })
	return vars
}

func (w *writer) header(vars []*pending) []byte {
	return appendHeader(nil, len(vars), func(i int) *entry { return &vars[i].entry }, w.Attrs())
}

// commit writes the header, and all else where it does not stand behind it.
func (w *writer) commit(ctx context.Context) error {
	for _, name := range w.Order {
		if err := w.Members[name].complete(); err != nil {
			return ndfile.Locate(err, "", name, true)
		}
	}
	vars := w.sorted()
	header := w.header(vars)
	if w.out == nil || !inPlace(vars, int64(len(header))) {
		return w.join(ctx, vars, header)
	}
	if err := flat.WriteFull(ctx, w.spool, header, 0); err != nil {
		return err
	}
	return w.out.Commit()
}

// inPlace reports whether the variables stand behind a header of that length.
func inPlace(vars []*pending, header int64) bool {
	for _, p := range vars {
		if p.length > 0 && (!p.isPlain() || p.base != header) {
			return false
		}
		header += p.length
	}
	return true
}

// join writes the file of the header and the parts in the spool.
func (w *writer) join(ctx context.Context, vars []*pending, header []byte) error {
	r, err := vfs.NewReplace(w.fsys, w.Path, w.opt)
	if err != nil {
		return err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	out := &sc.save.out
	*out = output{buf: sc.buf[:0], file: r.File()}
	err = out.write(ctx, header)
	for i := 0; i < len(vars) && err == nil; i++ {
		err = vars[i].join(ctx, out)
	}
	if err == nil {
		err = out.flush(ctx)
	}
	if err != nil {
		r.Abort()
		return err
	}
	return r.Commit()
}

// drop closes the file and removes the spool, unless it has become the file.
func (w *writer) drop() error {
	w.IsClosed = true
	spool, out := w.spool, w.out
	w.spool, w.out = nil, nil
	switch {
	case out != nil:
		return out.Abort()
	case spool == nil:
		return nil
	}
	name := spool.Name()
	spool.Close() // its content is not needed any more
	return w.fsys.Remove(name)
}
