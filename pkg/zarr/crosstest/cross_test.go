package crosstest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/peer"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/zarr"
)

var (
	ctx     = context.Background()
	formats = []ndfile.Format{zarr.Format0, zarr.Format2, zarr.Format3}
)

// others is the process with the other programs.
type others struct {
	t *testing.T
	peer.Process
	in *json.Encoder
}

func start(t *testing.T) *others {
	p := peer.Start(t, "peer.py", "zarr, zarrs, tensorstore and numcodecs: pkg/zarr is NOT compared with them")
	return &others{t, p, json.NewEncoder(p.In)}
}

// ask makes a request and decodes the reply.
func (p *others) ask(request map[string]any, reply any) {
	p.t.Helper()
	if err := p.in.Encode(request); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.Out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, reply)
	}
	if err != nil {
		p.t.Fatalf("peer.py: %v", err)
	}
}

// says is what a reader says of a store: "" when it reads the expected values.
func (p *others) says(request map[string]any) string {
	p.t.Helper()
	var reply struct{ Says string }
	p.ask(request, &reply)
	return reply.Says
}

// store is an array in a folder, with the file that holds its elements in C
// order.
type store struct {
	Path, Expected string
	Version        int
	DType          string // JSON
	Shape          []int64
}

func (s *store) request(op, reader string) map[string]any {
	return map[string]any{"op": op, "reader": reader, "path": s.Path, "expected": s.Expected, "version": s.Version,
		"dtype": json.RawMessage(s.DType), "shape": s.Shape}
}

// exceptions are what the others cannot read of the fixtures, and what they say
// then. A test fails when one of them no longer holds.
var exceptions = []struct{ reader, versions, names, says string }{
	{"zarr-python", "2 3", "codec_snappy_s0 codec_snappy_s1 codec_snappy_s2 mixed_codecs", "error during blosc decompression: -5"},
	{"zarr-python", "2", "struct_nested", "No Zarr data type found"},
	{"zarrs", "2", "S7 U5 U80_itemsize320 m8_ns td_s", "unsupported data type"},
	{"zarrs", "2", "struct", "did not match any variant"},
	{"zarrs", "2", "struct_nested", "No Zarr data type found"},
	{"zarrs", "2", "be_i8_missing", "Non-native byte order not supported"},
	{"zarrs", "3", "S7 U5 U80_itemsize320 struct void6", "is not supported"},
	{"zarrs", "2 3", "attrs_nonfinite", "expected value at line"}, // NaN is no JSON
	{"tensorstore", "2", "U5 U80_itemsize320 m8_ns td_s", "Unsupported zarr dtype"},
	{"tensorstore", "2", "struct_nested", "Error parsing object member"},
	{"tensorstore", "3", "S7 U5 U80_itemsize320 m8_ns td_s struct", `"data_type"`},
	{"tensorstore", "3", "attrs_nonfinite", "Invalid JSON"},
}

// exception is what a reader is expected to say of a migrated fixture.
func exception(reader string, version int, name string) string {
	for _, e := range exceptions {
		if e.reader == reader && slices.Contains(strings.Fields(e.versions), strconv.Itoa(version)) && slices.Contains(strings.Fields(e.names), name) {
			return e.says
		}
	}
	return ""
}

// check lets a reader read a store; says is the exception, or "".
func (p *others) check(s *store, reader, name, says string) {
	p.t.Helper()
	switch said := p.says(s.request("read", reader)); {
	case says == "" && said != "":
		p.t.Errorf("%s, version %d, %s: %.400s", reader, s.Version, name, said)
	case says != "" && said == "":
		p.t.Errorf("%s, version %d, %s: it reads the array now: the exception is out of date", reader, s.Version, name)
	case !strings.Contains(said, says) || says != "" && strings.HasPrefix(said, "differs"):
		p.t.Errorf("%s, version %d, %s: %.400s, expected %s", reader, s.Version, name, said, says)
	}
}

