package ndfile

import (
	"context"
	"iter"
	"strconv"

	"github.com/ndfile/ndfile/pkg/ndarray"
)

// ReadAll reads a whole array into memory that it allocates, in row-major order. T is
// the array's type up to byte order, or one that it widens to exactly
// ([ndarray.CanConvert]); else it is ErrDType. Missing elements are ErrMasked: see
// [ReadMasked].
func ReadAll[T ndarray.Element](ctx context.Context, a Array) ([]T, error) {
	return Read[T](ctx, a, ndarray.Full(a.Spec().Shape))
}

// Read is [ReadAll] of the elements in a box.
func Read[T ndarray.Element](ctx context.Context, a Array, box ndarray.Box) ([]T, error) {
	dst, err := makeFor[T](a, box)
	if err != nil {
		return nil, err
	}
	return dst, ReadInto(ctx, a, box, dst)
}

// ReadInto is [Read] into memory of the caller, which has as many elements as the box.
func ReadInto[T ndarray.Element](ctx context.Context, a Array, box ndarray.Box, dst []T) error {
	b, err := bufferOf(box, dst)
	if err != nil {
		return err
	}
	err = a.ReadBox(ctx, box, b)
	ndarray.TidyBools(b)
	return err
}

// ReadMasked is [Read] of an array whose elements can be missing: mask tells which
// are, and is nil where none is. Missing elements are zero.
func ReadMasked[T ndarray.Element](ctx context.Context, a Array, box ndarray.Box) (data []T, mask []bool, err error) {
	if !a.Spec().Masked {
		data, err = Read[T](ctx, a, box)
		return data, nil, err
	}
	if data, err = makeFor[T](a, box); err != nil {
		return nil, nil, err
	}
	if mask, err = ndarray.Make[bool](int64(len(data))); err != nil {
		return nil, nil, err
	}
	b, missing := ndarray.Of(data, box.Count...), ndarray.Of(mask).Data
	err = ReadBox(ctx, a, box, b, missing)
	ndarray.TidyBools(b)
	for _, gone := range mask {
		if gone {
			return data, mask, err
		}
	}
	return data, nil, err
}

// ReadBox is Array.ReadBox where mask is nil, and else [Masked.ReadMasked]; an array whose
// elements cannot be missing has an empty mask.
func ReadBox(ctx context.Context, a Array, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	if m, ok := a.(Masked); ok && mask != nil {
		return m.ReadMasked(ctx, box, dst, mask)
	}
	clear(mask)
	return a.ReadBox(ctx, box, dst)
}

// WriteBox is Array.WriteBox where mask is nil, and else [Masked.WriteMasked]. Elements of
// S and U become texts where an array holds those.
func WriteBox(ctx context.Context, a Array, box ndarray.Box, src ndarray.Buffer, mask []byte) error {
	if s, ok := a.(Strings); ok {
		if to := a.Spec().DType; to.IsVar() {
			return writeTexts(ctx, s, to, box, src, mask)
		}
	}
	if mask == nil {
		return a.WriteBox(ctx, box, src)
	}
	m, ok := a.(Masked)
	if !ok {
		return NewError(ErrNotSupported, "elements of this array cannot be missing")
	}
	return m.WriteMasked(ctx, box, src, mask)
}

// ReadStrings reads texts: of the dtypes "str" and "bytes", and S and U, whose NULs at
// the end are left out. mask is as in [ReadMasked]; missing texts are empty.
func ReadStrings(ctx context.Context, a Array, box ndarray.Box) (texts []string, mask []bool, err error) {
	spec := a.Spec()
	n, err := selected(a, box)
	if err != nil {
		return nil, nil, err
	}
	offsets, err := ndarray.Make[int64](n + 1)
	if err != nil {
		return nil, nil, err
	}
	if spec.Masked {
		if mask, err = ndarray.Make[bool](n); err != nil {
			return nil, nil, err
		}
	}
	var data, missing []byte
	if mask != nil {
		missing = ndarray.Of(mask).Data
	}
	switch {
	case spec.DType.IsVar():
		data, err = ReadAllStrings(ctx, a, box, offsets, missing)
	case spec.DType.Kind == ndarray.Bytes || spec.DType.Kind == ndarray.Unicode:
		data, err = readFixedTexts(ctx, a, box, offsets, missing)
	default:
		err = NewError(ErrDType, "elements of "+spec.DType.String()+" are no texts")
	}
	if err != nil {
		return nil, nil, err
	}
	texts, all := make([]string, n), string(data)
	for i := range texts {
		texts[i] = all[offsets[i]:offsets[i+1]]
	}
	return texts, mask, nil
}

