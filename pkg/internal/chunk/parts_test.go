package chunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// noise is bytes of which a codec can make about half.
func noise(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rng.Int())
		if i >= 4096 && i/1024%2 == 0 {
			p[i] = p[i-4096]
		}
	}
	return p
}

// encode makes a Blosc chunk with small blocks.
func encode(t testing.TB, src []byte, codec blosc.Codec, level int) []byte {
	t.Helper()
	raw := make([]byte, blosc.EncodeBound(len(src)))
	n, err := blosc.Encode(raw, src, blosc.Params{Codec: codec, Level: level, TypeSize: 4, Shuffle: blosc.ByteShuffle, BlockSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return raw[:n]
}

// starts is the table of where the blocks begin.
func starts(raw []byte) []uint32 {
	info, _ := blosc.Info(raw)
	table := make([]uint32, info.Blocks)
	binary.Decode(raw[blosc.HeaderSize:], binary.LittleEndian, table)
	return table
}

// reorder moves the streams of the blocks, as a writer of several threads does.
func reorder(rng *rand.Rand, raw []byte) []byte {
	if info, _ := blosc.Info(raw); info.Memcpyed {
		return raw // no blocks
	}
	table := starts(raw)
	out := bytes.Clone(raw[:blosc.HeaderSize+4*len(table)])
	for _, k := range rng.Perm(len(table)) {
		end := len(raw)
		if k+1 < len(table) {
			end = int(table[k+1])
		}
		binary.LittleEndian.PutUint32(out[blosc.HeaderSize+4*k:], uint32(len(out)))
		out = append(out, raw[table[k]:end]...)
	}
	return out
}

// counting counts the bytes that are read.
type counting struct {
	vfs.FS
	bytes int
}

func (c *counting) ReadSmall(ctx context.Context, path string, buf []byte) (int, vfs.File, error) {
	n, rest, err := c.FS.ReadSmall(ctx, path, buf)
	c.bytes += n
	if rest != nil {
		rest = &countingFile{rest, c}
	}
	return n, rest, err
}

type countingFile struct {
	vfs.File
	c *counting
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.c.bytes += n
	return n, err
}

// bigChunk is an array of one chunk of a MiB with a file as given.
func bigChunk(t testing.TB, file []byte, codec Codec) (*Array, *counting) {
	m := vfs.NewMem()
	m.Mkdir("/d")
	m.WriteFile("/d/c.0", [][]byte{file}, vfs.WriteOptions{})
	c := &counting{FS: m}
	return newArray(t, c, []int64{1 << 20}, []int64{1 << 20}, func(a *Array) {
		a.Codec = codec
		if len(file) > 0 && file[0] == 'h' {
			a.Header = testHeader{}
		}
	}), c
}

func read(a *Array, start, count, step int64) ([]byte, error) {
	dst, _ := ndarray.NewBuffer(a.DType, []int64{count})
	err := a.ReadBox(ctx, ndarray.Box{Start: []int64{start}, Count: []int64{count}, Step: []int64{step}}, dst)
	return dst.Data, err
}

// TestParts: of a large chunk only the blocks that are touched are read and
// decoded, in whatever order they lie, and whatever stands around the chunk.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plain := noise(rng, 1<<20)
	files := map[string][]byte{"plain": plain}
	for name, raw := range map[string][]byte{"lz4": encode(t, plain, blosc.LZ4, 5), "blosclz": encode(t, plain, blosc.BloscLZ, 9),
		"zstd": encode(t, plain, blosc.Zstd, 1), "copied": encode(t, plain, blosc.LZ4, 0)} {
		files[name] = raw
		if info, _ := blosc.Info(raw); !info.Memcpyed {
			if info.Blocks < 16 {
				t.Fatalf("%s: %d blocks", name, info.Blocks)
			}
			files[name+", blocks in any order"] = reorder(rng, raw)
		}
		files[name+", with a header"] = append(testHeader{}.Append(nil, len(raw)), raw...)
		files[name+", with bytes behind it"] = append(bytes.Clone(raw), "behind"...)
	}
	for name, file := range files {
		codec := Codec(Blosc{})
		if name == "plain" {
			codec = Plain{}
		}
		a, c := bigChunk(t, file, codec)
		for range 40 {
			start := rng.Int64N(1 << 20)
			count := 1 + rng.Int64N(min(1<<20-start, 1<<(1+rng.IntN(19))))
			step := 1 + rng.Int64N(min((1<<20-start)/count, 3))
			if rng.IntN(3) == 0 {
				a.Forget()
			}
			c.bytes = 0
			got, err := read(a, start, count, step)
			if err != nil {
				t.Fatalf("%s, %d from %d: %v", name, count, start, err)
			}
			for i := range got {
				if got[i] != plain[start+int64(i)*step] {
					t.Fatalf("%s, %d from %d, step %d: wrong at %d", name, count, start, step, i)
				}
			}
		}
		a.Forget()
		c.bytes = 0
		if _, err := read(a, 900_000, 10, 1); err != nil || c.bytes > 150<<10 {
			t.Errorf("%s: %d bytes read for 10 elements, error %v", name, c.bytes, err)
		}
	}
}

// TestPartsDamaged: a chunk of which parts are read gives the same elements or
// the same error as one that is read whole.
func TestPartsDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	plain := noise(rng, 1<<20)
	for range 150 {
		file := encode(t, plain, []blosc.Codec{blosc.LZ4, blosc.BloscLZ, blosc.Snappy}[rng.IntN(3)], 5)
		whole, _ := blosc.Info(file)
		if whole.Memcpyed {
			t.Fatal("not compressed")
		}
		if rng.IntN(2) == 0 {
			file = reorder(rng, file)
		}
		table := starts(file)
		k := rng.IntN(len(table)) // a block, and the one that is read
		switch entry := file[blosc.HeaderSize+4*k:]; rng.IntN(6) {
		case 0: // it begins somewhere else
			binary.LittleEndian.PutUint32(entry, uint32(rng.IntN(len(file)+1000)))
		case 1: // two blocks are the same one
			binary.LittleEndian.PutUint32(entry, table[rng.IntN(len(table))])
		case 2: // its streams go on behind its end
			binary.LittleEndian.PutUint32(file[table[k]:], rng.Uint32N(60000))
		case 3:
			file[int(table[k])+rng.IntN(min(5000, len(file)-int(table[k])))] ^= byte(1 << rng.IntN(8))
		case 4: // the file is cut
			file = file[:rng.IntN(len(file))]
		case 5:
			file[rng.IntN(300)] ^= byte(1 << rng.IntN(8))
		}
		a, _ := bigChunk(t, file, Blosc{})
		start := int64(k*whole.BlockSize) + rng.Int64N(int64(whole.BlockSize)-10)
		got, err := read(a, start, 10, 1)

		want := make([]byte, 10)
		info, wantErr := blosc.Info(append(bytes.Clone(file), make([]byte, 16)...)[:max(len(file), 16)])
		switch {
		case wantErr != nil:
		case info.CBytes > len(file) || info.NBytes != 1<<20:
			wantErr = errors.New("wrong size")
		default:
			wantErr = blosc.DecodeRange(want, file[:info.CBytes], int(start))
		}
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
			t.Fatalf("read %v, %v; the whole chunk gives %v, %v", got, err, want, wantErr)
		}
		if e := new(ndfile.Error); err != nil && (!errors.As(err, &e) || e.Path != "/d/c.0" || e.Offset < 0) {
			t.Fatalf("error without a place: %v", err)
		}
	}
}

