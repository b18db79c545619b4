package zarr

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Add declares an array, as [ndfile.File] has it; groups above it that are missing
// are made. In a file open for changes the array, without elements, is there at
// once, with its groups, or not at all.
func (g *group) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	g.Lock()
	defer g.Unlock()
	f, err := g.add(ctx, strings.Clone(name), spec)
	if err != nil {
		return nil, g.Located(ndfile.Locate(err, g.Path, name, true))
	}
	return f.array.public(), nil
}

func (g *group) add(ctx context.Context, name string, spec ndfile.Spec) (*file, error) {
	if err := g.begin(ctx, name); err != nil {
		return nil, err
	}
	if g.Mode == edit.Creating {
		f := g.newFile(g.path(name))
		err := f.add(ctx, "", spec) // tells what is wrong before anything is made
		if err == nil {
			err = g.makeFolders(name, f.files.FS)
		}
		if err != nil {
			return nil, err
		}
		f.of, f.name = g.Path, name
		g.open[name] = f
		g.nodes.add(name, true)
		return f, nil
	}
	err := g.appear(ctx, name, func(folder string) error {
		f := g.newFile(folder)
		err := f.add(ctx, "", spec)
		if err == nil {
			err = f.finish(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g.nodes.add(name, true)
	return g.array(name)
}

// newFile makes the session of a new array in a folder.
func (g *group) newFile(folder string) *file {
	f := &file{store: newStore(g.version, g.files.FS, folder, false, ndfile.Limits{}), attrs: ndfile.NewAttrs()}
	f.Path, f.Root, f.Mode, f.Write = g.Path+folder[len(g.Root):], folder, edit.Creating, g.Write
	f.Write.Commit = ndfile.CommitDirect
	return f
}

// begin checks a change that makes a node.
func (g *group) begin(ctx context.Context, name string) error {
	if err := g.Begin(ctx); err != nil {
		return err
	}
	if err := g.version.checkName(name); err != nil {
		return err
	}
	for above := range parents(name) {
		if g.nodes.has(above) == arrayNode {
			return ndfile.NewError(ndfile.ErrArgument, "arrays hold no others: "+quoted(above)+" is one")
		}
	}
	if g.nodes.has(name) != noNode {
		return ndfile.NewError(ndfile.ErrNameExists, ndfile.ErrNameExists.Text)
	}
	return nil
}

// makeFolders makes the folders of a node of a file being created, and the groups
// above it.
func (g *group) makeFolders(name string, fsys ndfile.FS) error {
	for above := range parents(name) {
		if g.nodes.has(above) == noNode {
			if err := g.newGroup(above, nil); err != nil {
				return err
			}
		}
	}
	err := fsys.Mkdir(g.path(name))
	if errors.Is(err, fs.ErrExist) { // made for chunks, or a try before this failed
		err = nil
	}
	return err
}

// newGroup makes a group of a file being created, those above it being there.
func (g *group) newGroup(name string, attrs *ndfile.Attrs) error {
	err := g.files.Mkdir(g.path(name))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	g.groups[name] = g.newInner(g.path(name), attrs)
	g.nodes.add(name, false)
	return nil
}

// newInner is a group without documents.
func (g *group) newInner(folder string, attrs *ndfile.Attrs) *inner {
	n := &inner{store: newStore(g.version, g.files.FS, folder, false, ndfile.Limits{}), attrs: attrs.Clone(), doc: groupDocument3()}
	if n.attrs == nil {
		n.attrs = ndfile.NewAttrs()
	}
	return n
}

// appear makes a node of a file open for changes, with the groups above it that are
// missing: in a folder with another name, which then gets its own. fill writes what
// belongs into the folder of the node.
func (g *group) appear(ctx context.Context, name string, fill func(folder string) error) error {
	top := name // the first that is missing
	for above := range parents(name) {
		if _, err := g.files.Lstat(g.path(above)); errors.Is(err, fs.ErrNotExist) {
			top = above
			break
		}
	}
	around := ""
	if cut := strings.LastIndexByte(top, '/'); cut >= 0 {
		around = top[:cut]
	}
	return g.holding(ctx, []string{around}, func() error {
		opt := g.Write
		opt.Exclusive = true
		folder, err := vfs.NewFolder(g.files.FS, g.path(top), opt, nil)
		if err != nil {
			return nameTaken(err)
		}
		at := folder.Path()
		for cut := len(top); err == nil && cut < len(name); {
			if err = g.newInner(at, nil).write(ndfile.NewAttrs(), g.Write); err == nil {
				next := strings.IndexByte(name[cut+1:], '/')
				if next < 0 {
					next = len(name) - cut - 1
				}
				at += name[cut : cut+1+next]
				cut += 1 + next
				err = g.files.Mkdir(at)
			}
		}
		if err == nil {
			err = fill(at)
		}
		if err != nil {
			folder.Abort()
			return folder.Named(err)
		}
		g.copies.stale = true
		return nameTaken(folder.Commit())
	})
}

// nameTaken says of a folder that exists what that means here.
func nameTaken(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ndfile.NewError(ndfile.ErrNameExists, "something else has the name").Because(err)
	}
	return err
}

// AddGroup implements [ndfile.Tree].
func (g *group) AddGroup(ctx context.Context, name string, attrs *ndfile.Attrs) error {
	g.Lock()
	defer g.Unlock()
	return g.Located(ndfile.Locate(g.addGroup(ctx, strings.Clone(name), attrs), g.Path, name, true))
}

func (g *group) addGroup(ctx context.Context, name string, attrs *ndfile.Attrs) error {
	if err := g.begin(ctx, name); err != nil {
		return err
	}
	if g.Mode == edit.Creating {
		if err := g.makeFolders(name, g.files.FS); err != nil {
			return err
		}
		return g.newGroup(name, attrs)
	}
	err := g.appear(ctx, name, func(folder string) error {
		n := g.newInner(folder, attrs)
		return n.write(n.attrs, g.Write)
	})
	if err == nil {
		g.nodes.add(name, false)
	}
	return err
}

// Remove implements [ndfile.Remover]. The folder first gets a temporary name: the
// node is there or not.
func (g *group) Remove(ctx context.Context, name string) error {
	g.Lock()
	defer g.Unlock()
	return g.Located(ndfile.Locate(g.remove(ctx, strings.Clone(name)), g.Path, name, true))
}

func (g *group) remove(ctx context.Context, name string) error {
	if err := g.Begin(ctx); err != nil {
		return err
	}
	if name == "" || g.nodes.has(name) == noNode {
		return g.unknown(name)
	}
	err := g.moving(ctx, name, func() error {
		gone, err := vfs.Aside(g.files.FS, g.path(name))
		if err != nil {
			return err
		}
		err = g.syncAround(name)
		if e := vfs.RemoveTree(g.files.FS, gone, nil); e != nil {
			g.gone = append(g.gone, gone)
			err = cmp.Or(err, e)
		}
		return err
	})
	if _, there := g.files.Lstat(g.path(name)); errors.Is(there, fs.ErrNotExist) {
		for _, open := range g.openBelow(name) {
			f := g.open[open]
			f.Lock()
			f.End()
			f.Unlock()
			delete(g.open, open)
		}
		maps.DeleteFunc(g.groups, func(other string, _ *inner) bool { return isBelow(other, name) })
		g.nodes.remove(name)
	}
	return err
}

// Rename implements [ndfile.Tree].
func (g *group) Rename(ctx context.Context, from, to string) error {
	g.Lock()
	defer g.Unlock()
	return g.Located(ndfile.Locate(g.rename(ctx, strings.Clone(from), strings.Clone(to)), g.Path, from, true))
}

func (g *group) rename(ctx context.Context, from, to string) error {
	if err := g.Begin(ctx); err != nil {
		return err
	}
	if from == "" || g.nodes.has(from) == noNode {
		return g.unknown(from)
	}
	if err := g.begin(ctx, to); err != nil {
		return err
	}
	if isBelow(to, from) {
		return ndfile.NewError(ndfile.ErrArgument, "a group cannot be moved into itself")
	}
	if cut := strings.LastIndexByte(to, '/'); cut >= 0 && g.nodes.has(to[:cut]) == noNode {
		if err := g.addGroup(ctx, to[:cut], nil); err != nil {
			return err
		}
	}
	err := g.moving(ctx, from, func() error {
		if err := g.files.RenameNoReplace(g.path(from), g.path(to)); err != nil {
			return nameTaken(err)
		}
		for name, s := range g.held {
			if isBelow(name, from) {
				now := g.path(to + name[len(from):])
				s.Moved(now, now)
			}
		}
		if err := g.syncAround(to); err != nil {
			return err
		}
		return g.syncAround(from)
	})
	if _, there := g.files.Lstat(g.path(from)); errors.Is(there, fs.ErrNotExist) {
		g.follow(from, to)
	}
	return err
}

// follow has what is in use follow a node that was renamed.
func (g *group) follow(from, to string) {
	for _, name := range g.openBelow(from) {
		f, now := g.open[name], to+name[len(from):]
		f.Lock()
		f.Moved(g.Path+"/"+now, g.path(now))
		f.store.root, f.name = f.Root, now
		f.array.chunks.Folder = f.dataPath()
		if f.array.inner != nil {
			f.array.inner.Folder = f.dataPath()
		}
		if f.array.parts != nil {
			f.array.parts.Forget()
		}
		f.Unlock()
		delete(g.open, name)
		g.open[now] = f
	}
	for _, name := range slices.Collect(maps.Keys(g.groups)) {
		if n := g.groups[name]; name != "" && isBelow(name, from) {
			delete(g.groups, name)
			name = to + name[len(from):]
			n.root = g.path(name)
			g.groups[name] = n
		}
	}
	g.nodes.rename(from, to)
}

func (g *group) openBelow(name string) (open []string) {
	for other := range g.open {
		if isBelow(other, name) {
			open = append(open, other)
		}
	}
	return open
}

// syncAround makes a change of the folder that a node is in durable, where that
// was asked for.
func (g *group) syncAround(name string) error {
	if !g.Write.Sync || g.Mode == edit.Creating {
		return nil
	}
	path := g.path(name)
	return g.files.SyncDir(path[:strings.LastIndexByte(path, '/')])
}

// moving does what takes a node away, while nobody else writes to it or to what is
// below.
func (g *group) moving(ctx context.Context, name string, do func() error) error {
	if g.Mode == edit.Creating {
		return do()
	}
	below := g.nodes.below(name)
	held := append(below.groups, below.arrays...)
	if cut := strings.LastIndexByte(name, '/'); cut >= 0 {
		held = append(held, name[:cut])
	}
	return g.holding(ctx, held, func() error {
		// A writer without our locks may have made something meanwhile: it is moved too.
		if err := g.dropCopies(ctx); err != nil {
			return err
		}
		return do()
	})
}

// dropCopies removes the consolidated metadata before a change that would make them
// lead to what is not there any more. A flush writes them again.
func (g *group) dropCopies(ctx context.Context) error {
	if err := g.Begin(ctx); err != nil {
		return err
	}
	if err := g.copies.drop(ctx, &g.store, true, g.Write); err != nil {
		return err
	}
	return g.reload(ctx)
}

// holding runs do under the writer locks of some nodes, but for those that are held
// anyway: that of the file, and those of arrays in use.
func (g *group) holding(ctx context.Context, names []string, do func() error) error {
	if g.Mode == edit.Creating {
		return do()
	}
	slices.Sort(names)
	g.held = map[string]*edit.Session{}
	defer func() {
		for _, s := range g.held {
			s.End()
		}
	}()
	for _, name := range slices.Compact(names) {
		if name == "" || g.open[name] != nil {
			continue
		}
		s := &edit.Session{Root: g.path(name)}
		if err := s.Hold(ctx, g.files.FS, g.opt.Timeout); err != nil {
			return err
		}
		g.held[name] = s
	}
	return do()
}

// refreshCopies makes consolidated metadata true.
func (g *group) refreshCopies(ctx context.Context) error {
	if !g.copies.stale {
		return nil
	}
	if err := g.copies.refresh(ctx, &g.store, true, g.Write); err != nil {
		return err
	}
	return g.reload(ctx)
}

// reload reads the document of the root again, which holds the copies in version 3.
func (g *group) reload(ctx context.Context) error {
	n := g.groups[""]
	if g.version.attrs != "" || g.Mode == edit.Creating {
		return nil
	}
	attrs := n.attrs
	_, err := n.load3(ctx)
	n.attrs = attrs
	return err
}

// Consolidate implements [ndfile.Tree].
func (g *group) Consolidate(ctx context.Context, on bool) error {
	g.Lock()
	defer g.Unlock()
	if err := g.Begin(ctx); err != nil {
		return g.Located(err)
	}
	c := &g.copies
	if g.Mode == edit.Creating {
		c.looked = true
	}
	c.find(ctx, &g.store, true)
	has := slices.Contains(c.dirs, g.root)
	switch {
	case on && !has:
		c.dirs = append([]string{g.root}, c.dirs...)
	case !on && has:
		c.dirs = slices.DeleteFunc(c.dirs, func(dir string) bool { return dir == g.root })
		if g.Mode == edit.Updating {
			if err := g.writeCopies(nil, g.Write); err != nil {
				return g.Located(err)
			}
			if err := g.reload(ctx); err != nil {
				return g.Located(err)
			}
		}
	}
	c.stale = c.stale || on
	return nil
}

// finish writes the documents of a new file.
func (g *group) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(g.open)) {
		f := g.open[name]
		f.Lock()
		err := f.finish(ctx)
		f.Unlock()
		if err != nil {
			return f.Located(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.groups)) {
		if n := g.groups[name]; n != nil {
			if err := n.write(n.attrs, g.Write); err != nil {
				return err
			}
		}
	}
	return g.copies.refresh(ctx, &g.store, true, g.Write)
}
