package zarr

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// group is an open group: a dataset of the arrays below it, named by their paths
// from there. An array is opened when it is first asked for, with a writer lock of
// its own beside that of the group where the group is open for changes. Whoever
// changes a group below holds the writer lock of that for the time of the change.
type group struct {
	edit.Session
	store  // of the group's folder
	format format
	opt    ndfile.OpenOptions // of the arrays
	fsys   ndfile.FS          // what they are opened in
	nodes  nodes
	open   map[string]*file  // arrays in use
	groups map[string]*inner // groups in use; "" is this one
	copies copies
	held   map[string]*edit.Session // writer locks for a change that is under way
	gone   []string                 // what was removed, but not all of it: by its temporary name
}

// inner is a group with its attributes.
type inner struct {
	store
	attrs, old *ndfile.Attrs // old: as they are on disk; nil: there is no document yet
	doc        *pyjson.Object
}

// openGroup opens the group at a path. For reading, consolidated metadata count
// where there are any; else the documents do.
func (f format) openGroup(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.OpenOptions) (*group, error) {
	g := &group{format: f, fsys: fsys, opt: opt, open: map[string]*file{}, groups: map[string]*inner{}}
	v := f.version
	signs := []string{v.meta}
	if v.group != "" {
		signs = []string{v.group, v.copies}
	}
	inStore, err := g.Session.Open(ctx, fsys, path, &opt, signs...)
	g.store = newStore(v, inStore, g.Root, opt.FollowSymlinks, opt.Limits)
	if err == nil {
		err = g.load(ctx)
	}
	if err = g.Opened(err, &opt); err != nil {
		return nil, err
	}
	return g, nil
}

