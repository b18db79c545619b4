package rawarray

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// agree reads a file that may be anything in both ways and checks that both give
// the same array, or refuse it for the same reason. A file that is read has to
// say everything itself: written again it is the same. It reports whether the
// file could be read.
func agree(t testing.TB, raw []byte) bool {
	t.Helper()
	f, err := open(raw)
	need := &ndfile.Sink{}
	loadErr := load(raw, need)
	if err != nil {
		if loadErr == nil || loadErr.Error() != err.Error() || ndfile.KindOf(loadErr) != ndfile.KindOf(err) {
			t.Fatalf("Open: %v\nLoad: %v", err, loadErr)
		}
		if k := ndfile.KindOf(err); k == ndfile.ErrInternal || ndfile.Offset(err) < 0 || ndfile.Offset(err) > int64(len(raw)) {
			t.Fatalf("%s at %d: %v", k.C, ndfile.Offset(err), err)
		}
		return false
	}
	defer f.Abort()
	if !errors.Is(loadErr, ndfile.ErrBuffer) || need.N != 1 {
		t.Fatalf("Load into nothing: %v, %d arrays", loadErr, need.N)
	}
	encoded := raw[atFlags]&(flagEncoded|flagBits) != 0
	if most := int64(len(raw)); need.Need > most+1<<20 && !(encoded && need.Need < mostExpanded*most+1<<20) {
		t.Fatalf("a file of %d bytes needs %d", len(raw), need.Need)
	}
	sink := &ndfile.Sink{Buf: make([]byte, need.Need), Infos: make([]ndfile.LoadInfo, 1)}
	a, err := f.Array("")
	if err != nil {
		t.Fatal(err)
	}
	spec := a.Spec()
	if loadErr := load(raw, sink); loadErr != nil {
		dst, _ := ndarray.NewBuffer(spec.DType, spec.Shape)
		err := a.ReadBox(ctx, ndarray.Full(spec.Shape), dst)
		if k := ndfile.KindOf(err); !encoded || k != ndfile.ErrCorrupt && k != ndfile.ErrNotSupported || "/x.ra: "+loadErr.Error() != err.Error() || ndfile.Offset(err) < atDims {
			t.Fatalf("ReadBox: %v\nLoad: %v", err, loadErr)
		}
		return false
	}
	li := sink.Infos[0]
	data := readAll(t, a, spec.DType.Native())
	if !bytes.Equal(data, sink.Buf[li.DataOffset:][:li.DataLen]) || shapeText(li.Shape[:li.NDim]) != shapeText(spec.Shape) {
		t.Fatalf("Open and Load differ: %s %v", spec.DType, spec.Shape)
	}
	trailing, err := f.(ndfile.Trailer).Trailing(ctx)
	if err != nil {
		t.Fatal(err)
	}
	data = readAll(t, a, spec.DType)
	item := ndfile.Item{Data: ndarray.Buffer{DType: spec.DType, Shape: spec.Shape, Data: data}, Extra: spec.Extra}
	if encoded { // in one of many ways: the elements are the same
		mem := ndfile.NewMem()
		if err := Format.(ndfile.OneShot).Save(ctx, mem, "/x.ra", []ndfile.Item{item}, ndfile.SaveOptions{Trailing: trailing}); errors.Is(err, ndfile.ErrValue) {
			return true
		} else if err != nil {
			t.Fatal(err)
		}
		again, err := open(content(t, mem))
		if err != nil {
			t.Fatal(err)
		}
		defer again.Abort()
		b, _ := again.Array("")
		rest, err := again.(ndfile.Trailer).Trailing(ctx)
		if !bytes.Equal(readAll(t, b, spec.DType), data) || !bytes.Equal(rest, trailing) || err != nil ||
			string(ndfile.AppendJSON(nil, b.Spec().Extra)) != string(ndfile.AppendJSON(nil, spec.Extra)) {
			t.Fatalf("read as %s %v %s and written again, it is read as other values", spec.DType, spec.Shape, ndfile.AppendJSON(nil, spec.Extra))
		}
		return true
	}
	again := saved(t, item, ndfile.CreateOptions{Trailing: trailing})
	if !bytes.Equal(again, raw) {
		t.Fatalf("read as %s %v %s and written again:\n%x\nexpected\n%x", spec.DType, spec.Shape, ndfile.AppendJSON(nil, spec.Extra), again, raw)
	}
	return true
}

// seeds are all fixtures, good and bad.
func seeds(t testing.TB) (all [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.ra")
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	return all
}

func FuzzOpen(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < 1<<20 { // larger ones show nothing new
			agree(t, raw)
		}
	})
}

// TestTruncated cuts every fixture at every length.
func TestTruncated(t *testing.T) {
	for _, f := range fixtures(t) {
		full := len(f.raw) - f.Trailing
		for n := range len(f.raw) {
			if ok := agree(t, f.raw[:n]); ok != (n >= full) {
				t.Errorf("%s cut to %d bytes: readable: %t", f.File, n, ok)
			}
		}
	}
}

// TestFlipped flips every bit of every header, and bits of the data.
func TestFlipped(t *testing.T) {
	good, bad := 0, 0
	for _, raw := range seeds(t) {
		for i := range raw {
			bits := 8
			if i > 100 {
				bits = 1
			}
			for bit := range bits {
				raw[i] ^= 1 << bit
				if agree(t, raw) {
					good++
				} else {
					bad++
				}
				raw[i] ^= 1 << bit
			}
		}
	}
	if good < 1000 || bad < 1000 {
		t.Errorf("%d files could be read, %d not", good, bad)
	}
}
