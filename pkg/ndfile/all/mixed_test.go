package all_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// Writers of a table change it in turn, and are killed at any moment. While one
// has the lock it notes in a log what it found and what it is about to do, and
// after it has flushed that this is done. So the log alone tells what each writer
// has to find.

// model is what the model knows of a table of columns x and minus.
type model struct {
	x, minus []int64
	attr     int64
}

// sum stands for the content.
func (m *model) sum() uint64 {
	h := fnv.New64a()
	binary.Write(h, binary.LittleEndian, int64(len(m.x)))
	binary.Write(h, binary.LittleEndian, m.x)
	binary.Write(h, binary.LittleEndian, m.minus)
	binary.Write(h, binary.LittleEndian, m.attr)
	return h.Sum64()
}

// step is an operation: each is done whole or not at all, whenever the writer is
// killed.
type step struct {
	kind         byte  // 'a'ppend, 's'et, 't'rim, 'm'ark by an attribute
	at, n, value int64 // rows and the value that makes them
}

// newStep makes up a step for a table of so many rows. A region lies in one chunk.
func newStep(rng *rand.Rand, rows int64) step {
	s := step{value: rng.Int64N(1 << 40)}
	switch p := rng.IntN(10); {
	case rows == 0 || p < 4:
		s.kind, s.n = 'a', 1+rng.Int64N(60)
	case p < 7:
		s.kind, s.at = 's', rng.Int64N(rows)
		s.n = 1 + rng.Int64N(min(rows, s.at-s.at%40+40)-s.at)
	case p < 8 || rows > 400:
		s.kind, s.n = 't', rng.Int64N(rows)
	default:
		s.kind = 'm'
	}
	return s
}

// values are those that the step writes.
func (s step) values() []int64 {
	v := make([]int64, s.n)
	for i := range v {
		v[i] = s.value + int64(i)
	}
	return v
}

func negative(v []int64) []int64 {
	v = slices.Clone(v)
	for i := range v {
		v[i] = -v[i]
	}
	return v
}

// after is the table after a step.
func (m model) after(s step) model {
	switch s.kind {
	case 'a':
		m.x = append(slices.Clone(m.x), s.values()...)
		m.minus = append(slices.Clone(m.minus), negative(s.values())...)
	case 's':
		m.x = slices.Clone(m.x)
		copy(m.x[s.at:], s.values())
	case 't':
		m.x, m.minus = m.x[:s.n], m.minus[:s.n]
	case 'm':
		m.attr = s.value
	}
	return m
}

// do does a step.
func (s step) do(f ndfile.File) error {
	rows := f.(ndfile.RowResizer)
	switch s.kind {
	case 'a':
		return rows.AppendRows(ctx, []ndarray.Buffer{column(s.values()...), column(negative(s.values())...)})
	case 's':
		a, err := f.Array("x")
		if err != nil {
			return err
		}
		return a.WriteBox(ctx, ndarray.Box{Start: []int64{s.at}, Count: []int64{s.n}}, column(s.values()...))
	case 't':
		return rows.ResizeRows(ctx, s.n)
	}
	f.Attrs().Set("mark", ndfile.IntValue(s.value))
	return nil
}

// found reads the table into a model.
func found(f ndfile.File) (m model, err error) {
	for name, to := range map[string]*[]int64{"x": &m.x, "minus": &m.minus} {
		a, err := f.Array(name)
		if err != nil {
			return m, err
		}
		shape := a.Spec().Shape
		b, err := ndarray.NewBuffer(ndarray.MustParse("<i8"), shape)
		if err == nil {
			err = a.ReadBox(ctx, ndarray.Full(shape), b)
		}
		if err != nil {
			return m, err
		}
		*to = make([]int64, shape[0])
		for i := range *to {
			(*to)[i] = int64(binary.LittleEndian.Uint64(b.Data[8*i:]))
		}
	}
	if v, ok := f.Attrs().Get("mark"); ok {
		m.attr, _ = v.Int64()
	}
	return m, nil
}

