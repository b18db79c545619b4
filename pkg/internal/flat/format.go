package flat

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is an [ndfile.Format] and [ndfile.OneShot] whose files are a header and,
// right behind it, the elements of one array. With [ndfile.CapTrailing] any bytes
// may follow, which the file gives as [ndfile.Trailer]; without, they are ignored.
// There are no attributes, names of axes and missing elements.
//
// All that the formats differ in is the header. A Format must not change.
type Format struct {
	ndfile.Traits
	// Called is what messages call a file: "a .npy file".
	Called string
	// Magic begins every file.
	Magic string
	// Parse reads a header from the first bytes of a file of size bytes: all of
	// them, or at least HeadSize. They begin with Magic. It sets the DType, Offset,
	// Fortran and Opaque of h, which are zero, Extra, Encoding and Stored, and
	// appends to h.Shape, which is empty and has room. When the header goes on behind head, it gives the
	// number of bytes that it needs, at most size, and is called again. Everything
	// that a header can get wrong is an error with an offset, but that the file ends
	// before the elements do, which is checked afterwards. It keeps no reference to
	// head.
	Parse func(h *Header, head []byte, size int64, limits ndfile.Limits) (need int, err error)
	// Append appends the header of a new array to dst, which is empty. It sets the
	// DType that the elements have in the file, and the Opaque, Extra and Encoding
	// that Parse will set. Of spec only DType, Shape and Extra count. What the format cannot
	// store is an error.
	Append func(h *Header, dst []byte, spec ndfile.Spec) (head []byte, err error)
}

// HeadSize is how much of a file Parse sees at least.
const HeadSize = 1 << 10

// Header is what the header of a file says. The zero value is to be filled.
type Header struct {
	Block
	// Extra is that of the array's [ndfile.Spec].
	Extra *ndfile.Attrs
	// Encoding is nil where the elements lie in the file as they are.
	Encoding Encoding
	// Stored is the number of bytes behind the header that an encoded array takes,
	// or the most that it can take.
	Stored int64

	size int64                  // of the elements, in bytes
	dims [ndarray.MaxNDim]int64 // room for Shape
}

// Spec is that of the array.
func (h *Header) Spec() ndfile.Spec {
	return ndfile.Spec{DType: h.DType, Shape: h.Shape, Extra: h.Extra}
}

// ReadHeader reads the header of a file of size bytes, of which head has been read
// already. All of it is checked, and that the elements lie inside the file: errors
// are ndfile.ErrFormat without the magic, and those of Parse. h must not be copied
// afterwards, as its Shape lies in it.
func (f *Format) ReadHeader(ctx context.Context, h *Header, in vfs.File, head []byte, size int64, limits ndfile.Limits) error {
	for need := int(min(size, HeadSize)); ; {
		if have := len(head); have < need {
			head = append(head, make([]byte, need-have)...)
			if err := ReadFull(ctx, in, head[have:], int64(have)); err != nil {
				return err
			}
		}
		if n := min(len(head), len(f.Magic)); string(head[:n]) != f.Magic {
			return Wrong(ndfile.ErrFormat, 0, "magic", strconv.Quote(f.Magic), strconv.Quote(string(head[:n])))
		}
		h.Block, h.Extra, h.Encoding = Block{File: in, Shape: h.dims[:0]}, nil, nil
		var err error
		if need, err = f.Parse(h, head, size, limits); err != nil {
			return err
		}
		if need <= len(head) {
			return h.checkSize(size)
		}
	}
}

// checkSize checks that the elements lie inside a file of size bytes.
func (h *Header) checkSize(size int64) (err error) {
	if h.size, err = ndarray.NBytes(h.Shape, h.DType.Size); err != nil {
		return err
	}
	stored := h.size
	if h.Encoding != nil {
		stored = h.Stored
	}
	if have := size - h.Offset; stored > have {
		return Wrong(ndfile.ErrCorrupt, size, "data", decimal(stored)+" bytes from byte "+decimal(h.Offset)+" on", decimal(have))
	}
	return nil
}

// Wrong is an error of a header: the place and name of what it is about, what was
// expected there, and what was found.
func Wrong(kind *ndfile.ErrorKind, at int64, what, expected, found string) *ndfile.Error {
	return ndfile.NewError(kind, what+": expected "+expected+", found "+found).At(at)
}

// NewHeader makes the header of a new array, appended to dst, which is empty.
func (f *Format) NewHeader(h *Header, dst []byte, name string, spec ndfile.Spec) (head []byte, err error) {
	switch {
	case name != "":
		return nil, ndfile.NewError(ndfile.ErrArgument, "the array of "+f.Called+" has no name, found "+strconv.Quote(name))
	case spec.Masked:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, f.Called+" has no missing elements")
	case len(spec.Dims) > 0:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, f.Called+" has no names of axes")
	case spec.Attrs.Len() > 0:
		return nil, f.errNoAttrs()
	case spec.NoData:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, f.Called+" has no arrays without data")
	}
	h.Block, h.Extra, h.Encoding = Block{Shape: append(h.dims[:0], spec.Shape...)}, nil, nil
	if head, err = f.Append(h, dst, spec); err != nil {
		return nil, err
	}
	h.Offset = int64(len(head))
	if h.size, err = ndarray.NBytes(spec.Shape, h.DType.Size); err != nil {
		return nil, err
	}
	if _, ok := ndarray.Add(h.Offset, h.size); !ok {
		return nil, ndfile.NewError(ndfile.ErrLimit, "expected a file of less than 2^63 bytes, found "+decimal(h.size)+" bytes of data")
	}
	return head, nil
}

// checkFile refuses what a file cannot hold beside the array.
func (f *Format) checkFile(opt *ndfile.CreateOptions) error {
	switch {
	case opt.Attrs.Len() > 0:
		return f.errNoAttrs()
	case opt.Trailing != nil && f.Caps()&ndfile.CapTrailing == 0:
		return ndfile.NewError(ndfile.ErrNotSupported, f.Called+" has no bytes after its data")
	case len(opt.Trailing) > ndfile.DefaultMaxHeader:
		return ndfile.NewError(ndfile.ErrLimit, "trailing bytes: expected at most "+decimal(ndfile.DefaultMaxHeader)+", found "+decimal(int64(len(opt.Trailing))))
	}
	return nil
}

func (f *Format) errNoAttrs() error {
	return ndfile.NewError(ndfile.ErrNotSupported, f.Called+" has no attributes")
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// Detect is Certain about a file that begins with Magic.
func (f *Format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	head, err := FirstBytes(ctx, fsys, path, s.buf[:len(f.Magic)])
	if err != nil || string(head) != f.Magic {
		return ndfile.NoMatch, err
	}
	return ndfile.Certain, nil
}

// FirstBytes reads the beginning of a file, up to len(buf) bytes; nothing of what
// cannot be read in this way, as a folder.
func FirstBytes(ctx context.Context, fsys ndfile.FS, path string, buf []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, rest, err := fsys.ReadSmall(ctx, path, buf)
	if rest != nil {
		rest.Close()
	}
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ESPIPE) {
		return nil, nil
	}
	return buf[:n], err
}

// scratch is what one call needs beside the caller's memory.
type scratch struct {
	head  Header
	parts [3][]byte
	buf   [64 << 10]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}
