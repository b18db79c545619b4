package ndfile

import (
	"context"
	"errors"
	"iter"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// RowBlocks cuts an array into blocks of consecutive rows (along axis 0) of
// at most maxBytes each, but never less than one row. Elements of variable
// length (itemsize 0) count as 16 bytes. A scalar is one block; an array
// without elements has none. The boxes share memory: each is valid until the
// next.
func RowBlocks(shape []int64, itemsize int, maxBytes int64) iter.Seq[ndarray.Box] {
	return func(yield func(ndarray.Box) bool) {
		n, err := ndarray.Count(shape)
		if err != nil || n == 0 {
			return
		}
		box := ndarray.Full(shape)
		if len(shape) == 0 {
			yield(box)
			return
		}
		if itemsize == 0 {
			itemsize = 16
		}
		rows := int64(1)
		if row, ok := ndarray.Mul(n/shape[0], int64(itemsize)); ok {
			rows = max(1, maxBytes/max(1, row))
		}
		for first := int64(0); first < shape[0]; first += rows {
			box.Start[0] = first
			box.Count[0] = min(rows, shape[0]-first)
			if !yield(box) {
				return
			}
		}
	}
}

// NewBytes gives n zero bytes; when there is no memory for them it is ErrNoMemory.
func NewBytes(n int) ([]byte, error) { return mem.Make[byte](n, 1) }

// InjectMemoryFaults has requests for large memory fail as the file at path says,
// which a test of a program in another language maps; "" is none. It is called before
// the first file is opened, and tells whether there is such a file.
func InjectMemoryFaults(path string) bool { return mem.Inject(path) }

// ReadAllStrings reads the elements of variable length in a box into memory
// that it allocates: element i is data[offsets[i]:offsets[i+1]]. offsets and
// mask are as in Strings.ReadStrings.
func ReadAllStrings(ctx context.Context, a Array, box ndarray.Box, offsets []int64, mask []byte) (data []byte, err error) {
	s, ok := a.(Strings)
	if !ok {
		return nil, NewError(ErrDType, "the elements are not of variable length")
	}
	need, err := s.ReadStrings(ctx, box, offsets, nil, mask)
	if need == 0 || (err != nil && !errors.Is(err, ErrBuffer)) {
		return nil, err
	}
	if data, err = mem.Make[byte](int(need), 1); err != nil {
		return nil, err
	}
	_, err = s.ReadStrings(ctx, box, offsets, data, mask)
	return data, err
}
