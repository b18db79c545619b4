package zarr

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format2 is Zarr version 2, name "zarr2", extension ".zarr": arrays of chunks with
// the codecs of package codec, and groups of them, which are datasets. New arrays
// have Blosc chunks named as 0.1. It has the interfaces of [Format0] and is an
// [ndfile.Migrator] for it; its groups are an [ndfile.Tree].
var Format2 ndfile.Format = migrator{format{&version2}}

// The files of version 2 beside the chunks.
const (
	meta2  = ".zarray"
	attrs2 = ".zattrs"
)

// version2 is Zarr version 2: .zarray, .zattrs, and chunks beside them.
var version2 = version{
	format: "zarr2",
	caps:   commonCaps | ndfile.CapDims | ndfile.CapStrings | ndfile.CapRemove | ndfile.CapGroups,
	meta:   meta2,
	attrs:  attrs2,
	// The names of axes are where xarray has them.
	dimsKey: "_ARRAY_DIMENSIONS",
	group:   ".zgroup",
	copies:  ".zmetadata",
	indent:  4, // as zarr-python 2
	sorted:  true,
	ours:    ours2,
	zarr:    codec.V2,
	codecs:  "compressor",
	parse:   parse2,
	build:   build2,
}

func ours2(rel string, mode vfs.FileMode) bool {
	if rel == meta2 || rel == attrs2 {
		return mode == vfs.Regular
	}
	return isChunk2(rel, mode)
}

// isChunk2 tells whether a path is that of a chunk, with either separator, or of
// a folder of chunks.
func isChunk2(rel string, mode vfs.FileMode) bool {
	return isIndexes(rel, "/") && (mode == vfs.Regular || mode == vfs.Dir) || isIndexes(rel, ".") && mode == vfs.Regular
}

// fillKey is the member of Spec.Extra that is null where an array has no fill
// value. Others take one as a sign of missing elements.
const fillKey = "fill_value"

// parse2 reads .zarray.
func parse2(doc *metafile.Document) (*metadata, error) {
	if n, err := doc.Int("zarr_format", 0, 2); err != nil || n != 2 {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "zarr_format", "2")
	}
	m := &metadata{doc: doc.Object}
	var err error
	if m.shape, err = doc.Ints("shape"); err != nil {
		return nil, err
	}
	if m.chunks, err = doc.Ints("chunks"); err != nil {
		return nil, err
	}
	kind, ok := doc.Get("dtype")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "dtype", "a NumPy dtype")
	}
	if err := m.readCodecs2(doc); err != nil {
		return nil, err
	}
	if word, _ := kind.Str(); word == "|O" {
		var known bool
		if m.dtype, known = codec.ObjectType(m.specs); !known {
			return nil, doc.Wrong(ndfile.ErrNotSupported, "filters", "one that tells what objects are, as vlen-utf8")
		}
	} else if m.dtype, err = parseDType(kind); err != nil {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "dtype", "a NumPy dtype").Because(err)
	}
	separator := "."
	if _, ok := doc.Get("dimension_separator"); ok {
		if separator, err = doc.Str("dimension_separator"); err != nil || separator != "." && separator != "/" {
			return nil, doc.Wrong(ndfile.ErrCorrupt, "dimension_separator", `"." or "/"`)
		}
	}
	m.keys = keys2(separator, len(m.shape))
	fill, ok := doc.Get("fill_value")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "fill_value", "a value or null")
	}
	if m.fill, err = fill2(fill, m.dtype); err != nil {
		m.fillErr = doc.Place("fill_value", err)
	}
	if fill.Kind() == pyjson.KindNull && m.dtype.Size <= maxFill { // null is what build2 makes of larger ones by itself
		m.extra = ndfile.NewAttrs()
		m.extra.Set(fillKey, fill)
	}
	return m, nil
}

// keys2 are the names of chunks in version 2: 0.1, or 0 for an array without
// axes.
func keys2(separator string, rank int) chunkKeys {
	if rank == 0 {
		return chunkKeys{prefix: "0"}
	}
	return chunkKeys{separator: separator}
}

