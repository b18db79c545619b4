package all_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// The test binary runs itself as other writers: job, path, number of the writer and
// of its operations.
const jobEnv = "NDFILE_TEST_WRITER"

// scaleEnv multiplies the operations, for long runs.
const scaleEnv = "NDFILE_TEST_WRITERS_SCALE"

var ctx = context.Background()

func TestMain(m *testing.M) {
	job := strings.Split(os.Getenv(jobEnv), "|")
	if len(job) < 4 {
		os.Exit(m.Run())
	}
	k, _ := strconv.ParseInt(job[2], 10, 64)
	n, _ := strconv.ParseInt(job[3], 10, 64)
	if err := jobs[job[0]](job[1], k, n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

var jobs = map[string]func(path string, k, n int64) error{"append": appendRows, "stripes": writeStripes, "hold": hold, "some": appendUntilKilled, "mixed": mixed, "create": createForever}

// start runs a job in a process of its own.
func start(t *testing.T, job, path string, k, n int64) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d|%d", jobEnv, job, path, k, n))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, out
}

func scale() int64 {
	if n, err := strconv.ParseInt(os.Getenv(scaleEnv), 10, 64); err == nil && n > 0 {
		return n
	}
	return 1
}

func column(values ...int64) ndarray.Buffer {
	b := ndarray.Buffer{DType: ndarray.MustParse("<i8"), Shape: []int64{int64(len(values))}}
	for _, v := range values {
		b.Data = binary.LittleEndian.AppendUint64(b.Data, uint64(v))
	}
	return b
}

func open(path string, opt ndfile.OpenOptions) (ndfile.File, error) {
	opt.Mode = ndfile.Update
	return ndfile.Open(ctx, all.Formats, path, opt)
}

// appendOne appends the rows of one append: 7 of them, which say whose they are.
func appendOne(path string, id int64) error {
	for {
		f, err := open(path, ndfile.OpenOptions{Timeout: 20 * time.Millisecond})
		if errors.Is(err, ndfile.ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		var x, minus []int64
		for i := range int64(7) {
			x, minus = append(x, id*7+i), append(minus, -id*7-i)
		}
		if err := f.(ndfile.RowResizer).AppendRows(ctx, []ndarray.Buffer{column(x...), column(minus...)}); err != nil {
			return err
		}
		return f.Close(ctx)
	}
}

func appendRows(path string, k, n int64) error {
	for i := range n {
		if err := appendOne(path, k*n+i); err != nil {
			return err
		}
	}
	return nil
}

// appendUntilKilled tells of each append when it is done.
func appendUntilKilled(path string, k, n int64) error {
	for i := range n {
		if err := appendOne(path, k*n+i); err != nil {
			return err
		}
		fmt.Println(k*n + i)
	}
	return nil
}

// appendedTable makes an empty table whose columns have chunks of different lengths.
func appendedTable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.bcolz")
	f, err := ndfile.Create(ctx, all.Formats, path, ndfile.CreateOptions{})
	for _, c := range []struct {
		name  string
		chunk int64
	}{{"x", 40}, {"minus", 25}} {
		if err == nil {
			_, err = f.Add(ctx, c.name, ndfile.Spec{DType: ndarray.MustParse("<i8"), Shape: []int64{0}, Chunks: []int64{c.chunk}})
		}
	}
	if err == nil {
		err = f.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// read gives an array of a file.
func read(t *testing.T, path, name string) []int64 {
	t.Helper()
	f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	a, err := f.Array(name)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := ndarray.NewBuffer(ndarray.MustParse("<i8"), a.Spec().Shape)
	if err == nil {
		err = a.ReadBox(ctx, ndarray.Full(a.Spec().Shape), dst)
	}
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int64, len(dst.Data)/8)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(dst.Data[8*i:]))
	}
	return values
}

// appends gives the appends that a table holds, each of which must be whole.
func appends(t *testing.T, path string) map[int64]bool {
	t.Helper()
	x, minus := read(t, path, "x"), read(t, path, "minus")
	if len(x) != len(minus) || len(x)%7 != 0 {
		t.Fatalf("columns of %d and %d rows", len(x), len(minus))
	}
	there := map[int64]bool{}
	for i, v := range x {
		if minus[i] != -v || v%7 != int64(i%7) || i%7 > 0 && x[i-1] != v-1 {
			t.Fatalf("row %d is %d, %d: appends are mixed", i, v, minus[i])
		}
		if i%7 == 0 && there[v/7] {
			t.Fatalf("append %d is there twice", v/7)
		}
		there[v/7] = true
	}
	return there
}

