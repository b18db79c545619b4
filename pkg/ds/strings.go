package ds

import (
	"context"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// changed is the error when a second look at a mask or a length differs.
const changed = "the file has changed while it was read"

// lengths calls fn with the lengths of the present strings [lo, hi), by rank.
func (s *stored) lengths(ctx context.Context, w *window, lo, hi int64, fn func(i int64, n uint64) error) error {
	var order binary.ByteOrder = binary.LittleEndian
	if s.v.big {
		order = binary.BigEndian
	}
	for lo < hi {
		m := min(hi-lo, int64(len(w.data))/8)
		p := w.data[:m*8]
		if err := s.src.read(ctx, p, s.ix.data+lo*8); err != nil {
			return err
		}
		for ; len(p) > 0; p = p[8:] {
			if err := fn(lo, order.Uint64(p)); err != nil {
				return err
			}
			lo++
		}
	}
	return nil
}

// measure adds up the lengths of all strings. Their sum must be in the file.
func (s *stored) measure(ctx context.Context) error {
	w := windows.Get().(*window)
	defer windows.Put(w)
	ix := &s.ix
	if s.head.legacy && s.v.code == unicodeCode {
		return s.characters(ctx, w)
	}
	most := uint64(s.src.size - ix.text)
	sum := uint64(0)
	err := s.lengths(ctx, w, 0, ix.present, func(i int64, n uint64) error {
		if i%blockElems == 0 {
			ix.ends = append(ix.ends, int64(sum))
		}
		if n > most-sum {
			return ndfile.NewError(ndfile.ErrCorrupt, "string "+strconv.FormatInt(i, 10)+" has "+strconv.FormatUint(n, 10)+
				" bytes, but "+strconv.FormatUint(most-sum, 10)+" are left in the file").At(ix.data + 8*i)
		}
		sum += n
		return nil
	})
	ix.bytes = int64(sum)
	return err
}

// locate finds strings [lo, hi), at most windowElems: element lo+i has the bytes
// from w.ends[i] to w.ends[i+1], counted from the start of the text, and is
// missing where w.mask[i] is 1.
func (s *stored) locate(ctx context.Context, w *window, lo, hi int64) error {
	mask := w.mask[:hi-lo]
	rank, present, err := s.mask(ctx, w, lo, hi, mask)
	if err != nil {
		return err
	}
	ends := w.ends[:hi-lo+1]
	ends[0] = 0
	i := 0
	skip := func() {
		for ; i < len(mask) && mask[i] != 0; i++ {
			ends[i+1] = ends[i]
		}
	}
	if s.ix.all != nil {
		if rank+present > int64(len(s.ix.all)) {
			return s.corrupt(s.ix.data, lo, changed)
		}
		if rank > 0 {
			ends[0] = s.ix.all[rank-1]
		}
		for skip(); i < len(mask); skip() {
			ends[i+1] = s.ix.all[rank]
			rank, i = rank+1, i+1
		}
		return nil
	}
	if s.ix.present == 0 {
		skip()
		return nil
	}
	base := min(rank, s.ix.present-1) &^ (blockElems - 1)
	ends[0] = s.ix.ends[base/blockElems]
	err = s.lengths(ctx, w, base, rank+present, func(r int64, n uint64) error {
		if n > uint64(s.ix.bytes-ends[i]) { // the index has seen another length
			return s.corrupt(s.ix.data+8*r, lo+int64(i), changed)
		}
		if r < rank {
			ends[0] += int64(n)
			return nil
		}
		skip()
		ends[i+1] = ends[i] + int64(n)
		i++
		return nil
	})
	skip()
	return err
}

// readStrings is ReadStrings of the array.
func (s *stored) readStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (need int64, err error) {
	n, err := ndarray.Count(box.Count)
	if err == nil {
		err = box.Check(s.v.shape)
	}
	if err == nil {
		err = checkMask(mask, box.Count)
	}
	if err != nil {
		return 0, err
	}
	if int64(len(offsets)) != n+1 {
		return 0, ndfile.NewError(ndfile.ErrShape, strconv.Itoa(len(offsets))+" offsets, expected "+strconv.FormatInt(n+1, 10))
	}
	offsets[0] = 0
	_, last, ok := box.Span(s.v.shape)
	if !ok {
		return 0, nil
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	lo, hi := int64(0), int64(0)
	err = box.Runs(s.v.shape, func(first, n, step, k int64) error {
		for n > 0 {
			if first < lo || first >= hi {
				lo, hi = first, windowEnd(first, n, step, last)
				if err := s.locate(ctx, w, lo, hi); err != nil {
					return err
				}
			}
			m := min(n, (hi-1-first)/step+1)
			i := first - lo
			if err := report(mask, w.mask[i:], k, step, m); err != nil {
				return err
			}
			for j := range m {
				e := i + j*step
				offsets[k+j+1] = offsets[k+j] + w.ends[e+1] - w.ends[e]
			}
			if from, to := offsets[k], offsets[k+m]; to <= int64(len(data)) && to > from {
				if err := s.copyText(ctx, w, lo, i, m, step, data[from:to]); err != nil {
					return err
				}
			}
			first, n, k = first+m*step, n-m, k+m
		}
		return nil
	})
	need = offsets[n]
	if err != nil {
		return 0, err
	}
	if need > int64(len(data)) {
		return need, ndfile.NewError(ndfile.ErrBuffer, "the strings take "+strconv.FormatInt(need, 10)+" bytes, the buffer has "+strconv.Itoa(len(data)))
	}
	return need, nil
}

// copyText reads m strings of the located window, from entry i on and step
// apart, one after the other into dst.
func (s *stored) copyText(ctx context.Context, w *window, lo, i, m, step int64, dst []byte) error {
	from, to := w.ends[i], w.ends[i+(m-1)*step+1]
	near := w.text[:0]
	if step == 1 {
		if err := s.src.read(ctx, dst, s.ix.text+from); err != nil {
			return err
		}
	} else if to-from <= int64(len(w.text)) {
		near = w.text[:to-from]
		if err := s.src.read(ctx, near, s.ix.text+from); err != nil {
			return err
		}
	}
	for e := i; m > 0; e, m = e+step, m-1 {
		at, n := w.ends[e], w.ends[e+1]-w.ends[e]
		p := dst[:n]
		dst = dst[n:]
		switch {
		case step == 1:
		case len(near) > 0:
			copy(p, near[at-from:])
		default:
			if err := s.src.read(ctx, p, s.ix.text+at); err != nil {
				return err
			}
		}
		if s.v.code == unicodeCode && !utf8.Valid(p) {
			return s.corrupt(s.ix.text+at, lo+e, "not UTF-8")
		}
	}
	return nil
}
