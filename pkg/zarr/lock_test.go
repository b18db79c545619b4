package zarr

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The test binary runs itself as a second writer: writerEnv holds the path of the
// array and the remainder of the elements that it writes.
const writerEnv = "NDFILE_TEST_ZARR_WRITER"

func TestMain(m *testing.M) {
	if path, mine, ok := strings.Cut(os.Getenv(writerEnv), "|"); ok {
		first, _ := strconv.ParseInt(mine, 10, 64)
		if err := writeEvery(path, first); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	lockedWrites = 400
	lockedChunk  = 100
)

// writeEvery writes elements first, first+2, ... one by one, appends one and sets an
// attribute, all with locks.
func writeEvery(path string, first int64) error {
	f, err := Format0.Open(ctx, ndfile.OS, path, ndfile.OpenOptions{Mode: ndfile.Update, Shared: true})
	if err != nil {
		return err
	}
	a, err := f.Array("")
	if err != nil {
		return err
	}
	one := func(v int64) ndarray.Buffer {
		return ndarray.Buffer{DType: ndarray.MustParse("<i8"), Shape: []int64{1}, Data: binary.LittleEndian.AppendUint64(nil, uint64(v))}
	}
	for i := first; i < lockedWrites; i += 2 {
		if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{i}, Count: []int64{1}}, one(i+1)); err != nil {
			return err
		}
		if i%40 == first {
			if err := a.(ndfile.Resizer).Append(ctx, 0, one(1000+i)); err != nil {
				return err
			}
		}
	}
	f.Attrs().Set("writer "+strconv.FormatInt(first, 10), pyjson.Bool(true))
	return f.Close(ctx)
}

// TestTwoProcesses: two processes write different elements of shared chunks, append
// and set attributes, and lose nothing.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zarr")
	f, err := Format0.Create(ctx, ndfile.OS, path, ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("<i8"), Shape: []int64{lockedWrites}, Chunks: []int64{lockedChunk}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var writers []*exec.Cmd
	for i := range 2 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), writerEnv+"="+path+"|"+strconv.Itoa(i))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, c)
	}
	for i, c := range writers {
		if err := c.Wait(); err != nil {
			t.Errorf("writer %d: %v", i, err)
		}
	}
	g, a := openArray(t, ndfile.OS, path, ndfile.OpenOptions{})
	defer g.Close(ctx)
	const appended = 20
	if shape := a.Spec().Shape; shape[0] != lockedWrites+appended {
		t.Fatalf("shape %v, expected %d", shape, lockedWrites+appended)
	}
	data := readBox(t, a, ndarray.Full(a.Spec().Shape))
	seen := map[uint64]bool{}
	for i := range uint64(lockedWrites + appended) {
		v := binary.LittleEndian.Uint64(data[8*i:])
		if i < lockedWrites && v != i+1 {
			t.Errorf("element %d is %d: lost", i, v)
		}
		seen[v] = true
	}
	for i := range uint64(lockedWrites) {
		if i%40 < 2 && !seen[1000+i] {
			t.Errorf("%d was appended and is lost", 1000+i)
		}
	}
	for _, key := range []string{"writer 0", "writer 1"} {
		if _, ok := g.Attrs().Get(key); !ok {
			t.Errorf("attribute %q is lost", key)
		}
	}
	for _, name := range []string{"__zdata__/0.blosc.lock", "__zmeta__.lock", "__zattr__.lock"} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || info.Size() != 0 {
			t.Errorf("%s: %v, expected an empty file", name, err)
		}
	}
}

// TestNoLockFiles: nobody who did not ask for locks gets their files.
func TestNoLockFiles(t *testing.T) {
	mem := ndfile.NewMem()
	m := newModel(t, mem, "/x.zarr", []int64{7, 5}, []int64{3, 2}, ndfile.WriteOptions{})
	f, a := update(t, mem, "/x.zarr")
	f.Attrs().Set("a", pyjson.Int(1))
	for _, c := range changes {
		src := c.model(m, newRand())
		if c.name == "write" {
			continue
		}
		if err := c.do(a, src); err != nil {
			t.Fatal(err)
		}
		m.resize([]int64{7, 5})
		if err := a.(ndfile.Resizer).Resize(ctx, m.shape); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/x.zarr", "/x.zarr/__zdata__"} {
		list, err := mem.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if strings.HasSuffix(e.Name, lockSuffix) {
				t.Errorf("%s/%s", dir, e.Name)
			}
		}
	}
}

