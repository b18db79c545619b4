package blosc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// patterns are data of the kinds that the codecs and filters treat differently.
var patterns = []struct {
	name string
	fill func(r *rand.Rand, b []byte)
}{
	{"zeros", func(_ *rand.Rand, b []byte) { clear(b) }},
	{"random", func(r *rand.Rand, b []byte) {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
	}},
	{"low entropy", func(r *rand.Rand, b []byte) {
		for i := range b {
			b[i] = byte(r.Uint32N(3))
		}
	}},
	{"ramp", func(r *rand.Rand, b []byte) {
		step := r.Uint32N(9)
		for i := range len(b) / 4 {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(i)*step)
		}
	}},
	{"floats", func(r *rand.Rand, b []byte) {
		v := 20.0
		for i := range len(b) / 8 {
			v += r.NormFloat64()
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(math.Round(v*100)/100))
		}
	}},
	{"repeats", func(r *rand.Rand, b []byte) {
		for at := 0; at < len(b); {
			dist, n := 1+r.IntN(at+1), 1+r.IntN(600)
			for i := 0; i < n && at < len(b); i++ {
				if dist > at {
					b[at] = byte(r.Uint32())
				} else {
					b[at] = b[at-dist]
				}
				at++
			}
		}
	}},
}

// randomCase draws data and parameters.
func randomCase(r *rand.Rand) (string, []byte, Params) {
	sizes := []int{0, 1, 15, 127, 128, 129, 1000, 4096, 33000, 100_003, 300_000, 1 << 20}
	src := make([]byte, sizes[r.IntN(len(sizes))]+r.IntN(50))
	pattern := patterns[r.IntN(len(patterns))]
	pattern.fill(r, src)
	p := Params{
		Codec:    Codec(r.IntN(len(codecs))),
		Level:    r.IntN(MaxLevel + 1),
		Shuffle:  Shuffle(r.IntN(3)),
		TypeSize: []int{0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 255, 256}[r.IntN(14)],
		Threads:  r.IntN(4),
		Compat18: r.IntN(2) == 0,
	}
	if r.IntN(2) == 0 {
		p.BlockSize = 1 + r.IntN(70_000)
	}
	if len(src) > 200_000 { // the thorough codecs are slow
		p.Level = min(p.Level, 6)
	}
	return fmt.Sprintf("%s, %d bytes, %+v", pattern.name, len(src), p), src, p
}

func encodeAll(t testing.TB, src []byte, p Params) []byte {
	t.Helper()
	dst := make([]byte, EncodeBound(len(src)))
	n, err := Encode(dst, src, p)
	if err != nil {
		t.Fatal(err)
	}
	return dst[:n]
}

func TestRoundTrip(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			name, src, p := randomCase(r)
			chunk := encodeAll(t, src, p)
			if got := decodeAll(t, Decoder{Threads: r.IntN(4)}, chunk); !bytes.Equal(got, src) {
				t.Fatalf("%s: data differ", name)
			}
			if p.Compat18 && p.Codec != Zstd && chunk[2]&flagDontSplit != 0 {
				t.Fatalf("%s: flag 0x10 is set", name)
			}
		}
	})
}

// TestSameChunk: the chunk depends neither on the threads nor on the processor.
func TestSameChunk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		name, src, p := randomCase(r)
		p.Threads = 1
		want := encodeAll(t, src, p)
		p.Threads = 3
		bothKernels(t, func(t *testing.T) {
			if !bytes.Equal(encodeAll(t, src, p), want) {
				t.Fatalf("%s: chunks differ", name)
			}
		})
	}
}

// TestEncodeShortBuffer: the result fits exactly or is refused, and nothing is
// written behind dst.
func TestEncodeShortBuffer(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 150 {
		name, src, p := randomCase(r)
		want := len(encodeAll(t, src, p))
		for _, n := range []int{0, HeaderSize - 1, HeaderSize, want / 2, want - 1, want, want + 1} {
			buf := bytes.Repeat([]byte{0x5a}, n+64)
			got, err := Encode(buf[:n], src, p)
			if err != nil && !errors.Is(err, ErrBuffer) || err == nil && got > n {
				t.Fatalf("%s into %d bytes: %d, %v", name, n, got, err)
			}
			if err != nil && n >= EncodeBound(len(src)) {
				t.Fatalf("%s into %d bytes: %v", name, n, err)
			}
			if !bytes.Equal(buf[n:], bytes.Repeat([]byte{0x5a}, 64)) {
				t.Fatalf("%s into %d bytes: wrote behind", name, n)
			}
			if err == nil && !bytes.Equal(decodeAll(t, Decoder{}, buf[:got]), src) {
				t.Fatalf("%s into %d bytes: data differ", name, n)
			}
		}
	}
}

