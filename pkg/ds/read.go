package ds

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

const (
	// blockElems is the number of elements for which the index holds one entry.
	blockElems = 4096
	// windowElems is the number of elements that are decoded at once.
	windowElems = 2 * blockElems
	// bitElems is the number of them where all are bits and none is missing.
	bitElems = 8 * (textBytes - 1)
	// textBytes is the memory of a window for texts and bits.
	textBytes = 64 << 10
)

// source is where the bytes of a file come from: memory that holds all of it, or
// the open file.
type source struct {
	mem  []byte
	file vfs.File // nil when mem holds the file; else mem is how it begins
	size int64
}

// read fills p. A range that is not in the file is ErrCorrupt.
func (s *source) read(ctx context.Context, p []byte, off int64) error {
	if err := s.check(off, int64(len(p))); err != nil {
		return err
	}
	if off+int64(len(p)) <= int64(len(s.mem)) {
		copy(p, s.mem[off:])
		return nil
	}
	return flat.ReadFull(ctx, s.file, p, off)
}

// check verifies that n bytes at off are in the file.
func (s *source) check(off, n int64) error {
	if off < 0 || off > s.size || n < 0 || n > s.size-off {
		return ndfile.NewError(ndfile.ErrCorrupt, "expected "+strconv.FormatInt(n, 10)+" bytes, but the file ends at byte "+
			strconv.FormatInt(s.size, 10)).At(off)
	}
	return nil
}

// window is scratch memory for one reader.
type window struct {
	bits [2*blockElems/8 + windowElems/8]byte
	mask [windowElems]byte
	data [windowElems * 8]byte
	text [textBytes]byte
	ends [windowElems + 1]int64
}

var windows = sync.Pool{New: func() any { return new(window) }}

// index tells where the elements of a variable lie. Missing elements take no
// room, and strings have any length, so places follow from counting: what lies
// before every 4,096th element is counted once, the rest when it is read.
type index struct {
	ranks   []int64 // present elements before element i*blockElems; nil without a mask
	ends    []int64 // bytes of the strings before present element i*blockElems
	all     []int64 // instead of ends: where each string ends; see legacy.go
	present int64   // elements that are not missing
	bytes   int64   // of all strings
	data    int64   // position in the file of the elements; of strings, their lengths
	text    int64   // position of the strings
	end     int64   // position behind the variable
}

// stored reads the elements of one variable. Its methods may be called from
// several goroutines.
type stored struct {
	src  *source
	head *header
	v    *variable

	mu    sync.Mutex
	ready bool
	ix    index
}

// corrupt is an error about an element.
func (s *stored) corrupt(off, element int64, msg string) *ndfile.Error {
	return ndfile.NewError(ndfile.ErrCorrupt, "element "+strconv.FormatInt(element, 10)+": "+msg).At(off)
}

// prepare checks that the variable can be read and makes its index, once.
func (s *stored) prepare(ctx context.Context) error {
	switch v := s.v; {
	case v.noData:
		return ndfile.NewError(ndfile.ErrNoData, "the variable has no data (.size is null)")
	case v.code == unknown:
		return ndfile.NewError(ndfile.ErrNotSupported, "unknown .type")
	case v.doubt >= 0:
		return s.head.doubtful(v)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return nil
	}
	if err := s.build(ctx); err != nil {
		return err
	}
	s.ready = true
	return nil
}

