package ds

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format is the ds format, name "ds", extension ".ds". It also implements
// ndfile.OneShot.
var Format ndfile.Format = &format{ndfile.NewTraits("ds",
	ndfile.CapCreate|ndfile.CapWriteOnce|ndfile.CapFileAttrs|ndfile.CapArrayAttrs|ndfile.CapDims|
		ndfile.CapMasked|ndfile.CapStrings|ndfile.CapOneShot|ndfile.CapMap,
	".ds")}

type format struct{ ndfile.Traits }

// smallFile is what is read of a file with the first pread: all of a small one.
const smallFile = 64 << 10

// mostKept is how many bytes a file may have to be kept in memory while it is open.
const mostKept = 16 << 10

// scratch is the memory that a one-shot call borrows.
type scratch struct {
	buf   [smallFile]byte
	src   source
	head  header
	one   stored
	save  saver
	loads loadSeries
	saves saveSeries
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// release gives the memory back, without what belongs to others and what an
// unusual file has made large.
func (sc *scratch) release() {
	sc.src = source{}
	sc.one = stored{ix: index{ranks: sc.one.ix.ranks, ends: sc.one.ix.ends}}
	clear(sc.head.vars)
	clear(sc.save.vars)
	sc.save.parts[0], sc.save.out = nil, output{}
	if cap(sc.head.text)+cap(sc.save.header)+cap(sc.one.ix.ranks)+cap(sc.one.ix.ends)+cap(sc.head.vars)+cap(sc.save.vars) > 4*smallFile {
		sc.head, sc.save, sc.one = header{}, saver{}, stored{}
	}
	sc.head.text, sc.head.attrs = nil, nil
	scratches.Put(sc)
}

// Detect is Certain about a version line, also one of a version that Open
// refuses, and finds a file of ds-format 2.0 Possible by its first bytes.
func (format) Detect(ctx context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	var buf [8]byte
	head, err := flat.FirstBytes(ctx, fsys, path, buf[:])
	if err != nil {
		return ndfile.NoMatch, err
	}
	switch {
	case len(head) > 3 && isVersioned(head):
		return ndfile.Certain, nil
	case len(head) > 1 && head[0] == '{' && head[1] == '"':
		return ndfile.Possible, nil
	}
	return ndfile.NoMatch, nil
}

// Open reads the header. Mode r+ is ErrNotSupported: a ds file is written once.
func (format) Open(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Mode == ndfile.Update {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "a ds file cannot be changed in place (mode r+): read it and save a new one, or use the command, whose edits write a copy")
	}
	in, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{src: source{file: in}}
	if err := f.open(ctx, opt.Limits); err != nil {
		in.Close()
		return nil, err
	}
	return f, nil
}

func (f *file) open(ctx context.Context, lim ndfile.Limits) (err error) {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	n, err := f.src.file.ReadAt(sc.buf[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	if f.src.size, err = f.src.file.Size(); err != nil {
		return err
	}
	f.src.size = max(f.src.size, int64(n))
	// The header stays as long as the file is open, and with it the rest of a file of
	// few bytes.
	head := sc.buf[:n]
	if f.src.size == int64(n) && n <= mostKept {
		head = bytes.Clone(head)
		f.src.mem = head
	} else if from := min(n, len(versionLine)); bytes.IndexByte(head[from:], '\n') >= 0 {
		head = bytes.Clone(head[:from+bytes.IndexByte(head[from:], '\n')+1])
	} else {
		head = bytes.Clone(head)
	}
	if err := f.head.read(ctx, &f.src, head, lim); err != nil {
		return err
	}
	f.arrays = make([]*array, len(f.head.vars))
	return nil
}

// fileKey holds the metadata of the file among those that are kept for another format.
const fileKey = "file"

// KeepExtra implements [ndfile.ExtraKeeper]: a variable has the metadata of another
// format under that one's name, with a dot before it, which readers ignore.
func (format) KeepExtra(from string, file, array *ndfile.Attrs) *ndfile.Attrs {
	kept := array.Clone()
	if kept == nil {
		kept = ndfile.NewAttrs()
	}
	if file.Len() > 0 {
		kept.Set(fileKey, pyjson.ObjectValue(file))
	}
	if kept.Len() == 0 {
		return nil
	}
	o := ndfile.NewAttrs()
	o.Set("."+from, pyjson.ObjectValue(kept))
	return o
}

// KeptExtra is the reverse of KeepExtra.
func (format) KeptExtra(to string, extra *ndfile.Attrs) (file, array *ndfile.Attrs) {
	if extra == nil {
		return nil, nil
	}
	v, _ := extra.Get("." + to)
	kept := v.Object()
	if kept == nil {
		return nil, nil
	}
	array = kept.Clone()
	of, _ := kept.Get(fileKey)
	array.Delete(fileKey)
	return of.Object(), array
}
