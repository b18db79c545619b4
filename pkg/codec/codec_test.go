package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

func parse(t testing.TB, text string) []Spec {
	t.Helper()
	v, err := pyjson.Parse([]byte(text), pyjson.Limits{MaxBytes: 1 << 20, MaxDepth: 50})
	if err != nil {
		t.Fatal(err)
	}
	specs, err := ParseSpecs(v)
	if err != nil {
		t.Fatal(err)
	}
	return specs
}

func chainOf(t testing.TB, v Version, text, dtype string, shape ...int64) *Chain {
	t.Helper()
	in, err := Elements(ndarray.MustParse(dtype), shape, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewChain(v, parse(t, text), in)
	if err != nil {
		t.Fatalf("%s of %s: %v", text, dtype, err)
	}
	return c
}

// encoded is what a chain stores for elements.
func encoded(c *Chain, plain []byte) ([]byte, error) {
	var dst Buffer
	err := c.Encode(&dst, plain)
	return dst.B, err
}

// decoded is what a chunk decodes to.
func decoded(c *Chain, raw []byte) ([]byte, error) {
	var dst Buffer
	err := c.AppendDecoded(&dst, raw)
	return dst.B, err
}

// samples are chains that between them have every codec.
var samples = []struct {
	version Version
	codecs  string
	dtype   string
}{
	{V3, `["bytes"]`, "|u1"},
	{V3, `[{"name": "bytes", "endian": "big"}]`, "<i4"},
	{V3, `[{"name": "transpose", "order": [1, 0]}, {"name": "bytes", "endian": "little"}, "gzip"]`, "<f8"},
	{V3, `[{"name": "bytes", "endian": "little"}, {"name": "zstd", "level": 1, "checksum": true}, "crc32c"]`, "<i8"},
	{V3, `[{"name": "bytes", "endian": "little"}, {"name": "blosc", "cname": "zstd", "shuffle": "bitshuffle"}]`, "<i2"},
	{V3, `["packbits"]`, "|b1"},
	{V3, `[{"name": "packbits", "padding_encoding": "last_byte", "first_bit": 0, "last_bit": 9}]`, "<i2"},
	{V3, `[{"name": "reshape", "shape": [-1]}, {"name": "transpose", "order": [0]}, {"name": "bytes", "endian": "little"}]`, "<i2"},
	{V3, `[{"name": "bitround", "keepbits": 5}, {"name": "transpose", "order": [1, 0]}, {"name": "bytes", "endian": "big"}]`, "<f4"},
	{V3, `[{"name": "scale_offset", "offset": 2, "scale": 3}, {"name": "cast_value", "data_type": "int64"}, {"name": "bytes", "endian": "little"}]`, "<i4"},
	{V3, `[{"name": "sharding_indexed", "chunk_shape": [2, 3], "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}]`, "<i4"},
	{V3, `[{"name": "sharding_indexed", "chunk_shape": [4, 6], "index_location": "start", "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2], "codecs": ["bytes"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}, "zstd"]`, "|u1"},
	{V2, `["zlib"]`, "<i4"},
	{V2, `["bz2"]`, "<i4"},
	{V2, `["lzma"]`, "<i4"},
	{V2, `[{"name": "lzma", "format": 2}]`, "<i4"},
	{V2, `[{"name": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33}]}]`, "<i4"},
	{V2, `["lz4", "crc32", "adler32", "fletcher32", "jenkins_lookup3", "base64"]`, "<i4"},
	{V2, `["shuffle", "zlib"]`, "<f8"},
	{V2, `["delta", "shuffle", "crc32", "zlib"]`, "<i4"}, // one that needs no memory between two that do
	{V2, `["shuffle", "crc32", "adler32", "shuffle", "crc32", "zlib"]`, "<i4"},
	{V2, `["zstd"]`, "<i4"},
	{V2, `["blosc"]`, "<i4"},
	{V2, `["base64"]`, "<i4"},
	{V2, `["lz4"]`, "<i4"},
	{V2, `["blosc", "crc32"]`, "<i4"},
	{V2, `["bz2", {"name": "jenkins_lookup3", "initval": 3, "prefix": [1, 2, 3, 4, 5]}]`, "<i4"},
	{V3, `[{"name": "bytes", "endian": "big"}, "gzip", "crc32c"]`, "<i4"},
	{V2, `["delta", "zstd"]`, "<i4"},
	{V2, `[{"name": "astype", "encode_dtype": "<i2"}]`, "<i4"},
	{V2, `[{"name": "fixedscaleoffset", "scale": 1, "astype": "<i8"}]`, "<i4"},
	{V2, `["packbits"]`, "|b1"},
	{V2, `[{"name": "quantize", "digits": 1}]`, "<f8"},
	{V2, `[{"name": "categorize", "labels": ["a", "b"], "dtype": "<U2"}]`, "<U2"},
}

// TestRoundTrip encodes small numbers, which no codec here changes, and decodes them.
func TestRoundTrip(t *testing.T) {
	for _, s := range samples {
		c := chainOf(t, s.version, s.codecs, s.dtype, 4, 6)
		d := c.Elements().DType
		plain := make([]byte, c.Elements().Size)
		for i := range plain {
			if i%d.Size == 0 && d.Kind != ndarray.Unicode && d.Kind != ndarray.Float {
				plain[i] = byte(i/d.Size) % 2
			}
		}
		if d.Order == ndarray.Big {
			ndarray.SwapBytes(plain, d)
		}
		dst := Buffer{B: []byte("before")}
		if err := c.Encode(&dst, plain); err != nil {
			t.Errorf("%s: %v", s.codecs, err)
			continue
		}
		raw, ok := bytes.CutPrefix(dst.B, []byte("before"))
		back := make([]byte, len(plain))
		if err := c.Decode(back, raw); err != nil || !ok || !bytes.Equal(back, plain) {
			t.Errorf("%s: %x became %x: %v", s.codecs, plain, back, err)
		}
		specs, err := c.Specs(s.version)
		if err != nil {
			t.Errorf("%s: %v", s.codecs, err)
			continue
		}
		again := chainOf(t, s.version, string(pyjson.Append(nil, SpecsValue(specs))), s.dtype, 4, 6)
		if again.Name() != c.Name() {
			t.Errorf("%s: its configuration read again is %s", s.codecs, again.Name())
		}
	}
}

// TestEveryCodecIsSampled keeps the list above complete.
func TestEveryCodecIsSampled(t *testing.T) {
	var seen []string
	add := func(specs []Spec, v Version) {
		for _, s := range specs {
			one, err := New(s, v)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, one.(named).def.Name+"/"+one.(named).def.ID)
		}
	}
	for _, s := range samples {
		add(parse(t, s.codecs), s.version)
	}
	for _, d := range definitions {
		isText := slices.Contains([]string{"vlen-utf8", "vlen-bytes", "json2", "msgpack2"}, d.ID) // in crosstest and TestTexts
		if !isText && !slices.Contains(seen, d.Name+"/"+d.ID) {
			t.Errorf("no sample has the codec %q of Zarr 3, %q of Zarr 2", d.Name, d.ID)
		}
	}
}

