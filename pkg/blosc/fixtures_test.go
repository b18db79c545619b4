package blosc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// fixture is an entry of testdata/index.json: a chunk of the reference.
type fixture struct {
	File       string
	Codec      string
	CLevel     int
	Shuffle    Shuffle
	TypeSize   int
	NBytes     int
	BlockAsked int `json:"blocksize_asked"`
	SplitMode  string
	Header     struct{ Flags, TypeSize, NBytes, BlockSize, CBytes int }
	NBlocks    int
	Memcpyed   bool
	Raw        struct {
		Pattern string
		Width   int
		Seed    uint64
	}
	RawSHA256 string `json:"raw_sha256"`
	chunk     []byte
}

// loadFixtures reads all chunks of testdata/index.json.
func loadFixtures(t testing.TB) []fixture {
	var index struct{ Chunks []fixture }
	readJSON(t, "testdata/index.json", &index)
	if len(index.Chunks) < 400 {
		t.Fatalf("%d chunks in the index, expected 400", len(index.Chunks))
	}
	for i := range index.Chunks {
		f := &index.Chunks[i]
		f.chunk = readFile(t, filepath.Join("testdata", f.File))
	}
	return index.Chunks
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, path), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func decodeAll(t testing.TB, d Decoder, chunk []byte) []byte {
	t.Helper()
	c, err := Info(chunk)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, c.NBytes)
	n, err := d.Decode(dst, chunk)
	if err != nil || n != c.NBytes {
		t.Fatalf("Decode gives %d, %v; expected %d", n, err, c.NBytes)
	}
	return dst
}

func TestDecodeFixtures(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		for _, f := range loadFixtures(t) {
			got := decodeAll(t, Decoder{}, f.chunk)
			if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != f.RawSHA256 {
				t.Errorf("%s: data differ", f.File)
			}
			c, _ := Info(f.chunk)
			if c.NBytes != f.NBytes || c.CBytes != len(f.chunk) || c.TypeSize != f.Header.TypeSize || c.Blocks != f.NBlocks ||
				c.BlockSize != f.Header.BlockSize || c.Memcpyed != f.Memcpyed || c.Shuffle != f.Shuffle {
				t.Errorf("%s: %+v differs from the index", f.File, c)
			}
			if want, _ := ParseCodec(f.Codec); c.Codec != want && (c.Codec != LZ4 || want != LZ4HC) {
				t.Errorf("%s: codec %v, expected %v", f.File, c.Codec, want)
			}
		}
	})
}

// TestDecodeRanges takes parts of each chunk, at ends, across blocks and within.
func TestDecodeRanges(t *testing.T) {
	for _, f := range loadFixtures(t) {
		whole := decodeAll(t, Decoder{}, f.chunk)
		bs := max(f.Header.BlockSize, 1)
		for _, at := range []int{0, 1, bs - 1, bs, bs + 1, len(whole) / 2, len(whole) - 1, len(whole)} {
			for _, n := range []int{0, 1, 7, bs - 1, bs, 2*bs + 1, len(whole) - at} {
				if at < 0 || n < 0 || at+n > len(whole) {
					continue
				}
				part := bytes.Repeat([]byte{0xa5}, n+8)
				if err := DecodeRange(part[:n:n], f.chunk, at); err != nil {
					t.Fatalf("%s: %d bytes at %d: %v", f.File, n, at, err)
				}
				if !bytes.Equal(part[:n], whole[at:at+n]) {
					t.Fatalf("%s: %d bytes at %d differ", f.File, n, at)
				}
				if !bytes.Equal(part[n:], bytes.Repeat([]byte{0xa5}, 8)) {
					t.Fatalf("%s: %d bytes at %d: wrote past the end", f.File, n, at)
				}
			}
		}
		items, size := len(whole)/f.Header.TypeSize, f.Header.TypeSize
		start, count := items/3, items/2
		part := make([]byte, count*size)
		n, err := DecodeItems(part, f.chunk, start, count)
		if err != nil || n != len(part) || !bytes.Equal(part, whole[start*size:(start+count)*size]) {
			t.Fatalf("%s: items from %d: %d, %v", f.File, start, n, err)
		}
	}
}

// TestEncodeAsReference: with the reference's parameters the header is the
// reference's, byte for byte, but for the size of the chunk.
func TestEncodeAsReference(t *testing.T) {
	for _, f := range loadFixtures(t) {
		if f.SplitMode != "FORWARD_COMPAT" {
			continue
		}
		raw := decodeAll(t, Decoder{}, f.chunk)
		codec, err := ParseCodec(f.Codec)
		if err != nil {
			t.Fatal(err)
		}
		p := Params{Codec: codec, Level: f.CLevel, Shuffle: f.Shuffle, TypeSize: f.TypeSize, BlockSize: f.BlockAsked}
		got := make([]byte, EncodeBound(len(raw)))
		n, err := Encode(got, raw, p)
		if err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		want := bytes.Clone(f.chunk[:HeaderSize])
		if (got[2]^want[2])&flagMemcpyed != 0 && (100*f.Header.CBytes > 95*len(raw) || codec == Zstd) {
			want[2] ^= flagMemcpyed // one of the two gains a little where the other does not; there are two Zstds
		}
		if !bytes.Equal(got[:12], want[:12]) {
			t.Errorf("%s: header %x, expected %x", f.File, got[:12], want[:12])
		}
		if !bytes.Equal(decodeAll(t, Decoder{}, got[:n]), raw) {
			t.Errorf("%s: our chunk of it gives other data", f.File)
		}
	}
}

func TestMalformed(t *testing.T) {
	var index struct {
		Chunks []struct{ File, What, Expect string }
	}
	readJSON(t, "testdata/malformed.json", &index)
	if len(index.Chunks) < 65 {
		t.Fatalf("%d malformed chunks, expected 65", len(index.Chunks))
	}
	const limit = 4 << 20
	dst := make([]byte, limit)
	for _, m := range index.Chunks {
		// A copy with nothing behind it: reading past the end is a fault under -asan.
		chunk := bytes.Clone(readFile(t, filepath.Join("testdata", m.File)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decoder{MaxBytes: limit}.Decode(dst, chunk)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > limit {
			t.Errorf("%s (%s): allocated %d bytes", m.File, m.What, got)
		}
		if err == nil && m.Expect == "error" {
			t.Errorf("%s (%s): no error", m.File, m.What)
		}
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: error without a place: %v", m.File, err)
		}
		t.Logf("%-40s %v", filepath.Base(m.File), err)
	}
}
