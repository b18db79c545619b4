package codec

import (
	"math"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Object is an ordered JSON object, Value a JSON value: what configurations are
// made of.
type (
	Object = pyjson.Object
	Value  = pyjson.Value
)

// Version is the version of Zarr whose names and configurations are meant.
type Version uint8

// The versions.
const (
	V2 Version = 2 // names are ids of numcodecs
	V3 Version = 3
)

// MaxSize is the largest chunk in bytes, encoded or not.
const MaxSize = math.MaxInt64 / 4

// maxVar is the most bytes of a chunk of elements of variable length, decoded: what
// bounds a chunk that claims to be larger than anything.
const maxVar = 512 << 20

// Form describes what a codec is given to encode, and what it gives.
type Form struct {
	// DType is the type of the elements, with the byte order that they have here.
	// Kind Invalid: these are bytes that stand for no elements any more.
	DType ndarray.DType
	// Shape is that of the elements, row-major; nil for bytes.
	Shape []int64
	// Fill is the element that stands for what was never written; nil is zeros.
	Fill []byte
	// Item is the number of bytes of an element, also of bytes that were elements
	// just before; else 1.
	Item int
	// Bits is how many low bits of an element mean something; 0: all of them.
	Bits int
	// Size is the number of bytes. Of elements of variable length, and of bytes
	// whose number depends on their content, it is the most that there can be.
	Size int64
	// Exact: there are Size bytes, neither more nor less.
	Exact bool
}

// Elements makes the form of elements of a type in some shape. Elements of
// variable length have the form of the codec vlen-utf8.
func Elements(d ndarray.DType, shape []int64, fill []byte) (Form, error) {
	f := Form{DType: d, Shape: slices.Clone(shape), Fill: fill, Item: max(d.Size, 1), Exact: true}
	if d.IsVar() {
		n, err := ndarray.Count(shape)
		if err != nil || n > maxVar/4 {
			return Form{}, errorf(ErrLimit, "", "a chunk of shape %v, expected at most %d elements of variable length", shape, maxVar/4)
		}
		f.Size, f.Exact = maxVar, false
		return f, nil
	}
	size, err := ndarray.NBytes(shape, d.Size)
	if err != nil || size > MaxSize {
		return Form{}, errorf(ErrLimit, "", "a chunk of shape %v of %s, expected at most 2^61 bytes", shape, d)
	}
	f.Size = size
	return f, nil
}

// count is the number of elements.
func (f *Form) count() int64 {
	n, _ := ndarray.Count(f.Shape) // was checked by Elements
	return n
}

// isBytes tells that the form is bytes, not elements.
func (f *Form) isBytes() bool { return f.DType.Kind == ndarray.Invalid }

// opaque is the form of bytes: exactly size, or at most.
func opaque(size int64, exact bool) Form {
	return Form{Size: min(size, MaxSize), Item: 1, Exact: exact}
}

// Codec is a codec with a configuration.
type Codec interface {
	// Config is the whole configuration, as the version of Zarr has it. It fails
	// with ErrNotSupported where that version has no such configuration.
	Config(v Version) (*Object, error)
	// Bind prepares the codec for what it will be given, and tells what it makes of
	// it. Elements that it cannot take are ErrNotSupported.
	Bind(in Form) (Stage, Form, error)
}

// Stage encodes and decodes what has one form.
type Stage interface {
	// Encode appends the encoded src to dst. After an error dst holds anything behind
	// what it held before.
	Encode(dst *Buffer, src []byte) error
	// Decode appends what src decodes to, which is at most limit bytes: more is
	// ErrCorrupt. Errors are as those of Encode.
	Decode(dst *Buffer, src []byte, limit int64) error
}

// Buffer is what stages append to: bytes in memory that can fail.
type Buffer = mem.Buffer

// Definition is a codec as it can be asked for.
type Definition struct {
	// Name is its name in Zarr 3 and in every API; "" where only Zarr 2 has it.
	// Then Zarr 3 knows it as "numcodecs." and its ID.
	Name string
	// Also are other names in Zarr 3, which are read.
	Also []string
	// ID is its name in Zarr 2; "" where only Zarr 3 has it.
	ID string
	// kind says where in a chain of Zarr 3 it can stand.
	kind kind
	// new reads a configuration.
	new func(c *conf) (Codec, error)
}

// kind is what a codec is given and what it gives.
type kind uint8

const (
	elementwise kind = iota // elements to elements
	serializer              // elements to bytes
	bytewise                // bytes to bytes
)

// definitions are all codecs.
var definitions []*Definition

// define adds a codec. Each codec's file calls it once, for a package variable.
func define(d Definition) *Definition {
	definitions = append(definitions, &d)
	return &d
}

// find gives the codec of a name in a version, or nil. plain is the version whose
// configuration belongs to the name.
func find(name string, v Version) (d *Definition, plain Version) {
	if id, ok := cutPrefix(name, numcodecs); ok && v == V3 {
		return byID(id), V2
	}
	if v == V2 {
		return byID(name), V2
	}
	for _, d := range definitions {
		if d.Name == name && name != "" || slices.Contains(d.Also, name) {
			return d, V3
		}
	}
	return nil, V3
}

// numcodecs begins the names in Zarr 3 of codecs of Zarr 2.
const numcodecs = "numcodecs."

func byID(id string) *Definition {
	for _, d := range definitions {
		if d.ID == id && id != "" {
			return d
		}
	}
	return nil
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// Names lists the codecs of a version, sorted.
func Names(v Version) []string {
	var names []string
	for _, d := range definitions {
		switch {
		case v == V2 && d.ID != "":
			names = append(names, d.ID)
		case v == V3 && d.Name != "":
			names = append(names, d.Name)
		case v == V3:
			names = append(names, numcodecs+d.ID)
		}
	}
	slices.Sort(names)
	return names
}
