package ds

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// meter is a file system that counts what is read of its files.
type meter struct {
	ndfile.FS
	bytes, calls int64
	high         int64 // position behind what was read last in the file
}

func (m *meter) reset() { m.bytes, m.calls, m.high = 0, 0, 0 }

func (m *meter) Open(path string) (vfs.File, error) {
	f, err := m.FS.Open(path)
	return &meteredFile{f, m}, err
}

type meteredFile struct {
	vfs.File
	m *meter
}

func (f *meteredFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.m.calls++
	f.m.bytes += int64(n)
	f.m.high = max(f.m.high, off+int64(n))
	return n, err
}

// TestReadCost counts bytes: reading row by row costs little more than reading
// all, and data outside of a selection are not read.
func TestReadCost(t *testing.T) {
	const rows, columns = 400, 1000
	r := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"<f8", "|b1", "bytes", "str"} {
		c := content{dtype: ndarray.MustParse(name), shape: []int64{rows, columns}, masked: true, mask: make([]byte, rows*columns)}
		for i := range c.mask {
			c.mask[i] = byte(r.IntN(2))
			if c.dtype.IsVar() {
				c.strings = append(c.strings, "some text"[:r.IntN(9)])
			}
		}
		if !c.dtype.IsVar() {
			c.data = make([]byte, rows*columns*c.dtype.Size)
			for i := range c.data {
				c.data[i] = byte(r.IntN(2))
			}
		}
		mem := ndfile.NewMem()
		if err := save(mem, "x.ds", []ndfile.Item{c.item(r, "x")}, nil); err != nil {
			t.Fatal(err)
		}
		size := int64(len(readAll(t, mem, "x.ds")))
		m := &meter{FS: mem}
		f, err := Format.Open(ctx, m, "x.ds", ndfile.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close(ctx)
		a, err := f.Array("x")
		if err != nil {
			t.Fatal(err)
		}
		want := c.stored()
		m.reset()
		row := ndarray.Box{Start: []int64{200, 0}, Count: []int64{1, columns}}
		same(t, name, readBox(a, row), want.at(row))
		ix := &a.(*array).ix
		if index, span := ix.text-f.(*file).head.body, int64(64<<10); c.dtype.IsVar() && m.bytes > 2*index+span {
			t.Errorf("%s: the first row takes %d bytes; mask and lengths are %d", name, m.bytes, index)
		}
		if !c.dtype.IsVar() && m.bytes > (ix.data-f.(*file).head.body)+16*columns {
			t.Errorf("%s: the first row takes %d bytes; the mask is %d", name, m.bytes, ix.data-f.(*file).head.body)
		}
		m.reset()
		readBox(a, row)
		present := int64(bytes.Count(c.mask[:201*columns], []byte{0}))
		end := ix.data + present*int64(c.dtype.Size)
		if name == "|b1" {
			end = ix.data + (present+7)/8
		}
		if !c.dtype.IsVar() && m.high > end {
			t.Errorf("%s: read up to byte %d, but the row ends at %d", name, m.high, end)
		}
		m.reset()
		for i := range int64(rows) {
			row.Start[0] = i
			same(t, name, readBox(a, row), want.at(row))
		}
		// Masks and lengths are read again from the block's start on: at most
		// 4,096 elements for 1,000 of a row; strings are read twice by readBox.
		if most := 12 * size; m.bytes > most {
			t.Errorf("%s: %d rows take %d bytes of a file of %d", name, rows, m.bytes, size)
		}
		if m.calls > 10*rows {
			t.Errorf("%s: %d rows take %d calls", name, rows, m.calls)
		}
		m.reset()
		column := ndarray.Box{Start: []int64{100, 3}, Count: []int64{200, 1}}
		same(t, name, readBox(a, column), want.at(column))
		if m.bytes > 4*size || m.calls > 10*200 {
			t.Errorf("%s: half a column takes %d bytes of %d in %d calls", name, m.bytes, size, m.calls)
		}
	}
}