// mixed does n steps, or goes on until it is killed.
func mixed(path string, k, n int64) error {
	log, err := os.OpenFile(path+".log", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(uint64(k), 2))
	for range n {
		f, err := open(path, ndfile.OpenOptions{Timeout: time.Minute})
		if err != nil {
			return err
		}
		m, err := found(f)
		if err != nil {
			return err
		}
		s := newStep(rng, int64(len(m.x)))
		fmt.Fprintf(log, "B %d %d %d %d %d %d\n", k, m.sum(), s.kind, s.at, s.n, s.value)
		if err = s.do(f); err == nil {
			err = f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{})
		}
		if err == nil {
			fmt.Fprintf(log, "E %d 0 0 0 0 0\n", k)
			err = f.Close(ctx)
		}
		if err != nil {
			return fmt.Errorf("%c %d %d: %w", s.kind, s.at, s.n, err)
		}
	}
	return nil
}

// TestMixedWriters: three writers do steps of all kinds, one of them is killed
// again and again, and a reader looks on: nothing that was reported is lost.
func TestMixedWriters(t *testing.T) {
	path, rng, total := appendedTable(t), rand.New(rand.NewPCG(5, 5)), int(max(2000, 1000*scale()))
	log := path + ".log"
	if err := os.WriteFile(log, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	number, cs := int64(0), make([]*exec.Cmd, 3)
	next := func(i int) {
		cs[i], _ = start(t, "mixed", path, number, 1<<40)
		number++
	}
	for i := range cs {
		next(i)
	}
	reads, text := 0, []byte(nil)
	for deadline := time.Now().Add(time.Duration(scale()) * 2 * time.Minute); bytes.Count(text, []byte("E")) < total; {
		if time.Now().After(deadline) {
			t.Fatalf("%d steps in all this time", bytes.Count(text, []byte("E")))
		}
		time.Sleep(time.Duration(50+rng.IntN(200)) * time.Millisecond)
		i := rng.IntN(len(cs))
		cs[i].Process.Kill()
		if cs[i].Wait(); cs[i].ProcessState.Exited() {
			t.Fatal("a writer failed")
		}
		next(i)
		// A reader can come while rows go. What it gets was written once.
		if f, err := ndfile.Open(ctx, all.Formats, path, ndfile.OpenOptions{}); err == nil {
			if m, err := found(f); err == nil {
				for _, v := range m.x {
					if v < 0 {
						t.Fatalf("a reader found %d", v)
					}
				}
				reads++
			}
			f.Close(ctx)
		}
		text, _ = os.ReadFile(log)
	}
	for _, c := range cs {
		c.Process.Kill()
		c.Wait()
	}
	f, err := open(path, ndfile.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close(ctx)
	last, err := found(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	text = fmt.Appendf(text, "B -1 %d 0 0 0 0\n", last.sum())
	done := replay(t, text)
	t.Logf("%d steps, %d writers, %d looks of the reader", done, number, reads)
}

// replay follows the log. Where a writer was killed in a step, the next one tells
// whether it was done.
func replay(t *testing.T, text []byte) (done int) {
	t.Helper()
	var now model
	var then *model // after the step that was begun
	by := int64(-1)
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var what rune
		var k, kind int64
		var sum uint64
		var s step
		if _, err := fmt.Sscanf(string(line), "%c %d %d %d %d %d %d", &what, &k, &sum, &kind, &s.at, &s.n, &s.value); err != nil {
			t.Fatal(i, string(line), err)
		}
		s.kind = byte(kind)
		if what == 'E' {
			if then == nil || k != by {
				t.Fatalf("line %d: writer %d ends a step that it did not begin", i, k)
			}
			now, then = *then, nil
			done++
			continue
		}
		if then != nil && then.sum() == sum {
			now = *then
		}
		if now.sum() != sum {
			t.Fatalf("line %d: writer %d did not find what was written before (%d steps done)", i, k, done)
		}
		if kind != 0 {
			m := now.after(s)
			then, by = &m, k
		}
	}
	return done
}
