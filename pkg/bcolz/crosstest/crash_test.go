package crosstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/bcolz"
	"github.com/ndfile/ndfile/pkg/internal/crashtest"
	"github.com/ndfile/ndfile/pkg/internal/peer"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

var ctx = context.Background()

// The table that is changed: rows and rows of a chunk of each column.
const length = 25

var columns = []struct {
	name  string
	dtype ndarray.DType
	chunk int64
}{{"a", ndarray.MustParse("<i4"), 10}, {"b", ndarray.MustParse("<f8"), 4}, {"c", ndarray.MustParse("|S3"), 100}}

// changes are what is done to it.
var changes = map[string]func(dir string) error{
	"append":          func(dir string) error { return change(dir, appendRows(17)) },
	"append small":    func(dir string) error { return change(dir, appendRows(2)) },
	"trim":            func(dir string) error { return change(dir, resize(13)) },
	"trim to a chunk": func(dir string) error { return change(dir, resize(20)) },
	"trim to nothing": func(dir string) error { return change(dir, resize(0)) },
	"grow":            func(dir string) error { return change(dir, resize(47)) },
	"addcol": func(dir string) error {
		return change(dir, func(f ndfile.File) error {
			a, err := f.Add(ctx, "new", ndfile.Spec{DType: columns[0].dtype, Shape: []int64{length}, Chunks: []int64{7}})
			if err != nil {
				return err
			}
			return a.WriteBox(ctx, ndarray.Full([]int64{length}), counting(columns[0].dtype, 60, length))
		})
	},
	"delcol": func(dir string) error {
		return change(dir, func(f ndfile.File) error { return f.(ndfile.Remover).Remove(ctx, "b") })
	},
	"attrs": func(dir string) error {
		return change(dir, func(f ndfile.File) error {
			f.Attrs().Set("title", ndfile.StringValue("new"))
			return nil
		})
	},
	"modify": func(dir string) error {
		return change(dir, func(f ndfile.File) error {
			for _, c := range columns {
				a, err := f.Array(c.name)
				if err == nil {
					err = a.WriteBox(ctx, ndarray.Box{Start: []int64{3}, Count: []int64{20}}, counting(c.dtype, 200, 20))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	},
}

func TestMain(m *testing.M) {
	ops := maps.Clone(changes)
	for name, do := range changes {
		ops["synced: "+name] = func(dir string) error { sync = true; return do(dir) }
		ops["flushed: "+name] = func(dir string) error { flush = true; return do(dir) }
	}
	crashtest.Main(m, ops)
}

// sync opens the table with Sync, flush flushes it so before it is closed.
var sync, flush bool

func root(dir string) string { return filepath.Join(dir, "t.bcolz") }

func change(dir string, do func(ndfile.File) error) error {
	f, err := bcolz.Format.Open(ctx, ndfile.OS, root(dir), ndfile.OpenOptions{Mode: ndfile.Update, Sync: sync})
	if err != nil {
		return err
	}
	if err := do(f); err != nil {
		return err
	}
	if flush {
		if err := f.(ndfile.Flusher).Flush(ctx, ndfile.FlushOptions{Sync: true}); err != nil {
			return err
		}
	}
	return f.Close(ctx)
}

func appendRows(n int64) func(ndfile.File) error {
	return func(f ndfile.File) error {
		var rows []ndarray.Buffer
		for _, c := range columns {
			rows = append(rows, counting(c.dtype, 100, n))
		}
		return f.(ndfile.RowResizer).AppendRows(ctx, rows)
	}
}

func resize(n int64) func(ndfile.File) error {
	return func(f ndfile.File) error { return f.(ndfile.RowResizer).ResizeRows(ctx, n) }
}

// counting is n elements of rising bytes, none of which is zero: bcolz cuts
// trailing zeros off texts.
func counting(d ndarray.DType, from byte, n int64) ndarray.Buffer {
	b, err := ndarray.NewBuffer(d, []int64{n})
	if err != nil {
		panic(err)
	}
	for i := range b.Data {
		b.Data[i] = max(1, from+byte(i/d.Size))
	}
	return b
}

// state is the content of a store: the elements of each column.
type state map[string][]byte

func read(path string) (state, error) {
	f, err := bcolz.Format.Open(ctx, ndfile.OS, path, ndfile.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer f.Abort()
	s := state{".attrs": ndfile.AppendJSON(nil, f.Attrs())}
	for _, name := range f.Names() {
		a, err := f.Array(name)
		if err != nil {
			return nil, err
		}
		spec := a.Spec()
		b, err := ndarray.NewBuffer(spec.DType, spec.Shape)
		if err == nil {
			err = a.ReadBox(ctx, ndarray.Full(spec.Shape), b)
		}
		if err != nil {
			return nil, err
		}
		s[name] = b.Data
	}
	return s, nil
}

func (s state) equal(other state) bool { return maps.EqualFunc(s, other, bytes.Equal) }

// mixed reports whether each chunk of s is that of the one or the other state.
func (s state) mixed(old, new state) bool {
	for _, c := range columns {
		if len(s[c.name]) != len(old[c.name]) {
			return false
		}
		size := c.dtype.Size * int(c.chunk)
		for at := 0; at < len(s[c.name]); at += size {
			end := min(at+size, len(s[c.name]))
			if got := s[c.name][at:end]; !bytes.Equal(got, old[c.name][at:end]) && !bytes.Equal(got, new[c.name][at:end]) {
				return false
			}
		}
	}
	return true
}

// newTable makes the table that is changed, in a new folder.
func newTable(t *testing.T) (dir string) {
	template := t.TempDir()
	f, err := bcolz.Format.Create(ctx, ndfile.OS, root(template), ndfile.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range columns {
		a, err := f.Add(ctx, c.name, ndfile.Spec{DType: c.dtype, Shape: []int64{length}, Chunks: []int64{c.chunk}})
		if err == nil {
			err = a.WriteBox(ctx, ndarray.Full([]int64{length}), counting(c.dtype, byte(1+i), length))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return template
}

func TestKilled(t *testing.T) {
	template := newTable(t)
	old, err := read(root(template))
	if err != nil {
		t.Fatal(err)
	}
	reference := startPeer(t)
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		t.Run(op, func(t *testing.T) {
			var whole state
			seen := map[string]int{}
			crashtest.Sweep(t, op, template, func(dir, at string) {
				s, err := read(root(dir))
				if err != nil {
					t.Errorf("%s: %v", at, err)
					return
				}
				switch {
				case whole == nil:
					if whole = s; s.equal(old) {
						t.Fatalf("%s changed nothing", op)
					}
				case s.equal(old):
					seen["old"]++
				case s.equal(whole):
					seen["new"]++
				case op == "modify" && s.mixed(old, whole):
					seen["mixed"]++
				default:
					t.Errorf("%s: neither the old state nor the new one", at)
				}
				reference.agrees(at, root(dir), s)
				crashtest.Undamaged(t, bcolz.Format, root(dir), at)
				if err := change(dir, func(ndfile.File) error { return nil }); err != nil {
					t.Errorf("%s: opening it for changes: %v", at, err)
				} else if again, err := read(root(dir)); err != nil || !again.equal(s) {
					t.Errorf("%s: other values after it was opened for changes (%v)", at, err)
				} else {
					reference.agrees(at+", then opened for changes", root(dir), s)
				}
			})
			t.Logf("%s: %v", op, seen)
			if seen["old"] == 0 { // the new state is that of the run that was not killed
				t.Errorf("%s: found %v, expected old states too", op, seen)
			}
		})
	}
}

// bcolzPeer is the process that reads with bcolz.
type bcolzPeer struct {
	t *testing.T
	peer.Process
}

func startPeer(t *testing.T) *bcolzPeer {
	return &bcolzPeer{t, peer.Start(t, "peer.py", "bcolz: what a crash leaves is NOT read by bcolz")}
}

// agrees checks that bcolz reads the same rows.
func (p *bcolzPeer) agrees(at, path string, want state) {
	p.t.Helper()
	fmt.Fprintln(p.In, path)
	raw, err := p.Out.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("peer.py: %v", err)
	}
	var got map[string][]any
	if err := json.Unmarshal(raw, &got); err != nil {
		p.t.Errorf("%s: bcolz: %s", at, raw)
		return
	}
	if len(got) != len(want)-1 {
		p.t.Errorf("%s: bcolz has the columns %v", at, slices.Sorted(maps.Keys(got)))
	}
	for name, data := range want {
		if strings.HasPrefix(name, ".") {
			continue
		}
		sum := sha256.Sum256(data)
		if len(got[name]) != 2 || got[name][1] != hex.EncodeToString(sum[:]) {
			p.t.Errorf("%s: column %s: bcolz reads other values: %v", at, name, got[name])
		}
	}
}
