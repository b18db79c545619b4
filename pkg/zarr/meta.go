package zarr

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/chunk"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// version is one generation of zarr: all that differs between them. Values are
// constants of the package.
type version struct {
	format string // name of the ndfile.Format
	caps   ndfile.Caps
	// meta, attrs and data are the names of the metadata document, of the
	// attributes and of the folder that holds the chunks. attrs is "" where the
	// attributes are a member of the document, "attributes"; data is "" where
	// chunks lie beside the document.
	meta, attrs, data string
	// dimsKey is the attribute that holds the names of axes; "" where there are none or
	// the document has them.
	dimsKey string
	// group is the file that stands for meta in a folder that is a group of arrays;
	// "" where there are none or the document itself tells.
	group string
	// copies is the file of a group that holds copies of the documents below it; ""
	// where its own document does.
	copies string
	// locks: there is a protocol for writers in different processes.
	locks bool
	// indent and sorted say how documents are written: json.dumps's arguments
	// indent and sort_keys.
	indent int
	sorted bool
	// notJSON says better than a JSON parser what a text is that is not JSON, nil
	// for anything unknown. May be nil.
	notJSON func(text []byte) error
	// checkRaw refuses chunks that other programs of the version could not read;
	// may be nil.
	checkRaw func(raw []byte, c *ndfile.Compression) error
	// ours tells which entries of a folder belong to an array, what writers leave
	// behind included; rel is the path from the folder. Creating over an array
	// removes these, and is refused where there is anything else.
	ours func(rel string, mode vfs.FileMode) bool
	// grid is the member of the document that chunks come from; "" is "chunks".
	grid string
	// zarr is the version whose codecs the document names; 0 where there is only
	// Blosc.
	zarr codec.Version
	// codecs is the member that names them, for errors.
	codecs string
	// parse reads a document. What a stranger can have written into it is
	// checked, but for what metadata.checkGrid checks afterwards. The error has an
	// offset (see Document.Wrong), its path is added by the caller.
	parse func(doc *metafile.Document) (*metadata, error)
	// build makes the metadata and the document of a new array. spec is
	// complete: Chunks and Compression are set, and everything that no version
	// has (names of axes, masks) is refused already. Fill nil is the default.
	// What the version cannot write is ErrDType or ErrValue. Where there are codecs
	// (zarr) it makes only the document.
	build func(spec *ndfile.Spec) (*metadata, error)
}

// metadata is what the document of an array says, in any version.
type metadata struct {
	// doc is the document as it stands in the file, members that mean nothing to
	// us included. It is what is written back with another shape.
	doc           *pyjson.Object
	dtype         ndarray.DType
	shape, chunks []int64
	// runs are the chunks along each axis where the grid is rectilinear, up to the end of
	// the array; chunks are the largest extents then. nil: the grid is regular.
	runs [][]chunk.Run
	// first is the index of the first chunk, in a part of a rectilinear grid; nil is zeros.
	first []int64
	// fill is one element; nil is no fill value: elements that were never
	// written are undefined to others and zero here.
	fill []byte
	// fillErr says that the document has a fill value that is none of the
	// dtype. It is no hindrance until the fill value is needed.
	fillErr error
	// compression is what a document of a version that has only Blosc says of it; else
	// nil.
	compression *ndfile.Compression
	// specs are the codecs of a chunk, with the name and the configuration that they
	// have in the document.
	specs []codec.Spec
	// codec makes the bytes of a chunk, whose axes have the order.
	codec chunk.Codec
	order []int
	// layout is that of a shard, where chunks are shards that can be read in parts, and
	// inner are the codecs of the chunks in it.
	layout *codec.Shard
	inner  []codec.Spec
	// bits is how many of an element count; 0: all.
	bits int
	keys chunkKeys
	// dims are the names of the axes, nil for none.
	dims []string
	// extra is Spec.Extra: members of doc that build would not make of the Spec.
	extra *ndfile.Attrs
}

// setShape changes the shape and the document. In every version "shape" is a
// list of the document itself.
func (m *metadata) setShape(shape []int64) {
	m.shape = shape
	m.doc = m.doc.Clone()
	m.doc.Set("shape", intList(shape))
}

// checkGrid checks shape and chunks: their ranks, signs and products, and that
// an encoder can hold a chunk. grid is the member that chunks come from.
func (m *metadata) checkGrid(d *metafile.Document, grid string) error {
	if grid == "" {
		grid = "chunks"
	}
	if len(m.chunks) != len(m.shape) {
		return d.Wrong(ndfile.ErrCorrupt, grid, "as many extents as shape has, "+strconv.Itoa(len(m.shape)))
	}
	if len(m.shape) > ndarray.MaxNDim {
		return d.Wrong(ndfile.ErrLimit, "shape", "at most "+strconv.Itoa(ndarray.MaxNDim)+" axes")
	}
	for axis := range m.shape {
		if m.shape[axis] < 0 {
			return d.Wrong(ndfile.ErrCorrupt, "shape", "extents of 0 or more")
		}
		if m.chunks[axis] < 1 {
			return d.Wrong(ndfile.ErrCorrupt, grid, "extents of 1 or more")
		}
	}
	if _, err := ndarray.NBytes(m.shape, m.dtype.Size); err != nil {
		return d.Wrong(ndfile.ErrCorrupt, "shape", "less than 2^63 bytes of data")
	}
	if n, err := ndarray.NBytes(m.chunks, m.dtype.Size); err != nil || n > blosc.MaxNBytes {
		return d.Wrong(ndfile.ErrLimit, grid, "at most "+strconv.Itoa(blosc.MaxNBytes)+" bytes a chunk")
	}
	return nil
}

