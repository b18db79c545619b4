package ds

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// entry is one variable of a header to be written.
type entry struct {
	name  string
	code  code
	big   bool
	shape []int64
	count int64
	dims  []string
	attrs *ndfile.Attrs
	extra *ndfile.Attrs

	noData  bool
	missing bool  // at least one element is
	present int64 // elements that are not
	length  int64 // bytes in the body
}

// codeFor gives the type under which a dtype is stored.
func codeFor(d ndarray.DType) (code, error) {
	switch d.Kind {
	case ndarray.Bytes:
		return strCode, nil
	case ndarray.Unicode:
		return unicodeCode, nil
	}
	for c := float64Code; int(c) < len(types); c++ {
		if types[c].kind == d.Kind && types[c].size == d.Size {
			return c, nil
		}
	}
	return unknown, ndfile.NewError(ndfile.ErrDType, "the ds format has no type for "+d.String())
}

// newEntry checks what can be checked of a variable before its data.
func newEntry(name string, spec *ndfile.Spec) (e entry, err error) {
	if err := checkName(name); err != nil {
		return e, err
	}
	e = entry{name: name, dims: spec.Dims, attrs: spec.Attrs, extra: spec.Extra, noData: spec.NoData}
	if e.noData && spec.DType.Kind == ndarray.Invalid {
		return e, nil
	}
	if e.code, err = codeFor(spec.DType); err != nil || e.noData {
		return e, err
	}
	if e.count, err = ndarray.Count(spec.Shape); err != nil {
		return e, err
	}
	e.shape = spec.Shape
	e.big = spec.DType.Swapped() != (ndarray.NativeOrder == ndarray.Big)
	if e.isString() {
		e.big = false
	}
	if e.dims != nil && len(e.dims) != len(e.shape) {
		return e, ndfile.NewError(ndfile.ErrShape, strconv.Itoa(len(e.dims))+" names for "+strconv.Itoa(len(e.shape))+" axes")
	}
	return e, nil
}

func (e *entry) isString() bool { return e.code == strCode || e.code == unicodeCode }

// dtype is the type on disk.
func (e *entry) dtype() ndarray.DType {
	v := variable{code: e.code, big: e.big}
	return v.dtype()
}

// setLength computes length and missing from the number of elements that are not
// missing and, for strings, their bytes.
func (e *entry) setLength(present, text int64) error {
	e.present, e.missing = present, present < e.count
	size := int64(types[e.code].size)
	if e.isString() {
		size = 8
	}
	n, ok := ndarray.Mul(present, size)
	if e.code == boolCode {
		n = (present + 7) / 8
	}
	mask := int64(0)
	if e.missing {
		mask = (e.count-1)/8 + 1
	}
	sum, ok2 := ndarray.Add(n, text)
	sum, ok3 := ndarray.Add(sum, mask)
	if !ok || !ok2 || !ok3 {
		return ndfile.NewError(ndfile.ErrLimit, "the variable takes more than 2^63 bytes")
	}
	e.length = sum
	return nil
}

// checkName refuses a name that would come back as another one: what is neither
// UTF-8 nor a lone surrogate in WTF-8, as Python's names can have.
func checkName(name string) error {
	high := false // the character before is a high surrogate
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		lone := r == utf8.RuneError && n == 1 && len(name) >= i+3 && name[i] == 0xed && name[i+1]&0xe0 == 0xa0 && name[i+2]&0xc0 == 0x80
		low := lone && name[i+1] >= 0xb0
		if r == utf8.RuneError && n == 1 && !lone || high && low {
			return ndfile.NewError(ndfile.ErrValue, "the name is not UTF-8: byte "+strconv.Itoa(i))
		}
		if high = lone && !low; lone {
			n = 3
		}
		i += n
	}
	return nil
}

// The keys that describe the data, in the order in which ds-format adds them.
const (
	keySize = iota
	keyOffset
	keyLen
	keyType
	keyMissing
	keyEndian
	dataKeys
)

var dataKeyNames = [dataKeys]string{".size", ".offset", ".len", ".type", ".missing", ".endian"}

// The body of a large file begins at a multiple of bodyAlignment, so that the first
// array can be mapped, and that the kernel copies whole words: out of step it takes
// up to 1.7 times as long. Smaller files are byte for byte what ds-format writes.
const (
	largeBody     = 1 << 20
	bodyAlignment = 64
	spaces        = "                                                                "
)

// appendHeader appends version line, header and newline to dst, which is empty. The
// entries are sorted by name. A large body is aligned by spaces before the newline,
// which JSON allows.
func appendHeader(dst []byte, n int, at func(i int) *entry, attrs *ndfile.Attrs) []byte {
	dst = append(append(dst, versionLine...), '{')
	offset := int64(0)
	for i := range n {
		e := at(i)
		dst = append(appendName(dst, e.name), ": "...)
		dst = append(e.append(dst, offset), ", "...)
		offset += e.length
	}
	dst = append(dst, `".": {`...)
	for i := range attrs.Len() {
		key, v := attrs.At(i)
		dst = appendMember(dst, i == 0, key, v)
	}
	dst = append(dst, "}}"...)
	if offset >= largeBody {
		dst = append(dst, spaces[:-(len(dst)+1)&(bodyAlignment-1)]...)
	}
	return append(dst, '\n')
}

