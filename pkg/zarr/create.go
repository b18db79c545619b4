package zarr

import (
	"context"
	"errors"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Create starts a new file: a single array, or, in versions with groups, what the
// first Add makes of it. A folder at path is replaced when the file is closed, if
// it is an array or a group of this format and holds nothing else; otherwise it is
// ErrExists.
func (f format) Create(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.CreateOptions) (ndfile.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	old, err := f.replacedAt(ctx, fsys, path)
	if err != nil {
		return nil, err
	}
	attrs := opt.Attrs.Clone()
	if attrs == nil {
		attrs = ndfile.NewAttrs()
	}
	if f.version.caps&ndfile.CapGroups == 0 {
		file := &file{attrs: attrs}
		if err := file.Create(ctx, fsys, path, &opt, old); err != nil {
			return nil, err
		}
		file.store = newStore(f.version, fsys, file.Root, false, ndfile.Limits{})
		return file, nil
	}
	g := &group{format: f, fsys: fsys, open: map[string]*file{}, groups: map[string]*inner{}}
	if err := g.Session.Create(ctx, fsys, path, &opt, old); err != nil {
		return nil, err
	}
	g.store = newStore(f.version, fsys, g.Root, false, ndfile.Limits{})
	root := g.newInner(g.root, nil)
	root.attrs = attrs
	g.groups[""] = root
	g.copies.looked = true
	return &creation{tree: g}, nil
}

// replacedAt tells what a folder at path may hold for a new file to replace it. A
// folder that is no array or group of this format is refused.
func (f format) replacedAt(ctx context.Context, fsys ndfile.FS, path string) (old edit.Replaced, err error) {
	v := f.version
	old = edit.Replaced{Ours: v.ours, Signs: []string{v.meta}}
	if v.group != "" {
		old.Signs = append(old.Signs, v.group)
	}
	info, err := fsys.Stat(path)
	switch {
	case err != nil && !isAbsent(err):
		return old, err
	case err != nil || info.Mode != vfs.Dir:
		return old, nil // vfs.NewFolder tells what is wrong
	}
	match, err := f.Detect(ctx, fsys, path)
	if err == nil && match == ndfile.NoMatch {
		what := " array"
		if v.caps&ndfile.CapGroups != 0 {
			what = " array or group"
		}
		err = ndfile.NewError(ndfile.ErrExists, "the folder exists and is no "+v.format+what+": it is not replaced").On(path)
	}
	if err != nil || v.caps&ndfile.CapGroups == 0 {
		return old, err
	}
	s := newStore(v, fsys, strings.Clone(path), false, ndfile.Limits{})
	if group, err := s.isGroup(ctx); err != nil || !group {
		return old, err
	}
	n, err := findNodes(ctx, &s)
	if err != nil {
		return old, err
	}
	old.Ours = func(rel string, mode vfs.FileMode) bool { return n.ours(v, rel, mode) }
	old.Parts = n.arrays
	return old, nil
}

// ours tells whether something in the folder of a group is a part of it.
func (n *nodes) ours(v *version, rel string, mode vfs.FileMode) bool {
	if n.has(rel) != noNode {
		return mode == vfs.Dir
	}
	above, last := "", rel
	if cut := strings.LastIndexByte(rel, '/'); cut >= 0 {
		above, last = rel[:cut], rel[cut+1:]
	}
	if n.has(above) == groupNode && mode == vfs.Regular {
		return last == v.group && v.group != "" || last == v.copies && v.copies != "" || last == v.attrs && v.attrs != "" || last == v.meta && v.group == ""
	}
	for i := range len(rel) {
		if rel[i] == '/' && n.has(rel[:i]) == arrayNode {
			return v.ours(rel[i+1:], mode)
		}
	}
	return false
}

// creation is a new file of a format with single arrays and groups. It is a group
// until an array with the name "" is added, which makes it that array. Its methods
// exclude each other as those of the session do.
type creation struct {
	tree   *group
	single *file // nil: it is the group
}

// file is what the creation is now.
func (c *creation) file() ndfile.File {
	c.tree.RLock()
	defer c.tree.RUnlock()
	if c.single != nil {
		return c.single
	}
	return c.tree
}

func (c *creation) Kind() ndfile.Kind                       { return c.file().Kind() }
func (c *creation) Names() []string                         { return c.file().Names() }
func (c *creation) Attrs() *ndfile.Attrs                    { return c.tree.groups[""].attrs }
func (c *creation) Array(name string) (ndfile.Array, error) { return c.file().Array(name) }
func (c *creation) Abort() error                            { return c.file().Abort() }

// Flush implements [ndfile.Flusher].
func (c *creation) Flush(ctx context.Context, opt ndfile.FlushOptions) error {
	return c.file().(ndfile.Flusher).Flush(ctx, opt)
}

// Add implements [ndfile.File].
func (c *creation) Add(ctx context.Context, name string, spec ndfile.Spec) (ndfile.Array, error) {
	c.tree.Lock()
	if c.single == nil && name == "" && len(c.tree.nodes.arrays)+len(c.tree.nodes.groups) == 0 && c.tree.Check(true) == nil {
		g := c.tree
		f := &file{store: g.store, attrs: g.groups[""].attrs}
		f.Borrow(&g.Session)
		f.Mode, f.Write = g.Mode, g.Write
		if err := f.add(ctx, name, spec); err != nil {
			c.tree.Unlock()
			return nil, f.Located(err)
		}
		f.TakeOver(&g.Session)
		c.single = f
		c.tree.Unlock()
		return f.array.public(), nil
	}
	c.tree.Unlock()
	return c.file().Add(ctx, name, spec)
}

// asTree is the group, where it is one.
func (c *creation) asTree() (*group, error) {
	if f, ok := c.file().(*file); ok {
		f.RLock()
		defer f.RUnlock()
		if err := f.Check(false); err != nil {
			return nil, f.Located(err)
		}
		return nil, f.Located(ndfile.NewError(ndfile.ErrNotSupported, "a file that is one array has no groups"))
	}
	return c.tree, nil
}

// Groups implements [ndfile.Tree], as the methods below.
func (c *creation) Groups() []string {
	g, err := c.asTree()
	if err != nil {
		return nil
	}
	return g.Groups()
}

func (c *creation) GroupAttrs(ctx context.Context, name string) (*ndfile.Attrs, error) {
	g, err := c.asTree()
	if err != nil {
		return nil, err
	}
	return g.GroupAttrs(ctx, name)
}

func (c *creation) AddGroup(ctx context.Context, name string, attrs *ndfile.Attrs) error {
	g, err := c.asTree()
	if err != nil {
		return err
	}
	return g.AddGroup(ctx, name, attrs)
}

func (c *creation) Rename(ctx context.Context, from, to string) error {
	g, err := c.asTree()
	if err != nil {
		return err
	}
	return g.Rename(ctx, from, to)
}

func (c *creation) Consolidate(ctx context.Context, on bool) error {
	g, err := c.asTree()
	if err != nil {
		return err
	}
	return g.Consolidate(ctx, on)
}

// Remove implements [ndfile.Remover].
func (c *creation) Remove(ctx context.Context, name string) error {
	g, err := c.asTree()
	if err != nil {
		return err
	}
	return g.Remove(ctx, name)
}

// Close implements [ndfile.File]. Consolidated metadata of groups around the new
// file come to know it.
func (c *creation) Close(ctx context.Context) error {
	if err := c.file().Close(ctx); err != nil {
		return err
	}
	g := c.tree
	around := copies{stale: true}
	s := newStore(g.version, g.fsys, g.Path, false, ndfile.Limits{})
	err := around.refresh(ctx, &s, false, ndfile.WriteOptions{Sync: g.Write.Sync})
	if errors.Is(err, ndfile.ErrBusy) {
		err = nil
	}
	return ndfile.Locate(err, g.Path, "", false)
}

var _ interface {
	ndfile.Tree
	ndfile.Remover
	ndfile.Flusher
} = (*creation)(nil)

var _ interface {
	ndfile.Tree
	ndfile.Remover
	ndfile.Flusher
} = (*group)(nil)
