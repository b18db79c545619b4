package zarr

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// errIsGroup tells that there is a group where an array was looked for.
var errIsGroup = errors.New("a group of arrays")

// maxGroups is how deep groups may nest.
const maxGroups = 64

// nodes are the arrays and groups below a group, by their paths from there.
type nodes struct{ arrays, groups []string }

// findNodes looks for what is below the group that s is the folder of. Folders of
// arrays are not looked into. A folder without a document counts as a group where
// there is something below it.
func findNodes(ctx context.Context, s *store) (*nodes, error) {
	n := &nodes{}
	if _, err := n.list(ctx, s, "", 0); err != nil {
		return nil, err
	}
	slices.Sort(n.arrays)
	slices.Sort(n.groups)
	return n, nil
}

// list looks into a folder, "" or a path with a slash behind it. found: there is
// an array, a group, or the folder has the file that makes it one.
func (n *nodes) list(ctx context.Context, s *store, below string, depth int) (found bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if depth > maxGroups {
		return false, ndfile.NewError(ndfile.ErrLimit, "groups nested deeper than 64").On(s.path(below))
	}
	entries, err := s.files.ReadDir(s.path(below))
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if e.Name == s.version.group && e.Mode == vfs.Regular {
			found = true
		}
		name := below + e.Name
		if vfs.IsTempName(e.Name) || e.Mode != vfs.Dir && e.Mode != vfs.Symlink {
			continue
		}
		if e.Mode == vfs.Symlink && !s.files.Follow {
			if info, err := s.files.Stat(s.path(name)); err == nil && info.Mode == vfs.Dir {
				return false, s.files.Explain(syscall.ELOOP, s.path(name))
			}
			continue
		}
		kind, err := s.nodeAt(ctx, name)
		if err != nil {
			return false, err
		}
		if kind == arrayNode {
			n.arrays, found = append(n.arrays, name), true
			continue
		}
		inside, err := n.list(ctx, s, name+"/", depth+1)
		switch {
		case errors.Is(err, syscall.ENOTDIR): // a link to a file
		case err != nil:
			return false, err
		case inside || kind == groupNode:
			n.groups, found = append(n.groups, name), true
		}
	}
	return found, nil
}

// nodeKind is what a folder is by its document.
type nodeKind uint8

const (
	noNode    nodeKind = iota // in version 2 it can be a group
	groupNode                 // of version 3
	arrayNode
)

// nodeAt tells what a folder is.
func (s *store) nodeAt(ctx context.Context, name string) (nodeKind, error) {
	text, err := s.read(ctx, name+"/"+s.version.meta)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return noNode, nil
		}
		return noNode, err
	}
	if s.version.group != "" {
		return arrayNode, nil // groups have a document of another name
	}
	doc, err := metafile.Parse(text, s.files.Limits)
	if err != nil {
		return arrayNode, nil // opening it tells what is wrong
	}
	if isGroup3(doc.Object) {
		return groupNode, nil
	}
	return arrayNode, nil
}

// isGroup3 tells whether a document of version 3 is that of a group.
func isGroup3(doc *ndfile.Attrs) bool {
	node, _ := doc.Get("node_type")
	word, _ := node.Str()
	return word == "group"
}

// has tells what there is by a name.
func (n *nodes) has(name string) nodeKind {
	if _, ok := slices.BinarySearch(n.arrays, name); ok {
		return arrayNode
	}
	if _, ok := slices.BinarySearch(n.groups, name); ok || name == "" {
		return groupNode
	}
	return noNode
}

// add adds an array, or else a group, and the groups above it.
func (n *nodes) add(name string, array bool) {
	list := &n.groups
	if array {
		list = &n.arrays
	}
	*list = inserted(*list, name)
	for above := range parents(name) {
		if n.has(above) == noNode {
			n.groups = inserted(n.groups, above)
		}
	}
}

// inserted gives a new list: callers keep what they were given.
func inserted(list []string, name string) []string {
	at, _ := slices.BinarySearch(list, name)
	return slices.Concat(list[:at], []string{name}, list[at:])
}

// below lists a node and what is below it.
func (n *nodes) below(name string) (all nodes) {
	for _, a := range n.arrays {
		if isBelow(a, name) {
			all.arrays = append(all.arrays, a)
		}
	}
	for _, g := range n.groups {
		if isBelow(g, name) {
			all.groups = append(all.groups, g)
		}
	}
	return all
}

// remove takes out a node and what is below it.
func (n *nodes) remove(name string) {
	gone := func(other string) bool { return isBelow(other, name) }
	n.arrays = slices.DeleteFunc(slices.Clone(n.arrays), gone)
	n.groups = slices.DeleteFunc(slices.Clone(n.groups), gone)
}

// rename gives a node and what is below it another name.
func (n *nodes) rename(from, to string) {
	moved := n.below(from)
	n.remove(from)
	for _, name := range moved.groups {
		n.add(to+name[len(from):], false)
	}
	for _, name := range moved.arrays {
		n.add(to+name[len(from):], true)
	}
}

// isBelow tells whether a node is another one or below it.
func isBelow(name, other string) bool {
	rest, ok := strings.CutPrefix(name, other)
	return ok && (rest == "" || rest[0] == '/' || other == "")
}

// parents gives the groups above a node but for the root, the highest first.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(name) {
			if name[i] == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

// checkName refuses names that no node can have.
func (v *version) checkName(name string) error {
	bad := func(why string) error {
		return ndfile.NewError(ndfile.ErrArgument, "a name in zarr: "+why+", found "+quoted(name))
	}
	if strings.Count(name, "/") >= maxGroups {
		return bad("expected at most 64 parts")
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return bad("expected parts that are not empty")
		case strings.Trim(part, ".") == "":
			return bad("expected parts with more than dots")
		case strings.HasPrefix(part, "__"):
			return bad(`"__" at the beginning is reserved`)
		case strings.ContainsAny(part, "\\\x00"):
			return bad("expected no backslash and no NUL")
		case len(part) > 255:
			return bad("expected parts of at most 255 bytes")
		case v.isReserved(part), vfs.IsTempName(part), part == vfs.LockName:
			return bad("expected no name of a file that stores have")
		}
	}
	return nil
}

// isReserved tells whether a name is that of a document.
func (v *version) isReserved(name string) bool {
	switch name {
	case meta2, attrs2, version2.group, version2.copies, meta3:
		return true
	}
	return false
}
