package ndfile

import "github.com/ndfile/ndfile/pkg/internal/pyjson"

// Attrs are ordered attributes with JSON values. Numbers keep their spelling,
// so integers of any size are exact; NaN and the infinities are allowed. Not
// safe for concurrent changes.
type Attrs = pyjson.Object

// Value is the value of an attribute.
type Value = pyjson.Value

// NewAttrs gives empty attributes.
func NewAttrs() *Attrs { return pyjson.NewObject() }

// ParseJSON reads attributes from the text of one JSON object, as Python's
// json.loads does, but refuses a key that comes twice.
func ParseJSON(text []byte) (*Attrs, error) {
	return pyjson.ParseObject(text, pyjson.Limits{UniqueKeys: true})
}

// AppendJSON appends attributes as the bytes that Python's json.dumps gives
// with its defaults. Nil attributes are {}.
func AppendJSON(dst []byte, a *Attrs) []byte {
	if a == nil {
		return append(dst, "{}"...)
	}
	return pyjson.AppendObject(dst, a)
}

// AppendJSONValue appends one value as Python's json.dumps writes it.
func AppendJSONValue(dst []byte, v Value) []byte { return pyjson.Append(dst, v) }

// AppendJSONString appends a JSON string, quoted and escaped.
func AppendJSONString(dst []byte, s string) []byte { return pyjson.AppendString(dst, s) }

// AppendDimsJSON appends the names of axes as a JSON list, or null for none.
func AppendDimsJSON(dst []byte, dims []string) []byte {
	if dims == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, d := range dims {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = pyjson.AppendString(dst, d)
	}
	return append(dst, ']')
}

// ParseDims reads the names of axes from a JSON list of strings, or null.
func ParseDims(text []byte) ([]string, error) {
	v, err := pyjson.Parse(text, pyjson.Limits{})
	if err != nil || v.Kind() == pyjson.KindNull {
		return nil, err
	}
	if v.Kind() != pyjson.KindList {
		return nil, NewError(ErrArgument, "the names of the axes are not a JSON list of strings")
	}
	dims := make([]string, 0, len(v.Items()))
	for _, it := range v.Items() {
		s, ok := it.Str()
		if !ok {
			return nil, NewError(ErrArgument, "the names of the axes are not a JSON list of strings")
		}
		dims = append(dims, s)
	}
	return dims, nil
}

// ParseValue reads one JSON value, as Python's json.loads does.
func ParseValue(text []byte) (Value, error) { return pyjson.Parse(text, pyjson.Limits{}) }

// StringValue is the value of a text attribute.
func StringValue(s string) Value { return pyjson.String(s) }

// IntValue is an integer.
func IntValue(i int64) Value { return pyjson.Int(i) }

// FloatValue is a float; never an integer.
func FloatValue(f float64) Value { return pyjson.Float(f) }
