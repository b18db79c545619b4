package blosc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzDecode: whatever the chunk holds, an *Error or data, and no byte written
// behind what was asked for. Parts agree with the whole.
func FuzzDecode(f *testing.F) {
	for _, dir := range []string{"testdata/chunks", "testdata/malformed"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for i, file := range files {
			chunk := readFile(f, filepath.Join(dir, file.Name()))
			if len(chunk) <= 4096 {
				f.Add(chunk, uint16(17*i), uint16(100))
			}
		}
	}
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, chunk []byte, offset, count uint16) {
		c, err := Info(chunk)
		if err != nil || c.NBytes > limit {
			return
		}
		d := Decoder{MaxBytes: limit, Threads: 2}
		buf := bytes.Repeat([]byte{0x5a}, c.NBytes+40)
		whole := buf[:c.NBytes:c.NBytes]
		_, err = d.Decode(whole, chunk)
		if !bytes.Equal(buf[c.NBytes:], bytes.Repeat([]byte{0x5a}, 40)) {
			t.Fatal("wrote behind dst")
		}
		var e *Error
		if err != nil && !errors.As(err, &e) || errors.Is(err, ErrInternal) {
			t.Fatalf("%T: %v", err, err)
		}
		part := make([]byte, count)
		partErr := d.DecodeRange(part, chunk, int(offset))
		if err == nil && partErr == nil && !bytes.Equal(part, whole[offset:int(offset)+int(count)]) {
			t.Fatal("a part differs from the whole")
		}
		if err == nil && partErr != nil && !errors.Is(partErr, ErrBounds) {
			t.Fatal(partErr)
		}
	})
}

// FuzzCodecs gives each decoder any stream; both kernels must agree.
func FuzzCodecs(f *testing.F) {
	st := new(state)
	for i := range codecs {
		src := bytes.Repeat([]byte("some bytes, some more bytes; "), 9)
		stream := make([]byte, 2*len(src))
		stream = stream[:codecs[i].encode(st, stream, src, 5)]
		f.Add(uint8(i), uint16(len(src)), stream)
	}
	f.Fuzz(func(t *testing.T, codec uint8, n uint16, stream []byte) {
		if n == 0 || len(stream) == 0 {
			return
		}
		c := &codecs[int(codec)%len(codecs)]
		var results [][]byte
		bothKernels(t, func(t *testing.T) {
			buf := bytes.Repeat([]byte{0x5a}, int(n)+40)
			ok := c.decode(new(state), buf[:n:n], stream)
			if !bytes.Equal(buf[n:], bytes.Repeat([]byte{0x5a}, 40)) {
				t.Fatalf("%s wrote behind dst", c.name)
			}
			if !ok {
				buf = nil
			}
			results = append(results, buf)
		})
		if !bytes.Equal(results[0], results[len(results)-1]) {
			t.Fatalf("%s: kernels differ", c.name)
		}
	})
}

// FuzzEncode: data come back, the chunk fits the bound and its header is
// accepted.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("0123456789"), uint32(1), uint8(1), uint8(5), uint8(1), uint8(4), uint16(0))
	f.Add(bytes.Repeat([]byte{1, 2, 3}, 100), uint32(50), uint8(4), uint8(9), uint8(2), uint8(3), uint16(256))
	f.Add(make([]byte, 300), uint32(1000), uint8(0), uint8(9), uint8(1), uint8(8), uint16(128))
	f.Fuzz(func(t *testing.T, seed []byte, repeat uint32, codec, level, shuffle, typeSize uint8, block uint16) {
		if len(seed) == 0 {
			return
		}
		src := bytes.Repeat(seed, 1+int(repeat)%max(1, 100_000/len(seed)))
		for i := range src { // repeated, but not quite
			src[i] ^= byte(i >> 10)
		}
		p := Params{Codec: Codec(codec) % Codec(len(codecs)), Level: int(level) % 7, Shuffle: Shuffle(shuffle % 3),
			TypeSize: int(typeSize), BlockSize: int(block), Threads: 1, Compat18: repeat%2 == 0}
		chunk := encodeAll(t, src, p)
		if got := decodeAll(t, Decoder{}, bytes.Clone(chunk)); !bytes.Equal(got, src) {
			t.Fatalf("%+v: data differ", p)
		}
	})
}