// build makes the index. Memory for it is taken only after the bytes that it
// stands for have been found in the file.
func (s *stored) build(ctx context.Context) error {
	v, ix := s.v, &s.ix
	*ix = index{ranks: ix.ranks[:0], ends: ix.ends[:0], present: v.count}
	pos := s.head.body + v.at
	if v.noData || v.count == 0 { // nothing is read, wherever it is
		ix.data, ix.text, ix.end, ix.present = pos, pos, pos, 0
		return nil
	}
	if pos < s.head.body || pos > s.src.size { // it may have overflowed
		return ndfile.NewError(ndfile.ErrCorrupt, ".offset is "+strconv.FormatInt(v.at, 10)+", but the body has "+
			strconv.FormatInt(s.head.bodySize(), 10)+" bytes").At(s.src.size)
	}
	if v.masked {
		n := (v.count-1)/8 + 1
		if err := s.src.check(pos, n); err != nil {
			return err
		}
		if err := s.rank(ctx, pos); err != nil {
			return err
		}
		pos += n
	}
	ix.data = pos
	size := int64(types[v.code].size)
	if v.isString() {
		size = 8
	}
	n, ok := ndarray.Mul(ix.present, size)
	if v.code == boolCode {
		n = (ix.present + 7) / 8
	}
	if !ok {
		n = 1<<63 - 1
	}
	if err := s.src.check(pos, n); err != nil {
		return err
	}
	ix.text = pos + n
	if v.isString() {
		if err := s.measure(ctx); err != nil {
			return err
		}
	}
	ix.end = ix.text + ix.bytes
	return nil
}

// rank counts the mask at pos.
func (s *stored) rank(ctx context.Context, pos int64) error {
	w := windows.Get().(*window)
	defer windows.Put(w)
	ix, n := &s.ix, s.v.count
	ix.present = 0
	for lo := int64(0); lo < n; {
		hi := min(n-lo, int64(len(w.data))*8) + lo
		p := w.data[:(hi-lo+7)/8]
		if err := s.src.read(ctx, p, pos+lo/8); err != nil {
			return err
		}
		for ; lo < hi; lo += blockElems {
			ix.ranks = append(ix.ranks, ix.present)
			m := int(min(blockElems, hi-lo))
			ix.present += int64(m - ndarray.CountBits(p, m))
			p = p[min(blockElems/8, len(p)):]
		}
		lo = hi
	}
	return nil
}

// mask expands the mask of elements [lo, hi), at most windowElems, one byte each,
// and tells how many elements are present before them and among them.
func (s *stored) mask(ctx context.Context, w *window, lo, hi int64, mask []byte) (rank, present int64, err error) {
	if !s.v.masked {
		clear(mask)
		return lo, hi - lo, nil
	}
	base := lo &^ (blockElems - 1)
	p := w.bits[:(hi+7)/8-base/8]
	if err := s.src.read(ctx, p, s.head.body+s.v.at+base/8); err != nil {
		return 0, 0, err
	}
	before := int(lo - base)
	rank = s.ix.ranks[base/blockElems] + int64(before-ndarray.CountBits(p, before))
	ndarray.UnpackBits(mask, p, before)
	missing := ndarray.CountBits(p, int(hi-base)) - ndarray.CountBits(p, before)
	return rank, hi - lo - int64(missing), nil
}

// atOnce is the number of elements of fixed size that are decoded at once, where
// they go straight to the caller's memory.
func (s *stored) atOnce() int64 {
	if s.v.code == boolCode && !s.v.masked {
		return bitElems
	}
	return windowElems
}

// decode reads elements [lo, hi), at most atOnce, of fixed size: data in the byte
// order of the file, with zeros for missing ones, and their mask, which may be nil
// where the variable has none.
func (s *stored) decode(ctx context.Context, w *window, lo, hi int64, data, mask []byte) error {
	rank, present, err := s.mask(ctx, w, lo, hi, mask)
	if err != nil {
		return err
	}
	size := int64(types[s.v.code].size)
	tail := data[int64(len(data))-present*size:]
	if s.v.code == boolCode {
		p := w.text[:(rank+present+7)/8-rank/8]
		if err := s.src.read(ctx, p, s.ix.data+rank/8); err != nil {
			return err
		}
		ndarray.UnpackBits(tail, p, int(rank&7))
	} else if err := s.src.read(ctx, tail, s.ix.data+rank*size); err != nil {
		return err
	}
	if present < hi-lo {
		ndarray.Spread(data, mask, int(present), int(size))
	}
	return nil
}

