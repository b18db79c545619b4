package ndfile

import (
	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

// ParseCodecs reads Spec.Codecs from a JSON list: each is a name, or an object with
// "name" and the configuration beside it. Errors are ErrArgument.
func ParseCodecs(text []byte) ([]codec.Spec, error) {
	v, err := pyjson.Parse(text, pyjson.Limits{MaxBytes: DefaultMaxHeader, MaxDepth: 50})
	if err == nil {
		var specs []codec.Spec
		if specs, err = codec.ParseSpecs(v); err == nil {
			return specs, nil
		}
	}
	return nil, NewError(ErrArgument, "codecs").Because(err)
}

// AppendCodecs appends what ParseCodecs reads: Spec.Codecs. Arrays without chunks have
// null.
func AppendCodecs(dst []byte, s *Spec) []byte {
	if s.Chunks == nil {
		return append(dst, "null"...)
	}
	return pyjson.Append(dst, codec.SpecsValue(s.Codecs))
}

// Compression is the short form of codecs that are nothing but Blosc1, with the
// meaning that package blosc gives its fields.
type Compression struct {
	// Codec is "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd".
	Codec string
	// Level is the effort, from 0 (copy only) to 9.
	Level int
	// Shuffle is the filter: 0 none, 1 of bytes, 2 of bits.
	Shuffle int
}

// Codecs is the list that c stands for, for Spec.Codecs.
func (c Compression) Codecs() []codec.Spec {
	return []codec.Spec{codec.OfBlosc(c.Codec, c.Level, c.Shuffle)}
}

// Compression is the short form of Codecs. ok is false where they are not Blosc alone,
// or a kind of it that is not known here.
func (s Spec) Compression() (c Compression, ok bool) {
	b, ok, err := codec.ToBlosc(s.Codecs)
	if !ok || err != nil {
		return c, false
	}
	if b.TypeSize == 0 {
		b.TypeSize = s.DType.Size
	}
	p := b.Params()
	return Compression{Codec: p.Codec.String(), Level: p.Level, Shuffle: int(p.Shuffle)}, true
}

// OnlyBlosc is the short form of Codecs to Add, in formats that have nothing but Blosc:
// anything else, and shards, are ErrNotSupported. Without Codecs it is byDefault. format
// is for messages.
func (s Spec) OnlyBlosc(format string, byDefault Compression) (Compression, error) {
	if s.Shards != nil {
		return Compression{}, NewError(ErrNotSupported, format+" has no shards")
	}
	if s.Codecs == nil {
		return byDefault, nil
	}
	if c, ok := s.Compression(); ok {
		return c, nil
	}
	_, _, err := codec.ToBlosc(s.Codecs)
	if err == nil {
		err = NewError(ErrNotSupported, format+" has no codec but blosc, found "+string(pyjson.Append(nil, codec.SpecsValue(s.Codecs))))
	}
	return Compression{}, CodecError(err, 0)
}
