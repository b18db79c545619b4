package ds

import (
	"bytes"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Metadata go from the header to a sink as the text that they are: values that nobody
// looks at are not built.

// describe puts a variable without its elements into the sink.
func (s *stored) describe(v *variable, d ndarray.DType, sink *ndfile.Sink) error {
	_, err := s.add(v, d, sink)
	return err
}

// add registers a variable.
func (s *stored) add(v *variable, d ndarray.DType, sink *ndfile.Sink) (*ndfile.LoadInfo, error) {
	var flags uint32
	shape := v.shape
	if v.masked {
		flags |= ndfile.InfoMasked
	}
	if v.noData {
		flags, shape = flags|ndfile.InfoNoData, nil
	}
	li, err := sink.Add(v.name, d, shape, flags)
	if err != nil || !sink.Meta {
		return li, err
	}
	var dims []byte
	spec := ndfile.Spec{DType: d}
	sink.AddMeta(li, &spec, func(dst []byte) []byte { return append(dst, dims...) }, func(dst []byte) []byte {
		dst, dims = s.head.appendMembers(dst, v.raw)
		dims = s.head.checkDims(dims, v)
		return dst
	})
	return li, nil
}

// appendAttrs appends the attributes of the dataset.
func (h *header) appendAttrs(dst []byte) []byte {
	if h.attrs == nil {
		return append(dst, "{}"...)
	}
	dst, _ = h.appendMembers(dst, h.attrs)
	return dst
}

// mostSpans is how many attributes are looked at in pairs.
const mostSpans = 32

// appendMembers appends an object of the header without the keys that begin with a
// dot, and gives the value of .dims. raw has been scanned before.
func (h *header) appendMembers(dst, raw []byte) (text, dims []byte) {
	start := len(dst)
	if !isPlainText(raw) {
		return h.appendParsed(dst, raw)
	}
	var keys [mostSpans][]byte
	n := 0
	sc := pyjson.Scanner{Data: raw, MaxDepth: h.depth}
	if sc.EnterObject() != nil {
		return h.appendParsed(dst, raw)
	}
	dst = append(dst, '{')
	for first := true; ; first = false {
		key, _, more, err := sc.NextKey(first)
		if err != nil {
			return h.appendParsed(dst[:start], raw)
		}
		if !more {
			return append(dst, '}'), dims
		}
		value, err := sc.Skip()
		if err != nil {
			return h.appendParsed(dst[:start], raw)
		}
		if len(key) > 0 && key[0] == '.' {
			if string(key) == ".dims" {
				dims = value
			}
			continue
		}
		for _, other := range keys[:n] {
			if bytes.Equal(other, key) { // the last one counts
				return h.appendParsed(dst[:start], raw)
			}
		}
		if n == mostSpans {
			return h.appendParsed(dst[:start], raw)
		}
		keys[n] = key
		if n++; n > 1 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(append(dst, '"'), key...), `": `...), value...)
	}
}

// isPlainText reports whether a text is ASCII without escapes.
func isPlainText(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf || c == '\\' {
			return false
		}
	}
	return true
}

// appendParsed is appendMembers for all objects.
func (h *header) appendParsed(dst, raw []byte) (text, dims []byte) {
	o, err := h.object(raw)
	if err != nil {
		return append(dst, "{}"...), nil
	}
	if v, ok := o.Get(".dims"); ok {
		dims = pyjson.Append(nil, v)
	}
	return ndfile.AppendJSON(dst, attributes(o)), dims
}

// checkDims gives the text of .dims, nil where it is no list of strings, one for each
// axis.
func (h *header) checkDims(raw []byte, v *variable) []byte {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	sc := pyjson.Scanner{Data: raw, MaxDepth: h.depth}
	if sc.EnterArray() != nil {
		return nil
	}
	n := 0
	for first := true; ; first = false {
		more, err := sc.NextItem(first)
		if err != nil {
			return nil
		}
		if !more {
			break
		}
		if c, err := sc.Peek(); err != nil || c != '"' {
			return nil
		}
		if _, _, err := sc.RawString(); err != nil {
			return nil
		}
		n++
	}
	if n != len(v.shape) && !v.noData {
		return nil
	}
	return raw
}
