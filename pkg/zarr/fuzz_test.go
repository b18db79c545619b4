package zarr

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// fuzzLimits keep what a text asks for in bounds.
var fuzzLimits = ndfile.Limits{MaxHeader: 1 << 16}

// FuzzMeta reads any text as __zmeta__. What is accepted is written again as the
// same array.
func FuzzMeta(f *testing.F) {
	for _, kind := range []string{"valid", "malformed"} {
		for _, c := range fixtures(f, kind) {
			f.Add([]byte(readFile(f, filepath.Join(fixturePath(kind, c.Name), meta0))))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := version0.read(text, fuzzLimits)
		if err != nil {
			if k := ndfile.KindOf(err); k == ndfile.ErrInternal {
				t.Fatal(err)
			}
			if at := ndfile.Offset(err); at > int64(len(text)) {
				t.Fatalf("offset %d in %d bytes: %v", at, len(text), err)
			}
			return
		}
		if n, err := ndarray.NBytes(m.chunks, m.dtype.Size); err != nil || n < 1 {
			t.Fatalf("chunks %v of %s are accepted", m.chunks, m.dtype)
		}
		if m.fill != nil && len(m.fill) != m.dtype.Size {
			t.Fatalf("a fill value of %d bytes for %s", len(m.fill), m.dtype)
		}
		again, err := version0.read(version0.append(nil, m.doc), ndfile.Limits{})
		if err != nil {
			t.Fatalf("written again: %v", err)
		}
		if !again.dtype.Equal(m.dtype) || !bytes.Equal(again.fill, m.fill) || (again.fillErr == nil) != (m.fillErr == nil) {
			t.Fatalf("written again it is another array: %s, %x, %s, %x", m.dtype, m.fill, again.dtype, again.fill)
		}
		if m.fillErr != nil {
			return
		}
		// A new array like it has the same fill value, however it is spelled.
		spec := ndfile.Spec{DType: m.dtype, Shape: m.shape, Chunks: m.chunks, Codecs: m.specs, Fill: m.fill, Extra: m.extra}
		if built, err := version0.build(&spec); err == nil && !bytes.Equal(built.fill, m.fill) {
			t.Fatalf("built again it has the fill value %x, expected %x", built.fill, m.fill)
		}
	})
}

// FuzzRoot reads, checks and changes a folder of any two documents and chunks.
func FuzzRoot(f *testing.F) {
	for _, kind := range []string{"valid", "malformed"} {
		for _, c := range fixtures(f, kind) {
			root := fixturePath(kind, c.Name)
			var chunks [2][]byte
			list, _ := filepath.Glob(filepath.Join(root, data0, "*.blosc"))
			for i := range chunks {
				if i < len(list) {
					chunks[i], _ = os.ReadFile(list[i])
				}
			}
			if len(chunks[0])+len(chunks[1]) < 10000 {
				f.Add([]byte(readFile(f, filepath.Join(root, meta0))), []byte(readFile(f, filepath.Join(root, attrs0))), chunks[0], chunks[1])
			}
		}
	}
	f.Fuzz(func(t *testing.T, meta, attrs, chunk0, chunk1 []byte) {
		mem := ndfile.NewMem()
		put := func(name string, data []byte) {
			if err := mem.WriteFile("/x/"+name, [][]byte{data}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}); err != nil {
				t.Fatal(err)
			}
		}
		mem.Mkdir("/x")
		mem.Mkdir("/x/" + data0)
		put(meta0, meta)
		if len(attrs) > 0 {
			put(attrs0, attrs)
		}
		if m, err := version0.read(meta, fuzzLimits); err == nil {
			index := make([]int64, len(m.shape))
			put(data0+"/"+string(m.keys.append(nil, index)), chunk0)
			index[len(index)-1]++
			put(data0+"/"+string(m.keys.append(nil, index)), chunk1)
		}
		check := func(err error) bool {
			if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal {
				t.Fatal(err)
			}
			return err == nil
		}
		file, err := Format0.Open(ctx, mem, "/x", ndfile.OpenOptions{Mode: ndfile.Update, Limits: fuzzLimits})
		if !check(err) {
			return
		}
		defer file.Close(ctx)
		a, _ := file.Array("")
		spec := a.Spec()
		// The first elements of the first two chunks, and the last element.
		size, err := ndarray.NBytes(spec.Chunks, spec.DType.Size)
		count, _ := ndarray.Count(spec.Shape)
		if err != nil || size > 1<<20 || count == 0 {
			return
		}
		box := ndarray.Full(spec.Shape)
		for axis := range box.Count {
			box.Count[axis] = min(spec.Chunks[axis]+1, spec.Shape[axis], 40)
		}
		last := ndarray.Full(spec.Shape)
		for axis, n := range spec.Shape {
			last.Start[axis], last.Count[axis] = n-1, 1
		}
		for _, b := range []ndarray.Box{box, last} {
			if n, err := ndarray.NBytes(b.Count, spec.DType.Size); err != nil || n > 1<<20 {
				continue
			}
			chunks := int64(1)
			for axis, n := range b.Count {
				chunks *= 1 + (n-1)/spec.Chunks[axis]
			}
			if chunks > 100 {
				continue
			}
			dst, err := ndarray.NewBuffer(spec.DType, b.Count)
			if err != nil {
				t.Fatal(err)
			}
			if !check(a.ReadBox(ctx, b, dst)) {
				continue
			}
			if !check(a.WriteBox(ctx, b, dst)) {
				continue
			}
			again, _ := ndarray.NewBuffer(spec.DType, b.Count)
			if err := a.ReadBox(ctx, b, again); err != nil || !bytes.Equal(again.Data, dst.Data) {
				t.Fatalf("other values after writing what was read: %v", err)
			}
		}
		smaller := make([]int64, len(spec.Shape))
		for axis, n := range spec.Shape {
			smaller[axis] = n / 2
		}
		check(a.(ndfile.Resizer).Resize(ctx, smaller))
		check(a.(ndfile.Resizer).Resize(ctx, spec.Shape))
		check(file.Close(ctx))
		check(Format0.(ndfile.Verifier).Verify(ctx, mem, "/x", ndfile.VerifyOptions{Limits: fuzzLimits, Repair: true}, func(ndfile.Problem) {}))
	})
}
