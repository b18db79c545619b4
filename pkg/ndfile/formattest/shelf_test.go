package formattest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/findings"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// shelf is the toy for what a toy file cannot: a folder with one file of metadata
// and one file a chunk, where a chunk that has no file has the fill value. It holds
// an array or a table, and all of it can be changed. All metadata are one text,
// replaced atomically, so that every change of structure is old or new by itself.
//
//	ROOT/shelf.json        what encode writes
//	ROOT/chunks/ID.I.J     4 bytes: the number of bytes that follow; the elements
//
// without are abilities that it does not announce.
type shelf struct {
	bug     string
	without ndfile.Caps
}

const (
	shelfCaps = ndfile.CapCreate | ndfile.CapUpdate | ndfile.CapFileAttrs | ndfile.CapArrayAttrs | ndfile.CapChunked | ndfile.CapResize |
		ndfile.CapRows | ndfile.CapRemove | ndfile.CapVerify | ndfile.CapSplit
	shelfMeta  = "/shelf.json"
	shelfMagic = `{"shelf": 1, `
	// maxShelfChunk bounds the bytes of a chunk.
	maxShelfChunk = 4 << 20
)

var shelfCodecs = []string{"lz4", "zstd"} // in name only

func (f shelf) Name() string         { return "shelf" }
func (f shelf) Extensions() []string { return []string{".shelf"} }
func (f shelf) Caps() ndfile.Caps    { return shelfCaps &^ f.without }

func (f shelf) Detect(_ context.Context, fsys ndfile.FS, path string) (ndfile.Match, error) {
	if _, err := fsys.Stat(path); err != nil {
		return ndfile.NoMatch, err
	}
	if f.bug == "refuses slashes" && strings.HasSuffix(path, "/") {
		return ndfile.NoMatch, nil
	}
	text, err := f.readMeta(fsys, path, true)
	switch {
	case err != nil && f.bug == "detects folders":
		return ndfile.Certain, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, ndfile.ErrNotSupported):
		return ndfile.NoMatch, nil
	case err != nil:
		return ndfile.NoMatch, err
	case !bytes.HasPrefix(text, []byte(shelfMagic)):
		return ndfile.NoMatch, nil
	}
	return ndfile.Certain, nil
}

func (f shelf) readMeta(fsys ndfile.FS, path string, follow bool) ([]byte, error) {
	return f.readFile(fsys, path+shelfMeta, 1<<20, follow)
}

// readFile reads a regular file of at most limit bytes.
func (f shelf) readFile(fsys ndfile.FS, path string, limit int, follow bool) ([]byte, error) {
	info, err := fsys.Lstat(path)
	if err == nil && info.Mode == vfs.Symlink && (follow || f.bug == "follows links") {
		info, err = fsys.Stat(path)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode == vfs.Other && f.bug == "reads FIFOs":
		return nil, &vfs.PathError{Op: "read", Path: path, Errno: syscall.ENOENT}
	case info.Mode != vfs.Regular:
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "no regular file").On(path)
	case info.Size > int64(limit):
		return nil, ndfile.NewError(ndfile.ErrCorrupt, "too long").On(path)
	}
	buf := make([]byte, info.Size+1)
	n, rest, err := fsys.ReadSmall(ctx, path, buf)
	if rest != nil {
		rest.Close()
	}
	if err == nil && int64(n) != info.Size {
		err = ndfile.NewError(ndfile.ErrCorrupt, "the size changes").On(path)
	}
	return buf[:n], err
}

// ours knows the files of a shelf.
func (f shelf) ours(rel string, _ vfs.FileMode) bool {
	return "/"+rel == shelfMeta || rel == "chunks" || strings.HasPrefix(rel, "chunks/") || f.bug == "replaces anything"
}

func (f shelf) Create(_ context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	folder, err := vfs.NewFolder(fsys, path, opt.WriteOptions, f.ours)
	if err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	file := &shelfFile{shelf: f, fsys: fsys, path: strings.Clone(path), root: folder.Path(), folder: folder, opt: opt.WriteOptions, writable: true,
		kind: ndfile.Table, attrs: ndfile.NewAttrs()}
	if opt.Attrs != nil {
		file.attrs = opt.Attrs.Clone()
	}
	file.opt.Commit, file.opt.Exclusive = ndfile.CommitDirect, false
	if err := fsys.Mkdir(file.root + "/chunks"); err != nil {
		folder.Abort()
		return nil, file.locate(err, nil)
	}
	return file, nil
}

func (f shelf) Open(_ context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	if opt.Shared {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "no locks").On(path)
	}
	root := strings.Clone(strings.TrimRight(path, "/"))
	if f.bug == "follows no links" {
		opt.FollowSymlinks = false
	}
	file := &shelfFile{shelf: f, fsys: fsys, path: root, root: root, writable: opt.Mode == ndfile.Update, opt: ndfile.WriteOptions{Sync: opt.Sync && f.bug != "never syncs"}, follow: opt.FollowSymlinks, kind: ndfile.Table}
	if _, err := fsys.Stat(path); err != nil {
		return nil, file.locate(err, nil)
	}
	text, err := f.readMeta(fsys, root, opt.FollowSymlinks)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return nil, ndfile.NewError(ndfile.ErrFormat, "no shelf").Because(err).On(path)
	case err != nil:
		return nil, file.locate(err, nil)
	}
	if err := file.decode(text); err != nil {
		return nil, file.locate(err, nil)
	}
	file.saved = text
	switch f.bug {
	case "lists chunks":
		fsys.ReadDir(root + "/chunks")
	case "opens all chunks":
		for _, a := range file.arrays {
			each(grid(a.spec.Shape, a.spec.Chunks), func(_ int, index []int64) { a.load(index) })
		}
	case "sorts columns":
		slices.SortFunc(file.arrays, func(a, b *shelfArray) int { return strings.Compare(a.name, b.name) })
	}
	info, err := fsys.Lstat(root + "/chunks")
	if err != nil && !errors.Is(err, syscall.ENOENT) {
		return nil, file.locate(err, nil)
	}
	if err == nil && info.Mode != vfs.Dir && !(info.Mode == vfs.Symlink && (file.follow || f.bug == "follows links")) {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "no folder").On(root + "/chunks")
	}
	return file, nil
}

