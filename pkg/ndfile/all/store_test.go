package all_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

// loaded is everything in a file, or what is wrong with it.
func loaded(ctx context.Context, f ndfile.File, err error) (data []byte, names []string, kind *ndfile.ErrorKind) {
	if err != nil {
		return nil, nil, ndfile.KindOf(err)
	}
	defer f.Abort()
	sink := ndfile.Sink{Infos: make([]ndfile.LoadInfo, 1000)}
	if err := ndfile.LoadFile(ctx, f, &sink); errors.Is(err, ndfile.ErrBuffer) && sink.Need < 64<<20 {
		sink = ndfile.Sink{Infos: sink.Infos, Buf: make([]byte, sink.Need)}
		if err := ndfile.LoadFile(ctx, f, &sink); err != nil {
			return nil, f.Names(), ndfile.KindOf(err)
		}
		return sink.Buf, f.Names(), nil
	} else if err != nil {
		return nil, f.Names(), ndfile.KindOf(err)
	}
	return nil, f.Names(), nil
}

// TestStores: through a store that can do nothing but Get and List, every fixture gives
// what it gives from the disk: the same elements, or the same kind of error.
func TestStores(t *testing.T) {
	ctx := t.Context()
	good := 0
	for _, set := range fixtures {
		if set.format == "netcdf" {
			continue // read by a library that wants a file
		}
		patterns := slices.Clone(set.patterns)
		for _, p := range set.patterns {
			patterns = append(patterns, filepath.Dir(filepath.Dir(p))+"/malformed/*")
		}
		for _, pattern := range patterns {
			paths, _ := filepath.Glob("../../" + pattern)
			for _, path := range paths {
				for _, format := range []string{"", set.format} {
					opt := ndfile.OpenOptions{Format: format, Limits: ndfile.Limits{MaxHeader: 1 << 20}}
					f, err := ndfile.Open(ctx, all.Formats, path, opt)
					want, wantNames, wantKind := loaded(ctx, f, err)
					dir := store.OfFS(os.DirFS(filepath.Dir(path)))
					f, err = ndfile.OpenStore(ctx, all.Formats, storetest.Count(dir), filepath.Base(path), opt)
					got, names, kind := loaded(ctx, f, err)
					if !bytes.Equal(got, want) || !slices.Equal(names, wantNames) || kind != wantKind {
						t.Errorf("%s as %q: %d bytes, %v, %v (%v); from the disk %d bytes, %v, %v", path, format, len(got), names, kind, err, len(want), wantNames, wantKind)
					}
					if kind == nil {
						good++
					}
				}
			}
		}
	}
	if good < 100 {
		t.Errorf("only %d fixtures could be read", good)
	}
}

// TestStoreIsForReading: a store without Put cannot be opened for changes.
func TestStoreIsForReading(t *testing.T) {
	_, err := ndfile.OpenStore(t.Context(), all.Formats, store.OfFS(os.DirFS("../../zarr/testdata/zarr0/valid")), "x", ndfile.OpenOptions{Mode: ndfile.Update})
	if !errors.Is(err, ndfile.ErrNotSupported) || !strings.Contains(err.Error(), "reading only") {
		t.Error(err)
	}
	_, err = ndfile.OpenStore(t.Context(), all.Formats, store.NewMem(), "none.zarr", ndfile.OpenOptions{})
	if !errors.Is(err, ndfile.ErrNotFound) {
		t.Error(err)
	}
}

