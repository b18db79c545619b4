package all_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// Writers of a store change it in turn, and are killed at any moment. While one
// has the lock it notes in a log what it found and what it is about to do, and
// after it has flushed that this is done. So the log alone tells what each writer
// has to find.

// seedEnv begins other random numbers.
const seedEnv = "NDFILE_TEST_SEED"

func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64); err == nil {
		return n
	}
	return 5
}

// mixedKind is a kind of store that writers share: a table of columns x and minus,
// or one array of which x is all.
type mixedKind struct {
	format string
	spec   ndfile.Spec
}

// region is how many elements of x are written in one step: those of one file.
const region = 40

var mixedKinds = map[string]mixedKind{
	"table":  {"bcolz", ndfile.Spec{Chunks: []int64{region}}},
	"carray": {"bcolz", ndfile.Spec{Chunks: []int64{region}}},
	"zarr0":  {"zarr0", ndfile.Spec{Chunks: []int64{region}}},
	"zarr2":  {"zarr2", ndfile.Spec{Chunks: []int64{region}}},
	"zarr3":  {"zarr3", ndfile.Spec{Chunks: []int64{region}}},
	"shards": {"zarr3", ndfile.Spec{Chunks: []int64{region / 4}, Shards: []int64{region}}},
}

// create makes an empty store.
func (k mixedKind) create(path string, table bool) error {
	f, err := ndfile.Create(ctx, all.Formats, path, ndfile.CreateOptions{Format: k.format})
	spec := k.spec
	spec.DType, spec.Shape = ndarray.MustParse("<i8"), []int64{0}
	names := []string{""}
	if table {
		names = []string{"x", "minus"}
	}
	for _, name := range names {
		if err == nil {
			_, err = f.Add(ctx, name, spec)
		}
		spec.Chunks = []int64{25} // columns need not have chunks of one length
	}
	if err != nil {
		return err
	}
	return f.Close(ctx)
}

// model is what the model knows of a store: the elements of an array, or of a
// column x and of minus, which has the negative ones.
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

// perStep is how far the values of two steps are apart: no two write the same one.
const perStep = 1 << 8

