package zarr

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// errIsGroup tells that there is a group where an array was looked for.
var errIsGroup = errors.New("a group of arrays")

// group is an open group: a dataset of the arrays below it, named by their paths
// from there. Its attributes are those of the group; they are read only. An array is
// opened when it is first asked for, with a writer lock of its own where the group
// was opened for changes.
type group struct {
	format format
	store  // of the group's folder
	fsys   ndfile.FS
	opt    ndfile.OpenOptions
	given  string // the path of the caller
	names  []string
	attrs  *ndfile.Attrs

	mu     sync.Mutex
	open   map[string]*file
	closed bool
}

// maxGroups is how deep groups may nest.
const maxGroups = 64

// openGroup opens the group at a path. What its documents say counts, wherever there
// are any; of a store that has consolidated metadata only, those.
func (f format) openGroup(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (*group, error) {
	g := &group{format: f, fsys: fsys, opt: opt, given: strings.Clone(path), open: map[string]*file{}}
	g.store = newStore(f.version, fsys, g.given, opt.FollowSymlinks, opt.Limits)
	copies, err := g.consolidated(ctx)
	if err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	if err := g.list(ctx, "", 0); err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	if len(g.names) == 0 && len(copies) > 0 && opt.Mode == ndfile.ReadOnly {
		g.useCopies(copies)
	}
	slices.Sort(g.names)
	if g.attrs, err = g.groupAttrs(ctx); err != nil {
		return nil, ndfile.Locate(err, path, "", false)
	}
	return g, nil
}

// list finds the arrays below a folder of the group.
func (g *group) list(ctx context.Context, below string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxGroups {
		return ndfile.NewError(ndfile.ErrLimit, "groups nested deeper than 64").On(g.path(below))
	}
	entries, err := g.files.ReadDir(g.path(below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := below + e.Name
		if e.Mode != vfs.Dir && (e.Mode != vfs.Symlink || !g.files.Follow) || vfs.IsTempName(e.Name) {
			continue
		}
		isArray, err := g.isArray(ctx, name)
		switch {
		case err != nil:
			return err
		case isArray:
			g.names = append(g.names, name)
		default:
			err := g.list(ctx, name+"/", depth+1)
			if errors.Is(err, syscall.ENOTDIR) { // a link to a file
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isArray tells whether a folder has the document of an array.
func (g *group) isArray(ctx context.Context, name string) (bool, error) {
	text, err := g.read(ctx, name+"/"+g.version.meta)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return false, nil
		}
		return false, err
	}
	if g.version.group != "" {
		return true, nil // groups have a document of another name
	}
	doc, err := metafile.Parse(text, g.files.Limits)
	if err != nil {
		return true, nil // opening it tells what is wrong
	}
	node, _ := doc.Get("node_type")
	word, _ := node.Str()
	return word != "group", nil
}

// consolidated reads the copies of documents that the group's folder may hold in one
// place, by their paths from the group. Those of a kind or version that is not known
// are left out, as their specifications have it.
func (g *group) consolidated(ctx context.Context) (copies map[string]pyjson.Value, err error) {
	var doc *metafile.Document
	var members pyjson.Value
	file := g.version.copies
	if file == "" {
		file = g.version.meta
	}
	text, err := g.read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		doc, err = metafile.Parse(text, g.files.Limits)
	}
	if err != nil {
		return nil, ndfile.Locate(err, g.path(file), "", false)
	}
	if g.version.copies != "" {
		if n, _ := doc.Get("zarr_consolidated_format"); n.Text() != "1" {
			return nil, nil
		}
		members, _ = doc.Get("metadata")
	} else {
		if err := refuse3(doc); err != nil {
			return nil, ndfile.Locate(err, g.path(file), "", false)
		}
		inline, ok := doc.Get(consolidated3)
		kind, _ := inline.Object().Get("kind")
		if word, _ := kind.Str(); !ok || inline.Kind() == pyjson.KindNull {
			return nil, nil
		} else if word != "inline" {
			must, ok := inline.Object().Get("must_understand")
			if b, isBool := must.Bool(); ok && isBool && !b {
				return nil, nil
			}
			err := ndfile.NewError(ndfile.ErrNotSupported, "consolidated metadata of the kind "+metafile.Short(kind)).At(doc.Offset(consolidated3))
			return nil, ndfile.Locate(err, g.path(file), "", false)
		}
		members, _ = inline.Object().Get("metadata")
	}
	copies = map[string]pyjson.Value{}
	for i := range members.Object().Len() {
		key, v := members.Object().At(i)
		if !cleanKey(key) {
			err := ndfile.NewError(ndfile.ErrCorrupt, "consolidated metadata: expected paths within the group, found "+quoted(key))
			return nil, ndfile.Locate(err, g.path(file), "", false)
		}
		copies[key] = v
	}
	return copies, nil
}

// consolidated3 is the member of version 3 that holds copies of documents.
const consolidated3 = "consolidated_metadata"

// cleanKey tells whether a path leads to something below a folder.
func cleanKey(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return key == ""
		}
	}
	return true
}

// useCopies reads documents from consolidated metadata, and lists the arrays that
// are there.
func (g *group) useCopies(copies map[string]pyjson.Value) {
	docs := map[string][]byte{}
	for key, v := range copies {
		path := key
		if g.version.group == "" {
			path = strings.TrimPrefix(key+"/"+g.version.meta, "/")
		}
		docs[g.path(path)] = pyjson.Append(nil, v)
		array, isDocument := strings.CutSuffix(path, "/"+g.version.meta)
		if node, _ := v.Object().Get("node_type"); isDocument {
			if word, _ := node.Str(); word != "group" {
				g.names = append(g.names, array)
			}
		}
	}
	g.fsys = withDocuments{g.fsys, docs}
	g.store = newStore(g.version, g.fsys, g.root, g.opt.FollowSymlinks, g.opt.Limits)
}

// withDocuments is a file system in which some documents are in memory.
type withDocuments struct {
	ndfile.FS
	docs map[string][]byte
}

func (w withDocuments) ReadSmall(ctx context.Context, path string, buf []byte) (int, vfs.File, error) {
	if doc, ok := w.docs[path]; ok && len(doc) < len(buf) {
		return copy(buf, doc), nil, nil
	}
	return w.FS.ReadSmall(ctx, path, buf)
}

func (w withDocuments) Stat(path string) (vfs.Info, error) {
	if doc, ok := w.docs[path]; ok {
		return vfs.Info{Size: int64(len(doc)), Mode: vfs.Regular}, nil
	}
	return w.FS.Stat(path)
}

func (w withDocuments) Lstat(path string) (vfs.Info, error) {
	if _, ok := w.docs[path]; ok {
		return w.Stat(path)
	}
	return w.FS.Lstat(path)
}

// groupAttrs reads the attributes of the group.
func (g *group) groupAttrs(ctx context.Context) (*ndfile.Attrs, error) {
	if g.version.attrs != "" {
		return g.readAttrs(ctx, nil)
	}
	text, err := g.read(ctx, g.version.meta)
	if err != nil {
		return nil, err
	}
	doc, err := metafile.Parse(text, g.files.Limits)
	if err == nil {
		err = refuse3(doc)
	}
	if err != nil {
		return nil, ndfile.Locate(err, g.path(g.version.meta), "", false)
	}
	return g.readAttrs(ctx, &metadata{doc: doc.Object})
}

func (g *group) Kind() ndfile.Kind    { return ndfile.Dataset }
func (g *group) Attrs() *ndfile.Attrs { return g.attrs }
func (g *group) Names() []string      { return g.names }

func (g *group) located(err error) error { return ndfile.Locate(err, g.given, "", false) }

// Array implements [ndfile.File].
func (g *group) Array(name string) (ndfile.Array, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, g.located(ndfile.ErrClosed())
	}
	if f := g.open[name]; f != nil {
		return f.array.public(), nil
	}
	if _, ok := slices.BinarySearch(g.names, name); !ok {
		return nil, g.located(ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name)))
	}
	name = strings.Clone(name)
	f, err := g.format.openArray(context.Background(), g.fsys, g.path(name), g.opt)
	if err != nil {
		return nil, ndfile.Locate(err, g.path(name), "", false)
	}
	g.open[name] = f
	return f.array.public(), nil
}

