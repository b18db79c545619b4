package npy

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Open reads the directory of an archive, at most Limits.MaxHeader bytes of it;
// members are looked at by File.Array. Members that are no .npy files by their
// name are left out.
func (*archive) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a .npz archive cannot be changed in place (mode r+): read it and save a new one")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := newArchive(in, opt.Limits)
	if err != nil {
		in.Close()
		return nil, err
	}
	return f, nil
}

// maxSearch is how far from the end the directory of an archive is looked for:
// the longest comment, and what can stand around it.
const maxSearch = 128 << 10

// archiveFile is an archive open for reading.
type archiveFile struct {
	in      vfs.File
	size    int64
	limits  ndfile.Limits
	names   []string
	members map[string]*member
	pickles []string // members that are Python objects, which names leaves out
	closed  atomic.Bool
	attrs   ndfile.Attrs // always empty, but for what the caller sets
}

func newArchive(in vfs.File, limits ndfile.Limits) (*archiveFile, error) {
	size, err := in.Size()
	if err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := in.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if s := string(head[:]); s != zipMember && s != zipEnd {
		return nil, flat.Wrong(ndfile.ErrFormat, 0, "signature of a ZIP archive", strconv.Quote(zipMember), strconv.Quote(s))
	}
	budget := &budget{in: in, size: size, left: limits.Header() + maxSearch}
	r, err := zip.NewReader(budget, size)
	if err != nil {
		return nil, zipError(err, "directory of the archive")
	}
	budget.spent = true
	r.RegisterDecompressor(zip.Deflate, flate.NewReader)
	f := &archiveFile{in: in, size: size, limits: limits, members: map[string]*member{}}
	for _, z := range r.File {
		name, ok := strings.CutSuffix(z.Name, extension)
		switch {
		case !ok:
			continue
		case !utf8.ValidString(name):
			return nil, ndfile.NewError(ndfile.ErrNotSupported, "expected names of members in UTF-8, found "+strconv.Quote(z.Name))
		case f.members[name] != nil:
			return nil, ndfile.NewError(ndfile.ErrCorrupt, "two members of the archive have the name "+strconv.Quote(z.Name))
		}
		m := &member{file: f, name: name, zip: z}
		f.members[name] = m
		if m.pickled() {
			f.pickles = append(f.pickles, name)
		} else {
			f.names = append(f.names, name)
		}
	}
	return f, nil
}

// budget reads a file, and only so much of it before spent is set. Places that
// are none, which a damaged directory has, are ErrCorrupt.
type budget struct {
	in    io.ReaderAt
	size  int64
	left  int64
	spent bool // the directory has been read, the rest is the members
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > b.size {
		return 0, flat.Wrong(ndfile.ErrCorrupt, -1, "place in the archive", "0 to "+decimal(b.size), decimal(off))
	}
	if !b.spent {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, ndfile.NewError(ndfile.ErrLimit, "the directory of the archive is longer than the limit for headers")
		}
	}
	return b.in.ReadAt(p, off)
}

// zipError gives errors of decoding a kind; others stay as they are.
func zipError(err error, what string) error {
	var known *ndfile.Error
	var system *vfs.PathError
	switch {
	case errors.As(err, &known), errors.As(err, &system):
		return err
	case errors.Is(err, zip.ErrAlgorithm):
		return ndfile.NewError(ndfile.ErrNotSupported, what).Because(err)
	}
	return ndfile.NewError(ndfile.ErrCorrupt, what).Because(err)
}

func (f *archiveFile) Kind() ndfile.Kind     { return ndfile.Dataset }
func (f *archiveFile) Names() []string       { return f.names }
func (f *archiveFile) Attrs() *ndfile.Attrs  { return &f.attrs }
func (f *archiveFile) located(e error) error { return ndfile.Locate(e, f.in.Name(), "", false) }

// check is what every call begins with. write: it would change the file.
func (f *archiveFile) check(write bool) error {
	switch {
	case f.closed.Load():
		return ndfile.ErrClosed()
	case write:
		return ndfile.NewError(ndfile.ErrReadOnly, "")
	}
	return nil
}

// FileExtra implements [ndfile.FileExtra]: an archive has no metadata of its own.
func (f *archiveFile) FileExtra() *ndfile.Attrs { return nil }

// Peculiar implements [ndfile.FileExtra].
func (f *archiveFile) Peculiar() []ndfile.Loss { return nil }

// Refused implements [ndfile.FileExtra]: the members that nothing can take over.
func (f *archiveFile) Refused() []ndfile.Loss {
	var all []ndfile.Loss
	for _, name := range f.pickles {
		all = append(all, ndfile.Loss{Array: name, What: "data", Why: pickled})
	}
	return all
}

// Array looks at a member for the first time: what is wrong with it, as elements
// that are Python objects, does not keep the others from being read.
func (f *archiveFile) Array(name string) (ndfile.Array, error) {
	if err := f.check(false); err != nil {
		return nil, f.located(err)
	}
	m := f.members[name]
	if m == nil {
		return nil, f.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)))
	}
	if m.once.Do(func() { m.err = m.open() }); m.err != nil {
		return nil, m.err
	}
	return m, nil
}

func (f *archiveFile) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	return nil, f.located(f.check(true))
}

func (f *archiveFile) Close(context.Context) error { return f.Abort() }

func (f *archiveFile) Abort() error {
	if f.closed.Swap(true) {
		return f.located(ndfile.ErrClosed())
	}
	return f.located(f.in.Close())
}
