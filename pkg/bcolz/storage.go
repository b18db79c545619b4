package bcolz

import (
	"math"
	"strconv"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The members of meta/storage and of its "cparams".
const (
	keyDType       = "dtype"
	keyCparams     = "cparams"
	keyChunklen    = "chunklen"
	keyExpectedlen = "expectedlen"
	keyDflt        = "dflt"

	keyLevel    = "clevel"
	keyShuffle  = "shuffle"
	keyCodec    = "cname"
	keyQuantize = "quantize"
)

// storage is what meta/storage says.
type storage struct {
	dtype       ndarray.DType
	item        []int64 // shape of the elements of a dtype like "(2,)i4", else nil
	compression ndfile.Compression
	chunklen    int64
	expectedlen int64 // 0: not known
	dflt        pyjson.Value
	// fill is dflt as an element; nil where the file has none, or one that is
	// no element (badFill).
	fill    []byte
	badFill bool
	extra   *ndfile.Attrs // Spec.Extra: the other members
}

// parseStorage reads meta/storage. Members that bcolz did not always write may be
// missing: all but "dtype" and "chunklen".
func parseStorage(doc *metafile.Document) (s storage, err error) {
	name, err := doc.Str(keyDType)
	if err != nil {
		return s, err
	}
	if s.dtype, s.item, err = parseDType(name); err != nil {
		return s, doc.Place(keyDType, err)
	}
	if s.chunklen, err = doc.Int(keyChunklen, 1, math.MaxInt64); err != nil {
		return s, err
	}
	if v, ok := doc.Get(keyDflt); ok {
		fill, ok := parseDflt(s.dtype, v)
		s.dflt, s.fill, s.badFill = v, fill, !ok
	}
	if v, _ := doc.Get(keyExpectedlen); v.IsInt() {
		n, _ := v.Int64()
		s.expectedlen = max(0, n)
	}
	s.extra = ndfile.NewAttrs()
	if err := s.parseCparams(doc); err != nil {
		return s, err
	}
	for i := range doc.Len() {
		switch key, v := doc.At(i); key {
		case keyDType, keyCparams, keyChunklen, keyExpectedlen, keyDflt:
		default:
			s.extra.Set(key, v)
		}
	}
	if s.extra.Len() == 0 {
		s.extra = nil
	}
	return s, nil
}

// defaultCompression is that of new arrays.
var defaultCompression = ndfile.Compression{Codec: blosc.LZ4.String(), Level: 5, Shuffle: int(blosc.ByteShuffle)}

// parseCparams reads "cparams". What it says counts for writing only: chunks tell
// for themselves how they are compressed.
func (s *storage) parseCparams(doc *metafile.Document) error {
	s.compression = defaultCompression
	s.compression.Codec = blosc.BloscLZ.String() // where none is named: before there was a choice
	v, ok := doc.Get(keyCparams)
	if !ok {
		return nil
	}
	wrong := func(expected string) error { return doc.Wrong(ndfile.ErrCorrupt, keyCparams, expected) }
	cparams := v.Object()
	if cparams == nil {
		return wrong("an object")
	}
	others := ndfile.NewAttrs()
	for i := range cparams.Len() {
		key, v := cparams.At(i)
		n, isInt := v.Int64()
		isInt = isInt && math.MinInt32 <= n && n <= math.MaxInt32
		switch key {
		case keyLevel:
			s.compression.Level = int(n)
			if !isInt {
				return wrong("an integer as " + keyLevel)
			}
		case keyShuffle:
			b, isBool := v.Bool()
			if s.compression.Shuffle = int(n); b {
				s.compression.Shuffle = 1
			}
			if !isInt && !isBool {
				return wrong("an integer or a boolean as " + keyShuffle)
			}
		case keyCodec:
			var isText bool
			if s.compression.Codec, isText = v.Str(); !isText {
				return wrong("a string as " + keyCodec)
			}
		default:
			if key != keyQuantize || v.Kind() != pyjson.KindNull && !(isInt && n == 0) {
				others.Set(key, v)
			}
		}
	}
	if others.Len() > 0 {
		s.extra.Set(keyCparams, pyjson.ObjectValue(others))
	}
	return nil
}

// params are the parameters of new chunks. ErrNotSupported: a codec, level or
// filter that nobody has.
func (s *storage) params() (blosc.Params, error) {
	c := &s.compression
	codec, err := blosc.ParseCodec(c.Codec)
	if err != nil || c.Level < 0 || c.Level > blosc.MaxLevel || c.Shuffle < 0 || c.Shuffle > int(blosc.BitShuffle) {
		return blosc.Params{}, ndfile.NewError(ndfile.ErrNotSupported, "compression: expected a codec of Blosc1, a level from 0 to "+decimal(blosc.MaxLevel)+
			" and a shuffle from 0 to 2, found "+strconv.Quote(c.Codec)+", "+decimal(c.Level)+", "+decimal(c.Shuffle)).Because(err)
	}
	size, err := typeSize(s.dtype)
	return blosc.Params{Codec: codec, Level: c.Level, Shuffle: blosc.Shuffle(c.Shuffle), TypeSize: size, Compat18: true}, err
}

// newStorage is the storage of an array to be added, and its shape. Errors:
// ErrDType, ErrShape, ErrValue, ErrNotSupported, ErrArgument.
func newStorage(spec *ndfile.Spec) (s storage, err error) {
	if s.dtype, err = storable(spec.DType); err != nil {
		return s, err
	}
	rowsize, err := rowBytes(spec.Shape, s.dtype)
	if err != nil {
		return s, err
	}
	if spec.ExpectedRows < 0 {
		return s, ndfile.NewError(ndfile.ErrArgument, "expected rows: "+decimal(spec.ExpectedRows))
	}
	if s.expectedlen = spec.ExpectedRows; s.expectedlen == 0 {
		s.expectedlen = spec.Shape[0]
	}
	switch {
	case spec.Chunks == nil:
		s.chunklen = chooseChunklen(s.expectedlen, rowsize)
	case len(spec.Chunks) != len(spec.Shape):
		return s, ndfile.NewError(ndfile.ErrShape, "chunks of "+decimal(len(spec.Chunks))+" axes, the array has "+decimal(len(spec.Shape)))
	case spec.Chunks[0] < 1:
		return s, ndfile.NewError(ndfile.ErrShape, "chunks of "+decimal(spec.Chunks[0])+" rows, expected at least 1")
	default:
		s.chunklen = spec.Chunks[0]
	}
	if s.compression, err = spec.OnlyBlosc("bcolz", defaultCompression); err != nil {
		return s, err
	}
	params, err := s.params()
	if err != nil {
		return s, err
	}
	if params.Codec == blosc.Snappy {
		return s, ndfile.NewError(ndfile.ErrNotSupported, "bcolz cannot open arrays whose codec is snappy; expected blosclz, lz4, lz4hc, zlib or zstd")
	}
	if s.dflt, err = dfltOf(s.dtype, spec.Fill); err != nil {
		return s, err
	}
	s.fill, _ = parseDflt(s.dtype, s.dflt)
	s.extra = spec.Extra.Clone()
	return s, s.checkExtra()
}

// checkExtra refuses members that storage has already.
func (s *storage) checkExtra() error {
	cparams, ok := s.extra.Get(keyCparams)
	if ok && cparams.Object() == nil {
		return ndfile.NewError(ndfile.ErrArgument, "extra: expected an object as "+keyCparams+", found "+metafile.Short(cparams))
	}
	for _, key := range []string{keyDType, keyChunklen, keyExpectedlen, keyDflt} {
		if _, ok := s.extra.Get(key); ok {
			return ndfile.NewError(ndfile.ErrArgument, "extra: "+strconv.Quote(key)+" follows from other fields of the spec")
		}
	}
	for _, key := range []string{keyLevel, keyShuffle, keyCodec} {
		if _, ok := cparams.Object().Get(key); ok {
			return ndfile.NewError(ndfile.ErrArgument, "extra: "+strconv.Quote(key)+" follows from the compression of the spec")
		}
	}
	return nil
}

// text is the file, as bcolz writes it.
func (s *storage) text() []byte {
	cparams := ndfile.NewAttrs()
	cparams.Set(keyLevel, pyjson.Int(int64(s.compression.Level)))
	cparams.Set(keyShuffle, pyjson.Int(int64(s.compression.Shuffle)))
	cparams.Set(keyCodec, pyjson.String(s.compression.Codec))
	cparams.Set(keyQuantize, pyjson.Int(0))
	doc := ndfile.NewAttrs()
	doc.Set(keyDType, pyjson.String(dtypeName(s.dtype)))
	doc.Set(keyCparams, pyjson.ObjectValue(cparams))
	doc.Set(keyChunklen, pyjson.Int(s.chunklen))
	doc.Set(keyExpectedlen, pyjson.Int(s.expectedlen))
	doc.Set(keyDflt, s.dflt)
	for i := range s.extra.Len() {
		key, v := s.extra.At(i)
		if key != keyCparams {
			doc.Set(key, v)
			continue
		}
		for k := range v.Object().Len() {
			cparams.Set(v.Object().At(k))
		}
	}
	return line(doc)
}

// line is a metadata file: one line of JSON.
func line(doc *ndfile.Attrs) []byte { return append(ndfile.AppendJSON(nil, doc), '\n') }

// rowBytes is the size of a row, one item along the first axis, of an array that
// bcolz can hold: it needs an axis, and rows of at least a byte.
func rowBytes(shape []int64, d ndarray.DType) (int64, error) {
	if len(shape) == 0 {
		return 0, ndfile.NewError(ndfile.ErrShape, "bcolz has no scalars: expected at least one axis")
	}
	n, err := ndarray.NBytes(shape[1:], d.Size)
	if err == nil {
		_, err = ndarray.NBytes(shape, d.Size)
	}
	if err == nil && n == 0 {
		err = ndfile.NewError(ndfile.ErrShape, "bcolz has no rows of 0 bytes: expected extents of 1 or more after the first axis")
	}
	return n, err
}
