package npy

import (
	"archive/zip"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// keyCompressed is the member of Spec.Extra that says that an array is deflated.
const keyCompressed = "compressed"

// Create starts a new archive, as numpy.savez writes it, or, of arrays whose Extra
// is {"compressed": true}, numpy.savez_compressed. Boxes come in any order and wait
// in a temporary file; Close verifies that all elements were written, else it fails
// with ndfile.ErrOrder. Attributes, names of axes and masks are
// ndfile.ErrNotSupported.
func (*archive) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case opt.Attrs.Len() > 0:
		return nil, errNoArchiveAttrs()
	case opt.Trailing != nil:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a .npz archive has no bytes after its data")
	}
	out, err := vfs.NewReplace(fsys, path, opt.WriteOptions)
	if err != nil {
		return nil, err
	}
	w := &archiveWriter{fsys: fsys, out: out}
	w.Begin(path, nil)
	return w, nil
}

func errNoArchiveAttrs() error {
	return ndfile.NewError(ndfile.ErrNotSupported, "a .npz archive has no attributes")
}

// archiveWriter is an archive being created.
type archiveWriter struct {
	fsys ndfile.FS
	out  *vfs.Replace

	edit.Dataset[*newMember]
	spool vfs.File // nil until an array is added
	end   int64    // of what is used of the spool
}

// newMember is an array of it.
type newMember struct {
	w          *archiveWriter
	name       string
	head       []byte
	parsed     flat.Header
	data       flat.Block // in the spool
	size       int64
	compressed bool
	attrs      ndfile.Attrs
	cover      flat.Coverage
}

// Add declares an array, which is the member NAME.npy.
func (w *archiveWriter) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	w.Lock()
	defer w.Unlock()
	m, err := w.add(strings.Clone(name), spec)
	if err != nil {
		return nil, ndfile.Locate(err, w.Path, name, true)
	}
	return m, nil
}

func (w *archiveWriter) add(name string, spec ndfile.Spec) (*newMember, error) {
	switch {
	case w.IsClosed:
		return nil, ndfile.ErrClosed()
	case w.Members[name] != nil:
		return nil, ndfile.NewError(ndfile.ErrNameExists, "")
	case name == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		return nil, ndfile.NewError(ndfile.ErrValue, "the name of an array in a .npz archive: expected a text in UTF-8 without NUL, found "+strconv.Quote(name))
	}
	m := &newMember{w: w, name: name}
	if v, ok := spec.Extra.Get(keyCompressed); ok && spec.Extra.Len() == 1 {
		if m.compressed, ok = v.Bool(); ok {
			spec.Extra = nil
		}
	}
	var err error
	if m.head, err = single.NewHeader(&m.parsed, nil, "", spec); err != nil {
		return nil, err
	}
	if m.size, err = ndarray.NBytes(spec.Shape, m.parsed.DType.Size); err != nil {
		return nil, err
	}
	if w.spool == nil {
		if w.spool, err = w.fsys.CreatePrivate(w.fsys.TempName(w.out.File().Name())); err != nil {
			return nil, err
		}
	}
	m.data = m.parsed.Block
	m.data.File, m.data.Offset = w.spool, w.end
	w.end += m.size
	w.Declare(name, m)
	return m, nil
}

func (m *newMember) Attrs() *ndfile.Attrs    { return &m.attrs }
func (m *newMember) located(err error) error { return ndfile.Locate(err, m.w.Path, m.name, true) }

func (m *newMember) Spec() ndfile.Spec {
	s := m.parsed.Spec()
	s.Extra = compressedExtra(m.compressed)
	return s
}

// compressedExtra is the Extra of an array.
func compressedExtra(on bool) *ndfile.Attrs {
	if !on {
		return nil
	}
	o, err := ndfile.ParseJSON([]byte(`{"` + keyCompressed + `": true}`))
	if err != nil {
		return nil // it can be parsed
	}
	return o
}

func (m *newMember) ReadBox(context.Context, ndarray.Box, ndarray.Buffer) error {
	m.w.Lock()
	defer m.w.Unlock()
	if m.w.IsClosed {
		return m.located(ndfile.ErrClosed())
	}
	return m.located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is being written cannot be read: close it first"))
}

func (m *newMember) WriteBox(ctx context.Context, box ndarray.Box, src ndarray.Buffer) error {
	m.w.Lock()
	defer m.w.Unlock()
	if m.w.IsClosed {
		return m.located(ndfile.ErrClosed())
	}
	err := m.data.WriteBox(ctx, box, src)
	if err == nil {
		err = m.cover.Add(box, m.data.Shape)
	}
	return m.located(err)
}

// Close verifies that the archive is complete and makes it visible.
func (w *archiveWriter) Close(ctx context.Context) error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	err := w.commit(ctx)
	w.drop()
	if err != nil {
		w.out.Abort()
		return w.Located(err)
	}
	return w.Located(w.out.Commit())
}

func (w *archiveWriter) commit(ctx context.Context) error {
	if w.Attrs().Len() > 0 {
		return errNoArchiveAttrs()
	}
	z := zip.NewWriter(&sequential{ctx: ctx, file: w.out.File()})
	z.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.DefaultCompression) })
	for _, name := range w.Order {
		if err := w.Members[name].put(ctx, z); err != nil {
			return ndfile.Locate(err, "", name, true)
		}
	}
	return z.Close()
}

// put writes the member.
func (m *newMember) put(ctx context.Context, z *zip.Writer) error {
	count, err := ndarray.Count(m.data.Shape)
	if err != nil {
		return err
	}
	if k := m.cover.FirstMissing(count); k >= 0 {
		return ndfile.NewError(ndfile.ErrOrder, "not completely written: element "+decimal(k)+" is missing")
	}
	if m.attrs.Len() > 0 {
		return errNoArchiveAttrs()
	}
	method := zip.Store
	if m.compressed {
		method = zip.Deflate
	}
	out, err := z.CreateHeader(&zip.FileHeader{Name: m.name + extension, Method: method})
	if err == nil {
		_, err = out.Write(m.head)
	}
	buf := make([]byte, min(m.size, 1<<20))
	for at := int64(0); at < m.size && err == nil; {
		p := buf[:min(int64(len(buf)), m.size-at)]
		if err = flat.ReadFull(ctx, m.w.spool, p, m.data.Offset+at); err == nil {
			_, err = out.Write(p)
		}
		at += int64(len(p))
	}
	return err
}

// sequential writes a file from its start to its end.
type sequential struct {
	ctx  context.Context
	file vfs.File
	at   int64
}

func (s *sequential) Write(p []byte) (int, error) {
	if err := flat.WriteFull(s.ctx, s.file, p, s.at); err != nil {
		return 0, err
	}
	s.at += int64(len(p))
	return len(p), nil
}

// Abort leaves nothing of the archive.
func (w *archiveWriter) Abort() error {
	w.Lock()
	defer w.Unlock()
	if w.IsClosed {
		return w.Located(ndfile.ErrClosed())
	}
	w.drop()
	return w.Located(w.out.Abort())
}

// drop closes the archive and removes the spool.
func (w *archiveWriter) drop() {
	w.IsClosed = true
	if w.spool != nil {
		w.spool.Close() // its content is not needed any more
		w.fsys.Remove(w.spool.Name())
		w.spool = nil
	}
}
