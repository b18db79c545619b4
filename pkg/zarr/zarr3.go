package zarr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Format3 is Zarr version 3, name "zarr3", extension ".zarr": arrays of chunks, in
// shards too, with the codecs of package codec, and groups of them, which are
// datasets. New arrays have Blosc chunks named as 0.1, the key encoding "v2". It has
// the interfaces of [Format0], names of axes, and is an [ndfile.Migrator] for it;
// its groups are an [ndfile.Tree].
var Format3 ndfile.Format = migrator{format{&version3}}

const meta3 = "zarr.json"

// version3 is Zarr version 3: zarr.json holds everything, attributes included.
var version3 = version{
	format: "zarr3",
	caps:   commonCaps | ndfile.CapDims | ndfile.CapStrings | ndfile.CapRemove | ndfile.CapGroups,
	meta:   meta3,
	grid:   "chunk_grid",
	ours:   ours3,
	indent: 2, // as zarr-python 3; the order of members is build3's
	zarr:   codec.V3,
	codecs: "codecs",
	parse:  parse3,
	build:  build3,
}

// ours3 knows the document and the chunks of all key encodings.
func ours3(rel string, mode vfs.FileMode) bool {
	if rel == meta3 {
		return mode == vfs.Regular
	}
	if rel == "c" {
		return mode == vfs.Regular || mode == vfs.Dir
	}
	if below, ok := strings.CutPrefix(rel, "c"); ok && (below[0] == '/' || below[0] == '.') {
		rel = below[1:]
	}
	return isChunk2(rel, mode)
}

// known3 are the members of a document that have a meaning.
var known3 = []string{"shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "attributes",
	"dimension_names", "zarr_format", "node_type", "storage_transformers", consolidated3}

// parse3 reads zarr.json.
func parse3(doc *metafile.Document) (*metadata, error) {
	if n, err := doc.Int("zarr_format", 0, 3); err != nil || n != 3 {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "zarr_format", "3")
	}
	switch node, err := doc.Str("node_type"); {
	case err != nil:
		return nil, err
	case node == "group":
		return nil, errIsGroup
	case node != "array":
		return nil, doc.Wrong(ndfile.ErrCorrupt, "node_type", `"array"`)
	}
	if err := refuse3(doc); err != nil {
		return nil, err
	}
	m := &metadata{doc: doc.Object}
	var err error
	if m.shape, err = doc.Ints("shape"); err != nil {
		return nil, err
	}
	if err := m.members3(doc); err != nil {
		return nil, err
	}
	fill, ok := doc.Get("fill_value")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "fill_value", "a value")
	}
	if m.bits > 0 {
		m.fill, err = smallFill3(fill, &m.dtype, m.bits)
	} else {
		m.fill, err = fill3(fill, m.dtype)
	}
	if err != nil {
		return nil, doc.Place("fill_value", err)
	}
	return m, nil
}

// members3 reads the members that are objects with a structure of their own.
// Their errors get the place of the whole member.
func (m *metadata) members3(d *metafile.Document) error {
	member := func(key string) pyjson.Value { v, _ := d.Get(key); return v }
	if err := m.readGrid3(member("chunk_grid")); err != nil {
		return d.Place("chunk_grid", err)
	}
	if err := m.readKeys3(member("chunk_key_encoding")); err != nil {
		return d.Place("chunk_key_encoding", err)
	}
	if err := m.readDims3(member("dimension_names")); err != nil {
		return d.Place("dimension_names", err)
	}
	err := m.readCodecs3(member("codecs"))
	var order ndarray.Order
	if err == nil {
		if order, err = codec.StoredOrder(m.specs); err != nil {
			err = configError(err)
		}
	}
	if err != nil {
		return d.Place("codecs", err)
	}
	kind := member("data_type")
	if name, conf, err := extension("data_type", kind); err == nil && conf.Len() == 0 {
		if small, ok := small3[name]; ok {
			m.dtype, m.bits, m.extra = ndarray.DType{Kind: small.kind, Size: 1}, small.bits, ndfile.NewAttrs()
			m.extra.Set(smallKey, pyjson.String(name))
			return nil
		}
	}
	m.dtype, err = dtype3(kind, order, 0)
	return d.Place("data_type", err)
}

