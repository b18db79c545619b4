package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// bytesOf is a packed buffer of one-byte elements.
func bytesOf(data []byte, shape ...int64) ndarray.Buffer {
	return ndarray.Buffer{DType: ndarray.MustParse("|u1"), Shape: shape, Data: data}
}

func readAll(a *Array) ([]byte, error) {
	dst, err := ndarray.NewBuffer(a.DType, slices.Clone(a.Shape()))
	if err == nil {
		err = a.ReadBox(ctx, ndarray.Full(a.Shape()), dst)
	}
	return dst.Data, err
}

func mustRead(t *testing.T, a *Array) []byte {
	t.Helper()
	data, err := readAll(a)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seven is 25 rows of two in chunks of seven rows, the last with four.
func seven(t *testing.T, fsys vfs.FS, rows int64, short bool) *Array {
	return newArray(t, fsys, []int64{7, 2}, []int64{rows, 2}, func(a *Array) {
		a.Sparse, a.ShortLast, a.Header = false, short, testHeader{}
	})
}

// TestFaultSweep makes each call of each way to change chunks fail. Afterwards
// every chunk is the old or the new one, for those who read now and for those who
// come later, no temporary file is left, and the same call succeeds.
func TestFaultSweep(t *testing.T) {
	lost := errors.New("lost")
	rows := func(n int64) ndarray.Buffer { return bytesOf(bytes.Repeat([]byte{9}, int(2*n)), n, 2) }
	ops := map[string]func(a *Array) error{
		"write": func(a *Array) error {
			return a.WriteBox(ctx, ndarray.Box{Start: []int64{3, 0}, Count: []int64{20, 1}}, bytesOf(bytes.Repeat([]byte{7}, 20), 20, 1))
		},
		"write over chunks": func(a *Array) error {
			return a.WriteBox(ctx, ndarray.Full([]int64{25, 2}), bytesOf(bytes.Repeat([]byte{7}, 50), 25, 2))
		},
		"append": func(a *Array) error { _, err := a.AppendRows(ctx, rows(1)); return err },
		"append over chunks": func(a *Array) error {
			if a.Unflushed() == 0 {
				if _, err := a.AppendRows(ctx, rows(2)); err != nil {
					return err
				}
			}
			_, err := a.AppendRows(ctx, rows(20))
			return err
		},
		"flush": func(a *Array) error {
			if a.Unflushed() == 0 {
				if _, err := a.AppendRows(ctx, rows(2)); err != nil {
					return err
				}
			}
			return a.FlushRows(ctx)
		},
		"refill": func(a *Array) error { return a.Refill(ctx, []int64{10, 1}) },
	}
	for name, op := range ops {
		for _, short := range []bool{false, true} {
			if short && name == "refill" {
				continue // it cuts rows
			}
			old := make([]byte, 50)
			for i := range old {
				old[i] = byte(i + 1)
			}
			start := func() (*vfs.Mem, *vfs.Fault, *Array) {
				m := vfs.NewMem()
				if err := seven(t, m, 25, short).WriteBox(ctx, ndarray.Full([]int64{25, 2}), bytesOf(old, 25, 2)); err != nil {
					t.Fatal(err)
				}
				f := vfs.NewFault(m)
				return m, f, seven(t, f, 25, short)
			}
			_, _, a := start()
			if err := op(a); err != nil {
				t.Fatal(err)
			}
			want := mustRead(t, a)
			for kind, arm := range map[string]func(f *vfs.Fault, i int64){
				"once": func(f *vfs.Fault, i int64) { f.FailAt(i, lost) }, "short": (*vfs.Fault).ShortWriteAt,
			} {
				for i := int64(0); ; i++ {
					m, f, a := start()
					arm(f, i)
					err := op(a)
					if f.Count() <= i {
						if err != nil || i < 2 {
							t.Fatalf("%s: %d calls without a fault: %v", name, i, err)
						}
						break
					}
					what := fmt.Sprintf("%s, short %v, call %d %s, error %v", name, short, i, kind, err)
					if err != nil && kind == "once" && !errors.Is(err, lost) {
						t.Errorf("%s: the error hides its cause", what)
					}
					if err == nil {
						if got := mustRead(t, a); !bytes.Equal(got, want) {
							t.Errorf("%s: read %v", what, got)
						}
						continue
					}
					if kind == "once" && !strings.Contains(err.Error(), "/d") {
						t.Errorf("%s: the error names no file", what)
					}
					if n := a.Shape()[0] - a.Unflushed(); n != 25 {
						t.Errorf("%s: %d rows, of which %d are not flushed", what, a.Shape()[0], a.Unflushed())
					}
					for who, got := range map[string][]byte{"now": mustRead(t, a)[:50], "later": mustRead(t, seven(t, m, 25, short))} {
						for from := 0; from < 50; from += 14 {
							chunk := got[from:min(from+14, 50)]
							if !bytes.Equal(chunk, old[from:from+len(chunk)]) && !bytes.Equal(chunk, want[from:from+len(chunk)]) {
								t.Errorf("%s: chunk at %d reads %s %v", what, from, who, chunk)
							}
						}
					}
					list, _ := m.ReadDir("/d")
					for _, e := range list {
						if vfs.IsTempName(e.Name) {
							t.Errorf("%s: left %s", what, e.Name)
						}
					}
					if err := op(a); err != nil {
						t.Errorf("%s: again: %v", what, err)
					}
					if got := mustRead(t, a); !bytes.Equal(got, want) {
						t.Errorf("%s: again: read %v, want %v", what, got, want)
					}
				}
			}
		}
	}
}

// TestReadFaults: a read that fails says so, and the next one succeeds.
func TestReadFaults(t *testing.T) {
	for _, box := range []ndarray.Box{ndarray.Full([]int64{25, 2}), {Start: []int64{8, 1}, Count: []int64{1, 1}}} {
		for i := int64(0); ; i++ {
			m := vfs.NewMem()
			seven(t, m, 25, true).WriteBox(ctx, ndarray.Full([]int64{25, 2}), bytesOf(make([]byte, 50), 25, 2))
			f := vfs.NewFault(m)
			a := seven(t, f, 25, true)
			lost := errors.New("lost")
			f.FailAt(i, lost)
			dst, _ := ndarray.NewBuffer(a.DType, box.Count)
			err := a.ReadBox(ctx, box, dst)
			if f.Count() <= i {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			if err != nil && !errors.Is(err, lost) { // looking for a symlink may fail: the read is what counts
				t.Errorf("call %d: %v", i, err)
			}
			if err := a.ReadBox(ctx, box, dst); err != nil {
				t.Errorf("call %d, again: %v", i, err)
			}
		}
	}
}

// TestDamagedFiles: a file of a chunk that is cut anywhere, or has a wrong bit,
// gives an error with its place, or the right elements.
func TestDamagedFiles(t *testing.T) {
	for _, codec := range []Codec{Plain{}, Blosc{Level: 5, TypeSize: 1}, Blosc{Level: 0, TypeSize: 1}} {
		for _, short := range []bool{false, true} {
			m := vfs.NewMem()
			plain := bytes.Repeat([]byte("abcdefgh"), 100)
			open := func() *Array {
				return newArray(t, m, []int64{100, 8}, []int64{90, 8}, func(a *Array) {
					a.Sparse, a.ShortLast, a.Header, a.Codec = false, short, testHeader{}, codec
				})
			}
			if err := open().WriteBox(ctx, ndarray.Full([]int64{90, 8}), bytesOf(plain[:720], 90, 8)); err != nil {
				t.Fatal(err)
			}
			file := make([]byte, 2000)
			n, _, _ := m.ReadSmall(ctx, "/d/c.0.0", file)
			file = file[:n]
			check := func(what string, damaged []byte, mustFail bool) {
				t.Helper()
				m.WriteFile("/d/c.0.0", [][]byte{damaged}, vfs.WriteOptions{})
				got, err := readAll(open())
				_, one := read2(open(), 50, 3)
				if err == nil && (mustFail || len(got) != 720) {
					t.Errorf("%T %s: read", codec, what)
				}
				if e := new(ndfile.Error); err != nil && (!errors.As(err, &e) || e.Path != "/d/c.0.0" || e.Offset < 0) {
					t.Errorf("%T %s: error without a place: %v", codec, what, err)
				}
				if mustFail && one == nil {
					t.Errorf("%T %s: an element was read", codec, what)
				}
				// To write a part needs the rest.
				before := bytes.Clone(damaged)
				werr := open().WriteBox(ctx, ndarray.Box{Start: []int64{0, 0}, Count: []int64{1, 1}}, bytesOf([]byte{1}, 1, 1))
				if mustFail {
					k, _, _ := m.ReadSmall(ctx, "/d/c.0.0", file[:cap(file)][n:])
					if werr == nil || !bytes.Equal(file[:cap(file)][n:n+k], before) {
						t.Errorf("%T %s: written in part, error %v", codec, what, werr)
					}
				}
			}
			for cut := range file {
				check(fmt.Sprintf("cut to %d", cut), file[:cut], true)
			}
			for i := range file {
				for bit := range 8 {
					damaged := bytes.Clone(file)
					damaged[i] ^= 1 << bit
					check(fmt.Sprintf("bit %d of byte %d", bit, i), damaged, false)
				}
			}
			check("bytes behind the chunk", append(bytes.Clone(file), "junk"...), codec == Plain{})
		}
	}
}

func read2(a *Array, row, column int64) (byte, error) {
	dst := bytesOf(make([]byte, 1), 1, 1)
	err := a.ReadBox(ctx, ndarray.Box{Start: []int64{row, column}, Count: []int64{1, 1}}, dst)
	return dst.Data[0], err
}

// TestCrash pulls the plug at each call of a synced write: every chunk is the old
// or the new one, and all are new once the write has returned.
func TestCrash(t *testing.T) {
	box, all := ndarray.Box{Start: []int64{0, 0}, Count: []int64{8, 7}}, ndarray.Full([]int64{8, 8})
	old, new := bytes.Repeat([]byte{1, 1, 1, 1, 1, 1, 1, 0}, 8), bytes.Repeat([]byte{2}, 64)
	for i := int64(0); ; i++ {
		m := vfs.NewMem()
		open := func(fsys vfs.FS) *Array {
			return newArray(t, fsys, []int64{4, 4}, []int64{8, 8}, func(a *Array) { a.AppendPath, a.Write.Sync = pathIn("/d", "/"), true })
		}
		if err := open(m).WriteBox(ctx, box, bytesOf(bytes.Repeat([]byte{1}, 56), 8, 7)); err != nil {
			t.Fatal(err)
		}
		f := vfs.NewFault(m)
		f.FailFrom(i, errors.New("lost"))
		err := open(f).WriteBox(ctx, all, bytesOf(new, 8, 8))
		got := mustRead(t, open(m.CrashClone()))
		for _, corner := range []int{0, 4, 32, 36} {
			want := old
			if err == nil || got[corner] == 2 {
				want = new
			}
			for at := corner; at < corner+32; at += 8 {
				if !bytes.Equal(got[at:at+4], want[at:at+4]) {
					t.Errorf("power lost at call %d, error %v: %v at %d", i, err, got[at:at+4], at)
				}
			}
		}
		if f.Count() <= i {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}
