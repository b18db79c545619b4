package zarr

import (
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The names of release 0.4.
const (
	meta0  = "__zmeta__"
	attrs0 = "__zattr__"
	data0  = "__zdata__"
	// What its writers leave behind: empty files beside those that they lock, and
	// chunks whose writing was interrupted, NAME.blosc.RANDOM.partial.
	lockSuffix    = ".lock"
	partialSuffix = ".partial"
)

// version0 is the layout of release 0.4.
var version0 = version{
	format: "zarr0",
	caps:   commonCaps,
	meta:   meta0,
	attrs:  attrs0,
	data:   data0,
	locks:  true,
	indent: 4,
	sorted: true,
	notJSON: func(text []byte) error {
		// "(dp0", "}q\x01(" or "\x80\x02}": the protocols 0, 1 and later.
		if len(text) > 0 && (text[0] == '(' || text[0] == '}' || text[0] == 0x80) {
			return ndfile.NewError(ndfile.ErrNotSupported, "a Python pickle, as zarr <= 0.3 wrote it: expected the JSON of zarr 0.4; "+
				"pickles can run any code and are never read").At(0)
		}
		return nil
	},
	ours:     ours0,
	checkRaw: checkRaw18,
	parse:    parse0,
	build:    build0,
}

var keys0 = chunkKeys{separator: ".", suffix: ".blosc"}

// ours0 is version.ours.
func ours0(rel string, mode vfs.FileMode) bool {
	name := strings.TrimSuffix(rel, lockSuffix)
	switch {
	case rel == data0:
		return mode == vfs.Dir
	case mode != vfs.Regular:
		return false
	case name == meta0, name == attrs0:
		return true
	}
	name, ok := strings.CutPrefix(name, data0+"/")
	name, _ = cutPartial(name)
	name, isChunk := strings.CutSuffix(name, keys0.suffix)
	return ok && isChunk && isIndexes(name, keys0.separator)
}

// cutPartial gives the name of the chunk that an interrupted writer left.
func cutPartial(name string) (chunk string, ok bool) {
	if rest, ok := strings.CutSuffix(name, partialSuffix); ok {
		if i := strings.LastIndexByte(rest, '.'); i > 0 {
			return rest[:i], true
		}
	}
	return name, false
}

// parse0 reads __zmeta__. All seven members must be there, others are kept.
func parse0(doc *metafile.Document) (m *metadata, err error) {
	m = &metadata{doc: doc.Object, keys: keys0}
	dtype, ok := doc.Get("dtype")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "dtype", "a NumPy dtype")
	}
	if m.dtype, err = parseDType(dtype); err != nil {
		return nil, doc.Wrong(ndfile.ErrDType, "dtype", "a NumPy dtype").Because(err)
	}
	if m.shape, err = doc.Ints("shape"); err != nil {
		return nil, err
	}
	if m.chunks, err = doc.Ints("chunks"); err != nil {
		return nil, err
	}
	if len(m.shape) == 0 {
		return nil, doc.Wrong(ndfile.ErrNotSupported, "shape", "one axis or more: early zarr cannot store scalars")
	}
	c := &ndfile.Compression{}
	if c.Codec, err = doc.Str("cname"); err != nil {
		return nil, err
	}
	level, err := doc.Int("clevel", 0, blosc.MaxLevel)
	if err != nil {
		return nil, err
	}
	shuffle, err := doc.Int("shuffle", 0, int64(blosc.BitShuffle))
	if err != nil {
		return nil, err
	}
	c.Level, c.Shuffle = int(level), int(shuffle)
	if m.codec, err = bloscCodec(c, m.dtype.Size, true); err != nil {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "cname", "the name of a codec of Blosc")
	}
	m.compression, m.specs = c, c.Codecs()
	fill, ok := doc.Get("fill_value")
	if !ok {
		return nil, doc.Wrong(ndfile.ErrCorrupt, "fill_value", "a value or null")
	}
	if m.fill, m.fillErr = fillBytes(m.dtype, fill); m.fillErr != nil {
		m.fillErr = doc.Place("fill_value", m.fillErr)
	}
	m.extra = extra0(m)
	return m, nil
}

