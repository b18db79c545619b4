package main

// #include "internal.h"
import "C"

import (
	"context"
	"strings"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// ndfgo_file_get_group_name gives the name of a group by its position.
//
// C: int32_t ndf_file_get_group_name(ndf_file file, int64_t index, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - file: the handle
//   - index: position in the sorted list, from 0 up to ngroups of ndf_file_info
//   - buf (out, nullable): receives the path of the group from the root, as "a/b", UTF-8; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the path
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_BOUNDS for an index outside; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_file_get_group_name
func ndfgo_file_get_group_name(file C.ndf_file, index C.int64_t, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, groupName(handle(file), int64(index), buf, len))
}

func groupName(h handle, index int64, buf *C.char, length *C.int64_t) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error {
		names := groupsOf(nf)
		if index < 0 || index >= int64(len(names)) {
			return outside("group", index, int64(len(names)))
		}
		return textOut(names[index], buf, length)
	})
}

// groupsOf lists the groups of a file, none where the format has none.
func groupsOf(nf ndfile.File) []string {
	if t, ok := nf.(ndfile.Tree); ok {
		return t.Groups()
	}
	return nil
}

// ndfgo_group_get_attrs gives the attributes of a group.
//
// C: int32_t ndf_group_get_attrs(ndf_file file, const char *name, char *buf, int64_t *len, ndf_error *err)
//
// Parameters:
//   - file: the handle of the file
//   - name (in): the group's path from the root; "" is the file itself
//   - buf (out, nullable): receives a JSON object; NULL only with *len 0
//   - len (inout): in: bytes at buf; out: length of the text
//
// Returns: NDF_OK; NDF_ERR_BUFFER; NDF_ERR_NAME when there is no such group; NDF_ERR_NOT_SUPPORTED for a file without
// groups; NDF_ERR_CORRUPT; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any.
//
// Since: 1.0
//
//export ndfgo_group_get_attrs
func ndfgo_group_get_attrs(file C.ndf_file, name *C.char, buf *C.char, len *C.int64_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, groupAttrs(handle(file), textAt(name), buf, len))
}

func groupAttrs(h handle, name string, buf *C.char, length *C.int64_t) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.shared(func(nf ndfile.File) error {
		attrs, err := f.groupAttrs(nf, name)
		if err != nil {
			return ndfile.Locate(err, f.path, name, true)
		}
		return textOut(jsonText(attrs), buf, length)
	})
}

// groupAttrs are the attributes of a group.
func (f *file) groupAttrs(nf ndfile.File, name string) (*ndfile.Attrs, error) {
	tree, err := offered[ndfile.Tree](f, nf, "groups")
	if err != nil {
		return nil, err
	}
	return tree.GroupAttrs(context.Background(), name)
}

// ndfgo_group_set_attrs replaces all attributes of a group.
//
// They are written when the file is flushed or closed.
//
// C: int32_t ndf_group_set_attrs(ndf_file file, const char *name, const char *attrs_json, ndf_error *err)
//
// Parameters:
//   - file: the handle of the file
//   - name (in): the group's path from the root; "" is the file itself
//   - attrs_json (in): the new attributes as a JSON object; NaN, Infinity and -Infinity are allowed
//
// Returns: NDF_OK; NDF_ERR_NAME when there is no such group; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED for a file without groups; NDF_ERR_LIMIT; NDF_ERR_CORRUPT; NDF_ERR_IO; NDF_ERR_HANDLE;
// NDF_ERR_ARGUMENT for text that is not a JSON object.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_group_set_attrs
func ndfgo_group_set_attrs(file C.ndf_file, name *C.char, attrs_json *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, setGroupAttrs(handle(file), textAt(name), attrs_json))
}

func setGroupAttrs(h handle, name string, attrsJSON *C.char) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	attrs, err := attrsAt("attrs_json", attrsJSON)
	if err != nil {
		return ndfile.Locate(err, f.path, name, true)
	}
	return f.alone(func(nf ndfile.File) error {
		old, err := f.groupAttrs(nf, name)
		if err == nil {
			err = f.replaceAttrs(ndfile.CapFileAttrs, old, attrs)
		}
		return ndfile.Locate(err, f.path, name, true)
	})
}

