package ds

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// saver is the memory of a Save.
type saver struct {
	vars   []saved
	header []byte
	out    output
	parts  [1][]byte
}

// saved is one variable of a Save.
type saved struct {
	entry
	input
	item int32 // which of the items it is
}

func (s *saver) at(i int) *entry { return &s.vars[i].entry }

// Save writes a whole file from memory. The data are not copied but for what has
// to be encoded; a small file is one call of WriteFile, a large one goes through
// a block of bounded size. An item whose Extra has .size null and whose dtype is
// not set becomes a variable without data.
func (format) Save(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	if err := refuseTrailing(&opt); err != nil {
		return err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	return sc.saveAll(ctx, fsys, path, items, opt)
}

func (sc *scratch) saveAll(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	s := &sc.save
	if file := sc.saves.replay(sc.buf[:0], items, opt.Attrs); file != nil {
		s.parts[0] = file
		return fsys.WriteFile(path, s.parts[:], opt.WriteOptions)
	}
	if err := s.prepare(ctx, items); err != nil {
		return err
	}
	s.header = appendHeader(s.header[:0], len(s.vars), s.at, opt.Attrs)
	size := int64(len(s.header))
	for i := range s.vars {
		var ok bool
		if size, ok = ndarray.Add(size, s.vars[i].length); !ok {
			return ndfile.NewError(ndfile.ErrLimit, "the file takes more than 2^63 bytes")
		}
	}
	s.out = output{buf: sc.buf[:0]}
	if size <= int64(len(sc.buf)) {
		if err := s.write(ctx, size); err != nil {
			return err
		}
		sc.saves.record(items, opt.Attrs, s)
		s.parts[0] = s.out.buf
		return fsys.WriteFile(path, s.parts[:], opt.WriteOptions)
	}
	r, err := vfs.NewReplace(fsys, path, opt.WriteOptions)
	if err != nil {
		return err
	}
	s.out.file = r.File()
	err = s.write(ctx, size)
	if err == nil {
		err = s.out.flush(ctx)
	}
	if err != nil {
		r.Abort()
		return err
	}
	return r.Commit()
}

// prepare checks and measures the items and sorts them.
func (s *saver) prepare(ctx context.Context, items []ndfile.Item) error {
	s.vars = slices.Grow(s.vars[:0], len(items))
	for i := range items {
		s.vars = append(s.vars, saved{item: int32(i)})
		if err := s.vars[i].prepare(ctx, &items[i]); err != nil {
			return ndfile.Locate(err, "", items[i].Name, true)
		}
	}
	slices.SortFunc(s.vars, func(a, b saved) int { return compareEntries(&a.entry, &b.entry) })
	return checkUnique(len(s.vars), s.at)
}

func (v *saved) prepare(ctx context.Context, it *ndfile.Item) (err error) {
	spec := ndfile.Spec{DType: it.Data.DType, Shape: it.Data.Shape, Dims: it.Dims, Attrs: it.Attrs, Extra: it.Extra}
	if spec.DType.Kind == ndarray.Invalid {
		size, ok := it.Extra.Get(".size")
		spec.NoData = ok && size.Kind() == pyjson.KindNull
	}
	if v.entry, err = newEntry(it.Name, &spec); err != nil {
		return err
	}
	if v.noData {
		return nil
	}
	if spec.DType.IsVar() {
		v.input, err = newStrings(v.shape, it.Offsets, it.Data.Data, it.Mask)
	} else {
		v.input, err = newInput(v.shape, it.Data, it.Mask)
	}
	if err != nil {
		return err
	}
	text := int64(0)
	if v.isString() {
		if text, err = v.textLength(ctx, v.code); err != nil {
			return err
		}
	}
	return v.setLength(v.input.present(), text)
}

// write writes header and body to out and checks that they have the size that was
// measured: the caller's memory may have changed meanwhile.
func (s *saver) write(ctx context.Context, size int64) error {
	if err := s.out.write(ctx, s.header); err != nil {
		return err
	}
	for i := range s.vars {
		v := &s.vars[i]
		if v.noData {
			continue
		}
		if err := v.write(ctx, &s.out); err != nil {
			return ndfile.Locate(err, "", v.name, true)
		}
	}
	if s.out.pos() != size {
		return errChanged()
	}
	return nil
}

func errChanged() error {
	return ndfile.NewError(ndfile.ErrArgument, "the data have changed while they were saved")
}

func (v *saved) write(ctx context.Context, out *output) error {
	c := encoder{dtype: v.entry.dtype()}
	in := &v.input
	if !v.missing {
		in.mask = nil
	} else if err := c.mask(ctx, out, in.mask); err != nil {
		return err
	}
	if v.isString() {
		if err := c.lengths(ctx, out, in); err != nil {
			return err
		}
		return c.text(ctx, out, in)
	}
	if err := c.data(ctx, out, in); err != nil {
		return err
	}
	return c.finish(ctx, out)
}
