package ndarrow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ndfile/ndfile/pkg/columnar"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// node is an array in the making. It implements [columnar.Memory].
type node struct {
	alloc    memory.Allocator
	length   int64
	nulls    int64
	buffers  []*memory.Buffer
	children []node
}

// Begin implements [columnar.Memory].
func (m *node) Begin(length int64, buffers, children int) error {
	m.length, m.buffers, m.children = length, make([]*memory.Buffer, buffers), make([]node, children)
	for i := range m.children {
		m.children[i].alloc = m.alloc
	}
	return nil
}

// Buffer implements [columnar.Memory].
func (m *node) Buffer(i int, n int64) ([]byte, error) {
	if n > math.MaxInt {
		return nil, ndfile.NewError(ndfile.ErrNoMemory, strconv.FormatInt(n, 10)+" bytes")
	}
	b := memory.NewResizableBuffer(m.alloc)
	b.Resize(int(n))
	m.buffers[i] = b
	return b.Bytes(), nil
}

// Child implements [columnar.Memory].
func (m *node) Child(i int) columnar.Memory { return &m.children[i] }

// SetNulls implements [columnar.Memory].
func (m *node) SetNulls(n int64) { m.nulls = n }

// release gives the buffers back.
func (m *node) release() {
	for i, b := range m.buffers {
		if b != nil {
			b.Release()
			m.buffers[i] = nil
		}
	}
	for i := range m.children {
		m.children[i].release()
	}
}

// array is the array that was made, which takes the buffers over.
func (m *node) array(t arrow.DataType) arrow.Array {
	data := m.data(t)
	defer data.Release()
	m.release() // the data hold them
	return array.MakeFromData(data)
}

func (m *node) data(t arrow.DataType) *array.Data {
	children := make([]arrow.ArrayData, len(m.children))
	for i := range m.children {
		in := m.children[i].data(t.(arrow.NestedType).Fields()[i].Type)
		defer in.Release()
		children[i] = in
	}
	return array.NewData(t, int(m.length), slices.Clone(m.buffers), children, int(m.nulls), 0)
}

// simple are the types whose format has no parameter.
var simple = map[string]arrow.DataType{
	"b": arrow.FixedWidthTypes.Boolean,
	"c": arrow.PrimitiveTypes.Int8, "s": arrow.PrimitiveTypes.Int16, "i": arrow.PrimitiveTypes.Int32, "l": arrow.PrimitiveTypes.Int64,
	"C": arrow.PrimitiveTypes.Uint8, "S": arrow.PrimitiveTypes.Uint16, "I": arrow.PrimitiveTypes.Uint32, "L": arrow.PrimitiveTypes.Uint64,
	"e": arrow.FixedWidthTypes.Float16, "f": arrow.PrimitiveTypes.Float32, "g": arrow.PrimitiveTypes.Float64,
	"z": arrow.BinaryTypes.Binary, "u": arrow.BinaryTypes.String, "tdD": arrow.FixedWidthTypes.Date32,
	"tss:": &arrow.TimestampType{Unit: arrow.Second}, "tsm:": &arrow.TimestampType{Unit: arrow.Millisecond},
	"tsu:": &arrow.TimestampType{Unit: arrow.Microsecond}, "tsn:": &arrow.TimestampType{Unit: arrow.Nanosecond},
	"tDs": arrow.FixedWidthTypes.Duration_s, "tDm": arrow.FixedWidthTypes.Duration_ms,
	"tDu": arrow.FixedWidthTypes.Duration_us, "tDn": arrow.FixedWidthTypes.Duration_ns,
}

// typeOf is the type of a field.
func typeOf(f columnar.Field) (arrow.DataType, error) {
	if t, ok := simple[f.Format]; ok {
		return t, nil
	}
	fields := make([]arrow.Field, len(f.Children))
	for i, child := range f.Children {
		t, err := typeOf(child)
		if err != nil {
			return nil, ndfile.Locate(err, "", child.Name, true)
		}
		fields[i] = arrow.Field{Name: child.Name, Type: t, Nullable: true}
	}
	if f.Format == "+s" {
		return arrow.StructOf(fields...), nil
	}
	kind, size, _ := strings.Cut(f.Format, ":")
	n, err := strconv.ParseInt(size, 10, 32)
	switch {
	case err != nil || n == 0:
	case kind == "w":
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, nil
	case kind == "+w" && len(fields) == 1:
		return arrow.FixedSizeListOfField(int32(n), fields[0]), nil
	}
	return nil, ndfile.NewError(ndfile.ErrDType, "Arrow's Go library has no type "+strconv.Quote(f.Format))
}