type shelfFile struct {
	shelf
	fsys     ndfile.FS
	path     string      // as the user knows it
	root     string      // where it lies
	folder   *vfs.Folder // of a file being created
	opt      ndfile.WriteOptions
	writable bool
	follow   bool
	closed   bool
	kind     ndfile.Kind
	attrs    *ndfile.Attrs
	arrays   []*shelfArray
	saved    []byte // the metadata on disk
}

type shelfArray struct {
	file  *shelfFile
	name  string
	id    int64
	spec  ndfile.Spec
	attrs *ndfile.Attrs
	gone  bool
	delay []func() // what a broken toy keeps for Close
}

// shelfColumn is a column, which has no Resizer.
type shelfColumn struct{ *shelfArray }

// shelfWhole is an array, which has one.
type shelfWhole struct{ *shelfArray }

// shelfLock guards the chunks of all shelves against concurrent writes.
var shelfLock sync.Mutex

func (f *shelfFile) locate(err error, a *shelfArray) error {
	var pe *vfs.PathError
	if errors.As(err, &pe) && f.folder != nil {
		err = f.folder.Named(err)
	}
	if a == nil {
		return ndfile.Locate(err, f.path, "", false)
	}
	return ndfile.Locate(err, f.path, a.name, f.kind != ndfile.Single)
}

func (f *shelfFile) answer() error {
	if f.closed && f.bug != "stays open" {
		return f.fail(ndfile.ErrHandle, nil, "closed")
	}
	return nil
}

func (f *shelfFile) fail(kind *ndfile.ErrorKind, a *shelfArray, msg string) error {
	return f.locate(ndfile.NewError(kind, msg), a)
}

func (f *shelfFile) Kind() ndfile.Kind {
	if f.bug == "is always an array" {
		return ndfile.Single
	}
	return f.kind
}

func (f *shelfFile) Names() (names []string) {
	for _, a := range f.arrays {
		names = append(names, a.name)
	}
	return names
}

func (f *shelfFile) Attrs() *ndfile.Attrs {
	if f.kind == ndfile.Single {
		return f.arrays[0].attrs
	}
	return f.attrs
}

func (f *shelfFile) find(name string) (*shelfArray, error) {
	for _, a := range f.arrays {
		if a.name == name {
			return a, nil
		}
	}
	return nil, f.fail(ndfile.ErrName, &shelfArray{name: name}, "no such array")
}

func (f *shelfFile) Array(name string) (ndfile.Array, error) {
	if err := f.answer(); err != nil {
		return nil, err
	}
	a, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return a.as(), nil
}

func (a *shelfArray) as() ndfile.Array {
	if a.file.kind == ndfile.Single || a.file.bug == "columns resize" {
		return shelfWhole{a}
	}
	return shelfColumn{a}
}

// change tells whether the file can be changed.
func (f *shelfFile) change(a *shelfArray) error {
	switch f.bug {
	case "changes what is read":
		return nil
	case "stays open":
		if f.writable {
			return nil
		}
	case "removed arrays live":
		a = nil
	}
	if !f.writable || f.closed || a != nil && a.gone {
		return f.fail(ndfile.ErrReadOnly, a, "not open for changes")
	}
	return nil
}

func (f *shelfFile) Add(_ context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	if err := f.answer(); err != nil {
		return nil, err
	}
	a := &shelfArray{file: f, name: strings.Clone(name), spec: spec, attrs: ndfile.NewAttrs()}
	if err := f.change(a); err != nil {
		return nil, err
	}
	_, err := ndarray.NBytes(spec.Shape, max(spec.DType.Size, 1))
	switch {
	case (f.kind == ndfile.Single || name == "") && len(f.arrays) > 0:
		return nil, f.fail(ndfile.ErrName, a, "an array is alone and has no name")
	case strings.ContainsAny(name, "/\x00") || strings.ToValidUTF8(name, "") != name:
		return nil, f.fail(ndfile.ErrValue, a, "a bad name")
	case slices.Contains(f.Names(), name):
		return nil, f.fail(ndfile.ErrNameExists, a, "added before")
	case spec.DType.Kind == ndarray.Invalid || spec.DType.Kind == ndarray.Record || spec.DType.IsVar():
		return nil, f.fail(ndfile.ErrDType, a, "cannot store "+spec.DType.String())
	case err != nil:
		return nil, f.locate(err, a)
	case len(spec.Shape) == 0 || spec.NoData || spec.Masked || spec.Dims != nil:
		return nil, f.fail(ndfile.ErrNotSupported, a, "scalars, masks and dims are not supported")
	case len(f.arrays) > 0 && spec.Shape[0] != f.Rows() && f.bug != "uneven columns":
		return nil, f.fail(ndfile.ErrShape, a, "another number of rows")
	}
	if err := a.layOut(); err != nil {
		return nil, f.locate(err, a)
	}
	a.attrs = ndfile.NewAttrs()
	if name == "" {
		a.attrs, f.kind = f.attrs, ndfile.Single // the same ones
		if f.bug == "two sets of attrs" {
			a.attrs = ndfile.NewAttrs()
		}
	}
	for i := range spec.Attrs.Len() {
		a.attrs.Set(spec.Attrs.At(i))
	}
	if a.id, err = f.newID(); err != nil {
		return nil, f.locate(err, a)
	}
	f.arrays = append(f.arrays, a)
	if f.folder == nil {
		if err := f.commit(); err != nil {
			f.arrays = f.arrays[:len(f.arrays)-1]
			return nil, f.locate(err, a)
		}
	}
	return a.as(), nil
}

