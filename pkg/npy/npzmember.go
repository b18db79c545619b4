package npy

import (
	"archive/zip"
	"context"
	"io"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// maxDeflate is the highest ratio that DEFLATE can reach.
const maxDeflate = 1032

// encrypted is the flag of a member that needs a password.
const encrypted = 1

// member is an array of an archive. A stored member is read by ranges, as a
// file of its own; a deflated one is decoded up to what is asked for, see
// inflater.
type member struct {
	file *archiveFile
	name string
	zip  *zip.File

	once  sync.Once // open
	err   error
	head  flat.Header
	attrs ndfile.Attrs // always empty, but for what the caller sets
}

func (m *member) located(err error) error { return ndfile.Locate(err, m.file.in.Name(), m.name, true) }

// open reads the header of the member.
func (m *member) open() error {
	data, size, err := m.contents()
	if err != nil {
		return m.located(err)
	}
	in := &memberFile{m.file.in, data}
	return m.located(single.ReadHeader(context.Background(), &m.head, in, nil, size, m.file.limits))
}

// pickled looks at the member, and tells whether its elements are Python objects.
func (m *member) pickled() bool {
	m.once.Do(func() { m.err = m.open() })
	return m.err != nil && strings.Contains(m.err.Error(), pickled)
}

// contents gives access to the bytes of the .npy file. Its size is what the
// archive says, which has been compared with the bytes that are there.
func (m *member) contents() (data io.ReaderAt, size int64, err error) {
	z := m.zip
	if z.Flags&encrypted != 0 {
		return nil, 0, ndfile.NewError(ndfile.ErrNotSupported, "the member is encrypted")
	}
	start, err := z.DataOffset()
	if err != nil {
		return nil, 0, zipError(err, "header of the member")
	}
	if have := m.file.size - start; have < 0 || z.CompressedSize64 > uint64(have) {
		return nil, 0, ndfile.NewError(ndfile.ErrCorrupt, "the member reaches beyond the end of the archive").At(start)
	}
	packed := int64(z.CompressedSize64)
	most := packed
	switch z.Method {
	case zip.Store:
		data = io.NewSectionReader(m.file.in, start, packed)
	case zip.Deflate:
		var ok bool
		if most, ok = ndarray.Mul(packed, maxDeflate); !ok {
			most = 1<<63 - 1
		}
		data = &inflater{file: z}
	default:
		return nil, 0, flat.Wrong(ndfile.ErrNotSupported, start, "compression method", "0 or 8", decimal(int64(z.Method)))
	}
	if z.UncompressedSize64 > uint64(most) || z.Method == zip.Store && z.UncompressedSize64 != uint64(packed) {
		return nil, 0, ndfile.NewError(ndfile.ErrCorrupt, "size of the member: "+decimal(packed)+" bytes in the archive cannot be what the directory says").At(start)
	}
	return data, int64(z.UncompressedSize64), nil
}

// Spec has Extra where the member is deflated.
func (m *member) Spec() ndfile.Spec {
	s := m.head.Spec()
	s.Extra = compressedExtra(m.zip.Method == zip.Deflate)
	return s
}

func (m *member) Attrs() *ndfile.Attrs { return &m.attrs }

// ReadBox is as [ndfile.Array] has it. Offsets in errors count from the start of
// the .npy file in the archive. Boxes of a deflated member are best read in
// the order in which they lie in it.
func (m *member) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if err := m.file.check(false); err != nil {
		return m.located(err)
	}
	return m.located(m.head.ReadBox(ctx, box, dst))
}

func (m *member) WriteBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	return m.located(m.file.check(true))
}

// memberFile is a member as a file, of which only ReadAt is used.
type memberFile struct {
	vfs.File // the archive
	data     io.ReaderAt
}

func (f *memberFile) ReadAt(p []byte, off int64) (int, error) { return f.data.ReadAt(p, off) }

// inflater reads a deflated member at any place. It decodes forward from where
// it is, or else from the start, in little memory, and keeps the decoder: reading
// in ascending order costs one pass, also in many calls. Where the end is
// reached, the checksum is compared.
type inflater struct {
	file *zip.File

	mu  sync.Mutex
	r   io.ReadCloser // nil: not begun
	pos int64
}

func (d *inflater) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	size := int64(d.file.UncompressedSize64)
	if off >= size {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), size-off)]
	n, err := d.read(p, off)
	if err != nil {
		d.r = nil
		return 0, zipError(err, "deflated data") // what was read cannot be relied on
	}
	return n, nil
}

func (d *inflater) read(p []byte, off int64) (n int, err error) {
	if d.r == nil || off < d.pos {
		d.pos = 0
		if d.r, err = d.file.Open(); err != nil {
			return 0, err
		}
	}
	skipped, err := io.CopyN(io.Discard, d.r, off-d.pos)
	d.pos += skipped
	if err == nil {
		n, err = io.ReadFull(d.r, p)
		d.pos += int64(n)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && d.pos == int64(d.file.UncompressedSize64) {
		err = d.end()
	}
	return n, err
}

// end expects the end of the data, where package zip checks it.
func (d *inflater) end() error {
	var more [1]byte
	n, err := d.r.Read(more[:])
	switch {
	case n > 0:
		return ndfile.NewError(ndfile.ErrCorrupt, "the member is longer than the directory says")
	case err == io.EOF:
		return nil
	}
	return err
}
