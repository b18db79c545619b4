package all_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
	"github.com/ndfile/ndfile/pkg/store"
	"github.com/ndfile/ndfile/pkg/store/disk"
	"github.com/ndfile/ndfile/pkg/store/storetest"
)

// place is where a test writes: a folder on the disk, or a store.
type place struct {
	open   func(opt ndfile.OpenOptions) (ndfile.File, error)
	create func(opt ndfile.CreateOptions) (ndfile.File, error)
	values func() map[string]string
}

// inFolder is the place x.EXT in a folder.
func inFolder(t *testing.T, name string) place {
	dir := t.TempDir()
	return place{
		open: func(opt ndfile.OpenOptions) (ndfile.File, error) {
			return ndfile.Open(t.Context(), all.Formats, dir+"/"+name, opt)
		},
		create: func(opt ndfile.CreateOptions) (ndfile.File, error) {
			return ndfile.Create(t.Context(), all.Formats, dir+"/"+name, opt)
		},
		values: func() map[string]string {
			found := map[string]string{}
			if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					text, err := os.ReadFile(path)
					found[strings.TrimPrefix(path, dir+"/")] = string(text)
					return err
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return found
		},
	}
}

// inMemory is the place x.EXT in a store that can do nothing but get, list, put and
// delete.
func inMemory(t *testing.T, name string) (place, *storetest.Counter) {
	s := storetest.Count(store.NewMem())
	var find func(folder string, found map[string]string)
	find = func(folder string, found map[string]string) {
		if err := s.List(t.Context(), folder, func(e store.Entry) error {
			key := strings.TrimPrefix(folder+"/"+e.Name, "/")
			if e.Folder {
				find(key, found)
				return nil
			}
			value, err := store.ReadAll(t.Context(), s, key, 1<<30)
			found[key] = string(value)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return place{
		open: func(opt ndfile.OpenOptions) (ndfile.File, error) {
			return ndfile.OpenStore(t.Context(), all.Formats, s, name, opt)
		},
		create: func(opt ndfile.CreateOptions) (ndfile.File, error) {
			return ndfile.CreateStore(t.Context(), all.Formats, s, name, opt)
		},
		values: func() map[string]string {
			found := map[string]string{}
			find("", found)
			return found
		},
	}, s
}

// series is an array of some numbers.
func series(from, n int64) ndarray.Buffer {
	data := make([]byte, 4*n)
	for i := range data {
		data[i] = byte((int64(i) + 4*from) * 2654435761 >> 13)
	}
	return ndarray.Buffer{DType: ndarray.MustParse("<i4"), Shape: []int64{n}, Data: data}
}

func span(from, n int64) ndarray.Box { return ndarray.Box{Start: []int64{from}, Count: []int64{n}} }

// changing opens the file, does something and closes it.
func (p place) changing(ctx context.Context, format string, do func(f ndfile.File) error) error {
	f, err := p.open(ndfile.OpenOptions{Format: format, Mode: ndfile.Update})
	if err == nil {
		if err = do(f); err != nil {
			f.Abort()
			return err
		}
		err = f.Close(ctx)
	}
	return err
}

// writeNew makes the file: one array, or two of a dataset or table.
func (p place) writeNew(ctx context.Context, format string, names []string, spec ndfile.Spec) error {
	attrs := ndfile.NewAttrs()
	f, err := p.create(ndfile.CreateOptions{Format: format, Attrs: attrs})
	if err != nil {
		return err
	}
	for _, name := range names {
		a, err := f.Add(ctx, name, spec)
		if err == nil {
			err = a.WriteBox(ctx, span(0, 1000), series(0, 1000))
		}
		if err != nil {
			f.Abort()
			return err
		}
	}
	return f.Close(ctx)
}

// edits are changes of the file that a format can make, one after the other.
func (p place) edits(ctx context.Context, format ndfile.Format, names []string) error {
	caps, name := format.Caps(), format.Name()
	if caps&ndfile.CapUpdate == 0 {
		return nil
	}
	return errors.Join(
		p.changing(ctx, name, func(f ndfile.File) error {
			a, err := f.Array(names[0])
			if err == nil {
				err = a.WriteBox(ctx, span(130, 500), series(7, 500))
			}
			return err
		}),
		p.changing(ctx, name, func(f ndfile.File) error {
			if caps&ndfile.CapFileAttrs != 0 {
				f.Attrs().Set("note", pyjson.String("added"))
			}
			if names[0] != "" {
				return nil
			}
			a, err := f.Array("")
			r, ok := a.(ndfile.Resizer)
			if err != nil || !ok {
				return err
			}
			if err = r.Append(ctx, 0, series(3, 321)); err == nil {
				err = f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{Sync: true})
			}
			if err == nil {
				err = r.Append(ctx, 0, series(4, 5))
			}
			return err
		}),
		p.changing(ctx, name, func(f ndfile.File) error {
			if names[0] != "" {
				return nil
			}
			a, err := f.Array("")
			if r, ok := a.(ndfile.Resizer); ok && err == nil {
				return r.Resize(ctx, []int64{777})
			}
			return err
		}),
		p.changing(ctx, name, func(f ndfile.File) error {
			if r, ok := f.(ndfile.Remover); ok && caps&ndfile.CapRemove != 0 && len(names) > 1 {
				return r.Remove(ctx, names[1])
			}
			return nil
		}),
	)
}

// alike compares the values of two places.
func alike(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: the store has %v, the folder %v", when, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		for key, text := range want {
			if got[key] != text && len(text) < 1000 {
				t.Errorf("%s: %q, expected %q", key, got[key], text)
			}
		}
	}
}