// layOut chooses what the Spec leaves open, and checks what it does not.
func (a *shelfArray) layOut() error {
	spec := &a.spec
	spec.Attrs, spec.Shape, spec.Fill = nil, slices.Clone(spec.Shape), slices.Clone(spec.Fill)
	if spec.Chunks == nil || a.file.bug == "ignores chunks" {
		spec.Chunks = make([]int64, len(spec.Shape))
		for i, n := range spec.Shape {
			spec.Chunks[i] = min(max(n, 1), 100)
		}
	}
	spec.Chunks = slices.Clone(spec.Chunks)
	if len(spec.Chunks) != len(spec.Shape) || slices.Min(spec.Chunks) < 1 && a.file.bug != "takes any chunks" {
		return ndfile.NewError(ndfile.ErrShape, "bad chunks")
	}
	if n, err := ndarray.NBytes(spec.Chunks, max(spec.DType.Size, 1)); err != nil || n > maxShelfChunk {
		return ndfile.NewError(ndfile.ErrLimit, "huge chunks")
	}
	switch c, ok := spec.Compression(); {
	case spec.Codecs == nil:
	case !ok && a.file.bug != "takes any codec":
		return ndfile.NewError(ndfile.ErrNotSupported, "unknown compression")
	case !slices.Contains(shelfCodecs, c.Codec) || c.Level < 0 || c.Level > 9 || c.Shuffle < 0 || c.Shuffle > 2:
		if a.file.bug != "takes any codec" {
			return ndfile.NewError(ndfile.ErrNotSupported, "unknown compression")
		}
	default:
		if a.file.bug == "bends levels" {
			c.Level = max(c.Level, 1)
		}
		spec.Codecs = c.Codecs()
	}
	switch {
	case a.file.bug == "loses fill":
		spec.Fill = nil
	case spec.Fill != nil && len(spec.Fill) != spec.DType.Size && a.file.bug != "takes any fill":
		return ndfile.NewError(ndfile.ErrValue, "a fill value of another size")
	}
	return nil
}

// newID gives a number that no chunk file has.
func (f *shelfFile) newID() (int64, error) {
	list, err := f.fsys.ReadDir(f.root + "/chunks")
	if err != nil {
		return 0, err
	}
	id := int64(0)
	for _, e := range list {
		if has, _, ok := parseChunk(e.Name); ok {
			id = max(id, has+1)
		}
	}
	for _, a := range f.arrays {
		id = max(id, a.id+1)
	}
	return id, nil
}

func (f *shelfFile) Remove(_ context.Context, name string) error {
	if err := f.answer(); err != nil {
		return err
	}
	a, err := f.find(name)
	if err != nil && f.bug == "removes nothing" {
		return nil
	}
	if err == nil {
		err = f.change(a)
	}
	if err != nil {
		return err
	}
	if f.kind == ndfile.Single {
		return f.fail(ndfile.ErrNotSupported, nil, "a single array stays")
	}
	old := f.arrays
	f.arrays = slices.DeleteFunc(slices.Clone(old), func(b *shelfArray) bool { return b == a })
	if f.folder == nil {
		if err := f.commit(); err != nil {
			f.arrays = old
			return f.locate(err, a)
		}
	}
	a.gone = true
	if f.bug == "removes names only" {
		return nil
	}
	return f.locate(a.clean([]int64{0}), a)
}

// commit writes the metadata.
func (f *shelfFile) commit() error {
	opt := f.opt
	if f.bug == "torn metadata" {
		opt.Commit = ndfile.CommitDirect
	}
	text := f.encode()
	if f.bug == "rewrites all" && f.folder == nil {
		text = append(text, '\n')
	}
	err := f.fsys.WriteFile(f.root+shelfMeta, [][]byte{text}, opt)
	if err == nil {
		f.saved = text
	}
	return err
}

func (f *shelfFile) Flush(_ context.Context, opt ndfile.FlushOptions) error {
	err := f.flush()
	if err == nil && opt.Sync && f.folder == nil && f.bug != "never syncs" {
		err = syncTree(f.fsys, f.root)
	}
	return err
}

