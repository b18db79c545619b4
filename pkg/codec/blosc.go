package codec

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
)

// The codec "blosc" of Zarr 3 and of numcodecs: a chunk of Blosc1. What it decodes
// to is told by the chunk's own header. Package blosc does the work.
var _ = define(Definition{Name: "blosc", ID: "blosc", kind: bytewise, new: func(c *conf) (Codec, error) {
	b := &Blosc{}
	b.Codec = blosc.LZ4
	if v, ok := c.get("cname"); ok {
		name, isText := v.Str()
		var err error
		if b.Codec, err = blosc.ParseCodec(name); !isText {
			c.fail("cname", "the name of a compressor")
		} else if err != nil {
			return nil, errorf(ErrNotSupported, "blosc", "expected the compressor blosclz, lz4, lz4hc, snappy, zlib or zstd, found %s", short(v))
		}
	}
	b.Level = int(c.integer("clevel", 5, 0, blosc.MaxLevel))
	// The APIs have words; what has a number and no typesize is of numcodecs, in whatever list.
	_, typed := c.Get("typesize")
	if v, _ := c.Get("shuffle"); v.Kind() != pyjson.KindString && (c.version == V2 || !typed && v.IsInt()) {
		b.Shuffle = int(c.integer("shuffle", 1, AutoShuffle, 2))
	} else {
		b.Shuffle = slices.Index(shuffles[:], c.word("shuffle", shuffles[1], shuffles[:]...))
	}
	b.TypeSize = int(c.integer("typesize", 0, 1, 1<<31-1))
	b.BlockSize = int(c.integer("blocksize", 0, 0, blosc.MaxNBytes))
	return b, nil
}})

// shuffles are the names of the filters in Zarr 3, by their number.
var shuffles = [...]string{"noshuffle", "shuffle", "bitshuffle"}

// AutoShuffle is the filter of numcodecs that goes by the size of elements: bits of
// single bytes, else bytes.
const AutoShuffle = -1

// Blosc is the configuration of the codec "blosc".
type Blosc struct {
	Codec     blosc.Codec
	Level     int
	Shuffle   int // 0 none, 1 bytes, 2 bits, AutoShuffle
	TypeSize  int // 0: that of the elements
	BlockSize int // bytes; 0: as Blosc chooses
}

func (b *Blosc) Config(v Version) (*Object, error) {
	if v == V2 {
		return members("blocksize", b.BlockSize, "clevel", b.Level, "cname", b.Codec.String(), "shuffle", b.Shuffle), nil
	}
	shuffle := b.Shuffle
	if shuffle == AutoShuffle {
		shuffle = 1
	}
	return members("typesize", max(b.TypeSize, 1), "cname", b.Codec.String(), "clevel", b.Level,
		"shuffle", shuffles[shuffle], "blocksize", b.BlockSize), nil
}

func (b *Blosc) Bind(in Form) (Stage, Form, error) {
	if in.Exact && in.Size > blosc.MaxNBytes {
		return nil, Form{}, errorf(ErrLimit, "blosc", "%d bytes, expected at most %d", in.Size, blosc.MaxNBytes)
	}
	if b.TypeSize == 0 {
		if b.TypeSize = in.Item; b.TypeSize > blosc.MaxTypeSize {
			b.TypeSize = 1 // as chunks have it
		}
	}
	return &bloscStage{b}, compressed(in.Size), nil
}

// bloscStage is the Stage of a Blosc.
type bloscStage struct{ *Blosc }

// OfBlosc is the Spec of the codec with a compressor ("lz4"), a level and a filter.
func OfBlosc(cname string, level, shuffle int) Spec {
	filter := strconv.Itoa(shuffle) // one that there is not is refused by New
	if shuffle >= 0 && shuffle < len(shuffles) {
		filter = shuffles[shuffle]
	}
	return Spec{Name: "blosc", Conf: members("cname", cname, "clevel", level, "shuffle", filter)}
}

// ToBlosc gives the configuration of a list that is nothing but Blosc, alone or behind
// "bytes".
func ToBlosc(specs []Spec) (b *Blosc, ok bool, err error) {
	if len(specs) == 2 && specs[0].Name == "bytes" {
		specs = specs[1:]
	}
	if len(specs) != 1 || specs[0].Name != "blosc" {
		return nil, false, nil
	}
	c, err := New(specs[0], V2) // in which filters are numbers or words
	if err != nil {
		return nil, false, err
	}
	return c.(named).Codec.(*Blosc), true, nil
}

