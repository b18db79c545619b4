package zarr

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Consolidated metadata are copies of the documents below a group in one place: the
// file .zmetadata in version 2, a member of the group's document in version 3.

// consolidated3 is the member of version 3 that holds copies of documents.
const consolidated3 = "consolidated_metadata"

// consolidated reads the copies that the group's folder may hold, by their paths
// from the group; nil: it has none. Those of a kind or version that is not known
// are left out, as their specifications have it.
func (s *store) consolidated(ctx context.Context) (copies *pyjson.Object, err error) {
	file := s.version.copies
	if file == "" {
		file = s.version.meta
	}
	text, err := s.read(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var doc *metafile.Document
	if err == nil {
		doc, err = metafile.Parse(text, s.files.Limits)
	}
	if err == nil && s.version.copies != "" {
		copies = copies2(doc)
	} else if err == nil {
		copies, err = copies3(doc)
	}
	for i := 0; err == nil && i < copies.Len(); i++ {
		if key, _ := copies.At(i); !cleanKey(key) {
			err = ndfile.NewError(ndfile.ErrCorrupt, "consolidated metadata: expected paths within the group, found "+quoted(key))
		}
	}
	return copies, ndfile.Locate(err, s.path(file), "", false)
}

// copies2 are the copies in .zmetadata.
func copies2(doc *metafile.Document) *pyjson.Object {
	if n, _ := doc.Get("zarr_consolidated_format"); n.Text() != "1" {
		return nil
	}
	members, _ := doc.Get("metadata")
	return members.Object()
}

// copies3 are those in the document of a group.
func copies3(doc *metafile.Document) (*pyjson.Object, error) {
	if err := refuse3(doc); err != nil {
		return nil, err
	}
	inline, ok := doc.Get(consolidated3)
	if !ok || inline.Kind() == pyjson.KindNull {
		return nil, nil
	}
	kind, _ := inline.Object().Get("kind")
	if word, _ := kind.Str(); word != "inline" {
		must, ok := inline.Object().Get("must_understand")
		if b, isBool := must.Bool(); ok && isBool && !b {
			return nil, nil
		}
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "consolidated metadata of the kind "+metafile.Short(kind)).At(doc.Offset(consolidated3))
	}
	members, _ := inline.Object().Get("metadata")
	return members.Object(), nil
}

// cleanKey tells whether a path leads to something below a folder.
func cleanKey(key string) bool {
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsAny(part, "\\\x00") {
			return key == ""
		}
	}
	return true
}

// useCopies takes documents and nodes from consolidated metadata.
func (g *group) useCopies(copies *pyjson.Object) {
	docs := map[string][]byte{}
	for i := range copies.Len() {
		key, v := copies.At(i)
		file := key
		if g.version.group == "" {
			file = strings.TrimPrefix(key+"/"+g.version.meta, "/")
		}
		if key == "" && g.version.group == "" {
			continue // the group's own document
		}
		docs[g.path(file)] = pyjson.Append(nil, v)
		name, last := "", file
		if cut := strings.LastIndexByte(file, '/'); cut >= 0 {
			name, last = file[:cut], file[cut+1:]
		}
		switch {
		case name == "":
		case g.version.group != "" && last == g.version.group, last == g.version.meta && g.version.group == "" && isGroup3(v.Object()):
			if g.nodes.has(name) == noNode {
				g.nodes.add(name, false)
			}
		case last == g.version.meta && g.nodes.has(name) == noNode:
			g.nodes.add(name, true)
		}
	}
	g.fsys = withDocuments{g.fsys, docs, g.version}
	root, text := g.root, g.metaText
	g.store = newStore(g.version, g.fsys, root, g.opt.FollowSymlinks, g.opt.Limits)
	g.metaText = text
}

// withDocuments is a file system in which documents are in memory: those that are
// not there do not exist.
type withDocuments struct {
	ndfile.FS
	docs    map[string][]byte
	version *version
}

// Inner implements [vfs.Around].
func (w withDocuments) Inner() vfs.FS { return w.FS }

