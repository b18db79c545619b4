package ds

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Load reads a file in one pass: one system call more than opening and closing
// for a small one, and nothing allocated. It reads what Open and the arrays read,
// with the same code.
func (format) Load(ctx context.Context, fsys ndfile.FS, path string, sink *ndfile.Sink) error {
	sc := scratches.Get().(*scratch)
	n, rest, err := fsys.ReadSmall(ctx, path, sc.buf[:])
	if err != nil || rest == nil && sc.loads.replay(sc.buf[:n], sink) {
		scratches.Put(sc)
		return err
	}
	defer sc.release()
	sc.src = source{mem: sc.buf[:n], size: int64(n)}
	if rest == nil {
		return sc.loadAll(ctx, sink)
	}
	defer rest.Close()
	if sc.src.size, err = rest.Size(); err != nil {
		return err
	}
	sc.src.file, sc.src.size = rest, max(sc.src.size, int64(n))
	return sc.loadAll(ctx, sink)
}

// loadAll puts the variables that the sink wants into it.
func (sc *scratch) loadAll(ctx context.Context, sink *ndfile.Sink) error {
	h := &sc.head
	if err := h.read(ctx, &sc.src, sc.src.mem, sink.Limits); err != nil {
		return err
	}
	sc.one.src, sc.one.head = &sc.src, h
	if err := h.place(ctx, &sc.one); err != nil {
		return err
	}
	if err := sc.one.loadEach(ctx, sink); err != nil {
		return err
	}
	if sc.src.file == nil {
		sc.loads.record(sc.src.mem, h, sink)
	}
	return nil
}

// Load puts variables of an open file into a sink.
func (f *file) Load(ctx context.Context, sink *ndfile.Sink) error {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	sc.src = f.src
	if !sink.Bare && !sink.Names {
		if err := f.place(ctx); err != nil {
			return err
		}
		if f.src.size <= smallFile && !f.Whole() { // one read for all of it
			n, err := f.src.file.ReadAt(sc.buf[:], 0)
			if err != nil && err != io.EOF {
				return err
			}
			sc.src.mem = sc.buf[:n]
		}
	}
	sc.one.src, sc.one.head = &sc.src, &f.head
	return sc.one.loadEach(ctx, sink)
}

// Whole implements [ndfile.Loader].
func (f *file) Whole() bool { return f.src.mem != nil }

// loadEach puts the variables of s.head that the sink wants into it.
func (s *stored) loadEach(ctx context.Context, sink *ndfile.Sink) error {
	h := s.head
	return sink.Each(len(h.vars), h.appendAttrs, func(i int) []byte { return h.vars[i].name }, func(i int) error {
		if err := s.load(ctx, &h.vars[i], sink); err != nil {
			return ndfile.Locate(err, "", string(h.vars[i].name), true)
		}
		return nil
	})
}

// load puts one variable into the sink.
func (s *stored) load(ctx context.Context, v *variable, sink *ndfile.Sink) error {
	d := v.dtype()
	if v.noData || sink.Bare {
		return s.describe(v, d, sink)
	}
	s.v, s.ready = v, false
	if err := s.prepare(ctx); err != nil {
		return err
	}
	li, err := s.add(v, d, sink)
	if err != nil {
		return err
	}
	var mask []byte
	if v.masked {
		if li.MaskOffset, mask, err = sink.Reserve(v.count); err != nil {
			return err
		}
	}
	if v.isString() {
		return s.loadStrings(ctx, li, mask, sink)
	}
	var ok bool
	if li.DataLen, ok = ndarray.Mul(v.count, int64(d.Size)); !ok {
		return ndfile.NewError(ndfile.ErrLimit, "the elements take more than 2^63 bytes")
	}
	var data []byte
	if li.DataOffset, data, err = sink.Reserve(li.DataLen); err != nil || data == nil || v.masked && mask == nil {
		return err
	}
	if v.masked || v.code == boolCode {
		err = s.loadWindows(ctx, data, mask)
	} else {
		err = s.src.read(ctx, data, s.ix.data)
	}
	if err == nil && d.Swapped() {
		ndarray.SwapBytes(data, d)
	}
	return err
}

// loadWindows decodes all elements of fixed size; mask is nil where there is none.
func (s *stored) loadWindows(ctx context.Context, data, mask []byte) error {
	w := windows.Get().(*window)
	defer windows.Put(w)
	size, step := int64(types[s.v.code].size), s.atOnce()
	for lo := int64(0); lo < s.v.count; lo += step {
		hi := min(lo+step, s.v.count)
		var m []byte
		if mask != nil {
			m = mask[lo:hi]
		}
		if err := s.decode(ctx, w, lo, hi, data[lo*size:hi*size], m); err != nil {
			return err
		}
	}
	return nil
}

// loadStrings puts offsets and bytes into the sink.
func (s *stored) loadStrings(ctx context.Context, li *ndfile.LoadInfo, mask []byte, sink *ndfile.Sink) error {
	n, ok := ndarray.Mul(s.v.count+1, 8)
	if !ok {
		return ndfile.NewError(ndfile.ErrLimit, "too many elements")
	}
	var offsets, data []byte
	var err error
	if li.OffsetsOffset, offsets, err = sink.Reserve(n); err != nil {
		return err
	}
	if li.DataOffset, data, err = sink.Reserve(s.ix.bytes); err != nil {
		return err
	}
	if li.DataLen = s.ix.bytes; offsets == nil || li.DataLen > 0 && data == nil {
		return nil
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	binary.NativeEndian.PutUint64(offsets, 0)
	for lo := int64(0); lo < s.v.count; lo += windowElems {
		hi := min(lo+windowElems, s.v.count)
		if err := s.locate(ctx, w, lo, hi); err != nil {
			return err
		}
		if mask != nil {
			copy(mask[lo:hi], w.mask[:hi-lo])
		}
		for i := range hi - lo {
			binary.NativeEndian.PutUint64(offsets[(lo+i+1)*8:], uint64(w.ends[i+1]))
		}
		if err := s.copyText(ctx, w, lo, 0, hi-lo, 1, data[w.ends[0]:w.ends[hi-lo]]); err != nil {
			return err
		}
	}
	return nil
}