// refuse3 refuses what has to be understood and is not.
func refuse3(d *metafile.Document) error {
	for i := range d.Len() {
		key, v := d.At(i)
		if slices.Contains(known3, key) {
			continue
		}
		must, ok := v.Object().Get("must_understand")
		if b, isBool := must.Bool(); !ok || !isBool || b {
			return ndfile.NewError(ndfile.ErrNotSupported, "the extension "+quoted(key)+" is not supported").At(d.Offset(key))
		}
	}
	if v, ok := d.Get(inDocument); ok && v.Object() == nil {
		return d.Wrong(ndfile.ErrCorrupt, inDocument, "an object")
	}
	if v, ok := d.Get("storage_transformers"); ok && len(v.Items()) > 0 {
		name, _, err := extension("storage_transformers", v.Items()[0])
		if err == nil {
			err = ndfile.NewError(ndfile.ErrNotSupported, "the storage transformer "+quoted(name)+" is not supported")
		}
		return d.Place("storage_transformers", err)
	}
	return nil
}

// objects3 are the codecs of objects in Zarr 2, which no other program reads in Zarr 3.
var objects3 = []string{"numcodecs.json2", "numcodecs.msgpack2", "numcodecs.categorize"}

// build3 makes a new document. All chunks are in one folder, named as in version
// 2.
func build3(spec *ndfile.Spec) (*metadata, error) {
	dtype, elem, err := littleRecord(spec.DType, spec.Fill)
	if err != nil {
		return nil, err
	}
	kind, err := dtype3Value(dtype)
	if small, ok := spec.Extra.Get(smallKey); ok {
		kind, err = smallValue3(small, dtype)
	}
	if err != nil {
		return nil, err
	}
	fill, err := fill3Value(elem, dtype)
	if err != nil {
		return nil, err
	}
	stored := *spec
	stored.DType, stored.Fill = dtype, elem
	specs, err := newCodecs(&stored, codec.V3)
	if err != nil {
		return nil, err
	}
	codecs := make([]pyjson.Value, len(specs))
	for i, c := range specs {
		if slices.Contains(objects3, c.Name) && dtype.IsVar() {
			return nil, ndfile.NewError(ndfile.ErrNotSupported, "zarr3: texts are stored by vlen-utf8 and vlen-bytes, found the codec "+c.Name)
		}
		codecs[i] = c.Value3()
	}
	grid := spec.Chunks
	if spec.Shards != nil {
		grid = spec.Shards
	}
	doc := object(
		"shape", intList(spec.Shape),
		"data_type", kind,
		"chunk_grid", named("regular", "chunk_shape", intList(grid)),
		"chunk_key_encoding", named("v2", "separator", pyjson.String(".")),
		"fill_value", fill,
		"codecs", pyjson.List(codecs...),
		"attributes", object()).Object()
	if spec.Dims != nil {
		if len(spec.Dims) != len(spec.Shape) {
			return nil, badDims(spec)
		}
		names := make([]pyjson.Value, len(spec.Dims))
		for i, name := range spec.Dims {
			if name != "" {
				names[i] = pyjson.String(name)
			}
		}
		doc.Set("dimension_names", pyjson.List(names...))
	}
	doc.Set("zarr_format", pyjson.Int(3))
	doc.Set("node_type", pyjson.String("array"))
	doc.Set("storage_transformers", pyjson.List())
	return &metadata{doc: doc}, nil
}

func badDims(spec *ndfile.Spec) error {
	return ndfile.NewError(ndfile.ErrArgument, "names of axes: expected "+strconv.Itoa(len(spec.Shape))+", found "+strconv.Itoa(len(spec.Dims)))
}

// named is the value that extension reads.
func named(name string, conf ...any) pyjson.Value {
	o := pyjson.NewObject()
	o.Set("name", pyjson.String(name))
	if len(conf) > 0 {
		o.Set("configuration", object(conf...))
	}
	return pyjson.ObjectValue(o)
}

// object is an object of keys and values in turn.
func object(members ...any) pyjson.Value {
	o := pyjson.NewObject()
	for i := 0; i < len(members); i += 2 {
		o.Set(members[i].(string), members[i+1].(pyjson.Value))
	}
	return pyjson.ObjectValue(o)
}