// TestDamaged changes bytes of good chunks: an error or other data, but no
// write behind dst. Under -asan also no read behind the chunk.
func TestDamaged(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		refused := 0
		for range 800 {
			_, src, p := randomCase(r)
			src = src[:min(len(src), 40_000)]
			p.Level = min(p.Level, 5)
			chunk := encodeAll(t, src, p)
			for range 1 + r.IntN(6) {
				chunk[min(r.IntN(len(chunk)), r.IntN(len(chunk)))] = byte(r.Uint32())
			}
			buf := bytes.Repeat([]byte{0x5a}, len(src)+64)
			if _, err := (Decoder{Threads: r.IntN(3)}).Decode(buf[:len(src):len(src)], bytes.Clone(chunk)); err != nil {
				refused++
			}
			if !bytes.Equal(buf[len(src):], bytes.Repeat([]byte{0x5a}, 64)) {
				t.Fatal("wrote behind dst")
			}
		}
		if refused < 150 {
			t.Errorf("only %d of 800 damaged chunks refused", refused)
		}
	})
}

// TestCutStreams gives each codec every prefix of a stream, and the stream for
// one byte more and one less.
func TestCutStreams(t *testing.T) {
	bothKernels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		st := new(state)
		for i := range codecs {
			c := &codecs[i]
			for _, pattern := range patterns {
				src := make([]byte, 700)
				pattern.fill(r, src)
				stream := make([]byte, 2*len(src))
				stream = stream[:c.encode(st, stream, src, 5)]
				if len(stream) == 0 {
					continue
				}
				dst := make([]byte, len(src)+1)
				if !c.decode(st, dst[:len(src)], stream) || !bytes.Equal(dst[:len(src)], src) {
					t.Fatalf("%s, %s: stream does not decode", c.name, pattern.name)
				}
				for n := range stream {
					if n > 0 && c.decode(st, dst[:len(src)], bytes.Clone(stream[:n])) {
						t.Errorf("%s, %s: %d of %d bytes of the stream are enough", c.name, pattern.name, n, len(stream))
					}
				}
				if c.decode(st, dst, stream) || c.decode(st, dst[:len(src)-1], stream) {
					t.Errorf("%s, %s: decodes to another length", c.name, pattern.name)
				}
			}
		}
	})
}

// TestKernels compares the kernels of the processor with the portable ones.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, size := range []int{1, 2, 3, 4, 5, 8, 12, 16, 17, 255} {
		for _, n := range []int{1, 7, 8, 31, 32, 33, 64, 100, 255, 256, 264, 1000, 4096, 4104} {
			src := make([]byte, size*n)
			patterns[1].fill(r, src)
			for _, filter := range []Shuffle{ByteShuffle, BitShuffle} {
				s := newShape(filter, size, len(src))
				if !s.filtered() {
					continue
				}
				var want []byte
				bothKernels(t, func(t *testing.T) {
					st := new(state)
					out := make([]byte, len(src))
					st.setStream(&s, 0, 1, out)
					s.apply(st, src)
					if want == nil {
						want = filterModel(filter, size, src)
					}
					if !bytes.Equal(out, want) {
						t.Fatalf("filter %d, %d elements of %d bytes: wrong", filter, n, size)
					}
					back := make([]byte, len(src))
					s.undo(st, back)
					if !bytes.Equal(back, src) {
						t.Fatalf("filter %d, %d elements of %d bytes: inverse is wrong", filter, n, size)
					}
				})
			}
		}
	}
}

// filterModel is the filters' definition, bit by bit.
func filterModel(filter Shuffle, size int, src []byte) []byte {
	out := make([]byte, len(src))
	n := len(src) / size
	for i, b := range src {
		item, j := i/size, i%size
		if filter == ByteShuffle {
			out[j*n+item] = b
			continue
		}
		for k := range 8 {
			out[(j*8+k)*n/8+item/8] |= b >> k & 1 << (item % 8)
		}
	}
	return out
}

