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

// AppendCodecs appends what ParseCodecs reads: Spec.Codecs, or the codec that
// Spec.Compression stands for. Arrays without chunks have null.
func AppendCodecs(dst []byte, s *Spec) []byte {
	if s.Chunks == nil {
		return append(dst, "null"...)
	}
	return pyjson.Append(dst, codec.SpecsValue(s.codecs()))
}

func (s *Spec) codecs() []codec.Spec {
	if c := s.Compression; s.Codecs == nil && c != nil {
		return []codec.Spec{codec.OfBlosc(c.Codec, c.Level, c.Shuffle)}
	}
	return s.Codecs
}

// OnlyBlosc makes Compression of Codecs, for formats that have nothing but Blosc;
// anything else, and shards, are ErrNotSupported. format is for messages.
func (s *Spec) OnlyBlosc(format string) error {
	if s.Shards != nil {
		return NewError(ErrNotSupported, format+" has no shards")
	}
	if s.Codecs == nil {
		return nil
	}
	c, ok, err := codec.ToBlosc(s.Codecs)
	if err != nil {
		return NewError(ErrArgument, "codecs").Because(err)
	}
	if !ok {
		return NewError(ErrNotSupported, format+" has no codec but blosc, found "+string(pyjson.Append(nil, codec.SpecsValue(s.Codecs))))
	}
	s.Compression, s.Codecs = &Compression{Codec: c.Codec.String(), Level: c.Level, Shuffle: c.Shuffle}, nil
	return nil
}