// TestStoresAreWritten: what is written through a store with Get, List, Put and Delete
// is byte for byte what is written to a folder: made, changed in part, grown, cut,
// removed, and made anew over what was there.
func TestStoresAreWritten(t *testing.T) {
	ctx := t.Context()
	shard := ndfile.Spec{Chunks: []int64{50}, Shards: []int64{200}}
	for _, f := range all.Formats {
		if f.Caps()&ndfile.CapCreate == 0 || f.Name() == "netcdf" {
			continue
		}
		for _, kind := range []string{"one", "two", "groups", "shards"} {
			names, spec := []string{""}, ndfile.Spec{}
			single := f.Name() != "ds" && f.Name() != "npz"
			switch {
			case kind == "one" && !single, kind == "two" && single && f.Name() != "bcolz", kind == "groups" && f.Caps()&ndfile.CapGroups == 0, kind == "shards" && f.Name() != "zarr3":
				continue
			case kind == "two":
				names = []string{"a", "b"}
			case kind == "groups":
				names = []string{"a", "g/h/b"}
			case kind == "shards":
				spec = shard
			}
			if f.Caps()&ndfile.CapChunked != 0 && spec.Chunks == nil {
				spec.Chunks = []int64{64}
			}
			spec.DType, spec.Shape = ndarray.MustParse("<i4"), []int64{1000}
			t.Run(f.Name()+"/"+kind, func(t *testing.T) {
				name := "x" + f.Extensions()[0]
				there := inFolder(t, name)
				here, _ := inMemory(t, name)
				for range 2 { // the second time over what is there
					if err := errors.Join(there.writeNew(ctx, f.Name(), names, spec), here.writeNew(ctx, f.Name(), names, spec)); err != nil {
						t.Fatal(err)
					}
					alike(t, "made", here.values(), there.values())
					if err := errors.Join(there.edits(ctx, f, names), here.edits(ctx, f, names)); err != nil {
						t.Fatal(err)
					}
					alike(t, "changed", here.values(), there.values())
				}
			})
		}
	}
}