// load reads what is opened at once: the nodes, and the attributes of the root.
func (g *group) load(ctx context.Context) error {
	if g.version.group != "" {
		if err := g.files.Expect(g.path(g.version.group), vfs.Regular); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	copies, err := g.consolidated(ctx)
	if err != nil {
		return err
	}
	if copies != nil && g.Mode == edit.Reading {
		g.useCopies(copies)
	} else {
		n, err := findNodes(ctx, &g.store)
		if err != nil {
			return err
		}
		g.nodes = *n
	}
	_, err = g.inner(ctx, "")
	return err
}

// inner gives a group, whose attributes are read when it is first asked for.
func (g *group) inner(ctx context.Context, name string) (*inner, error) {
	if n := g.groups[name]; n != nil {
		return n, nil
	}
	if g.nodes.has(name) != groupNode {
		return nil, g.unknown(name)
	}
	n := &inner{store: g.store}
	if name != "" {
		n.root = g.path(name)
	}
	n.metaText, n.attrsText = nil, nil
	if err := n.load(ctx); err != nil {
		return nil, err
	}
	g.groups[strings.Clone(name)] = n
	return n, nil
}

// load reads the documents of a group.
func (n *inner) load(ctx context.Context) (err error) {
	if n.version.attrs != "" {
		n.attrs, err = n.readAttrs(ctx, nil)
	} else {
		n.attrs, err = n.load3(ctx)
	}
	n.old = n.attrs.Clone()
	return err
}

// load3 is load of version 3. A group without a document, which there should not
// be, has no attributes.
func (n *inner) load3(ctx context.Context) (*ndfile.Attrs, error) {
	text, err := n.read(ctx, n.version.meta)
	if errors.Is(err, fs.ErrNotExist) {
		n.doc = groupDocument3()
		return ndfile.NewAttrs(), nil
	}
	var doc *metafile.Document
	if err == nil {
		n.metaText = text
		doc, err = metafile.Parse(text, n.files.Limits)
	}
	if err == nil {
		err = refuse3(doc)
	}
	if err != nil {
		return nil, ndfile.Locate(err, n.path(n.version.meta), "", false)
	}
	n.doc = doc.Object
	return n.readAttrs(ctx, &metadata{doc: doc.Object})
}

// groupDocument3 is the document of a new group of version 3.
func groupDocument3() *pyjson.Object {
	return object(inDocument, object(), "zarr_format", pyjson.Int(3), "node_type", pyjson.String("group")).Object()
}

// write writes the documents of a group; the one of version 2 that says no more
// than that it is one, only where there is none.
func (n *inner) write(attrs *ndfile.Attrs, opt ndfile.WriteOptions) error {
	v := n.version
	if v.attrs != "" {
		if n.old == nil {
			if err := n.writeDocument(v.group, object("zarr_format", pyjson.Int(2)).Object(), opt); err != nil {
				return err
			}
		}
		if n.old == nil && attrs.Len() == 0 {
			return nil
		}
		opt.Ordered = n.old.Len() == 0
		return n.writeDocument(v.attrs, attrs, opt)
	}
	doc := n.doc.Clone()
	doc.Set(inDocument, pyjson.ObjectValue(attrs.Clone()))
	if err := n.writeDocument(v.meta, doc, opt); err != nil {
		return err
	}
	n.doc = doc
	return nil
}

func (g *group) Kind() ndfile.Kind    { return ndfile.Dataset }
func (g *group) Attrs() *ndfile.Attrs { return g.groups[""].attrs }

func (g *group) Names() []string {
	g.RLock()
	defer g.RUnlock()
	return g.nodes.arrays
}

// Groups implements [ndfile.Tree].
func (g *group) Groups() []string {
	g.RLock()
	defer g.RUnlock()
	return g.nodes.groups
}

// GroupAttrs implements [ndfile.Tree].
func (g *group) GroupAttrs(ctx context.Context, name string) (*ndfile.Attrs, error) {
	g.Lock()
	defer g.Unlock()
	if err := g.Check(false); err != nil {
		return nil, g.Located(err)
	}
	n, err := g.inner(ctx, name)
	if err != nil {
		return nil, g.Located(err)
	}
	return n.attrs, nil
}

// unknown is the error of a name that there is not.
func (g *group) unknown(name string) error {
	return ndfile.NewError(ndfile.ErrName, ndfile.ErrName.Text).In(strings.Clone(name))
}

// Array implements [ndfile.File].
func (g *group) Array(name string) (ndfile.Array, error) {
	g.Lock()
	defer g.Unlock()
	if err := g.Check(false); err != nil {
		return nil, g.Located(err)
	}
	f, err := g.array(name)
	if err != nil {
		return nil, g.Located(err)
	}
	return f.array.public(), nil
}

func (g *group) array(name string) (*file, error) {
	if f := g.open[name]; f != nil {
		return f, nil
	}
	if g.nodes.has(name) != arrayNode {
		return nil, g.unknown(name)
	}
	name = strings.Clone(name)
	f, err := g.format.openArray(context.Background(), g.fsys, g.path(name), g.opt)
	if errors.Is(err, errIsGroup) {
		err = ndfile.NewError(ndfile.ErrCorrupt, "the consolidated metadata say that it is an array, but it is a group")
	}
	if err != nil {
		return nil, ndfile.Locate(err, g.path(name), "", false)
	}
	f.of, f.name = g.Path, name
	if g.Mode == edit.Updating {
		f.within = g
	}
	g.open[name] = f
	return f, nil
}

// Shared implements [ndfile.Locker].
func (g *group) Shared() bool { return g.opt.Mode == ndfile.Update && g.opt.Shared }

// Locked implements [ndfile.Locker]: all arrays that are open are.
func (g *group) Locked() bool {
	g.RLock()
	defer g.RUnlock()
	for _, f := range g.open {
		if f.Mode == edit.Updating && !f.Locked() {
			return false
		}
	}
	return g.Session.Locked()
}

// Flush implements [ndfile.Flusher]. A file being created appears when it is
// closed, not before.
func (g *group) Flush(ctx context.Context, opt ndfile.FlushOptions) error {
	g.Lock()
	defer g.Unlock()
	write := func(ctx context.Context) error { return g.flush(ctx, opt) }
	return g.Located(g.Session.Flush(ctx, g.files.FS, opt, write))
}

// flush writes what was changed. The error is the first one.
func (g *group) flush(ctx context.Context, opt ndfile.FlushOptions) (err error) {
	for _, name := range slices.Sorted(maps.Keys(g.open)) {
		f := g.open[name]
		f.Lock()
		e := f.flushAttrs(ctx)
		if e == nil && opt.Sync && f.Mode == edit.Updating { // it notes its own changes
			e = f.Session.Flush(ctx, f.files.FS, opt, func(context.Context) error { return nil })
		}
		g.copies.stale = g.copies.stale || f.wrote
		f.wrote = false
		f.Unlock()
		if err == nil {
			err = f.Located(e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.groups)) {
		if e := g.flushGroup(ctx, name); err == nil {
			err = e
		}
	}
	if err == nil {
		err = g.refreshCopies(ctx)
	}
	return err
}

// flushGroup writes the attributes of a group if they were changed.
func (g *group) flushGroup(ctx context.Context, name string) error {
	n := g.groups[name]
	if pyjson.ObjectValue(n.attrs).Equal(pyjson.ObjectValue(n.old)) {
		return nil
	}
	if err := errors.Join(ctx.Err(), g.Alone()); err != nil {
		return err
	}
	return g.holding(ctx, []string{name}, func() error {
		file, was := g.version.attrs, n.attrsText
		if file == "" {
			file, was = g.version.meta, n.metaText
		}
		if err := edit.Unchanged(ctx, &n.files, n.path(file), was); err != nil {
			return err
		}
		if err := n.write(n.attrs, g.Write); err != nil {
			return err
		}
		n.old, g.copies.stale = n.attrs.Clone(), true
		return nil
	})
}

// Close implements [ndfile.File].
func (g *group) Close(ctx context.Context) error {
	g.Lock()
	defer g.Unlock()
	err := g.Check(false)
	if err != nil {
		return g.Located(err)
	}
	switch g.Mode {
	case edit.Updating:
		// Others, who may not write to this group, can have changed what is below.
		if !g.Shared() {
			g.copies.find(ctx, &g.store, true)
			g.copies.stale = g.copies.stale || len(g.copies.dirs) > 0
		}
		err = g.flush(ctx, ndfile.FlushOptions{})
	case edit.Creating:
		if err = g.finish(ctx); err != nil {
			g.Folder.Abort()
			break
		}
		err = g.Folder.Commit()
	}
	g.endAll()
	return g.Located(err)
}

// Abort drops a file being created, and the attributes that were changed since
// Flush of another.
func (g *group) Abort() error {
	g.Lock()
	defer g.Unlock()
	err := g.Check(false)
	if err == nil {
		g.endAll()
		if g.Mode == edit.Creating {
			err = g.Folder.Abort()
		}
	}
	return g.Located(err)
}

// endAll ends the sessions of the group and of its arrays.
func (g *group) endAll() {
	for _, path := range g.gone {
		vfs.RemoveTree(g.files.FS, path, nil) // what is left still, verify tells of
	}
	for _, f := range g.open {
		f.Lock()
		f.End()
		f.Unlock()
	}
	g.End()
}
