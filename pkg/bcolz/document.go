package bcolz

import (
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// document is the text of a metadata file, a JSON object, with its members. Its
// methods read members; their errors are ErrCorrupt with the offset of the
// member's value, what was expected and what was found.
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
		return ndfile.NewError(kind, "expected a member "+strconv.Quote(key)+": "+expected+", found none").At(0)
	}
	return ndfile.NewError(kind, key+": expected "+expected+", found "+shortText(v)).At(d.offset(key))
}

// offset is where the value of a member begins.
func (d *document) offset(key string) int64 {
	s := pyjson.Scanner{Data: d.text, MaxDepth: 1 << 20}
	at := int64(0)
	if s.EnterObject() != nil {
		return at
	}
	for first := true; ; first = false {
		raw, _, more, err := s.NextKey(first)
		if err != nil || !more {
			return at
		}
		name, _ := pyjson.Unquote(raw)
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
	if n := len(v.Items()); n > most {
		return "a list of " + strconv.Itoa(n)
	}
	text := pyjson.Append(nil, v)
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
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