// ndfgo_file_add_group makes a group, and those above it that are missing.
//
// In a file open for changes it is there at once.
//
// C: int32_t ndf_file_add_group(ndf_file file, const char *name, const char *attrs_json, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for changes or being created
//   - name (in): the group's path from the root, as "a/b"
//   - attrs_json (in, nullable): its attributes as a JSON object; NULL: none
//
// Returns: NDF_OK; NDF_ERR_NAME_EXISTS when the name is taken; NDF_ERR_READ_ONLY for a file open for reading;
// NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_GROUPS, and for a file that is one array; NDF_ERR_BUSY while another
// writer has the group above; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE; NDF_ERR_ARGUMENT for a name that no group
// can have.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_add_group
func ndfgo_file_add_group(file C.ndf_file, name *C.char, attrs_json *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, addGroup(handle(file), textAt(name), attrs_json))
}

func addGroup(h handle, name string, attrsJSON *C.char) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	attrs, err := attrsAt("attrs_json", attrsJSON)
	if err != nil {
		return ndfile.Locate(err, f.path, name, true)
	}
	return f.changeTree(name, func(t ndfile.Tree) error { return t.AddGroup(context.Background(), name, attrs) })
}

// changeTree is change of a file with groups. name is that of the node, for errors.
func (f *file) changeTree(name string, fn func(ndfile.Tree) error) error {
	return f.change(func(nf ndfile.File) error {
		tree, err := offered[ndfile.Tree](f, nf, "groups")
		if err == nil {
			err = fn(tree)
		}
		return ndfile.Locate(err, f.path, name, name != "")
	})
}

// ndfgo_file_rename gives an array or a group, with all that is in it, another name, at once.
//
// Groups above the new name that are missing are made. Open handles of arrays stay usable.
//
// C: int32_t ndf_file_rename(ndf_file file, const char *from, const char *to, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for changes or being created
//   - from (in): the present path from the root
//   - to (in): the new path
//
// Returns: NDF_OK; NDF_ERR_NAME when there is nothing of the name; NDF_ERR_NAME_EXISTS when the new one is taken;
// NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_NOT_SUPPORTED for a format without NDF_CAP_GROUPS, and for a
// file that is one array; NDF_ERR_BUSY while another writer has what is renamed; NDF_ERR_PERMISSION; NDF_ERR_IO;
// NDF_ERR_HANDLE; NDF_ERR_ARGUMENT.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_rename
func ndfgo_file_rename(file C.ndf_file, from *C.char, to *C.char, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, renameNode(handle(file), strings.Clone(textAt(from)), strings.Clone(textAt(to))))
}

func renameNode(h handle, from, to string) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.changeTree(from, func(t ndfile.Tree) error { return t.Rename(context.Background(), from, to) })
}

// ndfgo_file_consolidate says whether a file holds copies of all metadata below its root.
//
// With them a reader opens the file with one request. They are written when the file is flushed or closed, and kept
// true by every later change of this library.
//
// C: int32_t ndf_file_consolidate(ndf_file file, int32_t on, ndf_error *err)
//
// Parameters:
//   - file: the handle of a file open for changes or being created
//   - on: 0 removes the copies, anything else has them written
//
// Returns: NDF_OK; NDF_ERR_READ_ONLY for a file open for reading; NDF_ERR_NOT_SUPPORTED for a format without
// NDF_CAP_GROUPS, and for a file that is one array; NDF_ERR_PERMISSION; NDF_ERR_IO; NDF_ERR_HANDLE.
//
// Ownership: nothing is kept.
//
// Threads: any; waits for calls that are running on the file.
//
// Since: 1.0
//
//export ndfgo_file_consolidate
func ndfgo_file_consolidate(file C.ndf_file, on C.int32_t, err *C.ndf_error) (status C.int32_t) {
	defer guard(err, &status)
	return report(err, consolidate(handle(file), on != 0))
}

func consolidate(h handle, on bool) error {
	f, err := find[*file](kindFile, h)
	if err != nil {
		return err
	}
	return f.changeTree("", func(t ndfile.Tree) error { return t.Consolidate(context.Background(), on) })
}
