package crosstest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/peer"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// chains are codecs of Zarr 2 with types of elements that they take. same: what is
// encoded has the same bytes; lossy: what is decoded again differs.
var chains = []struct {
	codecs      string
	dtypes      []string
	same, lossy bool
}{
	{codecs: `[]`, dtypes: all, same: true},
	{codecs: `[{"id": "zlib", "level": 1}]`, dtypes: all},
	{codecs: `[{"id": "zlib", "level": 9}]`, dtypes: all},
	{codecs: `[{"id": "gzip", "level": 6}]`, dtypes: all},
	{codecs: `[{"id": "bz2", "level": 2}]`, dtypes: few},
	{codecs: `[{"id": "lzma"}]`, dtypes: few},
	{codecs: `[{"id": "lzma", "format": 1, "check": 1, "preset": 3, "filters": null}]`, dtypes: few},
	{codecs: `[{"id": "lzma", "format": 2}]`, dtypes: few},
	{codecs: `[{"id": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}]`, dtypes: few},
	{codecs: `[{"id": "lz4", "acceleration": 1}]`, dtypes: all},
	{codecs: `[{"id": "zstd", "level": 1}]`, dtypes: all},
	{codecs: `[{"id": "zstd", "level": -3}]`, dtypes: few},
	{codecs: `[{"id": "zstd", "level": 3, "checksum": true}]`, dtypes: few},
	{codecs: `[{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}]`, dtypes: all},
	{codecs: `[{"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": -1, "blocksize": 256}]`, dtypes: all},
	{codecs: `[{"id": "blosc", "cname": "blosclz", "clevel": 9, "shuffle": 2, "blocksize": 0}]`, dtypes: all},
	{codecs: `[{"id": "crc32"}]`, dtypes: all, same: true},
	{codecs: `[{"id": "crc32", "location": "end"}, {"id": "zlib", "level": 1}]`, dtypes: few},
	{codecs: `[{"id": "zlib", "level": 1}, {"id": "crc32c"}]`, dtypes: few},
	{codecs: `[{"id": "crc32c", "location": "start"}]`, dtypes: few, same: true},
	{codecs: `[{"id": "adler32", "location": "end"}]`, dtypes: all, same: true},
	{codecs: `[{"id": "fletcher32"}]`, dtypes: all, same: true},
	{codecs: `[{"id": "jenkins_lookup3", "initval": 7, "prefix": null}]`, dtypes: all, same: true},
	{codecs: `[{"id": "base64"}]`, dtypes: few, same: true},
	{codecs: `[{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 3}]`, dtypes: []string{"<i4", "<f4", ">u4"}},
	{codecs: `[{"id": "shuffle", "elementsize": 8}]`, dtypes: []string{"<i8", "<f8"}, same: true},
	{codecs: `[{"id": "packbits"}]`, dtypes: []string{"|b1"}, same: true},
	{codecs: `[{"id": "packbits"}, {"id": "delta", "dtype": "|u1"}]`, dtypes: []string{"|b1"}, same: true},
	{codecs: `[{"id": "delta", "dtype": "<i4"}]`, dtypes: []string{"<i4"}, same: true},
	{codecs: `[{"id": "delta", "dtype": ">i8", "astype": ">i8"}, {"id": "zstd", "level": 1}]`, dtypes: []string{">i8"}},
	{codecs: `[{"id": "delta", "dtype": "<u2", "astype": "<u2"}]`, dtypes: []string{"<u2"}, same: true},
	{codecs: `[{"id": "delta", "dtype": "<f4"}]`, dtypes: []string{"<f4"}, same: true, lossy: true},
	{codecs: `[{"id": "delta", "dtype": "<f8"}]`, dtypes: []string{"<f8"}, same: true, lossy: true},
	{codecs: `[{"id": "fixedscaleoffset", "offset": 10, "scale": 100, "dtype": "<f8", "astype": "<i4"}]`, dtypes: []string{"<f8"}, same: true, lossy: true},
	{codecs: `[{"id": "fixedscaleoffset", "offset": -1000.5, "scale": 7.25, "dtype": "<f4", "astype": "<i8"}]`, dtypes: []string{"<f4"}, same: true, lossy: true},
	{codecs: `[{"id": "fixedscaleoffset", "offset": 3, "scale": 2, "dtype": "<i4", "astype": "<i8"}]`, dtypes: []string{"<i4"}, same: true, lossy: true},
	{codecs: `[{"id": "fixedscaleoffset", "offset": 0.5, "scale": 2, "dtype": "<i2", "astype": "<i4"}]`, dtypes: []string{"<i2"}, same: true, lossy: true},
	{codecs: `[{"id": "quantize", "digits": 2, "dtype": "<f8", "astype": "<f4"}]`, dtypes: []string{"<f8"}, same: true, lossy: true},
	{codecs: `[{"id": "quantize", "digits": -1, "dtype": "<f4", "astype": "<f4"}]`, dtypes: []string{"<f4"}, same: true, lossy: true},
	{codecs: `[{"id": "quantize", "digits": 1, "dtype": "<f2", "astype": "<f2"}]`, dtypes: []string{"<f2"}, same: true, lossy: true},
	{codecs: `[{"id": "bitround", "keepbits": 7}]`, dtypes: []string{"<f4"}, same: true, lossy: true},
	{codecs: `[{"id": "bitround", "keepbits": 20}]`, dtypes: []string{"<f8"}, same: true, lossy: true},
	{codecs: `[{"id": "bitround", "keepbits": 3}]`, dtypes: []string{"<f2"}, same: true, lossy: true},
	{codecs: `[{"id": "astype", "encode_dtype": "<i4", "decode_dtype": "<i8"}]`, dtypes: []string{"<i8"}, same: true, lossy: true},
	{codecs: `[{"id": "astype", "encode_dtype": ">f4", "decode_dtype": "<f8"}]`, dtypes: []string{"<f8"}, same: true, lossy: true},
	{codecs: `[{"id": "astype", "encode_dtype": "<f2", "decode_dtype": "<f4"}]`, dtypes: []string{"<f4"}, same: true, lossy: true},
}

