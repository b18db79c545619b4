package bcolz

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndfile/ndfile/pkg/blosc"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// modelColumn is a column in memory.
type modelColumn struct {
	name  string
	d     ndarray.DType
	rest  []int64 // shape of a row
	row   int     // bytes of it
	chunk int64
	fill  []byte
	data  []byte
}

// model is a table in memory beside one on disk.
type model struct {
	rng     *rand.Rand
	mem     *ndfile.Mem
	rows    int64
	columns []*modelColumn
	added   int
}

var modelTypes = []string{"|b1", "|u1", "<i2", ">i4", "<f8", "|S5", "<U2", ">U3", "<M8[ns]", "|V300", "<c16"}

func (m *model) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rng.IntN(2))
	}
	return b
}

func (m *model) box(c *modelColumn, from, n int64) (ndarray.Box, []int64) {
	box := ndarray.Full(append([]int64{n}, c.rest...))
	box.Start[0] = from
	return box, box.Count
}

// add adds a column, of which some rows are written.
func (m *model) add(t testing.TB, f ndfile.File) {
	m.added++
	c := &modelColumn{name: fmt.Sprint("c", m.added), d: ndarray.MustParse(modelTypes[m.rng.IntN(len(modelTypes))]), chunk: 1 + m.rng.Int64N(12)}
	if m.rng.IntN(3) == 0 {
		c.rest = []int64{1 + m.rng.Int64N(3)}
	}
	c.row = c.d.Size
	for _, n := range c.rest {
		c.row *= int(n)
	}
	c.fill = make([]byte, c.d.Size)
	spec := ndfile.Spec{DType: c.d, Shape: append([]int64{m.rows}, c.rest...), Chunks: append([]int64{c.chunk}, c.rest...)}
	if c.d.Kind == ndarray.Bool || c.d.Kind == ndarray.Int {
		c.fill = m.bytes(c.d.Size)
		spec.Fill = c.fill
	}
	a, err := f.Add(ctx, c.name, spec)
	ok(t, err)
	c.data = bytes.Repeat(c.fill, int(m.rows)*c.row/c.d.Size)
	m.columns = append(m.columns, c)
	m.write(t, a, c)
}

// write writes random rows.
func (m *model) write(t testing.TB, a ndfile.Array, c *modelColumn) {
	if m.rows == 0 {
		return
	}
	from := m.rng.Int64N(m.rows)
	n := 1 + m.rng.Int64N(m.rows-from)
	data := m.bytes(int(n) * c.row)
	box, shape := m.box(c, from, n)
	ok(t, a.WriteBox(ctx, box, buffer(c.d, data, shape...)))
	copy(c.data[int(from)*c.row:], data)
}

// resize sets the number of rows of the model.
func (m *model) resize(n int64) {
	for _, c := range m.columns {
		if size := int(n) * c.row; size <= len(c.data) {
			c.data = c.data[:size:size]
		} else {
			c.data = append(c.data, bytes.Repeat(c.fill, (size-len(c.data))/c.d.Size)...)
		}
	}
	m.rows = n
}

// step does something to both.
func (m *model) step(t testing.TB, f ndfile.File) {
	r := f.(ndfile.RowResizer)
	switch k := m.rng.IntN(10); {
	case k == 0 || len(m.columns) == 0:
		m.add(t, f)
	case k == 1 && len(m.columns) > 1:
		i := m.rng.IntN(len(m.columns))
		ok(t, f.(ndfile.Remover).Remove(ctx, m.columns[i].name))
		m.columns = slices.Delete(m.columns, i, i+1)
	case k == 2:
		n := m.rng.Int64N(m.rows + 15)
		ok(t, r.ResizeRows(ctx, n))
		m.resize(n)
	case k == 3:
		ok(t, f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{}))
	case k < 7:
		n := m.rng.Int64N(9)
		var columns []ndarray.Buffer
		for _, c := range m.columns {
			_, shape := m.box(c, 0, n)
			b := buffer(c.d, m.bytes(int(n)*c.row), shape...)
			c.data = append(c.data, b.Data...)
			columns = append(columns, b)
		}
		ok(t, r.AppendRows(ctx, columns))
		m.rows += n
	default:
		c := m.columns[m.rng.IntN(len(m.columns))]
		m.write(t, array(t, f, c.name), c)
	}
	if r.Rows() != m.rows {
		t.Fatalf("%d rows, expected %d", r.Rows(), m.rows)
	}
}

// check compares both.
func (m *model) check(t testing.TB, f ndfile.File) {
	for i, c := range m.columns {
		if f.Names()[i] != c.name {
			t.Fatalf("names %q", f.Names())
		}
		data, err := readAll(ctx, array(t, f, c.name))
		ok(t, err)
		if !bytes.Equal(data, c.data) {
			t.Fatalf("column %s (%s %v) has other elements", c.name, c.d, c.rest)
		}
	}
}

// checkDisk looks at the files: what bcolz would have written.
func (m *model) checkDisk(t testing.TB) {
	all := files(t, m.mem, "/t")
	for _, c := range m.columns {
		need := (m.rows + c.chunk - 1) / c.chunk
		for k := range need {
			raw := []byte(all[c.name+"/data/__"+decimal(k)+".blp"])
			ok(t, blpk{}.Check(raw))
			info, err := blosc.Info(raw[blpkSize:])
			ok(t, err)
			rows := min(c.chunk, m.rows-k*c.chunk)
			size, err := typeSize(c.d)
			ok(t, err)
			if info.NBytes != int(rows)*c.row || info.TypeSize != size || info.CBytes != len(raw)-blpkSize {
				t.Fatalf("column %s (%s %v), chunk %d of %d rows: %+v", c.name, c.d, c.rest, k, rows, info)
			}
		}
		delete(all, c.name+"/")
		for _, name := range []string{"meta/", "meta/sizes", "meta/storage", "__attrs__", "data/"} {
			if _, there := all[c.name+"/"+name]; !there {
				t.Fatalf("column %s has no %s", c.name, name)
			}
			delete(all, c.name+"/"+name)
		}
		for k := range need {
			delete(all, c.name+"/data/__"+decimal(k)+".blp")
		}
	}
	delete(all, "__attrs__")
	delete(all, "__rootdirs__")
	if len(all) > 0 {
		t.Fatalf("files that nobody needs: %q", all)
	}
	if problems := verify(t, m.mem, "/t", false); len(problems) > 0 {
		t.Fatalf("%+v", problems)
	}
}

// TestModel does random things to a table and to its model.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		m := &model{rng: rand.New(rand.NewPCG(7, seed)), mem: ndfile.NewMem()}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f, err := Format.Create(ctx, m.mem, "/t", ndfile.CreateOptions{})
			ok(t, err)
			for range 4 {
				for range 10 {
					m.step(t, f)
				}
				m.check(t, f)
				ok(t, f.Close(ctx))
				m.checkDisk(t)
				f = open(t, m.mem, "/t", ndfile.Update)
				m.check(t, f)
			}
			ok(t, f.Abort())
			m.checkDisk(t)
		})
	}
}