// TestRequests: opening takes a request for each document, and a chunk one.
func TestRequests(t *testing.T) {
	ctx, dir, i4 := t.Context(), t.TempDir(), ndarray.MustParse("<i4")
	const n, chunk = 500_000, 10_000
	data := make([]byte, n*4)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	for _, test := range []struct {
		format           string
		named, byContent int
	}{{"zarr0", 2, 3}, {"zarr2", 2, 4}, {"zarr3", 1, 5}, {"bcolz", 4, 7}} {
		path := dir + "/" + test.format + map[bool]string{true: ".bcolz", false: ".zarr"}[test.format == "bcolz"]
		attrs := ndfile.NewAttrs()
		attrs.Set("a", pyjson.Int(1))
		w, err := ndfile.Create(ctx, all.Formats, path, ndfile.CreateOptions{Format: test.format, Attrs: attrs})
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.Add(ctx, "", ndfile.Spec{DType: i4, Shape: []int64{n}, Chunks: []int64{chunk}})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full([]int64{n}), ndarray.Buffer{DType: i4, Shape: []int64{n}, Data: data})
		}
		if err := errors.Join(err, w.Close(ctx)); err != nil {
			t.Fatal(err)
		}
		counter := storetest.Count(store.OfFS(os.DirFS(dir)))
		var f ndfile.File
		for _, way := range []struct {
			format string
			want   int
		}{{"", test.byContent}, {test.format, test.named}} {
			if f, err = ndfile.OpenStore(ctx, all.Formats, counter, filepath.Base(path), ndfile.OpenOptions{Format: way.format}); err != nil {
				t.Fatal(err)
			}
			if log, _ := counter.Taken(); len(log) > way.want {
				t.Errorf("%s opened as %q takes %d requests, expected at most %d: %v", test.format, way.format, len(log), way.want, log)
			}
		}
		if a, err = f.Array(""); err != nil {
			t.Fatal(err)
		}
		for _, box := range []struct {
			start, count int64
			want         int
		}{
			{0, n, n / chunk},                    // whole chunks
			{chunk + 100, 50, 1},                 // a part of one
			{chunk + 101, 2, 0},                  // what is kept of it
			{7*chunk - 10, 20, 2},                // parts of two
			{20 * chunk, 3 * chunk / 2, 2},       // and a whole one
			{30*chunk + 5, 2*chunk + chunk/3, 3}, // and between parts
		} {
			got := make([]byte, box.count*4)
			err := a.ReadBox(ctx, ndarray.Box{Start: []int64{box.start}, Count: []int64{box.count}, Step: []int64{1}}, ndarray.Buffer{DType: i4, Shape: []int64{box.count}, Data: got})
			if err != nil || !bytes.Equal(got, data[box.start*4:][:len(got)]) {
				t.Errorf("%s: wrong at %d (%v)", test.format, box.start, err)
			}
			if log, _ := counter.Taken(); len(log) > box.want {
				t.Errorf("%s, %d from %d on: %d requests, expected %d: %v", test.format, box.count, box.start, len(log), box.want, log)
			}
		}
		f.Abort()
	}
}

// TestZip: an array in a zip file is read by its path, converted and verified; it is not changed.
func TestZip(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	for _, format := range []string{"zarr0", "zarr2", "zarr3", "bcolz"} {
		src, file := dir+"/"+format, dir+"/"+format+".zarr.ZIP"
		data := []byte("0123456789abcdefghij")
		items := []ndfile.Item{{Data: ndarray.Buffer{DType: ndarray.MustParse("<i2"), Shape: []int64{10}, Data: data}}}
		if err := ndfile.Save(ctx, all.Formats, src, items, ndfile.SaveOptions{FS: ndfile.OS, Format: format}); err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		w := zip.NewWriter(&text)
		if err := errors.Join(w.AddFS(os.DirFS(src)), w.Close(), os.WriteFile(file, text.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"", format} {
			f, got, err := ndfile.OpenAs(ctx, all.Formats, file, ndfile.OpenOptions{Format: name})
			if err != nil || got.Name() != format {
				t.Errorf("%s as %q: %v", format, name, err)
				continue
			}
			if elements, _, kind := loaded(ctx, f, nil); !bytes.Equal(elements[:len(data)], data) || kind != nil {
				t.Errorf("%s: %q, %v", format, elements, kind)
			}
		}
		sink := ndfile.Sink{Infos: make([]ndfile.LoadInfo, 1), Buf: make([]byte, 100)}
		if err := ndfile.Load(ctx, all.Formats, ndfile.OS, file, &sink); err != nil || !bytes.Equal(sink.Buf[:len(data)], data) {
			t.Errorf("%s loaded: %v", format, err)
		}
		if got, err := ndfile.Detect(ctx, all.Formats, ndfile.OS, file); err != nil || got.Name() != format {
			t.Errorf("%s: detected as %v, %v", format, got, err)
		}
		if _, err := ndfile.Convert(ctx, all.Formats, file, src+".npy", ndfile.ConvertOptions{}); err != nil {
			t.Error(err)
		}
		err := ndfile.Verify(ctx, all.Formats, file, ndfile.VerifyOptions{}, func(p ndfile.Problem) { t.Errorf("%s: %v", format, p) })
		if err != nil {
			t.Error(err)
		}
		if _, err := ndfile.Open(ctx, all.Formats, file, ndfile.OpenOptions{Mode: ndfile.Update}); !errors.Is(err, ndfile.ErrNotSupported) {
			t.Error(err)
		}
	}
	if _, err := ndfile.Create(ctx, all.Formats, dir+"/new.zarr.zip", ndfile.CreateOptions{Format: "zarr2"}); !errors.Is(err, ndfile.ErrNotSupported) {
		t.Errorf("creating a zip file: %v", err)
	}
	if _, err := ndfile.Open(ctx, all.Formats, dir+"/none.zip", ndfile.OpenOptions{}); !errors.Is(err, ndfile.ErrNotFound) {
		t.Error(err)
	}
}