func TestErrors(t *testing.T) {
	chunk := encodeAll(t, make([]byte, 1000), Params{Codec: LZ4, Level: 5, TypeSize: 4})
	plain := encodeAll(t, make([]byte, 100), Params{})
	dst := make([]byte, 2000)
	for _, c := range []struct {
		name string
		want error
		got  func() error
	}{
		{"short dst", ErrBuffer, func() error { _, err := Decode(dst[:999], chunk); return err }},
		{"limit", ErrLimit, func() error { _, err := Decoder{MaxBytes: 999}.Decode(dst, chunk); return err }},
		{"trailing bytes", ErrCorrupt, func() error { _, err := Decode(dst, append(bytes.Clone(chunk), 0)); return err }},
		{"range before", ErrBounds, func() error { return DecodeRange(dst[:1], chunk, -1) }},
		{"range behind", ErrBounds, func() error { return DecodeRange(dst[:2], chunk, 999) }},
		{"range far", ErrBounds, func() error { return DecodeRange(nil, chunk, math.MaxInt) }},
		{"items behind", ErrBounds, func() error { _, err := DecodeItems(dst, chunk, 250, 1); return err }},
		{"items many", ErrBounds, func() error { _, err := DecodeItems(dst, chunk, 1, math.MaxInt); return err }},
		{"items negative", ErrBounds, func() error { _, err := DecodeItems(dst, chunk, 0, -1); return err }},
		{"items short dst", ErrBuffer, func() error { _, err := DecodeItems(dst[:7], chunk, 0, 2); return err }},
		{"plain, range behind", ErrBounds, func() error { return DecodeRange(dst[:2], plain, 99) }},
		{"level", ErrParams, func() error { _, err := Encode(dst, nil, Params{Level: 10}); return err }},
		{"codec", ErrParams, func() error { _, err := Encode(dst, nil, Params{Codec: 6}); return err }},
		{"shuffle", ErrParams, func() error { _, err := Encode(dst, nil, Params{Shuffle: 3}); return err }},
		{"type size", ErrParams, func() error { _, err := Encode(dst, nil, Params{TypeSize: -1}); return err }},
		{"block size", ErrParams, func() error { _, err := Encode(dst, nil, Params{BlockSize: -1}); return err }},
		{"threads", ErrParams, func() error { _, err := Encode(dst, nil, Params{Threads: -1}); return err }},
		{"no room", ErrBuffer, func() error { _, err := Encode(dst[:15], nil, Params{}); return err }},
		{"name", ErrParams, func() error { _, err := ParseCodec("lz5"); return err }},
		{"nothing", ErrCorrupt, func() error { _, err := Info(nil); return err }},
	} {
		err := c.got()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, err, c.want)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %T, expected *Error", c.name, err)
		}
	}
}

func TestCodecNames(t *testing.T) {
	for c := range Codec(len(codecs)) {
		if got, err := ParseCodec(c.String()); err != nil || got != c {
			t.Errorf("%v: %v, %v", c, got, err)
		}
	}
	if s := Codec(99).String(); s != "codec(99)" {
		t.Errorf("%s", s)
	}
}

func TestBcolzTypeSize(t *testing.T) {
	for _, c := range []struct {
		kind           byte
		itemSize, want int // 0: refused
	}{{'f', 8, 8}, {'S', 5, 1}, {'S', 1000, 1}, {'U', 20, 4}, {'V', 12, 12}, {'V', 255, 255}, {'V', 256, 1}, {'i', 0, 0}, {'f', 256, 0}} {
		got, err := BcolzTypeSize(c.kind, c.itemSize)
		if got != c.want || (err != nil) != (c.want == 0) || err != nil && !errors.Is(err, ErrParams) {
			t.Errorf("%c%d: %d, %v, expected %d", c.kind, c.itemSize, got, err, c.want)
		}
	}
}

// TestPanicInWorker: a panic becomes an error, on every goroutine.
func TestPanicInWorker(t *testing.T) {
	for _, n := range []int{2, 4} {
		err := parallelBlocks(0, 8, n, func(_ *state, k int) error { panic(k) })
		if !errors.Is(err, ErrInternal) {
			t.Errorf("%d goroutines: %v", n, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	src := make([]byte, 1<<20)
	patterns[4].fill(rand.New(rand.NewPCG(1, 1)), src)
	dst, out := make([]byte, EncodeBound(len(src))), make([]byte, len(src))
	for _, codec := range []Codec{BloscLZ, LZ4} {
		p := Params{Codec: codec, Level: 5, Shuffle: ByteShuffle, TypeSize: 8}
		n := 0
		if got := testing.AllocsPerRun(20, func() { n, _ = Encode(dst, src, p) }); got > 4 {
			t.Errorf("%v: Encode allocates %v times", codec, got)
		}
		if got := testing.AllocsPerRun(20, func() { _, _ = Decode(out, dst[:n]) }); got > 4 {
			t.Errorf("%v: Decode allocates %v times", codec, got)
		}
	}
}