// windowEnd chooses the elements to decode for a run of n elements from first on,
// step apart, of a selection that ends with element last: all of the run that
// fits, and a little more when a next run may be near.
func windowEnd(first, n, step, last int64) int64 {
	end := first + (n-1)*step + 1
	switch {
	case step >= blockElems:
		end = first + 1
	case end < first+blockElems:
		end = first + blockElems
	}
	return min(end, first+windowElems, last+1)
}

// readBox reads a box of a variable that is masked or bool. mask may be nil: then
// a missing element is ErrMasked.
func (s *stored) readBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	view, err := s.view(box, dst, mask)
	if err != nil {
		return err
	}
	_, last, ok := box.Span(s.v.shape)
	if !ok {
		return box.Check(s.v.shape)
	}
	w := windows.Get().(*window)
	defer windows.Put(w)
	d := s.v.dtype()
	size := int64(d.Size)
	straight := view.Dense() && d.WithOrder(dst.DType.Order).Equal(dst.DType)
	lo, hi := int64(0), int64(0) // the elements that the window holds
	return box.Runs(s.v.shape, func(first, n, step, k int64) error {
		for n > 0 {
			if step == 1 && straight && n >= blockElems {
				m := min(n, s.atOnce())
				data, _ := view.Run(k, m)
				missing := w.mask[:min(m, windowElems)] // not used if there are more
				if err := s.decode(ctx, w, first, first+m, data, missing); err != nil {
					return err
				}
				if !d.Equal(dst.DType) {
					ndarray.SwapBytes(data, d)
				}
				if !s.v.masked {
					if mask != nil {
						clear(mask[k : k+m])
					}
				} else if err := report(mask, missing, k, 1, m); err != nil {
					return err
				}
				lo, hi = 0, 0 // w.mask is of other elements now
				first, n, k = first+m, n-m, k+m
				continue
			}
			if first < lo || first >= hi {
				lo, hi = first, windowEnd(first, n, step, last)
				if err := s.decode(ctx, w, lo, hi, w.data[:(hi-lo)*size], w.mask[:hi-lo]); err != nil {
					return err
				}
			}
			m := min(n, (hi-1-first)/step+1)
			if err := report(mask, w.mask[first-lo:hi-lo], k, step, m); err != nil {
				return err
			}
			if err := view.Put(k, w.data[(first-lo)*size:(hi-lo)*size], step*size, d, m); err != nil {
				return err
			}
			first, n, k = first+m*step, n-m, k+m
		}
		return nil
	})
}

// view checks box and memory.
func (s *stored) view(box ndarray.Box, dst ndarray.Buffer, mask []byte) (flat.View, error) {
	d := s.v.dtype()
	if !slices.Equal(box.Count, dst.Shape) {
		return flat.View{}, ndfile.NewError(ndfile.ErrShape, "the buffer does not have the shape of the box")
	}
	if !ndarray.CanConvert(d, dst.DType) {
		return flat.View{}, ndfile.NewError(ndfile.ErrDType, "no exact conversion from "+d.String()+" to "+dst.DType.String())
	}
	if err := checkMask(mask, box.Count); err != nil {
		return flat.View{}, err
	}
	return flat.NewView(dst)
}

// checkMask verifies that a mask has one byte for each element.
func checkMask(mask []byte, shape []int64) error {
	n, err := ndarray.Count(shape)
	if err == nil && mask != nil && int64(len(mask)) != n {
		err = ndfile.NewError(ndfile.ErrShape, "the mask has "+strconv.Itoa(len(mask))+" bytes, expected "+strconv.FormatInt(n, 10))
	}
	return err
}

// report copies the mask bytes of m elements, step apart, to positions from k on;
// where nobody asked for a mask, a missing element is an error.
func report(dst, mask []byte, k, step, m int64) error {
	if dst != nil && step == 1 {
		copy(dst[k:k+m], mask)
		return nil
	}
	for i := range m {
		b := mask[i*step]
		switch {
		case dst != nil:
			dst[k+i] = b
		case b != 0:
			return errMissing(k + i)
		}
	}
	return nil
}

func errMissing(k int64) error {
	return ndfile.NewError(ndfile.ErrMasked, "element "+strconv.FormatInt(k, 10)+" of the selection is missing")
}