// syncTree syncs a folder and all that is in it.
func syncTree(fsys ndfile.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	for i := 0; err == nil && i < len(entries); i++ {
		path := dir + "/" + entries[i].Name
		if entries[i].Mode == vfs.Dir {
			err = syncTree(fsys, path)
			continue
		}
		var file vfs.File
		if file, err = fsys.Open(path); err == nil {
			err = file.Sync()
			file.Close()
		}
	}
	if err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func (f *shelfFile) flush() error {
	if err := f.answer(); err != nil {
		return err
	}
	if f.folder != nil || f.bug == "never flushes" {
		if f.bug == "appears early" {
			f.fsys.Mkdir(f.path)
		}
		return nil
	}
	if err := f.change(nil); err != nil {
		return err
	}
	if bytes.Equal(f.encode(), f.saved) && f.bug != "rewrites all" || f.bug == "forgets attrs" {
		return nil
	}
	return f.locate(f.commit(), nil)
}

func (f *shelfFile) Close(ctx context.Context) error {
	if f.closed {
		return f.fail(ndfile.ErrHandle, nil, "closed")
	}
	if !f.writable {
		f.closed = true
		return nil
	}
	for _, a := range f.arrays {
		for _, do := range a.delay {
			do()
		}
	}
	if f.folder == nil {
		if f.bug == "never flushes" {
			f.bug = ""
		}
		err := f.Flush(ctx, ndfile.FlushOptions{})
		f.closed = true
		if f.bug == "swallows errors" {
			return nil
		}
		return err
	}
	f.closed = true
	err := f.commit()
	if err == nil {
		err = f.folder.Commit()
	} else {
		f.folder.Abort()
	}
	return f.locate(err, nil)
}

func (f *shelfFile) Abort() error {
	if f.closed {
		return f.fail(ndfile.ErrHandle, nil, "closed")
	}
	if f.bug == "flushes in Abort" && f.folder == nil && f.writable {
		f.Flush(ctx, ndfile.FlushOptions{})
	}
	f.closed = true
	if f.folder != nil {
		return f.folder.Abort()
	}
	return nil
}

// encode gives the metadata.
func (f *shelfFile) encode() []byte {
	head := ndfile.NewAttrs()
	head.Set("table", pyjson.Bool(f.kind != ndfile.Single))
	head.Set("attrs", pyjson.ObjectValue(f.Attrs()))
	var list []pyjson.Value
	ints := func(v []int64) pyjson.Value {
		var l []pyjson.Value
		for _, n := range v {
			l = append(l, pyjson.Int(n))
		}
		return pyjson.List(l...)
	}
	for _, a := range f.arrays {
		o := ndfile.NewAttrs()
		o.Set("name", pyjson.String(a.name))
		o.Set("id", pyjson.Int(a.id))
		o.Set("dtype", pyjson.String(a.spec.DType.String()))
		o.Set("shape", ints(a.spec.Shape))
		o.Set("chunks", ints(a.spec.Chunks))
		if c, ok := a.spec.Compression(); ok {
			o.Set("codec", pyjson.String(c.Codec))
			o.Set("how", ints([]int64{int64(c.Level), int64(c.Shuffle)}))
		}
		if a.spec.Fill != nil {
			o.Set("fill", pyjson.String(hex.EncodeToString(a.spec.Fill)))
		}
		if f.kind != ndfile.Single {
			o.Set("attrs", pyjson.ObjectValue(a.attrs))
		}
		list = append(list, pyjson.ObjectValue(o))
	}
	head.Set("arrays", pyjson.List(list...))
	if f.bug == "sorts attrs" {
		head.Set("attrs", pyjson.ObjectValue(sortedAttrs(f.Attrs())))
	}
	return append(append([]byte(shelfMagic), pyjson.AppendObject(nil, head)[1:]...), '\n')
}

// decode undoes encode.
func (f *shelfFile) decode(text []byte) error {
	bad := func(msg string) error { return ndfile.NewError(ndfile.ErrCorrupt, msg).On(f.root + shelfMeta) }
	rest, ok := bytes.CutPrefix(text, []byte(shelfMagic))
	if !ok {
		return ndfile.NewError(ndfile.ErrFormat, "no shelf").On(f.root + shelfMeta)
	}
	head, err := ndfile.ParseJSON(append([]byte("{"), rest...))
	if err != nil {
		return err
	}
	ints := func(v pyjson.Value) (list []int64) {
		for _, it := range v.Items() {
			n, ok := it.Int64()
			if !ok {
				return nil
			}
			list = append(list, n)
		}
		return list
	}
	get := func(o *ndfile.Attrs, key string) pyjson.Value { v, _ := o.Get(key); return v }
	table, ok := get(head, "table").Bool()
	if f.attrs = get(head, "attrs").Object(); !ok || f.attrs == nil || get(head, "arrays").Kind() != pyjson.KindList {
		return bad("a bad header")
	}
	for _, v := range get(head, "arrays").Items() {
		a := &shelfArray{file: f}
		o := v.Object()
		var ok1, ok2, ok3 bool
		a.name, ok1 = get(o, "name").Str()
		a.id, ok2 = get(o, "id").Int64()
		dtype, ok3 := get(o, "dtype").Str()
		a.attrs = get(o, "attrs").Object()
		if !table {
			a.attrs = f.attrs
		}
		a.spec.Shape, a.spec.Chunks = ints(get(o, "shape")), ints(get(o, "chunks"))
		if !ok1 || !ok2 || !ok3 || a.attrs == nil || len(a.spec.Shape) == 0 || slices.Contains(f.Names(), a.name) ||
			(a.name == "") == table || len(f.arrays) > 0 && (!table || a.spec.Shape[0] != f.Rows()) {
			return bad("a bad array")
		}
		if a.spec.DType, err = ndarray.Parse(dtype); err != nil {
			return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err)
		}
		if codec, ok := get(o, "codec").Str(); ok {
			how := append(ints(get(o, "how")), -1, -1)
			a.spec.Codecs = ndfile.Compression{Codec: codec, Level: int(how[0]), Shuffle: int(how[1])}.Codecs()
		}
		if text, ok := get(o, "fill").Str(); ok {
			if a.spec.Fill, err = hex.DecodeString(text); err != nil {
				return bad("a bad fill value")
			}
		}
		if _, err := ndarray.NBytes(a.spec.Shape, max(a.spec.DType.Size, 1)); err != nil || a.spec.DType.IsVar() || a.layOut() != nil {
			return bad("an array that cannot be")
		}
		f.arrays = append(f.arrays, a)
	}
	if !table {
		if f.kind = ndfile.Single; len(f.arrays) != 1 {
			return bad("no array")
		}
	}
	return nil
}

func (a *shelfArray) Attrs() *ndfile.Attrs { return a.attrs }

func (a *shelfArray) Spec() ndfile.Spec { return a.spec }

// chunkPath is the file of a chunk.
func (a *shelfArray) chunkPath(index []int64) string {
	b := strconv.AppendInt([]byte(a.file.root+"/chunks/"), a.id, 10)
	for _, i := range index {
		b = strconv.AppendInt(append(b, '.'), i, 10)
	}
	return string(b)
}

