package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// serve answers requests as the worker for Go.
func serve(in io.Reader, out io.Writer) error {
	fmt.Fprintf(out, "ready ndfile=%s go=%s\n", ndfile.Version, runtime.Version())
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fmt.Fprintln(out, answer(lines.Text()))
	}
	return nil
}

// answer does what a line asks for.
func answer(line string) string {
	var r request
	if _, err := fmt.Sscan(line, &r.contender, &r.operation, &r.case_, &r.folder, &r.count); err != nil {
		return "error unexpected request: " + line
	}
	t, err := perform(r)
	switch {
	case errors.Is(err, errSkipped):
		return "skip " + strings.TrimPrefix(err.Error(), errSkipped.Error()+": ")
	case err != nil:
		return "error " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return fmt.Sprintf("ok %d %d", t.wall, t.cpu)
}

// A job is a request that has been prepared.
type job struct {
	*testCase
	request
	paths []string
	items []ndfile.Item
	into  []byte // what was read last
}

// perform prepares a request, does it by the clock, and checks what was read.
func perform(r request) (timing, error) {
	j := &job{request: r}
	var err error
	if j.testCase, err = parseCase(r.case_); err != nil {
		return timing{}, err
	}
	work, err := j.prepare()
	if err != nil {
		return timing{}, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	start, cpu := time.Now(), cpuTime()
	err = work()
	t := timing{int64(time.Since(start)), cpuTime() - cpu}
	if err == nil && strings.HasPrefix(r.operation, "read") && r.operation != "read-sum" && !bytes.Equal(j.into, j.data) {
		err = fmt.Errorf("the values read differ from those written")
	}
	return t, err
}

// cpuTime is the CPU time of this process, all threads, in nanoseconds.
func cpuTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// extensions of what the contenders write.
var extensions = map[string]string{"ds": ".ds", "ra": ".ra", "npy": ".npy", "os": ".bin", "bcolz": ".bcolz", "zarr0": ".zarr", "zarr2": ".zarr", "zarr3": ".zarr"}

// prepare makes everything ready and gives the work.
func (j *job) prepare() (work func() error, err error) {
	format, how, _ := strings.Cut(j.contender, "-")
	extension, ok := extensions[format]
	if !ok {
		return nil, fmt.Errorf("unknown contender %q", j.contender)
	}
	for i := range j.count {
		j.paths = append(j.paths, filepath.Join(j.folder, fmt.Sprintf("%06d%s", i, extension)))
	}
	for _, name := range j.names() {
		if format != "ds" {
			name = "" // these hold one array
		}
		j.items = append(j.items, ndfile.Item{Name: name, Data: j.buffer()})
	}
	if format != "ds" && j.variables > 1 {
		return nil, fmt.Errorf("%w: one array a file", errSkipped)
	}
	operation, threads, _ := strings.Cut(j.operation, "-")
	switch {
	case format == "os":
		return j.byOS()
	case j.chunk > 0:
		return j.chunked(format, operation, threads)
	case how == "many":
		return j.many()
	}
	opt := ndfile.SaveOptions{}
	if how == "direct" {
		opt.Commit = ndfile.CommitDirect
	}
	switch j.operation {
	case "write":
		return j.each(func(path string) error { return ndfile.Save(context.Background(), all.Formats, path, j.items, opt) }), nil
	case "read", "read-reused":
		sink := j.sink()
		return j.each(func(path string) error {
			err := load(path, sink)
			j.into = sink.Buf[sink.Infos[0].DataOffset:][:len(j.data)]
			return err
		}), nil
	case "read-sum":
		return j.each(j.readSum), nil
	case "map-sum":
		return j.each(j.mapSum), nil
	}
	return nil, fmt.Errorf("unknown operation %q", j.operation)
}

// each gives work on all paths, one after the other.
func (j *job) each(do func(path string) error) func() error {
	return func() error {
		for _, path := range j.paths {
			if err := do(path); err != nil {
				return err
			}
		}
		return nil
	}
}

// byOS is what a Go program without ndfile does: bytes through package os.
func (j *job) byOS() (func() error, error) {
	switch j.operation {
	case "write":
		return j.each(func(path string) error { return os.WriteFile(path, j.data, 0o666) }), nil
	case "read":
		return j.each(func(path string) (err error) {
			j.into, err = os.ReadFile(path)
			return err
		}), nil
	}
	return nil, fmt.Errorf("%w: package os writes and reads", errSkipped)
}

// sink has room for the arrays of one file, in memory that has been touched.
func (j *job) sink() *ndfile.Sink {
	size := (len(j.data)+2*ndfile.Alignment)*j.variables + 1<<16
	s := &ndfile.Sink{Buf: make([]byte, size), Infos: make([]ndfile.LoadInfo, j.variables)}
	for i := 0; i < size; i += 4096 {
		s.Buf[i] = 1
	}
	return s
}

// load reads a file into a sink.
func load(path string, s *ndfile.Sink) error {
	s.N, s.Need = 0, 0
	return ndfile.Load(context.Background(), all.Formats, ndfile.OS, path, s)
}

// many saves or loads by several goroutines, as ndf_save_many and ndf_load_many do.
func (j *job) many() (func() error, error) {
	errs := make([]error, len(j.paths))
	var do func(worker int, path string) error
	switch j.operation {
	case "write":
		do = func(_ int, path string) error {
			return ndfile.Save(context.Background(), all.Formats, path, j.items, ndfile.SaveOptions{})
		}
	case "read":
		sinks := make([]*ndfile.Sink, runtime.GOMAXPROCS(0))
		for i := range sinks {
			sinks[i] = j.sink()
		}
		do = func(worker int, path string) error {
			s := sinks[worker]
			err := load(path, s)
			j.into = s.Buf[s.Infos[0].DataOffset:][:len(j.data)]
			return err
		}
	default:
		return nil, fmt.Errorf("%w: many files are written or read", errSkipped)
	}
	return func() error {
		err := ndfile.Parallel{}.Each(context.Background(), int64(len(j.paths)), func(_ context.Context, worker int, i int64) {
			errs[i] = do(worker, j.paths[i])
		})
		return errors.Join(append(errs, err)...)
	}, nil
}

// readSum reads a file into fresh memory and adds up what it holds.
func (j *job) readSum(path string) error {
	s := ndfile.Sink{Infos: make([]ndfile.LoadInfo, 1)}
	var err error
	if s.Buf, err = unix.Mmap(-1, 0, len(j.data)+1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return err
	}
	if err := load(path, &s); err != nil {
		return err
	}
	err = j.checkSum(s.Buf[s.Infos[0].DataOffset:][:len(j.data)])
	return errors.Join(err, unix.Munmap(s.Buf))
}

// mapSum adds up what a file holds without copying it.
func (j *job) mapSum(path string) error {
	f, err := ndfile.Open(context.Background(), all.Formats, path, ndfile.OpenOptions{})
	if err != nil {
		return err
	}
	defer f.Abort()
	a, err := f.Array(f.Names()[0])
	if err != nil {
		return err
	}
	m, ok := a.(ndfile.Mapper)
	if !ok {
		return fmt.Errorf("%w: %s is not mapped", errSkipped, path)
	}
	data, unmap, err := m.Map(context.Background())
	if errors.Is(err, ndfile.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errSkipped, err)
	}
	if err != nil {
		return err
	}
	return errors.Join(j.checkSum(data), unmap())
}

// checkSum adds up float64 values, which are all 1.
func (j *job) checkSum(data []byte) error {
	if j.dtype.Kind != ndarray.Float {
		return fmt.Errorf("%w: only floats are added up", errSkipped)
	}
	if sum := sum(data); sum != float64(len(data)/8) {
		return fmt.Errorf("the sum is %g, expected %d", sum, len(data)/8)
	}
	return nil
}

// sum adds up float64 values by four accumulators.
func sum(data []byte) float64 {
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 != 0 {
		total := 0.0
		for ; len(data) >= 8; data = data[8:] {
			total += math.Float64frombits(binary.NativeEndian.Uint64(data))
		}
		return total
	}
	values := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
	var a, b, c, d float64
	for ; len(values) >= 4; values = values[4:] {
		a, b, c, d = a+values[0], b+values[1], c+values[2], d+values[3]
	}
	for _, v := range values {
		a += v
	}
	return a + b + c + d
}

// chunked works on stores in chunks, with as many threads as said.
func (j *job) chunked(format, operation, threads string) (func() error, error) {
	n := 0
	if threads != "" {
		if _, err := fmt.Sscan(threads, &n); err != nil {
			return nil, err
		}
	}
	ndfile.SetThreads(n)
	spec := ndfile.Spec{DType: j.dtype, Shape: j.shape, Chunks: []int64{j.chunk}, Codecs: ndfile.Compression{Codec: "lz4", Level: 5, Shuffle: 1}.Codecs()}
	write := func(path string) error {
		f, err := ndfile.Create(context.Background(), all.Formats, path, ndfile.CreateOptions{Format: format})
		if err != nil {
			return err
		}
		a, err := f.Add(context.Background(), "", spec)
		if err == nil {
			err = a.WriteBox(context.Background(), ndarray.Full(j.shape), j.buffer())
		}
		if err != nil {
			return errors.Join(err, f.Abort())
		}
		return f.Close(context.Background())
	}
	if operation == "write" {
		for i, path := range j.paths { // write-1 and write-2 share a folder
			j.paths[i] = path + threads
		}
		return j.each(write), nil
	}
	if threads != "" {
		for i, path := range j.paths {
			j.paths[i] = path + "1"
		}
	}
	j.into = make([]byte, len(j.data))
	return j.each(func(path string) error {
		f, err := ndfile.Open(context.Background(), all.Formats, path, ndfile.OpenOptions{Format: format})
		if err != nil {
			return err
		}
		defer f.Abort()
		a, err := f.Array(f.Names()[0])
		if err != nil {
			return err
		}
		dst := j.buffer()
		dst.Data = j.into
		return a.ReadBox(context.Background(), ndarray.Full(j.shape), dst)
	}), nil
}