// TestAppendersTakeTurns: three processes append to one table, and lose nothing.
func TestAppendersTakeTurns(t *testing.T) {
	path, n := appendedTable(t), 15*scale()
	var writers []*exec.Cmd
	for k := range int64(3) {
		c, _ := start(t, "append", path, k, n)
		writers = append(writers, c)
	}
	for k, c := range writers {
		if err := c.Wait(); err != nil {
			t.Fatalf("writer %d: %v", k, err)
		}
	}
	if there := appends(t, path); int64(len(there)) != 3*n {
		t.Errorf("%d appends, expected %d", len(there), 3*n)
	}
	if _, err := os.Stat(path + "/.ndf-lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file: %v", err)
	}
}

// TestKilledAppenders: writers are killed at any moment. What they reported is
// there, each append is whole or not there, and others go on.
func TestKilledAppenders(t *testing.T) {
	path, rng := appendedTable(t), rand.New(rand.NewPCG(7, 7))
	reported := map[int64]bool{}
	rounds := int(6 * scale())
	for round := range rounds {
		var outs []*bytes.Buffer
		var cs []*exec.Cmd
		for k := range int64(2) {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), fmt.Sprintf("%s=some|%s|%d|%d", jobEnv, path, int64(2*round)+k, 1_000_000))
			out := &bytes.Buffer{}
			c.Stdout = out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			cs, outs = append(cs, c), append(outs, out)
		}
		time.Sleep(time.Duration(30+rng.IntN(120)) * time.Millisecond)
		for i, c := range cs {
			c.Process.Kill()
			c.Wait()
			for _, line := range strings.Split(outs[i].String(), "\n") {
				if id, err := strconv.ParseInt(line, 10, 64); err == nil {
					reported[id] = true
				}
			}
		}
	}
	begin := time.Now()
	if err := appendOne(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the next append took %v", took)
	}
	there := appends(t, path)
	for id := range reported {
		if !there[id] {
			t.Errorf("append %d was reported and is lost", id)
		}
	}
	t.Logf("%d appends reported, %d there", len(reported), len(there))
}

const stripe = 17

// writeStripes writes its own elements, of chunks that others write too.
func writeStripes(path string, k, n int64) error {
	f, err := open(path, ndfile.OpenOptions{Shared: true})
	if err != nil {
		return err
	}
	a, err := f.Array("")
	if err != nil {
		return err
	}
	rows, rng := a.Spec().Shape[0], rand.New(rand.NewPCG(uint64(k), 1))
	for value := int64(1); value <= n; value++ {
		for at := k * stripe; at < rows; at += 4 * stripe {
			if value < n && rng.IntN(3) > 0 {
				continue
			}
			count := min(stripe, rows-at)
			values := make([]int64, count)
			for i := range values {
				values[i] = value
			}
			if err := a.WriteBox(ctx, ndarray.Box{Start: []int64{at}, Count: []int64{count}}, column(values...)); err != nil {
				return err
			}
		}
	}
	return f.Close(ctx)
}

