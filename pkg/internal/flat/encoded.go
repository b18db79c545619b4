package flat

import (
	"context"
	"io"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// Encoding is how elements lie in a file that has them compressed or packed. Such
// an array is decoded and encoded as a whole, in memory.
type Encoding interface {
	// Decode fills dst, the elements row-major as [Block.DType] has them, from src,
	// the [Header.Stored] bytes behind the header. It gives how many of them the
	// elements take. at is where src begins in the file, for errors.
	Decode(dst, src []byte, at int64) (n int, err error)
	// Encode gives what follows the header of an array whose elements are data. It
	// may change the header, but not its length.
	Encode(head, data []byte) ([]byte, error)
}

// decode fills dst with all elements. content is the beginning of the file, and
// rest the file, nil when that is all.
func (h *Header) decode(ctx context.Context, dst, content []byte, rest vfs.File) (n int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	src := content[min(h.Offset, int64(len(content))):]
	if int64(len(src)) < h.Stored {
		src = make([]byte, h.Stored)
		if err := ReadFull(ctx, rest, src, h.Offset); err != nil {
			return 0, err
		}
	}
	used, err := h.Encoding.Decode(dst, src[:h.Stored], h.Offset)
	return int64(used), err
}

// plain is the array of a file that is encoded, once it is decoded.
type plain struct {
	mu    sync.Mutex
	block *Block
	n     int64 // bytes in the file
}

// decoded gives the array as it lies in memory, which stays until the file is
// closed, and the bytes that it takes in the file.
func (f *file) decoded(ctx context.Context) (*Block, int64, error) {
	f.plain.mu.Lock()
	defer f.plain.mu.Unlock()
	if f.plain.block == nil {
		data := make([]byte, f.head.size)
		n, err := f.head.decode(ctx, data, nil, f.head.File)
		if err != nil {
			return nil, 0, err
		}
		l := f.head.Block
		l.File, l.Offset = &memory{name: l.File.Name(), data: data}, 0
		f.plain.block, f.plain.n = &l, n
	}
	return f.plain.block, f.plain.n, nil
}

// memory is a file that exists in memory only. Writes to different places may run
// at once, and with reads of other places.
type memory struct {
	vfs.File // nil: what is not below is not called
	name     string
	mu       sync.RWMutex
	data     []byte
}

func (m *memory) Name() string { return m.name }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n := copy(p, m.data[min(off, int64(len(m.data))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if end := int(off) + len(p); end > len(m.data) {
		m.data = append(m.data, make([]byte, end-len(m.data))...)
	}
	return copy(m.data[off:], p), nil
}

// encodeItem gives what follows the header of an array in the caller's memory.
func (h *Header) encodeItem(head []byte, data ndarray.Buffer) ([]byte, error) {
	packed := data.Bytes
	if !data.DType.Equal(h.DType) || !data.IsContiguous() {
		b := ndarray.Buffer{DType: h.DType, Shape: h.Shape, Data: make([]byte, h.size)}
		if err := ndarray.Copy(b, data); err != nil {
			return nil, err
		}
		packed = b.Bytes
	}
	return h.Encoding.Encode(head, packed())
}
