package zarr

import (
	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format2 is Zarr version 2, name "zarr2", extension ".zarr": arrays of chunks in
// C order without filters, of Blosc or uncompressed; all else is refused by name.
// New arrays have Blosc chunks named as 0.1. It has the interfaces of [Format0]
// and is an [ndfile.Migrator] for it.
var Format2 ndfile.Format = migrator{format{&version2}}

// The files of version 2 beside the chunks.
const (
	meta2  = ".zarray"
	attrs2 = ".zattrs"
)

// version2 is Zarr version 2: .zarray, .zattrs, and chunks beside them.
var version2 = version{
	format: "zarr2",
	caps:   commonCaps,
	meta:   meta2,
	attrs:  attrs2,
	group:  ".zgroup",
	codec:  "lz4",
	indent: 4, // as zarr-python 2
	sorted: true,
	ours:   ours2,
	parse:  parse2,
	build:  build2,
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
	if m.dtype, err = parseDType(kind); err != nil {
		return nil, doc.Wrong(ndfile.ErrDType, "dtype", "a NumPy dtype").Because(err)
	}
	switch order, err := doc.Str("order"); {
	case err != nil:
		return nil, err
	case order == "F" && len(m.shape) > 1:
		return nil, doc.Wrong(ndfile.ErrNotSupported, "order", `"C"`)
	case order != "C" && order != "F":
		return nil, doc.Wrong(ndfile.ErrCorrupt, "order", `"C" or "F"`)
	}
	filters, ok := doc.Get("filters")
	if !ok || filters.Kind() != pyjson.KindNull && filters.Kind() != pyjson.KindList {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "filters", "null or a list")
	}
	if items := filters.Items(); len(items) > 0 {
		return nil, doc.Place("filters", notSupported2("filter", items[0]))
	}
	compressor, ok := doc.Get("compressor")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "compressor", "null or a codec")
	}
	if err := m.readCompressor2(compressor); err != nil {
		return nil, doc.Place("compressor", err)
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

// notSupported2 refuses a filter or compressor by its name.
func notSupported2(what string, v pyjson.Value) error {
	id, _ := v.Object().Get("id")
	name, ok := id.Str()
	if !ok {
		return ndfile.NewError(ndfile.ErrCorrupt, what+": expected an object with an id, found "+metafile.Short(v))
	}
	return ndfile.NewError(ndfile.ErrNotSupported, "the "+what+" "+quoted(name)+" is not supported")
}

// readCompressor2 reads the configuration of numcodecs.
func (m *metadata) readCompressor2(v pyjson.Value) error {
	if v.Kind() == pyjson.KindNull {
		m.codec = chunk.Plain{}
		return nil
	}
	conf := v.Object()
	id, _ := conf.Get("id")
	if name, _ := id.Str(); name != "blosc" {
		return notSupported2("compressor", v)
	}
	word, _ := conf.Get("shuffle")
	shuffle, ok := word.Int64()
	if !ok || shuffle < -1 || shuffle > 2 {
		return ndfile.NewError(ndfile.ErrCorrupt, "compressor: expected a shuffle from -1 to 2, found "+metafile.Short(word))
	}
	if shuffle == -1 { // numcodecs's AUTOSHUFFLE
		if shuffle = 1; m.dtype.Size == 1 {
			shuffle = 2
		}
	}
	return m.setBlosc("compressor", conf, int(shuffle), m.dtype.Size)
}

// build2 makes a new document.
func build2(spec *ndfile.Spec) (*metadata, error) {
	kind, err := dtypeValue(spec.DType)
	if err != nil {
		return nil, err
	}
	fill, err := fill2Value(spec.Fill, spec.DType)
	if err != nil {
		return nil, err
	}
	c := spec.Compression
	if _, err := bloscCodec(c, spec.DType.Size, false); err != nil {
		return nil, err
	}
	return parse2(&metafile.Document{Object: object(
		"chunks", intList(spec.Chunks),
		"compressor", object(
			"blocksize", pyjson.Int(0),
			"clevel", pyjson.Int(int64(c.Level)),
			"cname", pyjson.String(c.Codec),
			"id", pyjson.String("blosc"),
			"shuffle", pyjson.Int(int64(c.Shuffle))),
		"dtype", kind,
		"fill_value", fill,
		"filters", pyjson.Null(),
		"order", pyjson.String("C"),
		"shape", intList(spec.Shape),
		"zarr_format", pyjson.Int(2)).Object()})
}

// setBlosc reads the members of a configuration of Blosc that versions 2 and 3
// share. A block size is checked only: chunks say theirs, and new ones have what
// C-Blosc chooses.
func (m *metadata) setBlosc(what string, conf *pyjson.Object, shuffle, typeSize int) error {
	name, _ := conf.Get("cname")
	level, _ := conf.Get("clevel")
	block, hasBlock := conf.Get("blocksize")
	n, isLevel := level.Int64()
	if b, ok := block.Int64(); !isLevel || n < 0 || n > blosc.MaxLevel || hasBlock && (!ok || b < 0) {
		return ndfile.NewError(ndfile.ErrCorrupt, what+": expected a clevel from 0 to 9 and a blocksize of 0 or more, found "+metafile.Short(pyjson.ObjectValue(conf)))
	}
	c := &ndfile.Compression{Level: int(n), Shuffle: shuffle}
	c.Codec, _ = name.Str()
	var err error
	if m.codec, err = bloscCodec(c, typeSize, false); err != nil {
		return ndfile.NewError(ndfile.ErrNotSupported, what).Because(err)
	}
	m.compression = c
	return nil
}

// isGroup tells whether a folder without a metadata document is a group.
func (v *version) isGroup(fsys ndfile.FS, path string) bool {
	if v.group == "" {
		return false
	}
	info, err := fsys.Stat(path + "/" + v.group)
	return err == nil && info.Mode == vfs.Regular
}

// errGroup refuses a group.
func errGroup() *ndfile.Error {
	return ndfile.NewError(ndfile.ErrNotSupported, "a group: only single arrays are opened; give the path of an array in it")
}

// quoted is a name of a stranger for messages.
func quoted(name string) string { return metafile.Short(pyjson.String(name)) }