// AsBlosc gives the configuration of a stage that is Blosc, else nil.
func AsBlosc(s Stage) *Blosc {
	if b, ok := s.(*bloscStage); ok {
		return b.Blosc
	}
	return nil
}

// Params are those of package blosc, of a codec that was bound.
func (s *Blosc) Params() blosc.Params {
	p := blosc.Params{Codec: s.Codec, Level: s.Level, Shuffle: blosc.Shuffle(s.Shuffle), TypeSize: s.TypeSize, BlockSize: s.BlockSize}
	if p.TypeSize > blosc.MaxTypeSize {
		p.TypeSize = 1
	}
	if s.Shuffle == AutoShuffle {
		if p.Shuffle = blosc.ByteShuffle; p.TypeSize == 1 {
			p.Shuffle = blosc.BitShuffle
		}
	}
	return p
}

func (s *bloscStage) Encode(dst *Buffer, src []byte) error {
	at := len(dst.B)
	out, err := dst.Extend(blosc.EncodeBound(len(src)))
	if err != nil {
		return err
	}
	n, err := blosc.Encode(out, src, s.Params())
	dst.B = dst.B[:at+n]
	return bloscError(err)
}

// bloscInfo reads the header of a chunk.
func bloscInfo(src []byte, limit int64) (blosc.ChunkInfo, error) {
	info, err := blosc.Info(src)
	switch {
	case err != nil:
		err = bloscError(err)
	case int64(info.NBytes) > limit:
		err = corruptAt("blosc", 4, "decodes to %d bytes, expected at most %d", info.NBytes, limit)
	case info.CBytes > len(src):
		err = corruptAt("blosc", 12, "a chunk of %d bytes, but there are %d", info.CBytes, len(src))
	}
	return info, err
}

func (s *bloscStage) Decode(dst *Buffer, src []byte, limit int64) error {
	info, err := bloscInfo(src, limit)
	if err != nil {
		return err
	}
	at := len(dst.B)
	out, err := dst.Extend(info.NBytes)
	if err != nil {
		return err
	}
	n, err := blosc.Decode(out, src)
	dst.B = dst.B[:at+n]
	return bloscError(err)
}

func (s *bloscStage) open(src []byte, limit, most int64) (io.Reader, func(), error) {
	info, err := bloscInfo(src, limit)
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Memcpyed && int64(info.BlockSize) > most:
		return nil, nil, errorf(ErrLimit, "blosc", "a block of %d bytes, expected at most %d", info.BlockSize, most)
	}
	// A block at a time, or some small ones.
	r := &bloscReader{src: src, left: info.NBytes, step: max(info.BlockSize, 1)}
	r.step = max(r.step, (1<<18)/r.step*r.step)
	return r, r.block.Free, nil
}

// bloscReader decodes a chunk from its beginning on.
type bloscReader struct {
	src            []byte
	at, left, step int // bytes that were decoded, that were not, and that are at a time
	block          Buffer
	ready          []byte // decoded, but not read
}

func (r *bloscReader) Read(p []byte) (int, error) {
	if len(r.ready) == 0 {
		n := min(r.step, r.left)
		if n == 0 {
			return 0, io.EOF
		}
		if err := r.block.Sized(n, 0); err != nil {
			return 0, err
		}
		if err := (blosc.Decoder{}).DecodeRange(r.block.B, r.src, r.at); err != nil {
			return 0, bloscError(err)
		}
		r.ready, r.at, r.left = r.block.B, r.at+n, r.left-n
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// bloscError gives an error of package blosc the kind that it has here.
func bloscError(err error) error {
	var e *blosc.Error
	if !errors.As(err, &e) {
		return err
	}
	kind := ErrCorrupt
	switch e.Kind {
	case blosc.ErrNotSupported:
		kind = ErrNotSupported
	case blosc.ErrLimit:
		kind = ErrLimit
	case blosc.ErrParams:
		kind = ErrConfig
	}
	return &Error{Kind: kind, Codec: "blosc", Offset: e.Offset, Msg: e.Msg}
}