// readCodecs2 reads order, filters and compressor. The order of Fortran is a codec
// too: a transposition before all others.
func (m *metadata) readCodecs2(doc *metafile.Document) error {
	switch order, err := doc.Str("order"); {
	case err != nil:
		return err
	case order == "F" && len(m.shape) > 1:
		m.specs = append(m.specs, codec.Spec{Name: "transpose"})
	case order != "C" && order != "F":
		return doc.Wrong(ndfile.ErrCorrupt, "order", `"C" or "F"`)
	}
	filters, ok := doc.Get("filters")
	if !ok || filters.Kind() != pyjson.KindNull && filters.Kind() != pyjson.KindList {
		return doc.Wrong(ndfile.ErrCorrupt, "filters", "null or a list")
	}
	for _, item := range filters.Items() {
		if err := m.readCodec2("filters", item); err != nil {
			return doc.Place("filters", err)
		}
	}
	compressor, ok := doc.Get("compressor")
	if !ok {
		return doc.Wrong(ndfile.ErrCorrupt, "compressor", "null or a codec")
	}
	if compressor.Kind() == pyjson.KindNull {
		return nil
	}
	return doc.Place("compressor", m.readCodec2("compressor", compressor))
}

// readCodec2 reads a filter or a compressor: an object with an id and the
// configuration of numcodecs.
func (m *metadata) readCodec2(what string, v pyjson.Value) error {
	label, _ := v.Object().Get("id")
	id, ok := label.Str()
	if !ok {
		return ndfile.NewError(ndfile.ErrCorrupt, what+": expected an object with an id, found "+metafile.Short(v))
	}
	conf := v.Object().Clone()
	conf.Delete("id")
	m.specs = append(m.specs, codec.Spec{Name: id, Conf: conf})
	return nil
}

// build2 makes a new document.
func build2(spec *ndfile.Spec) (*metadata, error) {
	kind := pyjson.String("|O")
	if !spec.DType.IsVar() {
		var err error
		if kind, err = dtypeValue(spec.DType); err != nil {
			return nil, err
		}
	}
	fill, err := fill2Value(spec.Fill, spec.DType)
	if err != nil {
		return nil, err
	}
	if own, ok := spec.Extra.Get(fillKey); ok && own.Kind() == pyjson.KindNull && spec.Fill == nil {
		fill = own
	}
	order, filters, compressor, err := splitCodecs2(spec)
	if err != nil {
		return nil, err
	}
	if spec.Dims != nil && len(spec.Dims) != len(spec.Shape) {
		return nil, badDims(spec)
	}
	return &metadata{doc: object(
		"chunks", intList(spec.Chunks),
		"compressor", compressor,
		"dtype", kind,
		"fill_value", fill,
		"filters", filters,
		"order", pyjson.String(order),
		"shape", intList(spec.Shape),
		"zarr_format", pyjson.Int(2)).Object()}, nil
}

// splitCodecs2 writes codecs as the members order, filters and compressor.
func splitCodecs2(spec *ndfile.Spec) (order string, filters, compressor pyjson.Value, err error) {
	order = "C"
	own := *spec
	if len(own.Codecs) > 0 && own.Codecs[0].Name == "transpose" {
		if own.Codecs[0].Conf.Len() > 0 {
			return "", filters, compressor, ndfile.NewError(ndfile.ErrNotSupported, "zarr2: the codec transpose has no order but the reverse one")
		}
		order, own.Codecs = "F", own.Codecs[1:]
		own.Chunks = slices.Clone(spec.Chunks)
		slices.Reverse(own.Chunks)
	}
	codecs, err := newCodecs(&own, codec.V2)
	if err != nil {
		return "", filters, compressor, err
	}
	list := make([]pyjson.Value, len(codecs))
	for i, c := range codecs {
		list[i] = c.Value2()
	}
	if n := len(list); n > 0 && codec.IsBytewise(codecs[n-1].Name, codec.V2) {
		compressor, list = list[n-1], list[:n-1]
	}
	if len(list) > 0 {
		filters = pyjson.List(list...)
	}
	return order, filters, compressor, nil
}

// isGroup tells whether a folder without a metadata document is a group.
func (v *version) isGroup(fsys ndfile.FS, path string) (bool, error) {
	if v.group == "" {
		return false, nil
	}
	for _, sign := range [...]string{v.group, v.copies} {
		if found, err := vfs.HasFile(fsys, path+"/"+sign); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// isAbsent tells that an error says that something is not there.
func isAbsent(err error) bool {
	for _, absent := range [...]error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// quoted is a name of a stranger for messages.
func quoted(name string) string { return metafile.Short(pyjson.String(name)) }