// TestTexts encodes and decodes elements of variable length, sharded and transposed too.
func TestTexts(t *testing.T) {
	plain := binary.LittleEndian.AppendUint32(nil, 6)
	for _, s := range []string{"", "a", "bü", "ccc", "", "e"} {
		plain = append(plain, element(s)...)
	}
	for _, codecs := range []string{`["vlen-utf8"]`, `["vlen-utf8", "zstd"]`,
		`[{"name": "sharding_indexed", "chunk_shape": [1, 3], "codecs": ["vlen-utf8", {"name": "gzip", "configuration": {"level": 1}}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}]`} {
		c := chainOf(t, V3, codecs, "str", 2, 3)
		raw, err := encoded(c, plain)
		if err != nil {
			t.Fatalf("%s: %v", codecs, err)
		}
		if back, err := decoded(c, raw); err != nil || !bytes.Equal(back, plain) {
			t.Errorf("%s: %q became %q: %v", codecs, plain, back, err)
		}
	}
}

// TestRefused tells which lists of codecs are refused, and how.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		version       Version
		codecs, dtype string
		kind          error
	}{
		{V3, `["gzip"]`, "<i4", ErrConfig},
		{V3, `["bytes", "transpose"]`, "|i1", ErrConfig},
		{V3, `["bytes", "bytes"]`, "|i1", ErrConfig},
		{V3, `["bytes"]`, "<i4", ErrConfig},
		{V3, `["acme"]`, "<i4", ErrNotSupported},
		{V3, `[{"name": "bytes", "endian": "middle"}]`, "<i4", ErrConfig},
		{V3, `["bytes", {"name": "gzip", "level": 10}]`, "|i1", ErrConfig},
		{V3, `["bytes", {"name": "gzip", "speed": 1}]`, "|i1", ErrNotSupported},
		{V3, `[{"name": "transpose", "order": [0, 0]}, "bytes"]`, "|i1", ErrConfig},
		{V3, `[{"name": "transpose", "order": [0, 1, 2]}, "bytes"]`, "|i1", ErrConfig},
		{V3, `[{"name": "sharding_indexed", "chunk_shape": [3, 3], "codecs": ["bytes"], "index_codecs": ["bytes"]}]`, "|i1", ErrConfig},
		{V3, `["vlen-utf8"]`, "<i4", ErrNotSupported},
		{V3, `["bytes"]`, "str", ErrNotSupported},
		{V2, `["pickle"]`, "<i4", ErrNotSupported},
		{V2, `[{"name": "shuffle", "elementsize": 5}]`, "<i4", ErrNotSupported},
		{V2, `["bitround"]`, "<i4", ErrConfig},
		{V2, `[{"name": "delta", "dtype": "<i3"}]`, "<i4", ErrConfig},
		{V2, `[{"name": "lzma", "format": 3, "filters": [{"id": 4}]}]`, "<i4", ErrNotSupported},
	} {
		in, err := Elements(ndarray.MustParse(c.dtype), []int64{4, 6}, nil)
		if err == nil {
			_, err = NewChain(c.version, parse(t, c.codecs), in)
		}
		if !errors.Is(err, c.kind) {
			t.Errorf("%s of %s: %v, expected %v", c.codecs, c.dtype, err, c.kind)
		}
	}
}

