package ds

import (
	"context"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ds-format (all versions up to 5.0.2) counts too many bytes for .len of byte
// strings held as objects (those of their repr) and of masked strings ("--" for
// each missing one). The data are written without gaps all the same, but every
// later .offset, which is the sum of the lengths before, points behind its data.
//
// In such a file the last variable reaches past the end. Only then is the layout
// examined, and the true places are taken when everything fits: each .offset is
// the sum of the .len before, each .len is what ds-format would have counted, and
// the data laid out without gaps end exactly with the file. If not, a variable
// behind a wrong .len is read only where the ones before it truly end.

// place settles where the variables lie, before any of them is read. It looks at
// them through probe, whose variable and index it changes.
func (h *header) place(ctx context.Context, probe *stored) error {
	if h.legacy {
		return h.placeLegacy(ctx, probe)
	}
	if !h.reachesPastEnd() {
		return nil
	}
	if done, err := h.repair(ctx, probe); done || err != nil {
		return err
	}
	for i := range h.vars {
		h.vars[i].at = h.vars[i].offset
	}
	return h.findDoubts(ctx, probe)
}

// reachesPastEnd reports whether the header claims more bytes than there are.
func (h *header) reachesPastEnd() bool {
	size := h.bodySize()
	for i := range h.vars {
		v := &h.vars[i]
		if v.offset > size || v.length > size-v.offset {
			return true
		}
	}
	return false
}

// repair lays the variables out without gaps; done tells that this is right.
func (h *header) repair(ctx context.Context, probe *stored) (done bool, err error) {
	pos, sum := int64(0), int64(0)
	for i := range h.vars {
		v := &h.vars[i]
		if v.offset != sum || v.length < 0 || v.code == unknown && !v.noData {
			return false, nil
		}
		v.at, probe.v = pos, v
		if err := probe.build(ctx); err != nil {
			return false, unlessCorrupt(err)
		}
		if ok, err := probe.counts(ctx); !ok || err != nil {
			return false, unlessCorrupt(err)
		}
		pos = probe.ix.end - h.body
		if sum += v.length; sum < 0 {
			return false, nil
		}
	}
	return pos == h.bodySize(), nil
}

// unlessCorrupt drops the errors that say something about the file.
func unlessCorrupt(err error) error {
	if ndfile.KindOf(err) == ndfile.ErrCorrupt {
		return nil
	}
	return err
}

// findDoubts looks for a variable whose .len is not what it takes, and marks those
// behind it that do not begin where the ones before truly end.
func (h *header) findDoubts(ctx context.Context, probe *stored) error {
	wrong, end := int32(-1), int64(0)
	for i := range h.vars {
		v := &h.vars[i]
		if v.noData || v.code == unknown || v.count == 0 {
			continue
		}
		if wrong >= 0 && v.offset > h.vars[wrong].offset && v.offset != end {
			v.doubt = wrong
			continue
		}
		probe.v = v
		err := probe.build(ctx)
		if unlessCorrupt(err) != nil {
			return err
		}
		length := probe.ix.end - h.body - v.at
		if wrong < 0 && v.length >= 0 && (err != nil || length != v.length) {
			wrong = int32(i)
		}
		if err == nil {
			end = max(end, v.at+length)
		}
	}
	return nil
}

// doubtful is the error for a marked variable.
func (h *header) doubtful(v *variable) error {
	w := &h.vars[v.doubt]
	return ndfile.NewError(ndfile.ErrCorrupt, "its place is not known: the .len of "+strconv.Quote(string(w.name))+
		" before it is wrong, and the file is not as a known fault of ds-format leaves it").At(h.body + v.offset)
}

// counts reports whether .len is what ds-format counts for the variable.
func (s *stored) counts(ctx context.Context) (bool, error) {
	exact, length := s.ix.end-s.head.body-s.v.at, s.v.length
	if length == exact {
		return true, nil
	}
	dashes := 2 * (s.v.count - s.ix.present)
	switch {
	case !s.v.isString() || length < exact:
		return false, nil
	case s.v.code == unicodeCode && length == exact+dashes:
		return true, nil
	case s.v.code == unicodeCode && !s.v.masked:
		return false, nil
	}
	// Byte strings held as objects; masked ones are called unicode.
	reprs, err := s.reprs(ctx)
	return length == exact-s.ix.bytes+reprs+dashes, err
}

// reprs adds up the lengths of Python's repr of the strings as bytes.
func (s *stored) reprs(ctx context.Context) (sum int64, err error) {
	w := windows.Get().(*window)
	defer windows.Put(w)
	for lo := int64(0); lo < s.v.count; lo += windowElems {
		hi := min(lo+windowElems, s.v.count)
		if err := s.locate(ctx, w, lo, hi); err != nil {
			return 0, err
		}
		for i := range hi - lo {
			if w.mask[i] != 0 {
				continue
			}
			var r repr
			for at := w.ends[i]; at < w.ends[i+1]; {
				p := w.text[:min(w.ends[i+1]-at, int64(len(w.text)))]
				if err := s.src.read(ctx, p, s.ix.text+at); err != nil {
					return 0, err
				}
				r.add(p)
				at += int64(len(p))
			}
			sum += r.length()
		}
	}
	return sum, nil
}

// repr counts the characters of a bytes literal as Python writes it.
type repr struct{ chars, single, double int64 }

func (r *repr) add(p []byte) {
	for _, c := range p {
		switch {
		case c == '\'':
			r.single++
		case c == '"':
			r.double++
		case c == '\t' || c == '\n' || c == '\r' || c == '\\':
			r.chars += 2
		case c < ' ' || c > '~':
			r.chars += 4
		default:
			r.chars++
		}
	}
}

// length includes b and the quotes. Those are double ones if that saves escapes.
func (r *repr) length() int64 {
	n := 3 + r.chars + r.single + r.double
	if r.double > 0 {
		n += r.single
	}
	return n
}
