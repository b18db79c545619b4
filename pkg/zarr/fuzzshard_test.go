package zarr

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fuzzShards are arrays of 8 by 6 in shards of 4 by 6: plain, encoded, with the index at
// the start, and shards in shards.
var fuzzShards = []struct {
	spec  ndfile.Spec
	start bool
}{
	{ndfile.Spec{Codecs: []codec.Spec{}}, false},
	{ndfile.Spec{Codecs: []codec.Spec{{Name: "crc32c"}}}, false},
	{ndfile.Spec{Codecs: []codec.Spec{{Name: "zstd"}}}, true},
	{ndfile.Spec{}, true}, // Blosc
	{ndfile.Spec{Codecs: []codec.Spec{codec.OfShards([]int64{1, 3}, []codec.Spec{{Name: "gzip"}})}}, false},
	{ndfile.Spec{DType: ndarray.MustParse("str"), Codecs: []codec.Spec{codec.OfShards([]int64{2, 3}, nil)}, Chunks: []int64{4, 6}}, false},
}

// fuzzShard makes /s, with its first shard written, and gives the bytes of that.
func fuzzShard(t testing.TB, i byte) (*ndfile.Mem, []byte) {
	c := fuzzShards[int(i)%len(fuzzShards)]
	c.spec.Shape = []int64{8, 6}
	if c.spec.DType.Kind == ndarray.Invalid {
		c.spec.DType, c.spec.Chunks, c.spec.Shards = ndarray.MustParse("<i2"), []int64{2, 3}, []int64{4, 6}
	}
	m := ndfile.NewMem()
	f, err := Format3.Create(ctx, m, "/s", ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Add(ctx, "", c.spec)
	if err == nil && c.spec.DType.IsVar() {
		offsets := make([]int64, 25)
		for i := range offsets {
			offsets[i] = int64(i)
		}
		err = a.(ndfile.Strings).WriteStrings(ctx, ndarray.Box{Start: []int64{0, 0}, Count: []int64{4, 6}}, offsets, bytes.Repeat([]byte("x"), 24), nil)
	} else if err == nil {
		b, _ := ndarray.NewBuffer(c.spec.DType, []int64{4, 6})
		for i := range b.Data {
			b.Data[i] = byte(i + 1)
		}
		err = a.WriteBox(ctx, ndarray.Box{Start: []int64{0, 0}, Count: b.Shape}, b)
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.start {
		doc := listFiles(t, m, "/s", "", files{})[meta3]
		doc = strings.Replace(doc, `"index_location": "end"`, `"index_location": "start"`, 1)
		if err := m.WriteFile("/s/"+meta3, [][]byte{[]byte(doc)}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return m, []byte(listFiles(t, m, "/s", "", files{})["0.0"])
}

// FuzzShard reads, changes and checks an array with any bytes as its first shard.
func FuzzShard(f *testing.F) {
	for i := range fuzzShards {
		_, raw := fuzzShard(f, byte(i))
		f.Add(byte(i), raw)
		f.Add(byte(i), raw[:len(raw)/2])
		if c := fuzzShards[i]; c.start { // the index that was at the end
			at := len(raw) - 16*4 - 4
			f.Add(byte(i), append(bytes.Clone(raw[at:]), raw[:at]...))
		}
	}
	f.Fuzz(func(t *testing.T, i byte, raw []byte) {
		m, _ := fuzzShard(t, i)
		if err := m.WriteFile("/s/0.0", [][]byte{raw}, ndfile.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		check := func(err error) bool {
			if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal {
				t.Fatal(err)
			}
			return err == nil
		}
		file, err := Format3.Open(ctx, m, "/s", ndfile.OpenOptions{Mode: ndfile.Update})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := file.Array("")
		full := ndarray.Full([]int64{8, 6})
		if s, ok := a.(ndfile.Strings); ok {
			offsets, data := make([]int64, 49), make([]byte, 4096)
			if need, err := s.ReadStrings(ctx, full, offsets, data, nil); check(err) && need <= int64(len(data)) {
				check(s.WriteStrings(ctx, full, offsets, data, nil))
			}
		} else {
			old, _ := ndarray.NewBuffer(a.Spec().DType, full.Count)
			readable := check(a.ReadBox(ctx, full, old))
			one := ndarray.Box{Start: []int64{1, 1}, Count: []int64{1, 1}}
			if b, _ := ndarray.NewBuffer(a.Spec().DType, one.Count); check(a.ReadBox(ctx, one, b)) && check(a.WriteBox(ctx, one, b)) && readable {
				again, _ := ndarray.NewBuffer(a.Spec().DType, full.Count)
				if err := a.ReadBox(ctx, full, again); err != nil || !bytes.Equal(again.Data, old.Data) {
					t.Fatalf("other elements after one was written as it was: %v", err)
				}
			}
			check(a.(ndfile.Resizer).Resize(ctx, []int64{3, 4}))
		}
		check(file.Close(ctx))
		check(Format3.(ndfile.Verifier).Verify(ctx, m, "/s", ndfile.VerifyOptions{Repair: true}, func(ndfile.Problem) {}))
	})
}