// FuzzDecodeParts: parts of a chunk decode as the whole chunk does, or not at
// all; what else is in memory does not matter.
func FuzzDecodeParts(f *testing.F) {
	plain := noise(rand.New(rand.NewPCG(9, 10)), 8_000)
	for _, p := range []blosc.Params{{Codec: blosc.LZ4, Level: 5, BlockSize: 1000}, {Level: 9, TypeSize: 4, Shuffle: blosc.ByteShuffle, BlockSize: 600},
		{Codec: blosc.Snappy, Level: 5, TypeSize: 2, BlockSize: 512}, {Level: 0}} {
		raw := make([]byte, blosc.EncodeBound(len(plain)))
		n, err := blosc.Encode(raw, plain, p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw[:n], uint16(2500), uint16(10))
		f.Add(raw[:n], uint16(100), uint16(3000))
		f.Add(reorder(rand.New(rand.NewPCG(9, 10)), raw[:n]), uint16(7000), uint16(900))
	}
	f.Fuzz(func(t *testing.T, raw []byte, off, n uint16) {
		chunk, err := Blosc{}.Open(raw, int64(len(raw)))
		if err != nil || chunk.Encoded > len(raw) || chunk.Size > 1<<20 || int(off)+int(n) > chunk.Size {
			return
		}
		raw = raw[:chunk.Encoded]
		parts := Blosc{}.Parts(nil, raw[:chunk.Table], int(off), int(n))
		if len(parts) == 0 {
			return
		}
		memory := bytes.Repeat([]byte{1, 0, 0, 0}, len(raw)/4+1)[:len(raw)]
		copy(memory, raw[:chunk.Table])
		for _, p := range parts {
			copy(memory[p.Off:p.End], raw[p.Off:])
		}
		got, want := make([]byte, n), make([]byte, n)
		if (Blosc{}).DecodeParts(got, memory, int(off), parts) != nil {
			return
		}
		if err := (Blosc{}).Decode(want, raw, int(off), 1); err != nil || !bytes.Equal(got, want) {
			t.Errorf("decoded parts %v of a chunk that gives %v, %v", got, want, err)
		}
	})
}