// TestBounded decodes chunks that claim or hold more than they may.
func TestBounded(t *testing.T) {
	big := make([]byte, 1<<20)
	for _, codecs := range []string{`["bytes", "gzip"]`, `["bytes", "zstd"]`, `["bytes", "numcodecs.zlib"]`, `["bytes", "numcodecs.bz2"]`,
		`["bytes", "numcodecs.lzma"]`, `["bytes", {"name": "numcodecs.lzma", "format": 2}]`, `["bytes", "numcodecs.lz4"]`, `["bytes", "blosc"]`} {
		raw, err := encoded(chainOf(t, V3, codecs, "|u1", int64(len(big))), big)
		if err != nil {
			t.Fatalf("%s: %v", codecs, err)
		}
		small := chainOf(t, V3, codecs, "|u1", 1000)
		if err := small.Decode(make([]byte, 1000), raw); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: a chunk of 2^20 bytes for 1000: %v", codecs, err)
		}
	}
}

// TestStream decodes chunks from their beginning on, in pieces, good ones and damaged
// ones: what comes out is what Decode gives, and so is the kind of the error.
func TestStream(t *testing.T) {
	streams := 0
	for _, s := range samples {
		c := chainOf(t, s.version, s.codecs, s.dtype, 1200, 90)
		if !c.Streams() {
			continue
		}
		streams++
		plain := make([]byte, c.Elements().Size)
		for i := range plain {
			if i%7 == 0 && s.dtype != "|b1" {
				plain[i] = byte(i >> 8)
			}
		}
		raw, err := encoded(c, plain)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 40 {
			bad := bytes.Clone(raw)
			switch {
			case i == 0:
			case i%3 == 0:
				bad = bad[:len(bad)*i/40]
			case i%3 == 1:
				bad[len(bad)*i/40] ^= 1 << (i % 8)
			default:
				bad = append(bad, bad[:i]...)
			}
			want := make([]byte, len(plain))
			wantErr := c.Decode(want, bad)
			got, err := readStream(c, bad)
			// libzstd takes some damage that the decoder in Go notices.
			stricter := i > 0 && strings.Contains(s.codecs, "zstd")
			if wantErr == nil && (err != nil && !stricter || err == nil && !bytes.Equal(got, want)) {
				t.Errorf("%s, change %d: the stream has other bytes: %v", s.codecs, i, err)
			}
			if wantErr != nil && err == nil {
				t.Errorf("%s, change %d: Decode says %v, the stream nothing", s.codecs, i, wantErr)
			}
		}
	}
	if streams < 12 {
		t.Errorf("%d of the samples are streams", streams)
	}
}

func readStream(c *Chain, raw []byte) (all []byte, err error) {
	s, err := c.Open(raw, 1<<20)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := make([]byte, 1000)
	for {
		n, err := s.Read(p)
		if all = append(all, p[:n]...); err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
	}
}
