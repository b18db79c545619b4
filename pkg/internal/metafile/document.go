package metafile

import (
	"errors"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Document is the text of a JSON object with its members. The errors of its
// methods have the offset of the member's value, what was expected and what was
// found, but no path.
type Document struct {
	*pyjson.Object
	text []byte
}

// Parse reads the text of one JSON object as Python does: the last of two members
// of one name counts. It keeps the text. Errors are ErrCorrupt and ErrLimit.
func Parse(text []byte, lim ndfile.Limits) (*Document, error) {
	o, err := pyjson.ParseObject(text, pyjson.Limits{MaxBytes: lim.Header(), MaxDepth: lim.MaxDepth})
	if err != nil {
		return nil, Error(err)
	}
	return &Document{Object: o, text: text}, nil
}

// Error gives an error of package pyjson its kind and offset.
func Error(err error) *ndfile.Error {
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

// Wrong is the error of a member whose value is not what was expected.
func (d *Document) Wrong(kind *ndfile.ErrorKind, key, expected string) *ndfile.Error {
	v, ok := d.Get(key)
	if !ok {
		return ndfile.NewError(kind, "expected a member "+strconv.Quote(key)+": "+expected+", found none").At(0)
	}
	return ndfile.NewError(kind, key+": expected "+expected+", found "+Short(v)).At(d.Offset(key))
}

// Place gives an error that has no offset that of a member.
func (d *Document) Place(key string, err error) error {
	var e *ndfile.Error
	if errors.As(err, &e) && e.Offset < 0 {
		e.At(d.Offset(key))
	}
	return err
}

// Offset is where the value of a member begins, 0 if there is none.
func (d *Document) Offset(key string) int64 {
	s := pyjson.Scanner{Data: d.text, MaxDepth: 1 << 20} // Parse found it shallow enough
	at := int64(0)
	if s.EnterObject() != nil {
		return at
	}
	for first := true; ; first = false {
		raw, plain, more, err := s.NextKey(first)
		if err != nil || !more {
			return at
		}
		same := string(raw) == key
		if !plain {
			name, _ := pyjson.Unquote(raw)
			same = name == key
		}
		value, err := s.Skip()
		if err != nil {
			return at
		}
		if same {
			at = int64(s.Pos - len(value))
		}
	}
}

// Str reads a string. Errors are ErrCorrupt, as in the methods below.
func (d *Document) Str(key string) (string, error) {
	v, _ := d.Get(key)
	s, ok := v.Str()
	if !ok {
		return "", d.Wrong(ndfile.ErrCorrupt, key, "a string")
	}
	return s, nil
}

// Int reads an integer from least to most.
func (d *Document) Int(key string, least, most int64) (int64, error) {
	v, _ := d.Get(key)
	n, ok := v.Int64()
	if !ok || n < least || n > most {
		return 0, d.Wrong(ndfile.ErrCorrupt, key, "an integer from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
	}
	return n, nil
}

// Ints reads a list of integers of 64 bits.
func (d *Document) Ints(key string) ([]int64, error) {
	v, _ := d.Get(key)
	list, ok := Ints(v)
	if !ok {
		return nil, d.Wrong(ndfile.ErrCorrupt, key, "a list of integers of 64 bits")
	}
	return list, nil
}

// Ints is the list of integers that a value holds; not ok where it is another.
func Ints(v pyjson.Value) (list []int64, ok bool) {
	items := v.Items()
	list = make([]int64, len(items))
	for i := range items {
		if list[i], ok = items[i].Int64(); !ok {
			return nil, false
		}
	}
	return list, v.Kind() == pyjson.KindList
}

// Short is a value for messages.
func Short(v pyjson.Value) string {
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
