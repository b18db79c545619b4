package bcolz

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The files and folders of a root.
const (
	attrsFile    = "__attrs__"
	rootdirsFile = "__rootdirs__"
	metaFolder   = "meta"
	dataFolder   = "data"
	sizesFile    = "meta/sizes"
	storageFile  = "meta/storage"
)

const keyNames = "names"

// parseRootdirs reads __rootdirs__: the names of the columns, in order. Before
// bcolz 0.7.1 it also had "dirs", with paths of the machine that wrote it; a
// column is always the folder of its name.
func parseRootdirs(doc *metafile.Document) ([]string, error) {
	v, ok := doc.Get(keyNames)
	if !ok || v.Kind() != pyjson.KindList {
		return nil, doc.Wrong(ndfile.ErrCorrupt, keyNames, "a list of the names of the columns")
	}
	names := make([]string, 0, len(v.Items()))
	seen := make(map[string]bool, len(v.Items()))
	for _, item := range v.Items() {
		name, ok := item.Str()
		if !ok {
			return nil, doc.Wrong(ndfile.ErrCorrupt, keyNames, "a list of strings")
		}
		if bad := badName(name); bad != "" {
			return nil, doc.Place(keyNames, ndfile.NewError(ndfile.ErrCorrupt, "column "+strconv.Quote(name)+": "+bad))
		}
		if seen[name] {
			return nil, doc.Place(keyNames, ndfile.NewError(ndfile.ErrCorrupt, "two columns are called "+strconv.Quote(name)))
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}

// rootdirsText is the file, as bcolz writes it.
func rootdirsText(names []string) []byte {
	list := make([]pyjson.Value, len(names))
	for i, name := range names {
		list[i] = pyjson.String(name)
	}
	doc := ndfile.NewAttrs()
	doc.Set(keyNames, pyjson.List(list...))
	return line(doc)
}

// badName says why no column can have a name; "" if one can. A name is one
// element of a path, under every operating system.
func badName(name string) string {
	switch {
	case name == "":
		return "a column needs a name"
	case strings.ContainsAny(name, "/\\\x00"):
		return "the name of a column is that of a folder and holds no slash, backslash or NUL"
	case name == "." || name == "..":
		return "the name means another folder"
	case name == attrsFile || name == rootdirsFile:
		return "the name is that of a file of the table"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	}
	return ""
}

// badNewName is badName for columns to be added. All that is left can be opened
// by bcolz, whose own constructor is more particular than its addcol.
func badNewName(name string) string {
	switch {
	case len(name) > 255:
		return "the name of a folder has at most 255 bytes"
	case vfs.IsTempName(name):
		return "the name is one of temporary files"
	}
	return badName(name)
}

// ours tells what of a root bcolz and this package write, for vfs.NewFolder: a
// carray, or carrays below one folder each.
func ours(rel string, mode vfs.FileMode) bool {
	parts := strings.Split(rel, "/")
	if isCarray(parts, mode) || rel == rootdirsFile && mode != vfs.Dir {
		return true
	}
	return badName(parts[0]) == "" && (len(parts) == 1 && mode == vfs.Dir || isCarray(parts[1:], mode))
}

// isCarray tells what of a carray bcolz and this package write.
func isCarray(parts []string, mode vfs.FileMode) bool {
	name := strings.Join(parts, "/")
	if mode == vfs.Dir {
		return name == metaFolder || name == dataFolder
	}
	if slices.Contains([]string{attrsFile, sizesFile, storageFile}, name) {
		return true
	}
	if len(parts) != 2 || parts[0] != dataFolder {
		return false
	}
	_, ok := chunkNumber(parts[1])
	return ok
}
