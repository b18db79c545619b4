package netcdf

import (
	"context"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// smallFile is what is read of a file with the first pread: all of a small one.
const smallFile = 64 << 10

// smallBuffers holds memory for small files.
var smallBuffers = sync.Pool{New: func() any { return new([smallFile]byte) }}

// Load implements [ndfile.OneShot]: a small classic file takes one read.
func (format) Load(ctx context.Context, fsys ndfile.FS, path string, sink *ndfile.Sink) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	buf := smallBuffers.Get().(*[smallFile]byte)
	defer smallBuffers.Put(buf)
	n, rest, err := fsys.ReadSmall(ctx, path, buf[:])
	if err != nil {
		return err
	}
	in := &small{File: rest, head: buf[:n]}
	f := newFile(path)
	opt := ndfile.OpenOptions{Limits: sink.Limits}
	size, err := in.Size()
	if err == nil {
		var classic bool
		if classic, err = checkContent(ctx, in, size); err == nil && classic {
			err = f.openCDF(ctx, in, size, opt.Limits)
		} else if err == nil {
			err = f.openLibrary(ctx, byPath(fsys), in, size, opt)
		}
	}
	if err != nil {
		in.Close()
		return err
	}
	defer f.Abort()
	return ndfile.LoadFile(ctx, f, sink)
}

// byPath is the file system that files are opened in by their path.
func byPath(fsys ndfile.FS) ndfile.FS {
	if _, ok := fsys.(*ndfile.Near); ok {
		return ndfile.OS
	}
	return fsys
}

// Save implements [ndfile.OneShot]: a small classic file takes one write.
func (f *format) Save(ctx context.Context, fsys ndfile.FS, path string, items []ndfile.Item, opt ndfile.SaveOptions) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := newSaver(items, &opt)
	if err != nil {
		return err
	}
	if s == nil {
		return ndfile.SaveByFile(ctx, f, byPath(fsys), path, items, opt)
	}
	attrs := opt.Attrs
	if attrs == nil {
		attrs = ndfile.NewAttrs()
	}
	if err := s.layOut(s.vars, attrs); err != nil {
		return err
	}
	buf := smallBuffers.Get().(*[smallFile]byte)
	defer smallBuffers.Put(buf)
	out := s.append(buf[:0])
	for i := range s.vars {
		if v := &s.cdfDraft.vars[i]; !v.record {
			out = append(append(out, s.data[i]...), s.vars[i].paddingOf(v.bytes)...)
		}
	}
	only := s.onlyRecord()
	for r := range s.records {
		for i := range s.vars {
			if v := &s.cdfDraft.vars[i]; v.record {
				out = append(out, s.data[i][r*v.bytes:(r+1)*v.bytes]...)
				if v != only {
					out = append(out, s.vars[i].paddingOf(v.bytes)...)
				}
			}
		}
	}
	return fsys.WriteFile(path, [][]byte{out}, opt.WriteOptions)
}

// saver is a classic file that is saved at once.
type saver struct {
	*cdfDraft
	vars []*cdfNew
	data [][]byte // as they are in the file
}

// newSaver checks all items. It is nil where the file is not a small classic one.
func newSaver(items []ndfile.Item, opt *ndfile.SaveOptions) (*saver, error) {
	x, err := parseExtra(opt.Extra, false)
	if err != nil || opt.Trailing != nil {
		return nil, err
	}
	m, total := x.model, int64(0)
	for i := range items {
		it := &items[i]
		if i == 0 && !x.hasModel {
			own, err := parseExtra(it.Extra, true)
			if err != nil {
				return nil, ndfile.Locate(err, "", it.Name, true)
			}
			m = own.model
		}
		n, err := ndarray.NBytes(it.Data.Shape, max(1, it.Data.DType.Size))
		if total += n; err != nil || total > smallFile/2 || it.Data.DType.IsVar() {
			return nil, nil
		}
	}
	if !m.isCDF() {
		return nil, nil
	}
	s := &saver{}
	if s.cdfDraft, err = newDraft(m, x); err != nil {
		return nil, err
	}
	for i := range items {
		if err := s.add(&items[i]); err != nil {
			return nil, ndfile.Locate(err, "", items[i].Name, true)
		}
	}
	return s, nil
}

// add takes up an array and its elements.
func (s *saver) add(it *ndfile.Item) error {
	if s.names[it.Name] {
		return ndfile.NewError(ndfile.ErrNameExists, "")
	}
	v, err := s.define(it.Name, &ndfile.Spec{DType: it.Data.DType, Shape: it.Data.Shape, Masked: it.Mask != nil, Dims: it.Dims, Attrs: it.Attrs, Extra: it.Extra})
	if err != nil {
		return err
	}
	if err := checkWrite(&v.spec, ndarray.Full(v.spec.Shape), it.Data, it.Mask); err != nil {
		return err
	}
	packed, err := ndarray.NewBuffer(v.spec.DType, v.spec.Shape)
	if err == nil {
		err = ndarray.Copy(packed, it.Data)
	}
	if err != nil {
		return err
	}
	data := packed.Data
	if v.spec.DType.Kind == ndarray.Bool {
		normal(data)
	}
	if slices.Contains(it.Mask, 1) && v.element() == nil {
		v.ours, err = freeValue(numbersOf(v.spec.DType), func(each func(data, mask []byte)) error {
			each(data, it.Mask)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if v.typ != ncChar {
		if err := v.fillIn(data, it.Mask); err != nil {
			return err
		}
	}
	toNative(data, v.typ)
	s.vars, s.data = append(s.vars, v), append(s.data, data)
	return nil
}