var (
	all = []string{"|b1", "|i1", "<i2", ">i4", "<i8", "|u1", "<f2", "<f4", ">f8", "<c8", "|S3", "<M8[ns]"}
	few = []string{"<i4", "|u1", "<f8"}
)

// texts are chains of texts.
var texts = []string{
	`[{"id": "vlen-utf8"}]`,
	`[{"id": "vlen-utf8"}, {"id": "zlib", "level": 1}]`,
	`[{"id": "json2"}]`,
	`[{"id": "msgpack2"}, {"id": "zstd", "level": 1}]`,
	`[{"id": "categorize", "labels": ["a", "bü", "ccc"], "dtype": "|O", "astype": "|u1"}, {"id": "blosc"}]`,
}

func specs(t *testing.T, text string) []codec.Spec {
	t.Helper()
	v, err := pyjson.Parse([]byte(text), pyjson.Limits{MaxBytes: 1 << 20, MaxDepth: 50})
	if err != nil {
		t.Fatal(err)
	}
	s, err := codec.ParseSpecs(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type message struct {
	Op     string          `json:"op,omitempty"`
	Codecs json.RawMessage `json:"codecs,omitempty"`
	DType  string          `json:"dtype,omitempty"`
	Shape  []int64         `json:"shape,omitempty"`
	Data   string          `json:"data"`
	Texts  []string        `json:"texts,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func ask(t *testing.T, p peer.Process, m message) message {
	t.Helper()
	line, _ := json.Marshal(m)
	if _, err := p.In.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err := p.Out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var r message
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	if r.Error != "" {
		t.Fatalf("numcodecs: %s %s: %s", m.Op, m.Codecs, r.Error)
	}
	return r
}

// values are elements of a type: smooth, so that differences are small, without
// what casts of C leave undefined.
func values(r *rand.Rand, d ndarray.DType, n int64) []byte {
	p := make([]byte, n*int64(d.Size))
	switch {
	case d.Kind == ndarray.Float:
		wide := make([]byte, 8*n)
		for i := range n {
			binary.LittleEndian.PutUint64(wide[8*i:], math.Float64bits(math.Round(r.NormFloat64()*8000)/8))
		}
		switch d.Size {
		case 8:
			copy(p, wide)
			if d.Order == ndarray.Big {
				ndarray.SwapBytes(p, d)
			}
		case 4:
			for i := range n {
				f := math.Float64frombits(binary.LittleEndian.Uint64(wide[8*i:]))
				binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(float32(f)))
			}
		case 2: // any pattern that is a number
			for i := range n {
				binary.LittleEndian.PutUint16(p[2*i:], uint16(r.IntN(0x5c00)|r.IntN(2)<<15))
			}
		}
	case d.Kind == ndarray.Bool:
		for i := range p {
			p[i] = byte(r.IntN(2))
		}
	default:
		for i := range p {
			p[i] = byte(r.IntN(7) * r.IntN(2) * r.IntN(37))
		}
	}
	return p
}

func TestNumcodecs(t *testing.T) {
	p := peer.Start(t, "peer.py", "numcodecs: pkg/codec is NOT compared with it")
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range chains {
		for _, name := range c.dtypes {
			for range 4 {
				d := ndarray.MustParse(name)
				shape := []int64{int64(1 + r.IntN(9)), int64(1 + r.IntN(40))}
				n, _ := ndarray.Count(shape)
				in, err := codec.Elements(d, shape, nil)
				if err != nil {
					t.Fatal(err)
				}
				chain, err := codec.NewChain(codec.V2, specs(t, c.codecs), in)
				if err != nil {
					t.Fatalf("%s of %s: %v", c.codecs, name, err)
				}
				plain := values(r, d, n)
				what := fmt.Sprintf("%s of %s %v", c.codecs, name, shape)

				theirs := unbase(t, ask(t, p, message{Op: "encode", Codecs: []byte(c.codecs), DType: name, Shape: shape, Data: base(plain)}).Data)
				var dst codec.Buffer
				err = chain.Encode(&dst, plain)
				ours := dst.B
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if c.same && !bytes.Equal(ours, theirs) {
					t.Fatalf("%s: encoded\n%x\nnumcodecs\n%x", what, ours, theirs)
				}
				for k, encoded := range [][]byte{theirs, ours} {
					back := make([]byte, len(plain))
					if err := chain.Decode(back, encoded); err != nil {
						t.Fatalf("%s: decoding %d: %v", what, k, err)
					}
					want := plain
					if c.lossy || k == 1 {
						want = unbase(t, ask(t, p, message{Op: "decode", Codecs: []byte(c.codecs), DType: name, Shape: shape, Data: base(encoded)}).Data)
					}
					if !bytes.Equal(back, want) {
						t.Fatalf("%s: decoded\n%x\nexpected\n%x", what, back, want)
					}
				}
			}
		}
	}
}

func TestNumcodecsTexts(t *testing.T) {
	p := peer.Start(t, "peer.py", "numcodecs: pkg/codec is NOT compared with it")
	words := []string{"", "a", "bü", "ccc"}
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range texts {
		for range 6 {
			shape := []int64{int64(1 + r.IntN(4)), int64(1 + r.IntN(5))}
			n, _ := ndarray.Count(shape)
			list, plain := make([]string, n), binary.LittleEndian.AppendUint32(nil, uint32(n))
			for i := range list {
				list[i] = words[r.IntN(len(words))]
				plain = append(binary.LittleEndian.AppendUint32(plain, uint32(len(list[i]))), list[i]...)
			}
			s := specs(t, text)
			d, ok := codec.ObjectType(s)
			if !ok {
				t.Fatalf("%s: no type", text)
			}
			in, err := codec.Elements(d, shape, nil)
			if err != nil {
				t.Fatal(err)
			}
			chain, err := codec.NewChain(codec.V2, s, in)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			theirs := unbase(t, ask(t, p, message{Op: "encode", Codecs: []byte(text), Shape: shape, Texts: list}).Data)
			var dst codec.Buffer
			err = chain.Encode(&dst, plain)
			ours := dst.B
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for _, encoded := range [][]byte{theirs, ours} {
				var to codec.Buffer
				err := chain.AppendDecoded(&to, encoded)
				back := to.B
				if err != nil || !bytes.Equal(back, plain) {
					t.Fatalf("%s: decoded %q, expected %q: %v", text, back, plain, err)
				}
				again := ask(t, p, message{Op: "decode", Codecs: []byte(text), Shape: shape, Data: base(encoded), Texts: list}).Texts
				if !slices.Equal(again, list) {
					t.Fatalf("%s: numcodecs reads %q, expected %q", text, again, list)
				}
			}
		}
	}
}

func base(p []byte) string { return base64.StdEncoding.EncodeToString(p) }

func unbase(t *testing.T, s string) []byte {
	t.Helper()
	p, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
