package zarr

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// largeShard makes /s with one shard of 10 MiB, all but its last 64 KiB written: more
// than is held in memory. Its chunks have 4 KiB each; its index is at either end.
func largeShard(t *testing.T, codecs []codec.Spec, location string) (*ndfile.Mem, []byte) {
	t.Helper()
	const n = 10 << 20
	m := ndfile.NewMem()
	f := shardedFile(t, m, ndfile.Spec{DType: ndarray.MustParse("|u1"), Shape: []int64{n}, Chunks: []int64{4 << 10}, Shards: []int64{n}, Codecs: codecs})
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	doc := listFiles(t, m, "/s", "", files{})[meta3]
	moved := strings.Replace(doc, `"index_location": "end"`, `"index_location": "`+location+`"`, 1)
	if err := m.WriteFile("/s/"+meta3, [][]byte{[]byte(moved)}, ndfile.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, n-64<<10)
	for i := range data {
		data[i] = byte(i>>12 + i%7 + 1)
	}
	if err := writeBytes(m, 0, data); err != nil {
		t.Fatal(err)
	}
	return m, append(data, make([]byte, 64<<10)...)
}

// writeBytes writes elements of /s.
func writeBytes(fsys ndfile.FS, at int64, data []byte) error {
	f, err := Format3.Open(ctx, fsys, "/s", ndfile.OpenOptions{Mode: ndfile.Update})
	if err != nil {
		return err
	}
	a, err := f.Array("")
	n := []int64{int64(len(data))}
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Box{Start: []int64{at}, Count: n}, ndarray.Buffer{DType: a.Spec().DType, Shape: n, Data: data})
	}
	if err != nil {
		f.Abort()
		return err
	}
	return f.Close(ctx)
}

func readBytes(t *testing.T, fsys ndfile.FS) []byte {
	t.Helper()
	f, err := Format3.Open(ctx, fsys, "/s", ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	return readBox(t, a, ndarray.Full(a.Spec().Shape))
}

var shardCases = map[string]struct {
	codecs   []codec.Spec
	location string
}{
	"plain":          {[]codec.Spec{}, "end"},
	"plain, start":   {[]codec.Spec{}, "start"},
	"encoded":        {[]codec.Spec{{Name: "crc32c"}}, "end"},
	"encoded, start": {[]codec.Spec{{Name: "crc32c"}}, "start"},
}

// TestShardPartIsCopiedByRanges: a write of a part of a large shard reads the chunks
// that stay, in pieces, and of those that it covers nothing.
func TestShardPartIsCopiedByRanges(t *testing.T) {
	for name, c := range shardCases {
		t.Run(name, func(t *testing.T) {
			m, want := largeShard(t, c.codecs, c.location)
			counted := &countPieces{FS: m}
			// Two chunks in part, nine of ten as a whole.
			at, part := int64(100), bytes.Repeat([]byte{9}, 9<<20)
			if err := writeBytes(counted, at, part); err != nil {
				t.Fatal(err)
			}
			copy(want[at:], part)
			if !bytes.Equal(readBytes(t, m), want) {
				t.Error("other elements")
			}
			if counted.largest > 5<<20 {
				t.Errorf("%d bytes are moved at once", counted.largest)
			}
			if counted.read > 5<<18+64<<10 {
				t.Errorf("%d bytes are read where %d stay", counted.read, 10<<20-64<<10-len(part))
			}
			if list, err := found(Format3, m, "/s"); err != nil || len(list) > 0 {
				t.Errorf("verify: %q, %v", list, err)
			}
		})
	}
}

// TestShardPartFails makes each call of a write to a large shard fail: the shard is the
// old one or the new one, and the same write succeeds afterwards.
func TestShardPartFails(t *testing.T) {
	lost := errors.New("lost")
	for name, c := range shardCases {
		t.Run(name, func(t *testing.T) {
			m, old := largeShard(t, c.codecs, c.location)
			part := bytes.Repeat([]byte{9}, 5000)
			changed := slices.Clone(old)
			copy(changed[6<<20:], part)
			failed := 0
			for call := int64(0); ; call++ {
				fault := vfs.NewFault(m)
				fault.FailAt(call, lost)
				err := writeBytes(fault, 6<<20, part)
				got := readBytes(t, m)
				switch {
				case bytes.Equal(got, old) && err != nil:
					failed++
				case !bytes.Equal(got, changed):
					t.Fatalf("call %d: neither the old elements nor the new ones (%v)", call, err)
				default:
					if err := writeBytes(m, 6<<20, old[6<<20:][:len(part)]); err != nil {
						t.Fatal(err)
					}
				}
				if fault.Count() <= call {
					break
				}
			}
			if failed < 5 {
				t.Errorf("only %d writes failed", failed)
			}
		})
	}
}

// countPieces counts what is read and written of files that are open.
type countPieces struct {
	ndfile.FS
	largest, read int
}

func (c *countPieces) Open(path string) (vfs.File, error) {
	file, err := c.FS.Open(path)
	return pieceFile{file, c}, err
}

func (c *countPieces) Create(path string, excl bool) (vfs.File, error) {
	file, err := c.FS.Create(path, excl)
	return pieceFile{file, c}, err
}

func (c *countPieces) CreatePrivate(path string) (vfs.File, error) {
	file, err := c.FS.CreatePrivate(path)
	return pieceFile{file, c}, err
}

func (c *countPieces) WriteFile(path string, parts [][]byte, opt vfs.WriteOptions) error {
	for _, p := range parts {
		c.largest = max(c.largest, len(p))
	}
	return c.FS.WriteFile(path, parts, opt)
}

type pieceFile struct {
	vfs.File
	c *countPieces
}

func (f pieceFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.largest, f.c.read = max(f.c.largest, len(p)), f.c.read+len(p)
	return f.File.ReadAt(p, off)
}

func (f pieceFile) WriteAt(p []byte, off int64) (int, error) {
	f.c.largest = max(f.c.largest, len(p))
	return f.File.WriteAt(p, off)
}
