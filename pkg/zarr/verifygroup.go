package zarr

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/findings"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// groupVerifier verifies a group and all that is below it.
type groupVerifier struct {
	store
	edit.Session
	format format
	opt    ndfile.VerifyOptions
	found  *findings.List
	nodes  *nodes
	copies *pyjson.Object // consolidated metadata, or nil
	held   []*edit.Session
}

// verifyGroup verifies a group: its arrays, the documents of groups, consolidated
// metadata that say something else than the documents, and what belongs to no node.
// Documents count, unless there are none but consolidated metadata.
func (f format) verifyGroup(ctx context.Context, fsys ndfile.FS, path string, opt ndfile.VerifyOptions, found *findings.List, report func(ndfile.Problem)) error {
	v := &groupVerifier{store: newStore(f.version, fsys, path, opt.FollowSymlinks, opt.Limits), format: f, opt: opt, found: found}
	v.Path, v.Root = path, path
	err := v.run(ctx)
	if err == nil {
		found.Report(report)
	}
	for _, s := range v.held {
		s.End()
	}
	v.End()
	return v.Located(err)
}

func (v *groupVerifier) run(ctx context.Context) (err error) {
	if v.opt.Repair {
		if err := v.Hold(ctx, v.files.FS, 0); err != nil {
			return err
		}
	}
	if v.nodes, err = findNodes(ctx, &v.store); err != nil {
		return v.damaged(err, "", false)
	}
	if v.copies, err = v.consolidated(ctx); err != nil {
		if err = v.damaged(err, "", false); err != nil {
			return err
		}
	}
	if len(v.nodes.arrays)+len(v.nodes.groups) == 0 && v.copies != nil && !v.hasDocument("") {
		return v.onlyCopies(ctx)
	}
	for _, name := range append([]string{""}, v.nodes.groups...) {
		if err := v.checkGroup(ctx, name); err != nil {
			return err
		}
	}
	if err := v.checkCopies(ctx); err != nil {
		return err
	}
	for _, name := range v.nodes.arrays {
		if err := v.checkArray(ctx, v.files.FS, name); err != nil {
			return err
		}
	}
	return nil
}

// damaged reports what is wrong with a document.
func (v *groupVerifier) damaged(err error, array string, has bool) error {
	one := verifier{file: &file{}, found: v.found, name: array}
	one.Session.Path, one.Session.Root = v.Path, v.Root
	one.noArray = !has
	return one.damaged(err)
}

// folder is that of a node.
func (v *groupVerifier) folder(name string) string {
	if name == "" {
		return v.root
	}
	return v.store.path(name)
}

func (v *groupVerifier) hasDocument(name string) bool {
	file := v.version.group
	if file == "" {
		file = v.version.meta
	}
	_, err := v.files.Lstat(v.folder(name) + "/" + file)
	return err == nil
}

// onlyCopies verifies the arrays of which consolidated metadata tell.
func (v *groupVerifier) onlyCopies(ctx context.Context) error {
	g := &group{format: v.format, fsys: v.files.FS, store: v.store}
	g.useCopies(v.copies)
	for _, name := range g.nodes.arrays {
		if err := v.checkArray(ctx, g.fsys, name); err != nil {
			return err
		}
	}
	return nil
}

// checkArray verifies an array.
func (v *groupVerifier) checkArray(ctx context.Context, fsys ndfile.FS, name string) error {
	one := v.format.verifier(fsys, v.folder(name), v.opt, v.found)
	one.name = name
	err := one.open(ctx, fsys)
	if err == nil {
		err = one.run(ctx)
	}
	v.held = append(v.held, &one.Session)
	return one.Located(err)
}

