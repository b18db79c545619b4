package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// textSamples are chains of elements of variable length.
var textSamples = []struct {
	version Version
	codecs  string
	dtype   string
}{
	{V3, `["vlen-utf8"]`, "str"},
	{V3, `["vlen-bytes", "zstd"]`, "bytes"},
	{V3, `[{"name": "transpose", "order": [1, 0]}, "vlen-utf8", "gzip", "crc32c"]`, "str"},
	{V3, `[{"name": "sharding_indexed", "chunk_shape": [2, 3], "codecs": ["vlen-utf8"], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}]`, "str"},
	{V2, `["vlen-utf8", "zlib"]`, "str"},
	{V2, `["vlen-bytes"]`, "bytes"},
	{V2, `["json2"]`, "str"},
	{V2, `["msgpack2"]`, "str"},
	{V2, `[{"name": "categorize", "labels": ["a", "b"], "dtype": "|O"}]`, "str"},
}

// texts24 are 24 elements as decoded chains have them.
func texts24(each func(i int) string) []byte {
	plain := binary.LittleEndian.AppendUint32(nil, 24)
	for i := range 24 {
		e := each(i)
		plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(e))), e...)
	}
	return plain
}

// fuzzChain gives the chain of a number, and plain data that it encodes.
func fuzzChain(t testing.TB, i byte) (c *Chain, codecs string, plain []byte) {
	n := int(i) % (len(samples) + len(textSamples))
	if n < len(samples) {
		c = chainOf(t, samples[n].version, samples[n].codecs, samples[n].dtype, 4, 6)
		return c, samples[n].codecs, make([]byte, c.Elements().Size)
	}
	s := textSamples[n-len(samples)]
	return chainOf(t, s.version, s.codecs, s.dtype, 4, 6), s.codecs, texts24(func(i int) string { return []string{"a", "b", ""}[i%3] })
}

func ownError(t *testing.T, codecs string, err error) {
	t.Helper()
	if own := (*Error)(nil); err != nil && !errors.As(err, &own) {
		t.Fatalf("%s: an error without a kind: %v", codecs, err)
	}
}

// FuzzDecode gives any bytes to each chain of the samples. Whatever they are, they
// decode to what fits, or are refused.
func FuzzDecode(f *testing.F) {
	for i := range len(samples) + len(textSamples) {
		c, _, plain := fuzzChain(f, byte(i))
		raw, err := encoded(c, plain)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), raw)
		f.Add(byte(i), raw[:len(raw)/2])
	}
	f.Fuzz(func(t *testing.T, i byte, raw []byte) {
		c, codecs, plain := fuzzChain(t, i)
		if c.Elements().DType.IsVar() {
			got, err := decoded(c, raw)
			if ownError(t, codecs, err); err != nil {
				return
			}
			n := 0
			if eachElement(got, func([]byte) error { n++; return nil }); n != 24 {
				t.Fatalf("%s: %d elements", codecs, n)
			}
			return
		}
		dst := make([]byte, len(plain))
		err := c.Decode(dst, raw)
		part := make([]byte, len(dst)/2)
		done, partErr := c.DecodeBeginning(part, raw)
		if ownError(t, codecs, partErr); done && err == nil && !bytes.Equal(part, dst[:len(part)]) {
			t.Fatalf("%s: the beginning differs", codecs)
		}
		if ownError(t, codecs, err); !c.Streams() {
			return
		}
		got, streamErr := readStream(c, raw)
		stricter := strings.Contains(codecs, "zstd") // as in TestStream
		if ownError(t, codecs, streamErr); err == nil && (streamErr != nil && !stricter || streamErr == nil && !bytes.Equal(got, dst)) {
			t.Fatalf("%s: the stream differs: %v", codecs, streamErr)
		}
	})
}

// lossy are the codecs that change elements, or cannot hold all of them.
var lossy = []string{"bitround", "scale_offset", "cast_value", "astype", "fixedscaleoffset", "quantize", "categorize", "packbits"}

// FuzzEncode encodes any elements. What comes back is what went in, but for codecs that
// round.
func FuzzEncode(f *testing.F) {
	for i := range len(samples) + len(textSamples) {
		_, _, plain := fuzzChain(f, byte(i))
		f.Add(byte(i), plain)
		f.Add(byte(i), []byte("0123456789abcdefghijklmnopqrstuvwxyz\x00\xff"))
	}
	f.Fuzz(func(t *testing.T, i byte, data []byte) {
		c, codecs, plain := fuzzChain(t, i)
		text := c.Elements().DType.IsVar()
		if text {
			parts := bytes.SplitN(data, []byte("0"), 24)
			plain = texts24(func(i int) string {
				if i < len(parts) {
					return strings.ToValidUTF8(string(parts[i]), "?")
				}
				return ""
			})
		} else {
			copy(plain, data)
		}
		if c.Elements().DType.String() == "|b1" {
			for k := range plain {
				plain[k] &= 1
			}
		}
		raw, err := encoded(c, plain)
		if ownError(t, codecs, err); err != nil {
			return
		}
		got, err := decoded(c, raw)
		if err != nil {
			t.Fatalf("%s: %x was encoded, but: %v", codecs, plain, err)
		}
		changes := slices.ContainsFunc(lossy, func(name string) bool { return strings.Contains(codecs, name) })
		if !changes && !bytes.Equal(got, plain) {
			t.Fatalf("%s: %x became %x", codecs, plain, got)
		}
	})
}