// newStep makes up a step for a store of so many rows. A region lies in one file.
func newStep(rng *rand.Rand, rows int64) step {
	s := step{value: perStep * (1 + rng.Int64N(1<<40))}
	switch p := rng.IntN(10); {
	case rows == 0 || p < 4:
		s.kind, s.at, s.n = 'a', rows, 1+rng.Int64N(60)
	case p < 7:
		s.kind, s.at = 's', rng.Int64N(rows)
		s.n = 1 + rng.Int64N(min(rows, s.at-s.at%region+region)-s.at)
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

// after is the store after a step.
func (m model) after(s step, table bool) model {
	switch s.kind {
	case 'a':
		m.x = append(slices.Clone(m.x), s.values()...)
		if table {
			m.minus = append(slices.Clone(m.minus), negative(s.values())...)
		}
	case 's':
		m.x = slices.Clone(m.x)
		copy(m.x[s.at:], s.values())
	case 't':
		m.x = m.x[:s.n]
		if table {
			m.minus = m.minus[:s.n]
		}
	case 'm':
		m.attr = s.value
	}
	return m
}

// do does a step.
func (s step) do(f ndfile.File) error {
	if s.kind == 'm' {
		f.Attrs().Set("mark", ndfile.IntValue(s.value))
		return nil
	}
	table := f.Kind() == ndfile.Table
	if rows, ok := f.(ndfile.RowResizer); ok && table && s.kind == 'a' {
		return rows.AppendRows(ctx, []ndarray.Buffer{column(s.values()...), column(negative(s.values())...)})
	} else if ok && table && s.kind == 't' {
		return rows.ResizeRows(ctx, s.n)
	}
	a, err := f.Array(f.Names()[0])
	if err != nil {
		return err
	}
	switch s.kind {
	case 'a':
		return a.(ndfile.Resizer).Append(ctx, 0, column(s.values()...))
	case 't':
		return a.(ndfile.Resizer).Resize(ctx, []int64{s.n})
	}
	return a.WriteBox(ctx, ndarray.Box{Start: []int64{s.at}, Count: []int64{s.n}}, column(s.values()...))
}

// found reads the store into a model.
func found(f ndfile.File) (m model, err error) {
	for i, name := range f.Names() {
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
		to := []*[]int64{&m.x, &m.minus}[i]
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
	rng := rand.New(rand.NewPCG(uint64(k), seed()))
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

// TestMixedWriters: two to four writers do steps of all kinds, one of them is
// killed again and again, and a reader looks on: nothing that was reported is lost,
// and what the killed ones leave is not called damage.
func TestMixedWriters(t *testing.T) {
	total := max(2000, 1000*int(scale()))/len(mixedKinds) + 1
	for i, name := range slices.Sorted(maps.Keys(mixedKinds)) {
		t.Run(name, func(t *testing.T) {
			r := &mixedRun{path: filepath.Join(t.TempDir(), "s"), table: name == "table", rng: rand.New(rand.NewPCG(seed(), uint64(i)))}
			if err := mixedKinds[name].create(r.path, r.table); err != nil {
				t.Fatal(err)
			}
			r.run(t, 2+i%3, total)
		})
	}
}

type mixedRun struct {
	path    string
	table   bool
	rng     *rand.Rand
	writers int64 // so many were started
	reads   int
	killed  int
}

func (r *mixedRun) run(t *testing.T, beside, total int) {
	log := r.path + ".log"
	if err := os.WriteFile(log, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cs := make([]*exec.Cmd, beside)
	next := func(i int) {
		cs[i], _ = start(t, "mixed", r.path, r.writers, 1<<40)
		r.writers++
	}
	for i := range cs {
		next(i)
	}
	text := []byte(nil)
	for deadline := time.Now().Add(time.Duration(scale()) * 2 * time.Minute); bytes.Count(text, []byte("E")) < total; {
		if time.Now().After(deadline) {
			t.Fatalf("%d steps in all this time", bytes.Count(text, []byte("E")))
		}
		time.Sleep(time.Duration(20+r.rng.IntN(80)) * time.Millisecond)
		i := r.rng.IntN(len(cs))
		cs[i].Process.Kill()
		if cs[i].Wait(); cs[i].ProcessState.Exited() {
			t.Fatal("a writer failed")
		}
		r.killed++
		next(i)
		r.look(t, log)
		text, _ = os.ReadFile(log)
	}
	for _, c := range cs {
		c.Process.Kill()
		c.Wait()
	}
	r.verify(t)
	f, err := open(r.path, ndfile.OpenOptions{})
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
	done := r.replay(t, text)
	t.Logf("seed %d: %d steps by %d at a time, %d killed, %d looks of the reader", seed(), done, beside, r.killed, r.reads)
}

// look is what a reader does beside the writers. It can come while rows go, and get
// an error; whatever it gets was written to that row by some writer, or is what is
// not there.
func (r *mixedRun) look(t *testing.T, log string) {
	f, err := ndfile.Open(ctx, all.Formats, r.path, ndfile.OpenOptions{})
	if err != nil {
		return
	}
	defer f.Close(ctx)
	m, err := found(f)
	if err != nil {
		return
	}
	r.reads++
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	begun := map[int64]step{}
	for line := range strings.Lines(string(text)) {
		if l, err := parse(line); err == nil && l.what == 'B' {
			begun[l.value] = l.step
		}
	}
	for row, v := range m.x {
		s, ok := begun[v-v%perStep]
		if v != 0 && (!ok || s.at+v%perStep != int64(row)) {
			t.Fatalf("a reader found %d in row %d", v, row)
		}
	}
}

// verify: a writer that was killed leaves no damage.
func (r *mixedRun) verify(t *testing.T) {
	err := ndfile.Verify(ctx, all.Formats, r.path, ndfile.VerifyOptions{}, func(p ndfile.Problem) {
		if p.Class == ndfile.Damage {
			t.Errorf("damage: %v", p)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if kept, _ := filepath.Glob(r.path + ".ndf-removed-*"); len(kept) > 0 {
		t.Errorf("%d folders with what nobody has lost", len(kept))
	}
}

// logLine is a line of the log.
type logLine struct {
	what rune // 'B'egin or 'E'nd
	k    int64
	sum  uint64
	step
}

func parse(line string) (l logLine, err error) {
	var kind int64
	_, err = fmt.Sscanf(line, "%c %d %d %d %d %d %d", &l.what, &l.k, &l.sum, &kind, &l.at, &l.n, &l.value)
	l.kind = byte(kind)
	return l, err
}

// replay follows the log. Where a writer was killed in a step, the next one tells
// whether it was done.
func (r *mixedRun) replay(t *testing.T, text []byte) (done int) {
	t.Helper()
	var now model
	var then *model // after the step that was begun
	by := int64(-1)
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		l, err := parse(string(line))
		if err != nil {
			t.Fatal(i, string(line), err)
		}
		if l.what == 'E' {
			if then == nil || l.k != by {
				t.Fatalf("line %d: writer %d ends a step that it did not begin", i, l.k)
			}
			now, then = *then, nil
			done++
			continue
		}
		if then != nil && then.sum() == l.sum {
			now = *then
		}
		if now.sum() != l.sum {
			t.Fatalf("line %d: writer %d did not find what was written before (%d steps done)", i, l.k, done)
		}
		if l.kind != 0 {
			m := now.after(l.step, r.table)
			then, by = &m, l.k
		}
	}
	return done
}
