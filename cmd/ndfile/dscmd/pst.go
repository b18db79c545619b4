package dscmd

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// Values of PST, the text format of ds-format's arguments and output: nil, bool,
// int64, uint64, float64, string, []any and *object.

// object is a mapping that keeps its order.
type object struct {
	keys   []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

func (o *object) set(key string, v any) {
	if _, ok := o.values[key]; !ok {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

func (o *object) get(key string) (any, bool) {
	v, ok := o.values[key]
	return v, ok
}

func (o *object) update(p *object) {
	for _, key := range p.keys {
		o.set(key, p.values[key])
	}
}

var escapes = map[byte]byte{'a': 7, 'b': 8, 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

// readWord takes quotes and escapes out of an argument. plain tells of each byte
// whether it stood there as it is.
func readWord(arg string) (word []byte, plain []bool) {
	quoted := false
	for i := 0; i < len(arg); i++ {
		switch c := arg[i]; {
		case c == '\\' && i+1 < len(arg):
			i++
			n := 0
			for n < 3 && i+n < len(arg) && '0' <= arg[i+n] && arg[i+n] <= '9' {
				n++
			}
			if n > 0 {
				code, _ := strconv.ParseUint(arg[i:i+n], 8, 16)
				word, plain = append(word, byte(code)), append(plain, false)
				i += n - 1
				continue
			}
			c = arg[i]
			if e, ok := escapes[c]; ok {
				c = e
			}
			word, plain = append(word, c), append(plain, false)
		case c == '"':
			quoted = !quoted
		default:
			word, plain = append(word, c), append(plain, !quoted)
		}
	}
	return word, plain
}

// scalar is the value of a word.
func scalar(word []byte, plain []bool) any {
	for _, p := range plain {
		if !p {
			return string(word)
		}
	}
	switch s := string(word); s {
	case "true":
		return true
	case "false":
		return false
	case "none":
		return nil
	default:
		if i, err := strconv.ParseInt(s, 10, 64); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && !strings.ContainsAny(s, "xXpP_") {
			return f
		}
		return s
	}
}

// level is an open array, or an object that was opened explicitly or by its keys.
type level struct {
	array    *[]any
	object   *object
	explicit bool
}

// decoder reads arguments.
type decoder struct{ levels []level }

func (d *decoder) top() *level { return &d.levels[len(d.levels)-1] }

func (d *decoder) pop() { d.levels = d.levels[:len(d.levels)-1] }

// insert puts a value where it belongs: what has no key ends an implicit object.
func (d *decoder) insert(v any) {
	if d.top().object != nil && !d.top().explicit {
		d.pop()
	}
	if a := d.top().array; a != nil {
		*a = append(*a, v)
	}
}

func (d *decoder) insertKey(key string, v any) {
	if d.top().object == nil {
		o := newObject()
		*d.top().array = append(*d.top().array, o)
		d.levels = append(d.levels, level{object: o})
	}
	d.top().object.set(key, v)
}

// decode reads the arguments of a command. Arrays are filled while they are open.
func decode(args []string) []any {
	var all []any
	d := &decoder{levels: []level{{array: &all}}}
	key, hasKey := "", false
	put := func(v any) {
		if hasKey {
			d.insertKey(key, v)
		} else {
			d.insert(v)
		}
	}
	for _, arg := range args {
		word, plain := readWord(arg)
		s, n := string(word), len(word)
		v := scalar(word, plain)
		text, isText := v.(string)
		switch {
		case isText && n > 0 && word[n-1] == ':' && plain[n-1]:
			key, hasKey = s[:n-1], true
			d.insertKey(key, nil)
			continue
		case isText && n > 1 && strings.HasPrefix(text, "--") && plain[0] && plain[1]:
			d.insertKey(s[2:], true)
		case isText && n > 0 && word[0] == '-' && plain[0]:
			for i := 1; i < n; i++ {
				d.insertKey(s[i:i+1], true)
			}
		case s == "{" && plain[0]:
			items := &[]any{}
			put(items)
			d.levels = append(d.levels, level{array: items})
		case s == "}" && plain[0]:
			if len(d.levels) > 1 && d.top().object != nil && !d.top().explicit {
				d.pop()
			}
			if len(d.levels) > 1 && d.top().array != nil {
				d.pop()
			}
		case s == "{{" && plain[0] && plain[1]:
			o := newObject()
			put(o)
			d.levels = append(d.levels, level{object: o, explicit: true})
		case s == "}}" && plain[0] && plain[1]:
			if len(d.levels) > 1 && d.top().explicit {
				d.pop()
			}
		default:
			put(v)
		}
		hasKey = false
	}
	closed := make([]any, len(all))
	for i, v := range all {
		closed[i] = settle(v)
	}
	return closed
}

// settle makes lists of arrays that are complete.
func settle(v any) any {
	switch v := v.(type) {
	case *[]any:
		list := make([]any, len(*v))
		for i, item := range *v {
			list[i] = settle(item)
		}
		return list
	case *object:
		for _, key := range v.keys {
			v.values[key] = settle(v.values[key])
		}
	}
	return v
}

// quote is a text as PST spells it.
func quote(s string) string {
	quoted := s == "" || strings.HasSuffix(s, ":") || strings.HasPrefix(s, "-")
	switch s {
	case "{", "}", "{{", "}}", "true", "false", "none":
		quoted = true
	}
	if s != "" && s[0] != '.' && strings.Trim(s, "0123456789.") == "" && strings.Count(s, ".") <= 1 {
		quoted = true
	}
	quoted = quoted || strings.ContainsAny(s, "\" \f\n\r\t\v")
	s = strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s)
	if quoted {
		return `"` + s + `"`
	}
	return s
}

// encode is a value as PST. Objects inside of others have a line for each member,
// unless indent is off.
func encode(v any, indent bool) []byte {
	if v == nil {
		return nil
	}
	words := appendWords(nil, v, false, 0, indent)
	var out bytes.Buffer
	for i, w := range words {
		out.WriteString(w)
		if i+1 < len(words) && !isSpace(w) && !isSpace(words[i+1]) {
			out.WriteByte(' ')
		}
	}
	return bytes.TrimSpace(out.Bytes())
}

func isSpace(w string) bool { return w == "\n" || w == " " || w == "\t" }

func appendWords(words []string, v any, explicit bool, depth int, indent bool) []string {
	switch v := v.(type) {
	case *object:
		return appendObject(words, v, explicit, depth, indent)
	case []any:
		if len(v) == 0 {
			return append(words, "{", "}")
		}
		if explicit {
			words = append(words, "{")
		}
		for i, item := range v {
			_, list := item.([]any)
			_, isObject := item.(*object)
			words = appendWords(words, item, list || isObject && (isObjectAt(v, i-1) || isObjectAt(v, i+1)), depth, indent)
		}
		if explicit {
			words = append(words, "}")
		}
		return words
	}
	return append(words, scalarText(v))
}

func isObjectAt(list []any, i int) bool {
	if i < 0 || i >= len(list) {
		return false
	}
	_, ok := list[i].(*object)
	return ok
}

func appendObject(words []string, o *object, explicit bool, depth int, indent bool) []string {
	newline := func() {
		if indent {
			words = append(words, "\n")
		}
	}
	tabs := func(n int) {
		for range n {
			if indent {
				words = append(words, "\t")
			}
		}
	}
	if len(o.keys) == 0 {
		words = append(words, "{{", "}}")
		newline()
		return words
	}
	inner := depth
	if explicit {
		words = append(words, "{{")
		newline()
		inner++
	}
	for _, key := range o.keys {
		tabs(inner)
		words = append(words, quote(key)+":")
		words = appendWords(words, o.values[key], true, inner, indent)
		if explicit {
			newline()
		}
	}
	if explicit {
		tabs(depth)
		words = append(words, "}}")
		newline()
	}
	return words
}

// scalarText is a value that is neither list nor object.
func scalarText(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		switch {
		case math.IsNaN(v):
			return "nan"
		case math.IsInf(v, 1):
			return "inf"
		case math.IsInf(v, -1):
			return "-inf"
		}
		return strconv.FormatFloat(v, 'f', 6, 64)
	case string:
		return quote(v)
	}
	return ""
}