// TestLockWaits: a call waits for a lock that somebody else holds, no longer than
// its context.
func TestLockWaits(t *testing.T) {
	mem := ndfile.NewMem()
	newModel(t, mem, "/x.zarr", []int64{7, 5}, []int64{3, 2}, ndfile.WriteOptions{})
	f, a := openArray(t, mem, "/x.zarr", ndfile.OpenOptions{Mode: ndfile.Update, Shared: true})
	defer f.Abort()
	for name, call := range map[string]func(ctx context.Context) error{
		data0 + "/0.0.blosc": func(ctx context.Context) error {
			box := ndarray.Box{Start: []int64{0, 0}, Count: []int64{1, 1}}
			return a.WriteBox(ctx, box, ndarray.Buffer{DType: a.Spec().DType, Shape: box.Count, Data: make([]byte, 2)})
		},
		meta0: func(ctx context.Context) error { return a.(ndfile.Resizer).Resize(ctx, []int64{8, 8}) },
		attrs0: func(ctx context.Context) error {
			f.Attrs().Set("a", pyjson.Int(1))
			return f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{})
		},
	} {
		unlock, err := vfs.Lock(ctx, mem, "/x.zarr/"+name+lockSuffix)
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		err = call(short)
		cancel()
		if ndfile.KindOf(err) != ndfile.ErrCanceled || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s is locked: %v", name, err)
		}
		go func() {
			time.Sleep(time.Millisecond)
			unlock()
		}()
		if err := call(ctx); err != nil {
			t.Errorf("%s was unlocked: %v", name, err)
		}
	}
}

// TestLockRefused: locks are for writers, of formats and file systems that have
// them.
func TestLockRefused(t *testing.T) {
	mem := ndfile.NewMem()
	newModel(t, mem, "/x.zarr", []int64{7, 5}, []int64{3, 2}, ndfile.WriteOptions{})
	_, err := Format0.Open(ctx, mem, "/x.zarr", ndfile.OpenOptions{Shared: true})
	if ndfile.KindOf(err) != ndfile.ErrArgument {
		t.Errorf("open for reading: %v", err)
	}
	plain := struct{ vfs.FS }{mem}
	_, err = Format0.Open(ctx, plain, "/x.zarr", ndfile.OpenOptions{Shared: true, Mode: ndfile.Update})
	if ndfile.KindOf(err) != ndfile.ErrNotSupported {
		t.Errorf("a file system without locks: %v", err)
	}
}

// TestLockedTogether: with locks, what another writer changed since the file was
// opened is kept.
func TestLockedTogether(t *testing.T) {
	mem := ndfile.NewMem()
	m := newModel(t, mem, "/x.zarr", []int64{7, 5}, []int64{3, 2}, ndfile.WriteOptions{})
	opt := ndfile.OpenOptions{Mode: ndfile.Update, Shared: true}
	f, a := openArray(t, mem, "/x.zarr", opt)
	for _, key := range []string{"kept", "changed", "deleted"} {
		f.Attrs().Set(key, pyjson.Int(1))
	}
	flush := func(f ndfile.File) {
		if err := f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	flush(f)
	g, b := openArray(t, mem, "/x.zarr", opt)
	f.Attrs().Delete("deleted")
	f.Attrs().Set("new", pyjson.Int(2))
	g.Attrs().Set("changed", pyjson.Int(3))
	flush(f)
	flush(g)
	if got := string(ndfile.AppendJSON(nil, g.Attrs())); got != `{"changed": 3, "kept": 1, "new": 2}` {
		t.Errorf("attributes: %s", got)
	}
	rng := newRand()
	for i, to := range []ndfile.Array{a, b, b, a} {
		if err := to.(ndfile.Resizer).Append(ctx, i%2, m.append(rng, i%2, 2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.checkArray(a); err != nil {
		t.Error(err)
	}
	if err := f.Close(ctx); err != nil {
		t.Error(err)
	}
	// Another array in the same place is not changed.
	mem.WriteFile("/x.zarr/"+meta0, [][]byte{[]byte(document0(`"<i4"`, "0"))}, ndfile.WriteOptions{})
	if err := b.(ndfile.Resizer).Resize(ctx, []int64{1, 1}); ndfile.KindOf(err) != ndfile.ErrBusy {
		t.Errorf("another array in its place: %v", err)
	}
	mem.Remove("/x.zarr/" + meta0)
	if err := b.(ndfile.Resizer).Resize(ctx, []int64{1, 1}); ndfile.KindOf(err) != ndfile.ErrFormat {
		t.Errorf("no array in its place: %v", err)
	}
	g.Abort()
}