// newCodecs lists the codecs of a new array as a version writes them, with their
// whole configurations. Without Spec.Codecs it is Blosc with LZ4, level 5 and the
// shuffle of bytes.
func newCodecs(spec *ndfile.Spec, v codec.Version) ([]codec.Spec, error) {
	specs := spec.Codecs
	if specs == nil {
		specs = ndfile.Compression{Codec: "lz4", Level: 5, Shuffle: 1}.Codecs()
	}
	grid := spec.Chunks
	if spec.Shards != nil {
		if v != codec.V3 {
			return nil, ndfile.NewError(ndfile.ErrNotSupported, "shards are of zarr3")
		}
		specs, grid = []codec.Spec{codec.OfShards(spec.Chunks, specs)}, spec.Shards
	}
	in, err := codec.Elements(spec.DType, grid, spec.Fill)
	if err == nil {
		specs, err = codec.Complete(v, specs, in)
	}
	return specs, ndfile.CodecError(err, 0)
}

// make makes the metadata and the document of a new array, as build does.
func (v *version) make(spec *ndfile.Spec) (*metadata, error) {
	m, err := v.build(spec)
	if err == nil && v.zarr != 0 {
		return v.parsed(&metafile.Document{Object: m.doc})
	}
	return m, err
}

// bind makes the codec of the specs.
func (m *metadata) bind(v codec.Version) error {
	in, err := codec.Elements(m.dtype, m.chunks, m.fill)
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	in.Bits = m.bits
	chain, err := codec.NewChain(v, m.specs, in)
	if err != nil {
		return configError(err)
	}
	m.codec, m.order = chunk.OfChain(chain), chain.Order()
	if layout := codec.AsShard(chain.Only()); layout != nil && m.order == nil && !m.dtype.IsVar() {
		m.layout, m.inner = layout, codec.InnerSpecs(m.specs)
	}
	if m.dtype.IsVar() {
		m.codec = chunk.OfTexts(chain)
	}
	return nil
}

// configError is an error of package codec in a document: a configuration that is
// wrong is damage.
func configError(err error) error {
	if errors.Is(err, codec.ErrConfig) {
		return ndfile.NewError(ndfile.ErrCorrupt, "").Because(err)
	}
	return ndfile.CodecError(err, 0)
}

// append appends the document as it is written.
func (v *version) append(dst []byte, doc *pyjson.Object) []byte {
	return pyjson.AppendIndent(dst, pyjson.ObjectValue(doc), v.indent, v.sorted)
}

// chunkKeys says how the files of chunks are named: the indexes in decimal, with
// a separator between them.
type chunkKeys struct{ prefix, separator, suffix string }

// append appends the name of a chunk.
func (k *chunkKeys) append(dst []byte, index []int64) []byte {
	dst = append(dst, k.prefix...)
	for axis, i := range index {
		if axis > 0 {
			dst = append(dst, k.separator...)
		}
		dst = strconv.AppendInt(dst, i, 10)
	}
	return append(dst, k.suffix...)
}

// parse undoes append into index, which has one place an axis. ok is false for
// a name that append would not make.
func (k *chunkKeys) parse(index []int64, name string) (ok bool) {
	name, hasPrefix := strings.CutPrefix(name, k.prefix)
	name, hasSuffix := strings.CutSuffix(name, k.suffix)
	if !hasPrefix || !hasSuffix {
		return false
	}
	for axis := range index {
		part := name
		if axis < len(index)-1 {
			if part, name, ok = strings.Cut(name, k.separator); !ok {
				return false
			}
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || part[0] < '0' || part[0] > '9' || part[0] == '0' && len(part) > 1 {
			return false
		}
		index[axis] = n
	}
	return len(index) > 0 || name == ""
}

// isIndexes tells whether a text is indexes of chunks in the canonical form, with
// a separator between them: a name of some array's chunk.
func isIndexes(text, separator string) bool {
	index := make([]int64, strings.Count(text, separator)+1)
	keys := chunkKeys{separator: separator}
	return keys.parse(index, text)
}

// intList is a JSON list of integers.
func intList(v []int64) pyjson.Value {
	list := make([]pyjson.Value, len(v))
	for i, n := range v {
		list[i] = pyjson.Int(n)
	}
	return pyjson.List(list...)
}