// parseChunk undoes chunkPath.
func parseChunk(name string) (id int64, index []int64, ok bool) {
	for i, field := range strings.Split(name, ".") {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 {
			return 0, nil, false
		}
		if i == 0 {
			id = n
		} else {
			index = append(index, n)
		}
	}
	return id, index, true
}

// load gives the elements of a chunk.
func (a *shelfArray) load(index []int64) ([]byte, error) {
	size, _ := ndarray.NBytes(a.spec.Chunks, a.spec.DType.Size)
	raw, err := a.file.readFile(a.file.fsys, a.chunkPath(index), int(size)+4, a.file.follow)
	if errors.Is(err, syscall.ENOENT) {
		fill := a.spec.Fill
		if fill == nil {
			fill = make([]byte, a.spec.DType.Size)
		}
		if a.file.bug == "holes are ones" {
			fill = bytes.Repeat([]byte{1}, len(fill))
		}
		return bytes.Repeat(fill, int(size)/max(len(fill), 1)), nil
	}
	if err != nil {
		return nil, err
	}
	if len(raw) != int(size)+4 || int64(binary.LittleEndian.Uint32(raw)) != size {
		return nil, ndfile.NewError(ndfile.ErrCorrupt, fmt.Sprintf("expected a chunk of %d bytes", size)).On(a.chunkPath(index))
	}
	return raw[4:], nil
}

func (a *shelfArray) store(index []int64, data []byte) error {
	raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
	if slow := a.file.bug == "slowly torn chunks"; slow || a.file.bug == "torn chunks" {
		h, err := a.file.fsys.OpenRW(a.chunkPath(index))
		if err == nil {
			for i := 0; err == nil && i < len(raw); i += 5 {
				if _, err = h.WriteAt(raw[i:min(i+5, len(raw))], int64(i)); slow && i == 10 {
					time.Sleep(100 * time.Microsecond) // so that somebody sees it
				}
			}
			h.Close()
			return err
		}
	}
	err := a.file.fsys.WriteFile(a.chunkPath(index), [][]byte{raw}, a.file.opt)
	switch {
	case a.file.bug == "swallows errors":
		return nil
	case a.file.bug == "leaks" && err != nil:
		a.file.fsys.Open(a.file.root + shelfMeta)
	}
	return err
}

// touched lists the chunks of a box: of each the positions of elements in the
// box and in the chunk.
func (a *shelfArray) touched(box ndarray.Box) (keys [][]int64, pairs [][][2]int) {
	known, last := map[string]int{}, -1
	key := make([]int64, len(box.Count))
	each(box.Count, func(k int, index []int64) {
		at := int64(0)
		for axis, i := range index {
			step := int64(1)
			if box.Step != nil {
				step = box.Step[axis]
			}
			x := box.Start[axis] + i*step
			key[axis] = x / a.spec.Chunks[axis]
			at = at*a.spec.Chunks[axis] + x%a.spec.Chunks[axis]
		}
		if last < 0 || !slices.Equal(keys[last], key) { // neighbours lie in one chunk, mostly
			n, ok := known[fmt.Sprint(key)]
			if !ok {
				n = len(keys)
				known[fmt.Sprint(key)] = n
				keys, pairs = append(keys, slices.Clone(key)), append(pairs, nil)
			}
			last = n
		}
		pairs[last] = append(pairs[last], [2]int{k, int(at)})
	})
	return keys, pairs
}

func (a *shelfArray) ReadBox(_ context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	err := box.Check(a.spec.Shape)
	if err == nil {
		err = dst.Check()
	}
	switch {
	case err != nil:
		return a.file.locate(err, a)
	case a.file.closed || a.gone:
		return a.file.fail(ndfile.ErrHandle, a, "closed")
	case !slices.Equal(dst.Shape, box.Count):
		return a.file.fail(ndfile.ErrShape, a, "the destination has another shape")
	case !ndarray.CanConvert(a.spec.DType, dst.DType):
		return a.file.fail(ndfile.ErrDType, a, "no conversion")
	}
	src, err := ndarray.NewBuffer(a.spec.DType, box.Count)
	if err != nil {
		return a.file.locate(err, a)
	}
	size := a.spec.DType.Size
	keys, pairs := a.touched(box)
	for i, key := range keys {
		data, err := a.load(key)
		if err != nil {
			return a.file.locate(err, a)
		}
		for _, p := range pairs[i] {
			copy(src.Data[p[0]*size:][:size], data[p[1]*size:])
		}
	}
	return a.file.locate(ndarray.Copy(dst, src), a)
}

func (a *shelfArray) WriteBox(_ context.Context, box ndarray.Box, src ndarray.Buffer) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	err := a.file.change(a)
	if err == nil {
		err = box.Check(a.spec.Shape)
	}
	if a.file.bug == "writes at Close" && err == nil && a.file.folder == nil {
		src.Data = slices.Clone(src.Data)
		a.delay = append(a.delay, func() { a.put(box, src) })
		return nil
	}
	if err == nil {
		err = a.put(box, src)
	}
	return a.file.locate(err, a)
}