// readFixedTexts is [ReadAllStrings] for S and U.
func readFixedTexts(ctx context.Context, a Array, box ndarray.Box, offsets []int64, mask []byte) ([]byte, error) {
	b, err := ndarray.NewBuffer(a.Spec().DType.Native(), box.Count)
	if err != nil {
		return nil, err
	}
	if err := ReadBox(ctx, a, box, b, mask); err != nil {
		return nil, err
	}
	return fixedTexts(b, offsets)
}

// WriteAll stores the elements of a whole array, in row-major order. They become the
// array's type as [ndarray.CanConvert] says.
func WriteAll[T ndarray.Element](ctx context.Context, a Array, src []T) error {
	return Write(ctx, a, ndarray.Full(a.Spec().Shape), src)
}

// Write stores elements, in row-major order, into a box of an array.
func Write[T ndarray.Element](ctx context.Context, a Array, box ndarray.Box, src []T) error {
	b, err := bufferOf(box, src)
	if err != nil {
		return err
	}
	return a.WriteBox(ctx, box, b)
}

// Texts is an item of dtype "str" to be saved; without a shape it has one axis.
func Texts(name string, texts []string, shape ...int64) Item {
	if shape == nil {
		shape = []int64{int64(len(texts))}
	}
	item := Item{Name: name, Offsets: make([]int64, len(texts)+1)}
	item.Data = ndarray.Buffer{DType: ndarray.DType{Kind: ndarray.VarString}, Shape: shape}
	for i, t := range texts {
		item.Data.Data = append(item.Data.Data, t...)
		item.Offsets[i+1] = int64(len(item.Data.Data))
	}
	return item
}

// Block is a part of an array, and its elements in row-major order.
type Block[T ndarray.Element] struct {
	Box  ndarray.Box
	Data []T
}

// Blocks goes over an array in blocks of consecutive rows (along axis 0) of at most
// maxBytes of T each, 0 for 4 MiB, but never less than one row; whole chunks where
// these fit. Types are as in [ReadAll]. The memory of a block is used again for the
// next. An error is the last that comes.
func Blocks[T ndarray.Element](ctx context.Context, a Array, maxBytes int64) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		spec, size := a.Spec(), ndarray.TypeOf[T]().Size
		if maxBytes <= 0 {
			maxBytes = defaultBlock
		}
		if len(spec.Chunks) > 0 && spec.Shape[0] > 0 {
			// in whole chunks, so that none is decoded twice
			if n, err := ndarray.NBytes(spec.Shape[1:], size); err == nil {
				if chunks, ok := ndarray.Mul(n, spec.Chunks[0]); ok && chunks > 0 && chunks <= maxBytes {
					maxBytes -= maxBytes % chunks
				}
			}
		}
		var data []T
		for box := range RowBlocks(spec.Shape, size, maxBytes) {
			n, err := ndarray.Count(box.Count)
			if err == nil && n > int64(cap(data)) {
				data, err = ndarray.Make[T](n)
			}
			if err == nil {
				err = ReadInto(ctx, a, box, data[:n])
			}
			if err != nil {
				yield(Block[T]{}, err)
				return
			}
			if !yield(Block[T]{box, data[:n]}, nil) {
				return
			}
		}
	}
}

// defaultBlock is how large a block of [Blocks] is where the caller does not say it.
const defaultBlock = 4 << 20

// selected is the number of elements in a box of an array.
func selected(a Array, box ndarray.Box) (int64, error) {
	if err := box.Check(a.Spec().Shape); err != nil {
		return 0, Locate(err, "", "", false)
	}
	return ndarray.Count(box.Count)
}

// makeFor allocates the elements of a box, after it was checked.
func makeFor[T ndarray.Element](a Array, box ndarray.Box) ([]T, error) {
	n, err := selected(a, box)
	if err != nil {
		return nil, err
	}
	return ndarray.Make[T](n)
}

// bufferOf is a slice as the elements of a box.
func bufferOf[T ndarray.Element](box ndarray.Box, data []T) (ndarray.Buffer, error) {
	n, err := ndarray.Count(box.Count)
	if err == nil && n != int64(len(data)) {
		err = NewError(ErrShape, "a slice of "+strconv.Itoa(len(data))+" elements for a box of "+strconv.FormatInt(n, 10))
	}
	shape := box.Count
	if shape == nil {
		shape = []int64{}
	}
	return ndarray.Of(data, shape...), Locate(err, "", "", false)
}