// Add implements [ndfile.File]: groups cannot be changed yet, their arrays can.
func (g *group) Add(context.Context, string, ndfile.Spec) (ndfile.Array, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, g.located(ndfile.ErrClosed())
	case g.opt.Mode == ndfile.ReadOnly:
		return nil, g.located(ndfile.NewError(ndfile.ErrReadOnly, ""))
	}
	return nil, g.located(ndfile.NewError(ndfile.ErrNotSupported, "adding arrays to a group: create the array at a path of its own"))
}

// Flush implements [ndfile.Flusher].
func (g *group) Flush(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.each(func(f *file) error { return f.Flush(ctx) })
}

// Shared implements [ndfile.Locker].
func (g *group) Shared() bool { return g.opt.Mode == ndfile.Update && g.opt.Shared }

// Locked implements [ndfile.Locker]: all arrays that are open are.
func (g *group) Locked() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.open {
		if !f.Locked() {
			return false
		}
	}
	return g.opt.Mode == ndfile.Update
}

// Close implements [ndfile.File].
func (g *group) Close(ctx context.Context) error {
	return g.end(func(f *file) error { return f.Close(ctx) })
}

// Abort implements [ndfile.File].
func (g *group) Abort() error { return g.end((*file).Abort) }

// each calls do for all arrays that are open; the lock is held. The error is the
// first one.
func (g *group) each(do func(f *file) error) (err error) {
	if g.closed {
		return g.located(ndfile.ErrClosed())
	}
	for _, name := range slices.Sorted(maps.Keys(g.open)) {
		if e := do(g.open[name]); err == nil {
			err = e
		}
	}
	return err
}

func (g *group) end(do func(f *file) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	err := g.each(do)
	g.closed = true
	return err
}