// TestStoreTrees: groups are added and removed, their consolidated metadata kept; what
// has a name keeps it.
func TestStoreTrees(t *testing.T) {
	ctx := t.Context()
	for _, format := range []string{"zarr2", "zarr3"} {
		spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}, Chunks: []int64{300}}
		there := inFolder(t, "x.zarr")
		here, _ := inMemory(t, "x.zarr")
		for _, p := range []place{there, here} {
			if err := p.writeNew(ctx, format, []string{"a"}, spec); err != nil {
				t.Fatal(err)
			}
			err := p.changing(ctx, format, func(f ndfile.File) error {
				tree := f.(ndfile.Tree)
				_, e := f.Add(ctx, "deep/er/b", spec)
				return errors.Join(e, tree.AddGroup(ctx, "g", nil), tree.Consolidate(ctx, true), f.(ndfile.Remover).Remove(ctx, "a"))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		alike(t, format, here.values(), there.values())
		err := here.changing(ctx, format, func(f ndfile.File) error { return f.(ndfile.Tree).Rename(ctx, "g", "h") })
		if !errors.Is(err, ndfile.ErrNotSupported) {
			t.Errorf("%s: Rename in a store: %v", format, err)
		}
		before := here.values()
		if delete(before, "x.zarr/.zmetadata"); format == "zarr2" && len(before) == 0 {
			t.Error("nothing is there")
		}
		err = here.changing(ctx, format, func(f ndfile.File) error {
			_, err := f.Add(ctx, "g", spec)
			return err
		})
		if !errors.Is(err, ndfile.ErrNameExists) {
			t.Errorf("%s: Add over a group: %v", format, err)
		}
	}
}

// TestStoreRefusals: what stores cannot do is said, and leaves nothing.
func TestStoreRefusals(t *testing.T) {
	ctx := t.Context()
	spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}, Chunks: []int64{300}}
	here, s := inMemory(t, "x.zarr")
	if err := here.writeNew(ctx, "zarr2", []string{""}, spec); err != nil {
		t.Fatal(err)
	}
	before := here.values()
	if _, err := here.create(ndfile.CreateOptions{Format: "zarr2", WriteOptions: ndfile.WriteOptions{Exclusive: true}}); !errors.Is(err, ndfile.ErrExists) {
		t.Errorf("an exclusive file over another: %v", err)
	}
	if _, err := here.create(ndfile.CreateOptions{Format: "zarr3"}); !errors.Is(err, ndfile.ErrExists) {
		t.Errorf("zarr3 over zarr2: %v", err)
	}
	for _, opt := range []ndfile.OpenOptions{{Shared: true}, {RequireLock: true}} {
		opt.Format, opt.Mode = "zarr2", ndfile.Update
		if _, err := here.open(opt); !errors.Is(err, ndfile.ErrNotSupported) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	alike(t, "refused", here.values(), before)
	for _, abandoned := range []string{"zarr2", "zarr3", "ds", "rawarray", "npz"} {
		w, err := ndfile.CreateStore(ctx, all.Formats, s, "new", ndfile.CreateOptions{Format: abandoned})
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"ds": "a", "npz": "a"}[abandoned]
		a, err := w.Add(ctx, name, ndfile.Spec{DType: spec.DType, Shape: spec.Shape})
		if err == nil {
			err = a.WriteBox(ctx, span(0, 1000), series(0, 1000))
		}
		if err := errors.Join(err, w.Abort()); err != nil {
			t.Fatal(err)
		}
		alike(t, abandoned+" aborted", here.values(), before)
	}
	readers := map[string]store.Reader{
		"reading only": store.OfFS(os.DirFS(t.TempDir())),
		"cannot list":  struct{ readWriter }{s},
	}
	for want, r := range readers {
		_, err := ndfile.CreateStore(ctx, all.Formats, r, "new.zarr", ndfile.CreateOptions{Format: "zarr2"})
		if !errors.Is(err, ndfile.ErrNotSupported) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

type readWriter interface {
	store.Reader
	store.Writer
}

// TestStoreConvert: files of a store are converted into others of it, over what is
// there too, and saved in one call.
func TestStoreConvert(t *testing.T) {
	ctx := t.Context()
	here, s := inMemory(t, "x.zarr")
	spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}, Chunks: []int64{300}}
	if err := here.writeNew(ctx, "zarr2", []string{""}, spec); err != nil {
		t.Fatal(err)
	}
	fsys := ndfile.OfStore(s)
	for range 2 {
		for _, format := range []string{"zarr3", "bcolz", "ds", "rawarray"} {
			opt := ndfile.ConvertOptions{FS: fsys, To: format, Overwrite: true, AllowLoss: true}
			if format == "ds" {
				opt.Name = "a"
			}
			if _, err := ndfile.Convert(ctx, all.Formats, "x.zarr", "to-"+format, opt); err != nil {
				t.Errorf("%s: %v", format, err)
			}
			f, err := ndfile.OpenStore(ctx, all.Formats, s, "to-"+format, ndfile.OpenOptions{})
			if data, _, kind := loaded(ctx, f, err); kind != nil || !bytes.Contains(data, series(0, 1000).Data) {
				t.Errorf("%s: %v, %d bytes", format, kind, len(data))
			}
		}
	}
	// In place: to zarr3 only documents are written; of zarr0 chunks would get other names.
	if _, err := ndfile.Convert(ctx, all.Formats, "x.zarr", "x.zarr", ndfile.ConvertOptions{FS: fsys, To: "zarr3"}); err != nil {
		t.Error(err)
	}
	f, err := here.open(ndfile.OpenOptions{Format: "zarr3"})
	if data, _, kind := loaded(ctx, f, err); kind != nil || !bytes.HasPrefix(data, series(0, 1000).Data) {
		t.Errorf("in place: %v, %d bytes", kind, len(data))
	}
	old, s0 := inMemory(t, "x.zarr")
	if err := old.writeNew(ctx, "zarr0", []string{""}, spec); err != nil {
		t.Fatal(err)
	}
	_, err = ndfile.Convert(ctx, all.Formats, "x.zarr", "x.zarr", ndfile.ConvertOptions{FS: ndfile.OfStore(s0), To: "zarr2"})
	if !errors.Is(err, ndfile.ErrNotSupported) {
		t.Errorf("zarr0 in place: %v", err)
	}
	f, err = old.open(ndfile.OpenOptions{Format: "zarr0"})
	if data, _, kind := loaded(ctx, f, err); kind != nil || !bytes.HasPrefix(data, series(0, 1000).Data) {
		t.Errorf("refused: %v, %d bytes", kind, len(data))
	}
	items := []ndfile.Item{{Name: "a", Data: series(0, 1000)}}
	if err := ndfile.Save(ctx, all.Formats, "saved.ds", items, ndfile.SaveOptions{FS: fsys}); err != nil {
		t.Error(err)
	}
	err = ndfile.Save(ctx, all.Formats, "saved.ds", items, ndfile.SaveOptions{FS: ndfile.OfStore(store.OfFS(os.DirFS(t.TempDir())))})
	if !errors.Is(err, ndfile.ErrNotSupported) {
		t.Errorf("Save to a store for reading: %v", err)
	}
}

