package zarr

import (
	"bytes"
	"compress/gzip"
	"errors"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// foreign is what another program made of the elements of a chunk: gzip with a name and
// a comment, which no encoder here writes.
func foreign(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name, w.Comment = "chunk", "as it is"
	_, err := w.Write(plain)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// foreignArray makes an array of 11 by 7 in chunks of 3 by 2, each encoded by another
// program but for the last but one, which is not there, at /a.
func foreignArray(t *testing.T, m ndfile.FS, format ndfile.Format) {
	t.Helper()
	f, err := format.Create(ctx, m, "/a", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse(">i2"), Shape: []int64{11, 7}, Chunks: []int64{3, 2}, Fill: []byte{0, 7},
		Codecs: []codec.Spec{{Name: "gzip"}}})
	for i := int64(0); err == nil && i < 16; i++ {
		if i != 14 {
			err = a.(ndfile.Chunked).WriteChunk(ctx, []int64{i / 4, i % 4}, foreign(t, []byte{1, byte(i), 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}))
		}
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// encoded gives the stored bytes of all chunks of an array.
func encoded(t *testing.T, m ndfile.FS, path string) (s ndfile.Spec, raws [][]byte) {
	t.Helper()
	f, err := ndfile.Open(ctx, formats, path, ndfile.OpenOptions{FS: m})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	a, err := f.Array("")
	for i := int64(0); err == nil && i < 16; i++ {
		var raw []byte
		raw, _, err = a.(ndfile.Chunked).ReadChunk(ctx, []int64{i / 4, i % 4}, nil)
		raws = append(raws, raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.Spec(), raws
}

// TestEncodedChunksGoAlong: into shards, into other shards and out of them chunks are
// copied as they are, from Zarr 2 too.
func TestEncodedChunksGoAlong(t *testing.T) {
	for _, from := range []ndfile.Format{Format2, Format3} {
		m := ndfile.NewMem()
		foreignArray(t, m, from)
		_, want := encoded(t, m, "/a")
		src := "/a"
		for i, c := range []struct {
			to     ndfile.Format
			size   int64
			shards []int64
		}{
			{Format3, 50, []int64{3, 8}}, {Format3, 1000, []int64{12, 8}}, {Format3, 0, []int64{12, 8}}, {Format3, 20, nil},
			{Format3, 30, []int64{3, 4}}, {Format2, 0, nil}, {Format3, 24, []int64{3, 4}}, {Format3, ndfile.NoShards, nil},
		} {
			dst := "/" + c.to.Name() + string(rune('A'+i))
			if _, err := ndfile.Convert(ctx, formats, src, dst, ndfile.ConvertOptions{FS: m, To: c.to.Name(), ShardSize: c.size}); err != nil {
				t.Fatalf("%s to %s in shards of %d bytes: %v", src, dst, c.size, err)
			}
			s, got := encoded(t, m, dst)
			if !slices.Equal(s.Shards, c.shards) || !slices.Equal(s.Chunks, []int64{3, 2}) {
				t.Errorf("%s: shards %v of chunks %v, expected %v", dst, s.Shards, s.Chunks, c.shards)
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("%s: other bytes", dst)
			}
			src = dst
		}
	}
}

// TestShardsAreRefused where the destination has none.
func TestShardsAreRefused(t *testing.T) {
	m := ndfile.NewMem()
	foreignArray(t, m, Format3)
	_, err := ndfile.Convert(ctx, formats, "/a", "/b", ndfile.ConvertOptions{FS: m, To: "zarr2", ShardSize: 100})
	if !errors.Is(err, ndfile.ErrNotSupported) {
		t.Error(err)
	}
}

// TestCopyArrays: Copy is what Convert does with elements, also within a file.
func TestCopyArrays(t *testing.T) {
	int32s := ndarray.MustParse("<i4")
	m := ndfile.NewMem()
	f, err := Format3.Create(ctx, m, "/a", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spec := ndfile.Spec{DType: int32s, Shape: []int64{11, 7}, Chunks: []int64{3, 2}, Codecs: []codec.Spec{{Name: "zstd"}}}
	a, err := f.Add(ctx, "a", spec)
	values, _ := ndarray.NewBuffer(int32s, spec.Shape)
	for i := range values.Data {
		values.Data[i] = byte(i % 251)
	}
	if err == nil {
		err = a.WriteBox(ctx, ndarray.Full(spec.Shape), values)
	}
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]ndfile.Spec{"same": spec, "shards": spec, "chunks": spec, "order": spec, "codecs": spec}
	for name, s := range others {
		switch name {
		case "shards":
			s.Shards = []int64{6, 4}
		case "chunks":
			s.Chunks, s.Shards = []int64{4, 4}, []int64{8, 8}
		case "order":
			s.DType = ndarray.MustParse(">i4")
		case "codecs":
			s.Codecs, s.Shards = []codec.Spec{{Name: "gzip"}}, []int64{6, 4}
		}
		b, err := f.Add(ctx, name, s)
		last := int64(0)
		if err == nil {
			err = ndfile.Copy(ctx, b, a, func(done, total int64) bool { last = done; return done <= total })
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, _ := ndarray.NewBuffer(int32s, spec.Shape)
		if err := b.ReadBox(ctx, ndarray.Full(spec.Shape), got); err != nil || !bytes.Equal(got.Data, values.Data) || last != int64(len(got.Data)) {
			t.Errorf("%s: other elements, or %d bytes counted: %v", name, last, err)
		}
	}
	c, _ := f.Add(ctx, "c", ndfile.Spec{DType: int32s, Shape: []int64{11}})
	if err := ndfile.Copy(ctx, c, a, nil); !errors.Is(err, ndfile.ErrShape) {
		t.Errorf("another shape: %v", err)
	}
	d, _ := f.Add(ctx, "d", ndfile.Spec{DType: ndarray.MustParse("<f4"), Shape: spec.Shape})
	if err := ndfile.Copy(ctx, d, a, nil); !errors.Is(err, ndfile.ErrDType) {
		t.Errorf("another dtype: %v", err)
	}
	f.Abort()
}
