package zarr

import (
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// document is the text of a metadata document with its members. Its methods read
// members; their errors are ErrCorrupt with the offset of the member's value,
// what was expected and what was found.
type document struct {
	*pyjson.Object
	text []byte
}

// parseDocument reads the text of one JSON object as Python does: the last of
// two members of one name counts.
func parseDocument(text []byte, lim ndfile.Limits) (*document, error) {
	o, err := pyjson.ParseObject(text, pyjson.Limits{MaxBytes: lim.Header(), MaxDepth: lim.MaxDepth})
	if err != nil {
		return nil, jsonError(err)
	}
	return &document{Object: o, text: text}, nil
}

// jsonError gives an error of package pyjson its kind and offset.
func jsonError(err error) error {
	e := ndfile.NewError(ndfile.KindOf(err), "").Because(err)
	var syntax *pyjson.SyntaxError
	var limit *pyjson.LimitError
	switch {
	case errors.As(err, &syntax):
		e = ndfile.NewError(e.Kind, "not a JSON object: "+syntax.Msg).At(syntax.Offset)
	case errors.As(err, &limit):
		e.At(limit.Offset)
	}
	return e
}

// wrong is the error of a member whose value is not what was expected.
func (d *document) wrong(kind *ndfile.ErrorKind, key, expected string) *ndfile.Error {
	v, ok := d.Get(key)
	if !ok {
		return ndfile.NewError(kind, "expected a member "+strconv.Quote(key)+": "+expected+", found none")
	}
	return ndfile.NewError(kind, key+": expected "+expected+", found "+shortText(v)).At(d.offset(key))
}

// place gives an error the offset of a member, unless it has one.
func (d *document) place(key string, err error) error {
	var e *ndfile.Error
	if errors.As(err, &e) && e.Offset < 0 {
		e.At(d.offset(key))
	}
	return err
}

// offset is where the value of a member begins.
func (d *document) offset(key string) int64 {
	s := pyjson.Scanner{Data: d.text}
	at := int64(-1)
	if s.EnterObject() != nil {
		return at
	}
	for first := true; ; first = false {
		raw, plain, more, err := s.NextKey(first)
		if err != nil || !more {
			return at
		}
		name := string(raw)
		if !plain {
			name, _ = pyjson.Unquote(raw)
		}
		value, err := s.Skip()
		if err != nil {
			return at
		}
		if name == key {
			at = int64(s.Pos - len(value))
		}
	}
}

// shortText is a value for messages.
func shortText(v pyjson.Value) string {
	const most = 60
	if items := v.Items(); len(items) > most {
		return "a list of " + strconv.Itoa(len(items))
	}
	text := pyjson.Append(nil, v)
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// ints reads a list of integers.
func (d *document) ints(key string) ([]int64, error) {
	v, _ := d.Get(key)
	if v.Kind() != pyjson.KindList {
		return nil, d.wrong(ndfile.ErrCorrupt, key, "a list of integers")
	}
	list := make([]int64, len(v.Items()))
	for i, item := range v.Items() {
		n, ok := item.Int64()
		if !ok {
			return nil, d.wrong(ndfile.ErrCorrupt, key, "a list of integers of 64 bits")
		}
		list[i] = n
	}
	return list, nil
}

// integer reads an integer from 0 to most.
func (d *document) integer(key string, most int) (int, error) {
	v, _ := d.Get(key)
	n, ok := v.Int64()
	if !ok || n < 0 || n > int64(most) {
		return 0, d.wrong(ndfile.ErrCorrupt, key, "an integer from 0 to "+strconv.Itoa(most))
	}
	return int(n), nil
}

// str reads a string.
func (d *document) str(key string) (string, error) {
	v, _ := d.Get(key)
	s, ok := v.Str()
	if !ok {
		return "", d.wrong(ndfile.ErrCorrupt, key, "a string")
	}
	return s, nil
}

// checkGrid checks shape and chunks: their ranks, signs and products, and that
// an encoder can hold a chunk. grid is the member that chunks come from.
func (d *document) checkGrid(m *metadata, grid string) error {
	if grid == "" {
		grid = "chunks"
	}
	if len(m.chunks) != len(m.shape) {
		return d.wrong(ndfile.ErrCorrupt, grid, "as many extents as shape has, "+strconv.Itoa(len(m.shape)))
	}
	if len(m.shape) > ndarray.MaxNDim {
		return d.wrong(ndfile.ErrLimit, "shape", "at most "+strconv.Itoa(ndarray.MaxNDim)+" axes")
	}
	for axis := range m.shape {
		if m.shape[axis] < 0 {
			return d.wrong(ndfile.ErrCorrupt, "shape", "extents of 0 or more")
		}
		if m.chunks[axis] < 1 {
			return d.wrong(ndfile.ErrCorrupt, grid, "extents of 1 or more")
		}
	}
	if _, err := ndarray.NBytes(m.shape, m.dtype.Size); err != nil {
		return d.wrong(ndfile.ErrCorrupt, "shape", "less than 2^63 bytes of data")
	}
	if n, err := ndarray.NBytes(m.chunks, m.dtype.Size); err != nil || n > blosc.MaxNBytes {
		return d.wrong(ndfile.ErrLimit, grid, "at most "+strconv.Itoa(blosc.MaxNBytes)+" bytes a chunk")
	}
	return nil
}