// TestStoreFailures: at every request that fails, a change is an error, or has
// happened; what is read is old or new, chunk by chunk.
func TestStoreFailures(t *testing.T) {
	ctx := t.Context()
	boom := errors.New("the network is gone")
	for _, format := range []string{"zarr2", "zarr3", "ds"} {
		for at, more := 0, true; more && at < 100; at++ {
			inner := store.NewMem()
			broken := &breaking{Mem: inner, left: at, err: boom}
			f, err := ndfile.CreateStore(ctx, all.Formats, broken, "x", ndfile.CreateOptions{Format: format})
			if err == nil {
				var a ndfile.Array
				spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}}
				if format != "ds" {
					spec.Chunks, spec.Codecs = []int64{400}, []codec.Spec{}
				}
				if a, err = f.Add(ctx, map[string]string{"ds": "a"}[format], spec); err == nil {
					err = a.WriteBox(ctx, span(0, 1000), series(0, 1000))
				}
				if err == nil {
					err = f.Close(ctx)
				} else {
					f.Abort()
				}
			}
			more = broken.left < 0
			r, e := ndfile.OpenStore(ctx, all.Formats, inner, "x", ndfile.OpenOptions{Format: format})
			data, _, kind := loaded(ctx, r, e)
			switch {
			case err == nil && (kind != nil || !bytes.Contains(data, series(0, 1000).Data)):
				t.Errorf("%s, request %d: written without an error, and then: %v, %d bytes", format, at, kind, len(data))
			case err != nil && !errors.Is(err, boom):
				t.Errorf("%s, request %d: %v", format, at, err)
			case err != nil && kind == nil && !bytes.Contains(data, series(0, 1000).Data):
				t.Errorf("%s, request %d: an error, and others are read", format, at)
			}
		}
	}
}