// appendName appends a name as a JSON string, with a backslash before a first dot
// or backslash.
func appendName(dst []byte, name string) []byte {
	start := len(dst)
	dst = pyjson.AppendString(dst, name)
	if needsEscape(name) {
		dst = append(dst, `\\`...)
		copy(dst[start+3:], dst[start+1:])
		copy(dst[start+1:], `\\`)
	}
	return dst
}

// appendMember appends an attribute.
func appendMember(dst []byte, first bool, name string, v ndfile.Value) []byte {
	dst = append(appendName(appendComma(dst, first), name), ": "...)
	return pyjson.Append(dst, v)
}

func appendComma(dst []byte, first bool) []byte {
	if first {
		return dst
	}
	return append(dst, ", "...)
}

// append appends the object of the variable. The keys of extra keep their places,
// and without data what they say of the elements; a new variable has dims,
// attributes, and then the keys that describe the data.
func (e *entry) append(dst []byte, offset int64) []byte {
	dst = append(dst, '{')
	first := true
	var done [dataKeys]bool
	dims := e.dims == nil
	for i := range e.extra.Len() {
		key, v := e.extra.At(i)
		if key == ".dims" && e.dims != nil {
			dst, dims = e.appendDims(appendComma(dst, first)), true
			first = false
			continue
		}
		if k := dataKey(key); k >= 0 && !(e.noData && (k == keyEndian || k == keyType)) {
			dst, done[k] = e.appendData(appendComma(dst, first), k, offset), true
			first = false
			continue
		}
		if attribute := key == "" || key[0] != '.'; attribute && e.attrs != nil {
			now, kept := e.attrs.Get(unescape(key))
			if !kept {
				continue
			}
			v = now
		}
		if key == dataKeyNames[keyType] {
			done[keyType] = true
		}
		dst = append(pyjson.AppendString(appendComma(dst, first), key), ": "...)
		dst = pyjson.Append(dst, v)
		first = false
	}
	if !dims {
		dst = e.appendDims(appendComma(dst, first))
		first = false
	}
	for i := range e.attrs.Len() {
		name, v := e.attrs.At(i)
		if e.hasExtra(name) {
			continue
		}
		dst = appendMember(dst, first, name, v)
		first = false
	}
	for k := range done {
		if !done[k] && !(k == keyEndian && e.noData) {
			dst = e.appendData(appendComma(dst, first), k, offset)
			first = false
		}
	}
	return append(dst, '}')
}

// hasExtra reports whether an attribute was written at its place in extra.
func (e *entry) hasExtra(name string) bool {
	if e.extra.Len() == 0 {
		return false
	}
	if needsEscape(name) {
		if _, ok := e.extra.Get(`\` + name); ok {
			return true
		}
		if name[0] == '.' {
			return false // a dot-key, no attribute
		}
	}
	_, ok := e.extra.Get(name)
	return ok && unescape(name) == name
}

func dataKey(key string) int {
	for k, name := range dataKeyNames {
		if key == name {
			return k
		}
	}
	return -1
}

func (e *entry) appendDims(dst []byte) []byte {
	dst = append(dst, `".dims": [`...)
	for i, name := range e.dims {
		dst = pyjson.AppendString(appendComma(dst, i == 0), name)
	}
	return append(dst, ']')
}

func (e *entry) appendData(dst []byte, key int, offset int64) []byte {
	dst = append(dst, '"')
	dst = append(dst, dataKeyNames[key]...)
	dst = append(dst, `": `...)
	switch key {
	case keySize:
		return e.appendSize(dst)
	case keyOffset:
		return strconv.AppendInt(dst, offset, 10)
	case keyLen:
		return strconv.AppendInt(dst, e.length, 10)
	case keyType:
		if e.code == unknown {
			return append(dst, "null"...)
		}
		return append(append(append(dst, '"'), types[e.code].name...), '"')
	case keyMissing:
		return strconv.AppendBool(dst, e.missing)
	}
	// Bytes have no order; the reference says "b" for them, and nothing for
	// bool, which its versions 3 and 4 need.
	if e.big || types[e.code].size == 1 {
		return append(dst, `"b"`...)
	}
	return append(dst, `"l"`...)
}

func (e *entry) appendSize(dst []byte) []byte {
	if e.noData {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, n := range e.shape {
		dst = strconv.AppendInt(appendComma(dst, i == 0), n, 10)
	}
	return append(dst, ']')
}

// compareEntries orders variables as ds-format does, by the code points of their
// names: in UTF-8 the bytes have the same order.
func compareEntries(a, b *entry) int { return strings.Compare(a.name, b.name) }

// checkUnique refuses names that come twice; the entries are sorted.
func checkUnique(n int, at func(i int) *entry) error {
	for i := 1; i < n; i++ {
		if e := at(i); e.name == at(i-1).name {
			return ndfile.NewError(ndfile.ErrNameExists, "two arrays have this name").In(e.name)
		}
	}
	return nil
}
