package flat

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// counted is a file of rows times cols numbers, each its flat index.
func counted(t *testing.T, rows, cols int64) (path string, l Block) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "raw")
	raw := make([]byte, 3+rows*cols*4)
	for i := range rows * cols {
		binary.LittleEndian.PutUint32(raw[3+i*4:], uint32(i))
	}
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := ndfile.OS.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m := new(Mapped)
	t.Cleanup(func() {
		m.Close()
		f.Close()
	})
	return path, Block{File: f, Offset: 3, DType: ndarray.MustParse("<u4"), Shape: []int64{rows, cols}, Mapped: m}
}

func readBox(l *Block, box ndarray.Box, dtype string) (ndarray.Buffer, error) {
	dst, err := ndarray.NewBuffer(ndarray.MustParse(dtype), box.Count)
	if err == nil {
		err = l.ReadBox(context.Background(), box, dst)
	}
	return dst, err
}

// Boxes come out of a mapping as they are read.
func TestMappedBoxes(t *testing.T) {
	_, l := counted(t, 300, 500)
	plain := l
	plain.Mapped = nil
	for _, box := range []ndarray.Box{
		{Start: []int64{0, 7}, Count: []int64{300, 1}},
		{Start: []int64{3, 7}, Count: []int64{99, 100}, Step: []int64{3, 4}},
		{Start: []int64{299, 0}, Count: []int64{1, 100}, Step: []int64{1, 5}},
		{Start: []int64{0, 499}, Count: []int64{150, 1}, Step: []int64{2, 1}},
		{Start: []int64{5, 5}, Count: []int64{2, 2}},
		{Start: []int64{0, 0}, Count: []int64{300, 500}},
	} {
		for _, dtype := range []string{"<u4", ">u4", "<f8", "<i8"} {
			got, err := readBox(&l, box, dtype)
			want, err2 := readBox(&plain, box, dtype)
			if err != nil || err2 != nil || !slices.Equal(got.Data, want.Data) {
				t.Errorf("%v as %s: not the same (%v, %v)", box, dtype, err, err2)
			}
		}
	}
	if l.Mapped.data == nil {
		t.Error("nothing was mapped")
	}
}

// A file that becomes shorter is an error, and what is left of it can still be read.
func TestMappedFileGetsShorter(t *testing.T) {
	path, l := counted(t, 2000, 500)
	column := ndarray.Box{Start: []int64{0, 7}, Count: []int64{2000, 1}}
	if _, err := readBox(&l, column, "<u4"); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := readBox(&l, column, "<u4"); !errors.Is(err, ndfile.ErrCorrupt) {
			t.Errorf("after the truncation: %v", err)
		}
	}
	column.Count[0] = 400
	if got, err := readBox(&l, column, "<u4"); err != nil || binary.LittleEndian.Uint32(got.Data[399*4:]) != 399*500+7 {
		t.Errorf("what is left: %v", err)
	}
	l.Mapped.Close()
	if _, err := readBox(&l, column, "<u4"); err != nil {
		t.Errorf("without a mapping: %v", err)
	}
}

// Much is read by several threads, and comes as little does.
func TestReadShared(t *testing.T) {
	path, l := counted(t, 5000, 1000)
	for _, dtype := range []string{"<u4", ">u4"} {
		got, err := readBox(&l, ndarray.Full(l.Shape), dtype)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5000 * 1000 {
			n := binary.LittleEndian.Uint32(got.Data[i*4:])
			if dtype == ">u4" {
				n = binary.BigEndian.Uint32(got.Data[i*4:])
			}
			if n != uint32(i) {
				t.Fatalf("%s: element %d is %d", dtype, i, n)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dst := make([]byte, minShared)
	if err := ReadFull(ctx, l.File, dst, 0); err == nil {
		t.Error("canceled, and no error")
	}
	if err := os.Truncate(path, 5<<20); err != nil {
		t.Fatal(err)
	}
	var e *ndfile.Error
	if err := ReadFull(context.Background(), l.File, dst, 0); !errors.As(err, &e) || !errors.Is(err, ndfile.ErrCorrupt) || e.Offset < 0 || e.Offset > 5<<20 {
		t.Errorf("of a file that is too short: %v", err)
	}
}

// Runs at any places come out of a mapping, in either byte order; after the file became
// shorter nothing is given.
func TestScatteredRuns(t *testing.T) {
	path, l := counted(t, 2000, 500)
	for _, n := range []int64{1, 2, 3, 500} {
		for _, dtype := range []string{"<u4", ">u4"} {
			starts := []int64{7, 0, 1_000_000/n - 1, 7, 3}
			dst, err := ndarray.NewBuffer(ndarray.MustParse(dtype), []int64{5 * n})
			if err != nil {
				t.Fatal(err)
			}
			if done, err := l.ReadScattered(t.Context(), starts, n, dst); !done || err != nil {
				t.Fatal(n, dtype, done, err)
			}
			for i, p := range starts {
				for k := range n {
					at := (int64(i)*n + k) * 4
					got := binary.LittleEndian.Uint32(dst.Data[at:])
					if dtype == ">u4" {
						got = binary.BigEndian.Uint32(dst.Data[at:])
					}
					if got != uint32(p*n+k) {
						t.Fatalf("runs of %d as %s: element %d of run %d is %d", n, dtype, k, p, got)
					}
				}
			}
		}
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	dst, _ := ndarray.NewBuffer(ndarray.MustParse("<u4"), []int64{2})
	if done, err := l.ReadScattered(t.Context(), []int64{0, 999_999}, 1, dst); done || err != nil {
		t.Error("what is gone was read: ", done, err)
	}
	if done, err := l.ReadScattered(t.Context(), []int64{0, 5}, 1, dst); !done || err != nil {
		t.Error("what is left was not read: ", err)
	}
}
