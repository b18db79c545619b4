package ds

import (
	"context"
	"strconv"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Files of ds-format 2.0.0 and 2.0.1 have no version line, and differ: .type is
// int, uint or float and .dsize gives its bits; .size of a scalar is 1; the
// lengths of Unicode strings count characters; .len of byte strings leaves out
// the strings, so that the offsets behind them are wrong; and the mask of a
// variable is written from the data of the one before it.
//
// So the offsets are not used: variables follow each other without gaps and must
// end with the file. Masks are taken only from a file with a single variable.

// legacyCode gives the type, the widest one of a family of numbers.
func legacyCode(name []byte) code {
	switch string(name) {
	case "float":
		return float64Code
	case "int":
		return int64Code
	case "uint":
		return uint64Code
	case "bool", "str", "unicode":
		return codeOf(name)
	}
	return unknown
}

// legacyVariable completes a variable by its .dsize. One without a type is in no
// file of ds-format: the text is some other JSON.
func (h *header) legacyVariable(v *variable, dsize int64) error {
	kind := types[v.code].kind
	if v.code == unknown {
		return ndfile.NewError(ndfile.ErrCorrupt, "no .type of ds-format 2.0")
	}
	if v.code >= boolCode {
		return nil
	}
	for c := float64Code; c < boolCode; c++ {
		if types[c].kind == kind && int64(types[c].size)*8 == dsize {
			v.code = c
			return nil
		}
	}
	return ndfile.NewError(ndfile.ErrCorrupt, ".dsize: no number of that many bits")
}

// placeLegacy finds where the variables lie.
func (h *header) placeLegacy(ctx context.Context, probe *stored) error {
	for i := range h.vars {
		if h.vars[i].masked && len(h.vars) > 1 {
			return ndfile.NewError(ndfile.ErrNotSupported, "written by ds-format 2.0, masks unreliable: "+
				strconv.Quote(string(h.vars[i].name))+" is masked and not the only variable")
		}
	}
	pos := int64(0)
	for i := range h.vars {
		v := &h.vars[i]
		v.at, probe.v = pos, v
		if err := probe.build(ctx); err != nil {
			return ndfile.Locate(err, "", string(v.name), true)
		}
		pos = probe.ix.end - h.body
	}
	if pos != h.bodySize() {
		return ndfile.NewError(ndfile.ErrCorrupt, "written by ds-format 2.0, and the data do not end with the file").At(h.body + pos)
	}
	return nil
}

// characters turns the lengths of Unicode strings, in characters, into the place
// where each ends, in bytes from the start of the text.
func (s *stored) characters(ctx context.Context, w *window) error {
	ends := make([]int64, 0, s.ix.present) // checked: 8 bytes each are in the file
	at, left := s.ix.text, s.src.size
	buf, have := w.data[:0], []byte(nil)
	pos := int64(0)
	err := s.lengths(ctx, w, 0, s.ix.present, func(i int64, n uint64) error {
		for ; n > 0; n-- {
			if len(have) < utf8.UTFMax && at < left {
				buf = w.text[:min(int64(len(w.text)), int64(len(have))+left-at)]
				k := copy(buf, have)
				if err := s.src.read(ctx, buf[k:], at); err != nil {
					return err
				}
				at += int64(len(buf) - k)
				have = buf
			}
			r, size := utf8.DecodeRune(have)
			if r == utf8.RuneError && size < 2 {
				return s.corrupt(s.ix.text+pos, i, "expected a character in UTF-8")
			}
			have, pos = have[size:], pos+int64(size)
		}
		ends = append(ends, pos)
		return nil
	})
	s.ix.all, s.ix.bytes = ends, pos
	return err
}