// TestMigrated lets the others read every fixture after its migration in place.
func TestMigrated(t *testing.T) {
	p := start(t)
	const valid = "../testdata/zarr0/valid/"
	text, err := os.ReadFile(valid + "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Cases []struct {
			Name, Expected string
			DType          json.RawMessage
			Shape          []int64
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for version, to := range map[int]ndfile.Format{2: zarr.Format2, 3: zarr.Format3} {
		for _, c := range manifest.Cases {
			path := filepath.Join(dir, to.Name(), c.Name)
			if err := os.CopyFS(path, os.DirFS(valid+c.Name)); err != nil {
				t.Fatal(err)
			}
			_, err := ndfile.Convert(ctx, formats, path, path, ndfile.ConvertOptions{To: to.Name(), Overwrite: true})
			if version == 3 && c.Name == "struct_nested" {
				if !errors.Is(err, ndfile.ErrDType) {
					t.Errorf("%s: %v", path, err)
				}
				continue
			}
			if err != nil {
				t.Error(err)
				continue
			}
			expected, err := filepath.Abs(valid + c.Expected)
			if err != nil {
				t.Fatal(err)
			}
			s := store{Path: path, Expected: expected, Version: version, DType: string(c.DType), Shape: c.Shape}
			for _, reader := range []string{"zarr-python", "zarrs", "tensorstore"} {
				p.check(&s, reader, c.Name, exception(reader, version, c.Name))
			}
		}
	}
}

// TestWritten lets the others read what ndfile writes: all codecs, filters and a
// choice of dtypes. numcodecs reads each chunk, the other programs the arrays.
func TestWritten(t *testing.T) {
	p := start(t)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 8))
	var chunks [][2]string
	n := 0
	for i, format := range formats {
		version := []int{0, 2, 3}[i]
		for _, codec := range []string{"blosclz", "lz4", "lz4hc", "zlib", "zstd"} {
			if version == 0 && codec == "zstd" {
				continue // release 0.4 has no Zstd
			}
			for shuffle := range 3 {
				for _, dtype := range []string{"|b1", "|u1", "<i2", ">i4", "<f4", "<f8", "<c16", "|V3"} {
					n++
					s := store{Path: filepath.Join(dir, strconv.Itoa(n)), Version: version, DType: strconv.Quote(dtype), Shape: []int64{130, 70}}
					spec := ndfile.Spec{DType: ndarray.MustParse(dtype), Shape: s.Shape, Chunks: []int64{50, 64},
						Codecs: ndfile.Compression{Codec: codec, Level: 1 + n%9, Shuffle: shuffle}.Codecs()}
					data := write(t, format, &s, spec, rng)
					if version == 0 {
						chunks = append(chunks, cut(t, &s, spec, data, "__zdata__", ".blosc")...)
						continue
					}
					chunks = append(chunks, cut(t, &s, spec, data, "", "")...)
					if says := ""; shuffle == n%3 { // every third with all the others
						p.check(&s, "zarr-python", dtype, says)
						if version == 2 && dtype == ">i4" {
							says = "Non-native byte order not supported"
						}
						if version == 3 && dtype == "|V3" {
							says = "is not supported"
						}
						p.check(&s, "zarrs", dtype, says)
						p.check(&s, "tensorstore", dtype, "")
					}
				}
			}
		}
	}
	if said := p.says(map[string]any{"op": "decode", "chunks": chunks}); said != "" {
		t.Error("numcodecs: " + said)
	}
	t.Logf("%d arrays, %d chunks", n, len(chunks))
}

// write makes an array and the file of its elements. Some parts are not written.
func write(t *testing.T, format ndfile.Format, s *store, spec ndfile.Spec, rng *rand.Rand) []byte {
	t.Helper()
	src, err := ndarray.NewBuffer(spec.DType, spec.Shape)
	if err != nil {
		t.Fatal(err)
	}
	value := 0
	for i := range src.Data {
		if rng.IntN(20) == 0 {
			value = rng.IntN(4)
		}
		src.Data[i] = byte(value)
		if spec.DType.Kind == ndarray.Bool {
			src.Data[i] &= 1
		}
	}
	f, err := format.Create(ctx, ndfile.OS, s.Path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "", spec)
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Full(spec.Shape), src)
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Expected = s.Path + ".expected.bin"
	if err := os.WriteFile(s.Expected, src.Data, 0o666); err != nil {
		t.Fatal(err)
	}
	return src.Data
}