// absent tells that a path is that of a document that does not exist.
func (w withDocuments) absent(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	return w.version.group != "" && (last == w.version.attrs || last == w.version.meta || last == w.version.group)
}

func (w withDocuments) ReadSmall(ctx context.Context, path string, buf []byte) (int, vfs.File, error) {
	if doc, ok := w.docs[path]; ok && len(doc) < len(buf) {
		return copy(buf, doc), nil, nil
	} else if ok {
		return copy(buf, doc), memFile(doc), nil
	} else if w.absent(path) {
		return 0, nil, &fs.PathError{Op: "open", Path: strings.Clone(path), Err: fs.ErrNotExist}
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

// memFile is a document longer than what is read at once.
type memFile []byte

func (m memFile) ReadAt(p []byte, off int64) (int, error) {
	return strings.NewReader(string(m)).ReadAt(p, off)
}

func (m memFile) Size() (int64, error)                           { return int64(len(m)), nil }
func (m memFile) Close() error                                   { return nil }
func (m memFile) Name() string                                   { return "" }
func (m memFile) WriteAt([]byte, int64) (int, error)             { return 0, fs.ErrInvalid }
func (m memFile) Truncate(int64) error                           { return fs.ErrInvalid }
func (m memFile) Sync() error                                    { return nil }
func (m memFile) Flush(bool) error                               { return nil }
func (m memFile) Map(int64, int64) ([]byte, func() error, error) { return nil, nil, vfs.ErrNoMap }

// copies tells which groups hold consolidated metadata that a change makes false:
// that of the session, and those above it.
type copies struct {
	dirs   []string // folders of these groups; the first can be that of the session
	looked bool
	stale  bool // something was changed
}

// find looks for consolidated metadata in the folder of a session and above it.
func (c *copies) find(ctx context.Context, s *store, own bool) {
	if c.looked {
		return
	}
	c.looked = true
	for at, dir := 0, s.root; at <= maxGroups; at++ {
		here := newStore(s.version, s.files.FS, dir, s.files.Follow, s.files.Limits)
		if at > 0 {
			if group, err := here.isGroup(ctx); err != nil || !group {
				return
			}
		}
		if at > 0 || own {
			if found, err := here.consolidated(ctx); err == nil && found != nil {
				c.dirs = append(c.dirs, dir)
			}
		}
		trimmed := strings.TrimRight(dir, "/")
		base := path.Base(trimmed)
		if trimmed == "" || base == "." || base == ".." {
			return
		}
		if dir = strings.TrimRight(trimmed[:len(trimmed)-len(base)], "/"); dir == "" {
			if trimmed[0] == '/' {
				return
			}
			dir = "."
		}
	}
}

// isGroup tells whether a folder has the document of a group.
func (s *store) isGroup(ctx context.Context) (bool, error) {
	if s.version.group != "" {
		return s.version.isGroup(s.files.FS, s.root)
	}
	text, err := s.read(ctx, s.version.meta)
	if err != nil {
		if isAbsent(err) {
			err = nil
		}
		return false, err
	}
	doc, err := metafile.Parse(text, s.files.Limits)
	return err == nil && isGroup3(doc.Object), nil
}

// each calls do for the folders that hold copies, under their writer locks. Where
// another writer has a group above, he puts its copies right when he closes it.
func (c *copies) each(ctx context.Context, s *store, do func(s *store) error) error {
	for _, dir := range c.dirs {
		here := newStore(s.version, s.files.FS, dir, s.files.Follow, s.files.Limits)
		if dir == s.root {
			if err := do(&here); err != nil {
				return err
			}
			continue
		}
		var lock edit.Session
		lock.Root = dir
		err := lock.Hold(ctx, s.files.FS, -time.Second)
		if errors.Is(err, ndfile.ErrBusy) {
			continue
		}
		if err == nil {
			err = do(&here)
		}
		lock.End()
		if err != nil {
			return err
		}
	}
	return nil
}

// drop removes the copies before a change that would make them lead to what is not
// there any more. refresh writes them again.
func (c *copies) drop(ctx context.Context, s *store, own bool, opt ndfile.WriteOptions) error {
	c.find(ctx, s, own)
	c.stale = true
	return c.each(ctx, s, func(s *store) error { return s.writeCopies(nil, opt) })
}

// refresh makes the copies true where something was changed.
func (c *copies) refresh(ctx context.Context, s *store, own bool, opt ndfile.WriteOptions) error {
	if !c.stale {
		return nil
	}
	c.find(ctx, s, own)
	err := c.each(ctx, s, func(s *store) error {
		n, err := findNodes(ctx, s)
		var all *pyjson.Object
		if err == nil {
			all, err = s.gather(ctx, n)
		}
		if err == nil {
			err = s.writeCopies(all, opt)
		}
		return err
	})
	if err == nil {
		c.stale = false
	}
	return err
}

// gather makes copies of all documents of nodes, in the order of zarr-python.
func (s *store) gather(ctx context.Context, n *nodes) (*pyjson.Object, error) {
	all := pyjson.NewObject()
	put := func(key, file string) (*pyjson.Object, error) {
		text, err := s.read(ctx, file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		var doc *metafile.Document
		if err == nil {
			doc, err = metafile.Parse(text, s.files.Limits)
		}
		if err != nil {
			return nil, ndfile.Locate(err, s.path(file), "", false)
		}
		all.Set(key, pyjson.ObjectValue(doc.Object))
		return doc.Object, nil
	}
	names := slices.Concat(n.arrays, n.groups)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	if s.version.group != "" {
		names = append([]string{""}, names...)
	}
	for _, name := range names {
		files := []string{s.version.meta}
		if s.version.group != "" {
			files = []string{s.version.meta, s.version.group, s.version.attrs}
		}
		for _, file := range files {
			key := path.Join(name, file)
			at := key
			if s.version.group == "" {
				key = name
			}
			doc, err := put(key, at)
			if err != nil {
				return nil, err
			}
			if doc != nil && s.version.group == "" && isGroup3(doc) {
				all.Set(key, pyjson.ObjectValue(withCopies3(doc, pyjson.NewObject())))
			}
		}
	}
	return all, nil
}

// withCopies3 is the document of a group of version 3 with copies; nil: without.
func withCopies3(doc, copies *pyjson.Object) *pyjson.Object {
	made := pyjson.NewObject()
	for i := range doc.Len() {
		key, v := doc.At(i)
		if key == consolidated3 {
			continue
		}
		if key == "node_type" && copies != nil {
			made.Set(consolidated3, inline3(copies))
		}
		made.Set(key, v)
	}
	return made
}

func inline3(copies *pyjson.Object) pyjson.Value {
	return object("kind", pyjson.String("inline"), "must_understand", pyjson.Bool(false), "metadata", pyjson.ObjectValue(copies))
}

// writeCopies writes the copies of a group, where they are others than those that
// it has; nil removes them.
func (s *store) writeCopies(copies *pyjson.Object, opt ndfile.WriteOptions) error {
	if s.version.copies != "" {
		if copies == nil {
			err := s.files.Remove(s.path(s.version.copies))
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && opt.Sync { // they must not come back after what is done next
				err = s.files.SyncDir(s.root)
			}
			return err
		}
		doc := object("metadata", pyjson.ObjectValue(copies), "zarr_consolidated_format", pyjson.Int(1)).Object()
		old, err := s.read(context.Background(), s.version.copies)
		if err == nil && bytes.Equal(old, s.version.append(nil, doc)) {
			return nil
		}
		opt.Ordered = errors.Is(err, fs.ErrNotExist) // else a power failure could leave a file cut short, and no group to be opened
		return s.writeDocument(s.version.copies, doc, opt)
	}
	text, err := s.read(context.Background(), s.version.meta)
	if err != nil {
		return err
	}
	doc, err := metafile.Parse(text, s.files.Limits)
	if err != nil {
		return ndfile.Locate(err, s.path(s.version.meta), "", false)
	}
	made := withCopies3(doc.Object, copies)
	if pyjson.ObjectValue(made).Equal(pyjson.ObjectValue(doc.Object)) {
		return nil
	}
	return s.writeDocument(s.version.meta, made, opt)
}
