package crosstest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/peer"
)

// cblosc is the C-Blosc process.
type cblosc struct {
	t testing.TB
	peer.Process
}

func start(t *testing.T) *cblosc {
	return &cblosc{t, peer.Start(t, "peer.py", "blosc and numpy: pkg/blosc is NOT compared with C-Blosc")}
}

func (p *cblosc) ask(request map[string]any, data []byte) ([]byte, error) {
	p.t.Helper()
	request["n"] = len(data)
	line, err := json.Marshal(request)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.In.Write(append(append(line, '\n'), data...)); err != nil {
		p.t.Fatal(err)
	}
	reply, err := p.Out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("peer.py: %v", err)
	}
	reply = strings.TrimSpace(reply)
	n, err := strconv.Atoi(reply)
	if err != nil {
		return nil, fmt.Errorf("C-Blosc: %s", reply)
	}
	out := make([]byte, n)
	if _, err := io.ReadFull(p.Out, out); err != nil {
		p.t.Fatal(err)
	}
	return out, nil
}

// fill makes data of one of several kinds.
func fill(r *rand.Rand, b []byte) {
	switch kind := r.IntN(6); kind {
	case 0: // zeros
	case 1, 2: // bytes of few or of all values
		mask := []uint32{255, 3}[kind-1]
		for i := range b {
			b[i] = byte(r.Uint32() & mask)
		}
	case 3:
		for i := range len(b) / 8 {
			binary.LittleEndian.PutUint64(b[8*i:], uint64(i)*uint64(1+len(b)%97))
		}
	case 4:
		v := 280.0
		for i := range len(b) / 4 {
			v += r.NormFloat64() / 10
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
		}
	default:
		for at := range b {
			if at > 40 && r.IntN(4) > 0 {
				b[at] = b[at-1-r.IntN(40)]
			} else {
				b[at] = byte(r.Uint32())
			}
		}
	}
}

func TestAgainstCBlosc(t *testing.T) {
	c := start(t)
	codecs := []string{"blosclz", "lz4", "lz4hc", "zlib", "zstd"}
	if os.Getenv("NDFILE_TEST_LIBBLOSC") != "" {
		codecs = append(codecs, "snappy")
	} else {
		fmt.Fprintln(os.Stderr, "*** snappy is NOT compared: NDFILE_TEST_LIBBLOSC is not set (see get-snappy.sh) ***")
	}
	rounds := 1000
	if s := os.Getenv("NDFILE_TEST_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("NDFILE_TEST_ROUNDS: %v", err)
		}
		rounds = n
	}
	seed := uint64(20)
	r := rand.New(rand.NewPCG(seed, 21))
	sizes := []int{1, 100, 127, 128, 129, 1000, 5000, 33_000, 70_001, 262_144, 600_003}
	for i := range rounds {
		src := make([]byte, sizes[r.IntN(len(sizes))]+r.IntN(3)*r.IntN(64))
		fill(r, src)
		name := codecs[r.IntN(len(codecs))]
		codec, err := blosc.ParseCodec(name)
		if err != nil {
			t.Fatal(err)
		}
		p := blosc.Params{
			Codec:    codec,
			Level:    r.IntN(blosc.MaxLevel + 1),
			Shuffle:  blosc.Shuffle(r.IntN(3)),
			TypeSize: []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 32, 100, 255}[r.IntN(16)],
			Threads:  1 + r.IntN(3),
			Compat18: r.IntN(2) == 0,
		}
		if r.IntN(3) == 0 {
			p.BlockSize = 1 + r.IntN(100_000)
		}
		if len(src) > 100_000 {
			p.Level = min(p.Level, 7)
		}
		what := fmt.Sprintf("round %d: %s, %d bytes, %+v", i, name, len(src), p)

		// Ours, read by C-Blosc.
		chunk := make([]byte, blosc.EncodeBound(len(src)))
		n, err := blosc.Encode(chunk, src, p)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, err := c.ask(map[string]any{"op": "decode", "codec": name, "nbytes": len(src)}, chunk[:n])
		if err != nil {
			t.Fatalf("%s: our chunk: %v", what, err)
		}
		if !bytes.Equal(got, src) {
			t.Fatalf("%s: C-Blosc reads other data from our chunk", what)
		}

		// Theirs, read by us, whole and in part.
		theirs, err := c.ask(map[string]any{"op": "encode", "codec": name, "level": p.Level, "shuffle": p.Shuffle,
			"typesize": p.TypeSize, "blocksize": p.BlockSize, "threads": p.Threads}, src)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		back := make([]byte, len(src))
		if _, err := (blosc.Decoder{Threads: p.Threads}).Decode(back, theirs); err != nil {
			t.Fatalf("%s: C-Blosc's chunk: %v", what, err)
		}
		if !bytes.Equal(back, src) {
			t.Fatalf("%s: we read other data from C-Blosc's chunk", what)
		}
		from := r.IntN(len(src))
		part := make([]byte, r.IntN(len(src)-from+1))
		if err := blosc.DecodeRange(part, theirs, from); err != nil || !bytes.Equal(part, src[from:from+len(part)]) {
			t.Fatalf("%s: %d bytes from %d of C-Blosc's chunk: %v", what, len(part), from, err)
		}

		// The headers agree but for the size, and for the flag that Compat18
		// leaves out. Either may find that copying is better.
		ours := bytes.Clone(chunk[:12])
		if p.Compat18 && name != "zstd" {
			ours[2] |= theirs[2] & 0x10
		}
		if (ours[2]^theirs[2])&0x02 != 0 {
			ours[2] ^= 0x02
		}
		if !bytes.Equal(ours, theirs[:12]) {
			t.Fatalf("%s: header %x, C-Blosc's %x", what, chunk[:12], theirs[:12])
		}
	}
}