// put stores src in a box, which may lie outside the array.
func (a *shelfArray) put(box ndarray.Box, src ndarray.Buffer) error {
	if err := src.Check(); err != nil {
		return err
	}
	if !slices.Equal(src.Shape, box.Count) {
		return ndfile.NewError(ndfile.ErrShape, "the source has another shape")
	}
	if !ndarray.CanConvert(src.DType, a.spec.DType) {
		return ndfile.NewError(ndfile.ErrDType, "cannot store "+src.DType.String())
	}
	packed, err := ndarray.NewBuffer(a.spec.DType, box.Count)
	if err == nil {
		err = ndarray.Copy(packed, src)
	}
	if err != nil {
		return err
	}
	size := a.spec.DType.Size
	keys, pairs := a.touched(box)
	for i, key := range keys {
		err := a.rewrite(key, func(data []byte) {
			for _, p := range pairs[i] {
				copy(data[p[1]*size:][:size], packed.Data[p[0]*size:])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rewrite changes the elements of a chunk.
func (a *shelfArray) rewrite(index []int64, change func(data []byte)) error {
	if a.file.bug != "loses updates" {
		shelfLock.Lock()
		defer shelfLock.Unlock()
	}
	data, err := a.load(index)
	if err != nil && a.file.bug == "writes through links" {
		size, _ := ndarray.NBytes(a.spec.Chunks, a.spec.DType.Size)
		data, err = make([]byte, size), nil
	}
	if err != nil {
		return err
	}
	if a.file.bug == "loses updates" {
		time.Sleep(100 * time.Microsecond) // so that somebody else comes
	}
	change(data)
	return a.store(index, data)
}

func (a *shelfArray) ChunkEncoding() string { return "shelf" }

func (a *shelfArray) checkIndex(index []int64) error {
	if len(index) != len(a.spec.Shape) {
		return ndfile.NewError(ndfile.ErrShape, "an index of another rank")
	}
	for axis, i := range index {
		if (i < 0 || i*a.spec.Chunks[axis] >= a.spec.Shape[axis]) && a.file.bug != "takes any index" {
			return ndfile.NewError(ndfile.ErrBounds, "no such chunk")
		}
	}
	return nil
}

func (a *shelfArray) ReadChunk(_ context.Context, index []int64, buf []byte) ([]byte, int64, error) {
	if err := a.file.answer(); err != nil {
		return nil, 0, err
	}
	if err := a.checkIndex(index); err != nil {
		return nil, 0, a.file.locate(err, a)
	}
	if _, err := a.file.fsys.Lstat(a.chunkPath(index)); errors.Is(err, syscall.ENOENT) {
		return nil, 0, nil
	}
	data, err := a.load(index)
	if err != nil {
		return nil, 0, a.file.locate(err, a)
	}
	raw := append(binary.LittleEndian.AppendUint32(buf[:0], uint32(len(data))), data...)
	if a.file.bug == "ignores the buffer" {
		raw = slices.Clone(raw)
	}
	return raw, int64(len(data)), nil
}

func (a *shelfArray) WriteChunk(_ context.Context, index []int64, raw []byte) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	err := a.file.change(a)
	if err == nil {
		err = a.checkIndex(index)
	}
	size, _ := ndarray.NBytes(a.spec.Chunks, a.spec.DType.Size)
	switch {
	case err != nil:
		return a.file.locate(err, a)
	case len(raw) < 4 || int64(len(raw)-4) != size || int64(binary.LittleEndian.Uint32(raw)) != size:
		if a.file.bug != "takes any bytes" || len(raw) < 4 {
			return a.file.fail(ndfile.ErrNotSupported, a, "a chunk of another size")
		}
	}
	shelfLock.Lock()
	defer shelfLock.Unlock()
	return a.file.locate(a.store(index, raw[4:]), a)
}

// clean removes the chunks that lie outside shape, which makes room, and fills the
// elements that do.
func (a *shelfArray) clean(shape []int64) error {
	if a.file.bug == "old values come back" {
		return nil
	}
	err := a.cleanPart(shape, false)
	if err == nil {
		err = a.cleanPart(shape, true)
	}
	return err
}

func (a *shelfArray) cleanPart(shape []int64, edges bool) error {
	list, err := a.file.fsys.ReadDir(a.file.root + "/chunks")
	if err != nil {
		return err
	}
	size := a.spec.DType.Size
	fill := a.spec.Fill
	if fill == nil {
		fill = make([]byte, size)
	}
	for _, e := range list {
		id, index, ok := parseChunk(e.Name)
		if !ok || id != a.id {
			continue
		}
		outside, edge := false, false
		for axis, n := range shape {
			outside = outside || index[axis]*a.spec.Chunks[axis] >= n
			edge = edge || (index[axis]+1)*a.spec.Chunks[axis] > n
		}
		switch {
		case outside == edges:
		case outside:
			err = a.file.fsys.Remove(a.chunkPath(index))
		case edge:
			data, err2 := a.load(index)
			if err = err2; err != nil {
				break
			}
			was := slices.Clone(data)
			each(a.spec.Chunks, func(k int, in []int64) {
				for axis, i := range in {
					if index[axis]*a.spec.Chunks[axis]+i >= shape[axis] {
						copy(data[k*size:], fill)
						return
					}
				}
			})
			if !bytes.Equal(data, was) {
				err = a.store(index, data)
			}
		}
		if err != nil {
			return err
		}
	}
	if !edges && a.file.opt.Sync { // what is back after a power cut would be seen again
		return a.file.fsys.SyncDir(a.file.root + "/chunks")
	}
	return nil
}

// reshape gives arrays new shapes, all at once; put stores what is new before.
func (f *shelfFile) reshape(shapes map[*shelfArray][]int64, put func() error) error {
	old := map[*shelfArray][]int64{}
	for _, a := range f.arrays {
		if shapes[a] == nil {
			continue
		}
		if old[a] = a.spec.Shape; f.bug == "cleans late" {
			continue
		}
		if err := a.clean(a.spec.Shape); err != nil { // what a crash has left
			return err
		}
	}
	set := func(shapes map[*shelfArray][]int64) {
		for a, shape := range shapes {
			a.spec.Shape = shape
		}
	}
	if f.bug != "commits early" {
		if err := put(); err != nil {
			f.takeBack(old)
			return err
		}
	}
	set(shapes)
	if f.folder == nil {
		if err := f.commit(); err != nil {
			set(old)
			f.takeBack(old)
			return err
		}
	}
	if f.bug == "commits early" {
		if err := put(); err != nil {
			return err
		}
	}
	return f.cleanAll(shapes)
}

// takeBack removes what a failed append has written.
func (f *shelfFile) takeBack(old map[*shelfArray][]int64) {
	if f.bug != "fills the disk" && f.bug != "torn chunks" {
		f.cleanAll(old)
	}
}

// cleanAll is clean for all arrays that have a shape here.
func (f *shelfFile) cleanAll(shapes map[*shelfArray][]int64) (err error) {
	for _, a := range f.arrays {
		if shapes[a] == nil {
			continue
		}
		if e := a.clean(shapes[a]); err == nil {
			err = e
		}
	}
	return err
}

func (a shelfWhole) Resize(_ context.Context, shape []int64) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	err := a.file.change(a.shelfArray)
	if err == nil && len(shape) != len(a.spec.Shape) && a.file.bug != "changes ranks" {
		err = ndfile.NewError(ndfile.ErrShape, "another number of axes")
	}
	if err == nil {
		_, err = ndarray.NBytes(shape, max(a.spec.DType.Size, 1))
	}
	if err == nil {
		err = a.file.reshape(map[*shelfArray][]int64{a.shelfArray: slices.Clone(shape)}, func() error { return nil })
	}
	return a.file.locate(err, a.shelfArray)
}

// behind is the box along an axis behind the end of an array, of the shape of src.
func (a *shelfArray) behind(axis int, src ndarray.Buffer) (box ndarray.Box, shape []int64, err error) {
	if axis < 0 || axis >= len(a.spec.Shape) {
		return box, nil, ndfile.NewError(ndfile.ErrArgument, "no such axis")
	}
	if err := src.Check(); err != nil {
		return box, nil, err
	}
	shape = slices.Clone(a.spec.Shape)
	box = ndarray.Full(src.Shape)
	for i := range shape {
		if len(src.Shape) != len(shape) || i != axis && src.Shape[i] != shape[i] && a.file.bug != "appends anything" {
			return box, nil, ndfile.NewError(ndfile.ErrShape, "other extents")
		}
	}
	box.Start[axis] = shape[axis]
	shape[axis] += src.Shape[axis]
	_, err = ndarray.NBytes(shape, max(a.spec.DType.Size, 1))
	return box, shape, err
}

func (a shelfWhole) Append(_ context.Context, axis int, src ndarray.Buffer) error {
	if err := a.file.answer(); err != nil {
		return err
	}
	err := a.file.change(a.shelfArray)
	if err == nil {
		var box ndarray.Box
		var shape []int64
		if box, shape, err = a.behind(axis, src); err == nil {
			err = a.file.reshape(map[*shelfArray][]int64{a.shelfArray: shape}, func() error {
				if a.file.bug == "forgets the end" && src.Shape[axis] > 5 {
					return nil
				}
				return a.put(box, src)
			})
		}
	}
	return a.file.locate(err, a.shelfArray)
}

func (f *shelfFile) Rows() int64 {
	if len(f.arrays) == 0 {
		return 0
	}
	return f.arrays[0].spec.Shape[0]
}

func (f *shelfFile) AppendRows(_ context.Context, columns []ndarray.Buffer) error {
	if err := f.answer(); err != nil {
		return err
	}
	if err := f.change(nil); err != nil {
		return err
	}
	if f.kind == ndfile.Single {
		return f.fail(ndfile.ErrNotSupported, nil, "no table")
	}
	if len(columns) != len(f.arrays) {
		return f.fail(ndfile.ErrShape, nil, "another number of columns")
	}
	shapes, boxes := map[*shelfArray][]int64{}, make([]ndarray.Box, len(columns))
	for i, a := range f.arrays {
		var err error
		if boxes[i], shapes[a], err = a.behind(0, columns[i]); err == nil && columns[i].Shape[0] != columns[0].Shape[0] && f.bug != "appends unevenly" {
			err = ndfile.NewError(ndfile.ErrShape, "columns of other lengths")
		}
		if err == nil && !ndarray.CanConvert(columns[i].DType, a.spec.DType) {
			err = ndfile.NewError(ndfile.ErrDType, "no conversion")
		}
		if err != nil {
			return f.locate(err, a)
		}
		shapes[a][0] = f.Rows() + columns[0].Shape[0]
	}
	err := f.reshape(shapes, func() error {
		for i, a := range f.arrays {
			if err := a.put(boxes[i], columns[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && f.bug == "appends half" {
		f.arrays[0].spec.Shape = shapes[f.arrays[0]]
	}
	return f.locate(err, nil)
}

func (f *shelfFile) ResizeRows(_ context.Context, n int64) error {
	if err := f.answer(); err != nil {
		return err
	}
	if err := f.change(nil); err != nil {
		return err
	}
	if f.kind == ndfile.Single {
		return f.fail(ndfile.ErrNotSupported, nil, "no table")
	}
	if half := (n + f.Rows()) / 2; f.bug == "two commits" && half != f.Rows() && half != n {
		if err := f.ResizeRows(ctx, half); err != nil {
			return err
		}
	}
	shapes := map[*shelfArray][]int64{}
	for _, a := range f.arrays {
		shapes[a] = slices.Clone(a.spec.Shape)
		shapes[a][0] = n
		if _, err := ndarray.NBytes(shapes[a], max(a.spec.DType.Size, 1)); err != nil {
			return f.locate(err, a)
		}
	}
	return f.locate(f.reshape(shapes, func() error { return nil }), nil)
}

func (f shelf) Verify(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, report func(ndfile.Problem)) error {
	file, err := f.Open(ctx, fsys, path, ndfile.OpenOptions{Limits: opt.Limits, FollowSymlinks: opt.FollowSymlinks})
	if err != nil {
		return err
	}
	defer file.Abort()
	if f.bug == "sees nothing" {
		return nil
	}
	s := file.(*shelfFile)
	found := findings.List{FS: fsys, Store: s.root, Repair: opt.Repair}
	for _, folder := range []string{s.root, s.root + "/chunks"} {
		list, err := fsys.ReadDir(folder)
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return s.locate(err, nil)
		}
		for _, e := range list {
			p := ndfile.Problem{Path: folder + "/" + e.Name, Kind: ndfile.ErrValue, Offset: -1, Msg: "a stale file"}
			id, index, isChunk := parseChunk(e.Name)
			switch {
			case vfs.IsTempName(e.Name), f.bug == "repairs too much" && isChunk, f.bug == "repairs foreign files" && e.Name == "notes.txt":
				p.Repair = "it is removed"
			case folder == s.root && s.ours(e.Name, e.Mode) && f.bug != "sees ghosts":
				continue
			case isChunk:
				i := slices.IndexFunc(s.arrays, func(a *shelfArray) bool { return a.id == id })
				if i >= 0 && s.arrays[i].checkIndex(index) == nil {
					if _, err := s.arrays[i].load(index); err != nil {
						p.Kind, p.Msg = ndfile.ErrCorrupt, err.Error()
						report(p)
					}
					continue
				}
				p.Repair = "it is removed"
			}
			if p.Class = ndfile.Foreign; p.Repair == "" {
				found.Add(p, nil)
				continue
			}
			p.Class = ndfile.Stale
			if f.bug == "removes in repair" && opt.Repair {
				if err := fsys.Remove(p.Path); err == nil {
					p.Repaired = true
				}
				report(p)
				continue
			}
			if found.Add(p, found.Plan(p.Repair, aside.Step{Path: p.Path})); f.bug == "repairs nothing" {
				found.Repair = false
			}
		}
	}
	found.Report(report)
	return nil
}

func (f shelf) Split(ctx context.Context, fsys ndfile.FS, src string, parts []ndfile.Part, opt ndfile.SplitOptions) error {
	from, err := f.Open(ctx, fsys, src, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer from.Abort()
	s := from.(*shelfFile)
	row := int64(0)
	for i, p := range parts {
		for _, a := range s.arrays {
			if p.Rows < 0 || i+1 < len(parts) && p.Rows%a.spec.Chunks[0] != 0 && f.bug != "cuts chunks" {
				return s.fail(ndfile.ErrShape, a, "not between chunks")
			}
		}
		row += p.Rows
	}
	if row != s.Rows() && f.bug != "forgets rows" {
		return s.fail(ndfile.ErrShape, nil, "the parts are not the whole")
	}
	row = 0
	for _, p := range parts {
		if err := f.join(ctx, fsys, p.Path, p.Rows, []*shelfFile{s}, row, opt); err != nil {
			return err
		}
		row += p.Rows
	}
	return nil
}

func (f shelf) Concat(ctx context.Context, fsys ndfile.FS, srcs []string, dst string, opt ndfile.SplitOptions) error {
	var files []*shelfFile
	rows := int64(0)
	for i, src := range srcs {
		from, err := f.Open(ctx, fsys, src, ndfile.OpenOptions{})
		if err != nil {
			return err
		}
		defer from.Abort()
		s := from.(*shelfFile)
		files = append(files, s)
		rows += s.Rows()
		if !slices.Equal(s.Names(), files[0].Names()) {
			return s.fail(ndfile.ErrShape, nil, "other columns")
		}
		for j, a := range s.arrays {
			first := files[0].arrays[j].spec
			if !a.spec.DType.Equal(first.DType) {
				return s.fail(ndfile.ErrDType, a, "another dtype")
			}
			if !slices.Equal(a.spec.Chunks, first.Chunks) || !slices.Equal(a.spec.Shape[1:], first.Shape[1:]) || i+1 < len(srcs) && s.Rows()%a.spec.Chunks[0] != 0 {
				return s.fail(ndfile.ErrShape, a, "it does not fit behind the first")
			}
		}
	}
	if len(files) == 0 {
		return ndfile.NewError(ndfile.ErrArgument, "no stores").On(dst)
	}
	if f.bug == "shuffles parts" {
		slices.Reverse(files)
	}
	return f.join(ctx, fsys, dst, rows, files, 0, opt)
}

// join makes a store of rows rows of others, from row on.
func (f shelf) join(ctx context.Context, fsys ndfile.FS, path string, rows int64, from []*shelfFile, row int64, opt ndfile.SplitOptions) error {
	to, err := f.Create(ctx, fsys, path, ndfile.CreateOptions{WriteOptions: opt.WriteOptions, Attrs: from[0].Attrs()})
	if err != nil {
		return err
	}
	defer to.Abort()
	for i, first := range from[0].arrays {
		spec := first.spec
		spec.Shape = slices.Clone(spec.Shape)
		spec.Shape[0] = rows
		if spec.Attrs = first.attrs; f.bug == "loses attrs" {
			spec.Attrs = nil
		}
		dst, err := to.Add(ctx, first.name, spec)
		if err != nil {
			return err
		}
		at := int64(0)
		for _, s := range from {
			src := s.arrays[i]
			n := min(src.spec.Shape[0]-row, rows-at)
			box := ndarray.Full(src.spec.Shape)
			box.Start[0], box.Count[0] = row, n
			b, err := ndarray.NewBuffer(spec.DType, box.Count)
			if err == nil {
				err = src.ReadBox(ctx, box, b)
			}
			box.Start[0] = at
			if err == nil {
				err = dst.WriteBox(ctx, box, b)
			}
			if err != nil {
				return err
			}
			at += n
		}
	}
	return to.Close(ctx)
}