// TestSharedRegions: four processes write regions of one array that share chunks,
// and lose nothing.
func TestSharedRegions(t *testing.T) {
	for _, format := range []string{"zarr0", "zarr2", "zarr3", "bcolz"} {
		path, n := filepath.Join(t.TempDir(), "x"), 5*scale()
		f, err := ndfile.Create(ctx, all.Formats, path, ndfile.CreateOptions{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		a, err := f.Add(ctx, "", ndfile.Spec{DType: ndarray.MustParse("<i8"), Shape: []int64{2000}, Chunks: []int64{300}})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full([]int64{2000}), column(make([]int64, 2000)...))
		}
		if err == nil {
			err = f.Close(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		var writers []*exec.Cmd
		for k := range int64(4) {
			c, _ := start(t, "stripes", path, k, n)
			writers = append(writers, c)
		}
		for _, c := range writers {
			if err := c.Wait(); err != nil {
				t.Fatal(format, err)
			}
		}
		lost := 0
		for _, v := range read(t, path, "") {
			if v != n {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("%s: %d of 2000 elements are lost", format, lost)
		}
	}
}

// hold holds the lock until it is killed.
func hold(path string, _, _ int64) error {
	if _, err := open(path, ndfile.OpenOptions{}); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return nil
}

// TestHolderKilled: the holder is named, and when it is killed the next writer comes
// at once.
func TestHolderKilled(t *testing.T) {
	path := appendedTable(t)
	c, out := start(t, "hold", path, 0, 0)
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	_, err := open(path, ndfile.OpenOptions{Timeout: -1})
	if !errors.Is(err, ndfile.ErrBusy) || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) {
		t.Fatalf("open beside the holder: %v", err)
	}
	if _, err := open(path, ndfile.OpenOptions{Timeout: -1, Shared: true}); !errors.Is(err, ndfile.ErrBusy) {
		t.Fatalf("open shared beside the holder: %v", err)
	}
	calls := 0
	_, err = open(path, ndfile.OpenOptions{Timeout: time.Minute, Progress: func(int64, int64) bool { calls++; return calls < 2 }})
	if !errors.Is(err, ndfile.ErrCanceled) {
		t.Fatalf("waiting was ended: %v", err)
	}
	if len(read(t, path, "x")) != 0 { // readers are not kept out
		t.Error("rows")
	}
	c.Process.Kill()
	c.Wait()
	begin := time.Now()
	f, err := open(path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("waited %v for a writer that was killed", took)
	}
	f.Abort()
}

// TestKilledHolders: in every format that locks, the next writer does not wait for
// one that was killed.
func TestKilledHolders(t *testing.T) {
	for name, kind := range mixedKinds {
		path := filepath.Join(t.TempDir(), "s")
		if err := kind.create(path, name == "table"); err != nil {
			t.Fatal(err)
		}
		c, out := start(t, "hold", path, 0, 0)
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if _, err := open(path, ndfile.OpenOptions{Timeout: -1}); !errors.Is(err, ndfile.ErrBusy) {
			t.Fatalf("%s: open beside the holder: %v", name, err)
		}
		opened := make(chan error, 1)
		go func() { // waits already when the holder is killed
			f, err := open(path, ndfile.OpenOptions{Timeout: time.Minute})
			if err == nil {
				err = f.Close(ctx)
			}
			opened <- err
		}()
		c.Process.Kill()
		c.Wait()
		begin := time.Now()
		if err := <-opened; err != nil {
			t.Fatal(name, err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%s: waited %v for a writer that was killed", name, took)
		}
	}
}

// TestLockByFile: who locks by the file, for other machines, and who locks the folder
// only keep each other out.
func TestLockByFile(t *testing.T) {
	path := appendedTable(t)
	for _, first := range []bool{false, true} {
		f, err := open(path, ndfile.OpenOptions{RequireLock: first})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + "/.ndf-lock"); first && err != nil {
			t.Errorf("the file of a lock that is required: %v", err)
		}
		for _, second := range []bool{false, true} {
			_, err := open(path, ndfile.OpenOptions{RequireLock: second, Timeout: -1})
			if !errors.Is(err, ndfile.ErrBusy) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
				t.Errorf("required %v beside required %v: %v", second, first, err)
			}
		}
		f.Abort()
	}
	if f, err := open(path, ndfile.OpenOptions{Timeout: -1}); err != nil {
		t.Error(err)
	} else {
		f.Abort()
	}
	if _, err := os.Stat(path + "/.ndf-lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file: %v", err)
	}
}

// TestTurns: writers who come again at once let one who waits go first, so that all
// get about as many turns.
func TestTurns(t *testing.T) {
	path := appendedTable(t)
	var turns [3]atomic.Int64
	var over atomic.Bool
	var wait sync.WaitGroup
	for k := range turns {
		wait.Go(func() {
			for !over.Load() {
				f, err := open(path, ndfile.OpenOptions{Timeout: time.Minute})
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(2 * time.Millisecond)
				f.Abort()
				over.CompareAndSwap(false, turns[k].Add(1) == 40)
			}
		})
	}
	wait.Wait()
	for k := range turns {
		if n := turns[k].Load(); n < 8 {
			t.Errorf("writer %d had %d turns, another one 40", k, n)
		}
	}
}

// TestWithoutLocks: what a program that takes no locks changed is not undone.
func TestWithoutLocks(t *testing.T) {
	path := appendedTable(t)
	f, err := open(path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.(ndfile.RowResizer).AppendRows(ctx, []ndarray.Buffer{column(1), column(-1)}); err != nil {
		t.Fatal(err)
	}
	theirs := []byte(`{"shape": [3], "nbytes": 24, "cbytes": 320}` + "\n")
	if err := os.WriteFile(path+"/x/meta/sizes", theirs, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(ctx); !errors.Is(err, ndfile.ErrBusy) {
		t.Errorf("Close: %v", err)
	}
	if now, err := os.ReadFile(path + "/x/meta/sizes"); err != nil || !bytes.Equal(now, theirs) {
		t.Errorf("meta/sizes is %q, %v", now, err)
	}
}