// checkGroup looks at the documents and the folder of a group.
func (v *groupVerifier) checkGroup(ctx context.Context, name string) error {
	n := inner{store: v.store}
	n.root = v.folder(name)
	if err := n.load(ctx); err != nil {
		if err := v.damaged(err, name, name != ""); err != nil {
			return err
		}
	}
	if !v.hasDocument(name) {
		v.add(name, "", ndfile.Stale, "a folder of arrays that is no group: other programs do not find what is in it", nil)
	}
	entries, err := v.files.ReadDir(n.root)
	if err != nil {
		return err
	}
	below := ""
	if name != "" {
		below = name + "/"
	}
	for _, e := range entries {
		switch {
		case e.Name == vfs.LockName, aside.IsName(e.Name), v.nodes.ours(v.version, below+e.Name, e.Mode):
		case e.Name == mark2:
			v.add(name, e.Name, ndfile.Stale, "a migration in place was interrupted: convert in place again to complete it", nil)
		case vfs.IsTempName(e.Name):
			v.add(name, e.Name, ndfile.Stale, "a temporary file of a writer that was killed or still runs", v.found.Plan("move it aside", aside.Step{Path: n.path(e.Name)}))
		default:
			v.add(name, e.Name, ndfile.Foreign, "not a part of the group", nil)
		}
	}
	return nil
}

// add reports something in the folder of a group.
func (v *groupVerifier) add(group, file string, class ndfile.Class, msg string, repair *findings.Repair) {
	path := v.Path
	if group != "" {
		path = strings.TrimRight(path, "/") + "/" + group
	}
	if file != "" {
		path = strings.TrimRight(path, "/") + "/" + file
	}
	v.found.Add(ndfile.Problem{Path: path, Array: group, HasArray: group != "", Class: class, Kind: ndfile.ErrValue, Offset: -1, Msg: msg}, repair)
}

// maxStale is how many nodes a message names.
const maxStale = 5

// checkCopies compares consolidated metadata with the documents.
func (v *groupVerifier) checkCopies(ctx context.Context) error {
	if v.copies == nil {
		return nil
	}
	now, err := v.gather(ctx, v.nodes)
	if err != nil {
		return v.damaged(err, "", false)
	}
	var stale []string
	differ := func(key string) {
		if !slices.Contains(stale, key) {
			stale = append(stale, key)
		}
	}
	for i := range now.Len() {
		key, doc := now.At(i)
		if was, ok := v.copies.Get(key); !ok || !v.sameDocument(was, doc) {
			differ(key)
		}
	}
	for _, key := range v.copies.Keys() {
		if _, there := now.Get(key); !there {
			differ(key)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	file, doc := v.version.copies, object("metadata", pyjson.ObjectValue(now), "zarr_consolidated_format", pyjson.Int(1)).Object()
	if file == "" {
		file = v.version.meta
		text, err := v.read(ctx, file)
		if err != nil {
			return err
		}
		whole, err := metafile.Parse(text, v.files.Limits)
		if err != nil {
			return v.damaged(err, "", false)
		}
		doc = withCopies3(whole.Object, now)
	}
	n := len(stale)
	if n > maxStale {
		stale = append(stale[:maxStale], "...")
	}
	repair := v.found.Plan("write it anew", aside.Step{Path: v.store.path(file), Text: v.version.append(nil, doc)})
	v.add("", file, ndfile.Stale, fmt.Sprintf("consolidated metadata that are not those of the documents (%d of them: %s)", n, strings.Join(stale, ", ")), repair)
	return nil
}

// sameDocument compares a copy with its document. Groups of version 3 have copies
// of their own or not.
func (v *groupVerifier) sameDocument(a, b pyjson.Value) bool {
	if v.version.group == "" && a.Object() != nil && isGroup3(a.Object()) {
		a, b = pyjson.ObjectValue(withCopies3(a.Object(), nil)), pyjson.ObjectValue(withCopies3(b.Object(), nil))
	}
	return bytes.Equal(pyjson.AppendIndent(nil, a, 1, true), pyjson.AppendIndent(nil, b, 1, true)) // whatever the order of members
}