// cut writes the elements of each chunk, padded with zeros, to a file, and gives
// the pairs of chunk and file.
func cut(t *testing.T, s *store, spec ndfile.Spec, data []byte, below, suffix string) (pairs [][2]string) {
	t.Helper()
	whole := ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: data}
	for i := int64(0); i*spec.Chunks[0] < spec.Shape[0]; i++ {
		for j := int64(0); j*spec.Chunks[1] < spec.Shape[1]; j++ {
			box := ndarray.Box{Start: []int64{i * spec.Chunks[0], j * spec.Chunks[1]}, Count: slices.Clone(spec.Chunks)}
			for axis := range box.Count {
				box.Count[axis] = min(box.Count[axis], spec.Shape[axis]-box.Start[axis])
			}
			chunk, err := ndarray.NewBuffer(spec.DType, spec.Chunks)
			if err != nil {
				t.Fatal(err)
			}
			dst, err := chunk.Sub(ndarray.Box{Start: []int64{0, 0}, Count: box.Count})
			if err != nil {
				t.Fatal(err)
			}
			src, err := whole.Sub(box)
			if err == nil {
				err = ndarray.Copy(dst, src)
			}
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%d.%d", i, j)
			expected := s.Path + "." + name + ".bin"
			if err := os.WriteFile(expected, chunk.Data, 0o666); err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, [2]string{filepath.Join(s.Path, below, name+suffix), expected})
		}
	}
	return pairs
}

// TestRead reads what zarr-python and tensorstore write, and changes it: they
// read what becomes of it.
func TestRead(t *testing.T) {
	p := start(t)
	var reply struct{ Stores []store }
	p.ask(map[string]any{"op": "write", "folder": t.TempDir()}, &reply)
	if len(reply.Stores) < 200 {
		t.Fatalf("%d stores", len(reply.Stores))
	}
	for i := range reply.Stores {
		s := &reply.Stores[i]
		name := filepath.Base(s.Path)
		f, err := ndfile.Open(ctx, formats, s.Path, ndfile.OpenOptions{Mode: ndfile.Update})
		if err != nil {
			t.Error(err)
			continue
		}
		a, err := f.Array("")
		if err != nil {
			t.Fatal(err)
		}
		spec := a.Spec()
		if got := spec.DType.String(); got != dtypeName(t, s.DType) || !slices.Equal(spec.Shape, s.Shape) {
			t.Errorf("%s: %s %v, expected %s %v", name, got, spec.Shape, s.DType, s.Shape)
		}
		got, err := ndarray.NewBuffer(spec.DType, spec.Shape)
		if err == nil {
			err = a.ReadBox(ctx, ndarray.Full(spec.Shape), got)
		}
		want, e := os.ReadFile(s.Expected)
		if err = errors.Join(err, e); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got.Data, want) {
			t.Errorf("%s: other values", name)
			continue
		}
		if i%7 != 0 && len(s.Shape) > 0 {
			f.Abort()
			continue
		}
		// Turn the elements around and grow, which zarr-python then reads.
		slices.Reverse(want)
		err = a.WriteBox(ctx, ndarray.Full(spec.Shape), ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: want})
		if err == nil && len(s.Shape) == 1 {
			s.Shape = []int64{2 * s.Shape[0]}
			err = a.(ndfile.Resizer).Append(ctx, 0, ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: want})
			want = append(want, want...)
		}
		f.Attrs().Set("unit", ndfile.StringValue("m"))
		if err = errors.Join(err, f.Close(ctx), os.WriteFile(s.Expected, want, 0o666)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if spec.DType.Kind == ndarray.Bool || spec.DType.Kind == ndarray.Unicode {
			continue // the bytes turned around are no such elements
		}
		p.check(s, "zarr-python", name, "")
	}
	t.Logf("%d stores", len(reply.Stores))
}

// dtypeName is the canonical name of a dtype that is given as JSON.
func dtypeName(t *testing.T, text string) string {
	t.Helper()
	var name string
	if json.Unmarshal([]byte(text), &name) != nil {
		name = text
	}
	d, err := ndarray.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}
