package codec

import (
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// conf reads a configuration. The first error stays; members that nobody asked
// for are an error too.
type conf struct {
	*Object
	name    string // of the codec, for messages
	version Version
	asked   []string
	err     error
}

// get gives a member, if it is there and not null.
func (c *conf) get(key string) (Value, bool) {
	c.asked = append(c.asked, key)
	v, ok := c.Get(key)
	return v, ok && v.Kind() != pyjson.KindNull
}

func (c *conf) fail(key, expected string) {
	if c.err == nil {
		v, _ := c.Get(key)
		c.err = errorf(ErrConfig, c.name, "%s: expected %s, found %s", key, expected, short(v))
	}
}

// integer reads a whole number from lo to hi; absent is def.
func (c *conf) integer(key string, def, lo, hi int64) int64 {
	v, ok := c.get(key)
	if !ok {
		return def
	}
	n, ok := v.Int64()
	if !ok || n < lo || n > hi {
		c.fail(key, "an integer from "+strconv.FormatInt(lo, 10)+" to "+strconv.FormatInt(hi, 10))
		return def
	}
	return n
}

// flag reads a bool.
func (c *conf) flag(key string, def bool) bool {
	v, ok := c.get(key)
	if !ok {
		return def
	}
	b, ok := v.Bool()
	if !ok {
		c.fail(key, "true or false")
	}
	return b
}

// word reads one of some words.
func (c *conf) word(key, def string, words ...string) string {
	v, ok := c.get(key)
	if !ok {
		return def
	}
	s, _ := v.Str()
	if !slices.Contains(words, s) {
		list := ""
		for i, w := range words {
			if i > 0 {
				list += ", "
			}
			list += strconv.Quote(w)
		}
		c.fail(key, "one of "+list)
		return def
	}
	return s
}

// dtype reads a NumPy dtype; absent is def.
func (c *conf) dtype(key string, def ndarray.DType) ndarray.DType {
	v, ok := c.get(key)
	if !ok {
		return def
	}
	s, ok := v.Str()
	d, err := ndarray.Parse(s)
	if !ok || err != nil || !d.InNumPy() {
		c.fail(key, "a NumPy dtype")
		return def
	}
	return d
}

// number reads a number, and whether it is written as an integer.
func (c *conf) number(key string, def float64) (f float64, isInt bool) {
	v, ok := c.get(key)
	if !ok {
		return def, true
	}
	if f, ok = v.Float64(); !ok {
		c.fail(key, "a number")
	}
	return f, v.IsInt()
}

// end gives the error, if there is one.
func (c *conf) end() error {
	if c.err != nil {
		return c.err
	}
	for i := range c.Len() {
		if key, _ := c.At(i); !slices.Contains(c.asked, key) {
			return errorf(ErrNotSupported, c.name, "the member %q of the configuration is not supported", key)
		}
	}
	return nil
}

// members makes an object of keys and values in turn.
func members(m ...any) *Object {
	o := pyjson.NewObject()
	for i := 0; i < len(m); i += 2 {
		v, ok := m[i+1].(Value)
		if !ok {
			switch x := m[i+1].(type) {
			case int64:
				v = pyjson.Int(x)
			case int:
				v = pyjson.Int(int64(x))
			case bool:
				v = pyjson.Bool(x)
			case string:
				v = pyjson.String(x)
			}
		}
		o.Set(m[i].(string), v)
	}
	return o
}

// short is a value for messages.
func short(v Value) string {
	text := pyjson.Append(nil, v)
	if len(text) > 60 {
		return string(text[:60]) + "..."
	}
	return string(text)
}