// extra0 gives the members that build0 would spell otherwise or not at all.
func extra0(m *metadata) *ndfile.Attrs {
	extra := ndfile.NewAttrs()
	for i := range m.doc.Len() {
		key, v := m.doc.At(i)
		var ours pyjson.Value
		var err error
		switch key {
		case "shape", "chunks", "cname", "clevel", "shuffle":
			continue
		case "dtype":
			ours, err = dtypeValue(m.dtype)
		case "fill_value":
			if ours, err = fillValue(m.dtype, orZeros(m.fill, m.dtype.Size)); m.fillErr != nil {
				err = m.fillErr
			}
		default:
			extra.Set(key, v)
			continue
		}
		if err != nil || !ours.Equal(v) {
			extra.Set(key, v)
		}
	}
	if extra.Len() == 0 {
		return nil
	}
	return extra
}

// orZeros is a fill value, or the zero that nil means to Add.
func orZeros(fill []byte, size int) []byte {
	if fill == nil && size <= maxFill {
		fill = make([]byte, size)
	}
	return fill
}

// build0 makes __zmeta__. From Extra it takes the spelling of dtype and
// fill_value, where they mean what the Spec says, and members without a meaning.
func build0(spec *ndfile.Spec) (*metadata, error) {
	if len(spec.Shape) == 0 {
		return nil, ndfile.NewError(ndfile.ErrNotSupported, "early zarr cannot store scalars: give the array an axis")
	}
	c, err := spec.OnlyBlosc("zarr0", ndfile.Compression{Codec: "blosclz", Level: 5, Shuffle: 1})
	if err != nil {
		return nil, err
	}
	m := &metadata{dtype: spec.DType, shape: spec.Shape, chunks: spec.Chunks, compression: &c, specs: c.Codecs(), keys: keys0}
	dtype, err := dtypeValue(m.dtype)
	if err != nil {
		return nil, err
	}
	if m.codec, err = bloscCodec(m.compression, m.dtype.Size, true); err != nil {
		return nil, err
	}
	fill, err := fillValue(m.dtype, orZeros(spec.Fill, m.dtype.Size))
	if err != nil {
		return nil, err
	}
	extra := spec.Extra.Clone()
	if v, ok := extra.Get("dtype"); ok {
		if d, err := parseDType(v); err == nil && d.Equal(m.dtype) {
			dtype = v
		}
		extra.Delete("dtype")
	}
	if v, ok := extra.Get("fill_value"); ok {
		if elem, err := fillBytes(m.dtype, v); err == nil && string(elem) == string(spec.Fill) {
			fill = v
		}
		extra.Delete("fill_value")
	}
	if m.fill, err = fillBytes(m.dtype, fill); err != nil {
		return nil, err
	}
	m.doc = ndfile.NewAttrs()
	m.doc.Set("chunks", intList(m.chunks))
	m.doc.Set("clevel", pyjson.Int(int64(m.compression.Level)))
	m.doc.Set("cname", pyjson.String(m.compression.Codec))
	m.doc.Set("dtype", dtype)
	m.doc.Set("fill_value", fill)
	m.doc.Set("shape", intList(m.shape))
	m.doc.Set("shuffle", pyjson.Int(int64(m.compression.Shuffle)))
	for i := range extra.Len() {
		key, v := extra.At(i)
		if _, taken := m.doc.Get(key); taken {
			return nil, ndfile.NewError(ndfile.ErrArgument, "extra: the member "+strconv.Quote(key)+" is given by the array itself")
		}
		m.doc.Set(key, v)
	}
	m.extra = extra0(m)
	return m, nil
}