// breaking is a store of which one request fails: the one when left is 0.
type breaking struct {
	*store.Mem
	left int
	err  error
}

func (b *breaking) next() error {
	if b.left--; b.left == -1 {
		return b.err
	}
	return nil
}

func (b *breaking) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	if err := b.next(); err != nil {
		return 0, store.Info{}, err
	}
	return b.Mem.Get(ctx, key, off, dst)
}

func (b *breaking) Put(ctx context.Context, key string, parts [][]byte, when store.Condition) (string, error) {
	if err := b.next(); err != nil {
		return "", err
	}
	return b.Mem.Put(ctx, key, parts, when)
}

// TestWritingRequests: a chunk is one request to write and two to change, a document
// one.
func TestWritingRequests(t *testing.T) {
	ctx := t.Context()
	for format, documents := range map[string]int{"zarr2": 1, "zarr3": 1} {
		here, s := inMemory(t, "x.zarr")
		spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}, Chunks: []int64{100}}
		if err := here.writeNew(ctx, format, []string{""}, spec); err != nil {
			t.Fatal(err)
		}
		log, _ := s.Taken()
		if n := count(log, "put"); n != 10+documents {
			t.Errorf("%s: making takes %d puts: %q", format, n, log)
		}
		if n := len(log) - count(log, "put"); n > 12 {
			t.Errorf("%s: making takes %d requests beside: %q", format, n, log)
		}
		f, err := here.open(ndfile.OpenOptions{Format: format, Mode: ndfile.Update})
		if err != nil {
			t.Fatal(err)
		}
		log, _ = s.Taken()
		if len(log) > 3 {
			t.Errorf("%s: opening takes %d requests: %q", format, len(log), log)
		}
		a, err := f.Array("")
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteBox(ctx, span(0, 300), series(5, 300)); err != nil {
			t.Fatal(err)
		}
		if log, _ = s.Taken(); len(log) != 3 || count(log, "put") != 3 {
			t.Errorf("%s: three whole chunks: %q", format, log)
		}
		if err := a.WriteBox(ctx, span(310, 20), series(5, 20)); err != nil {
			t.Fatal(err)
		}
		if log, _ = s.Taken(); len(log) != 2 || count(log, "put") != 1 {
			t.Errorf("%s: a part of a chunk: %q", format, log)
		}
		if err := f.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func count(log []string, begin string) (n int) {
	for _, line := range log {
		if strings.HasPrefix(line, begin) {
			n++
		}
	}
	return n
}

// TestDiskStore: what lies in a store that is a folder is opened as the file that it
// is, with its lock.
func TestDiskStore(t *testing.T) {
	ctx, s := t.Context(), disk.New(t.TempDir())
	spec := ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{1000}, Chunks: []int64{300}}
	p := place{create: func(opt ndfile.CreateOptions) (ndfile.File, error) {
		return ndfile.CreateStore(ctx, all.Formats, s, "x.zarr", opt)
	}}
	if err := p.writeNew(ctx, "zarr2", []string{""}, spec); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.OpenStore(ctx, all.Formats, s, "x.zarr", ndfile.OpenOptions{Mode: ndfile.Update, RequireLock: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ndfile.Open(ctx, all.Formats, s.Path()+"/x.zarr", ndfile.OpenOptions{Mode: ndfile.Update, Timeout: -1}); !errors.Is(err, ndfile.ErrBusy) {
		t.Error(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Error(err)
	}
}
