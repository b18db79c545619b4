package formattest

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// NoMemory is the check of that name for arrays that are stored as a Spec says: its
// Codecs, Shards (any) and DType (one of variable length for texts).
func NoMemory(t *testing.T, c Config, stored ndfile.Spec) {
	s := newSuite(t, c, "NoMemory")
	for _, b := range s.bulks(stored) {
		s.starveBulk(b)
	}
}

// checkNoMemory has every request for large memory fail once, and all from each on,
// in whatever can be done with a file: the error is ErrNoMemory, and the file is the
// old one or the new one.
func checkNoMemory(s *suite) {
	for _, b := range s.bulks(ndfile.Spec{}) {
		s.starveBulk(b)
	}
}

func (s *suite) starveBulk(b *bulk) {
	s = s.in("%s %v", b.spec.DType, b.spec.Shape)
	path := s.path("f")
	start := ndfile.NewMem()
	s.ok(s.createBulk(start, path, b, b.spec.Shape[0]))
	if got, err := s.readBulk(start, path, b, 1); err != nil || got.same(b) != nil {
		s.fatalf("what was written is not what is read: %v, %v", err, got.same(b))
	}
	before := mem.InUse()
	s.starveWrites(b)
	s.starveReads(start, path, b)
	s.starveTable(start, path, b)
	if s.has(ndfile.CapUpdate) {
		s.starveChanges(s.tree(start, "/"), path, b)
	}
	s.starveFiles(s.tree(start, "/"), path, b)
	if left := mem.InUse() - before; left > 0 {
		s.errorf("%d bytes of large memory are in use still", left)
	}
}

// starve does something again and again: each time another request for large memory
// fails, alone or with all that follow. done looks at what there is afterwards.
func (s *suite) starve(what string, do func() error, done func(s *suite, err error)) {
	s.tb.Helper()
	defer mem.SetFault(nil)
	// try does it once, with request at failing, and tells how many there were.
	try := func(at int64, onwards bool) int64 {
		s := s.in("%s: request %d fails, and all behind it: %t", what, at, onwards)
		var seen atomic.Int64
		mem.SetFault(func(int) bool {
			i := seen.Add(1) - 1
			return i == at || onwards && i > at
		})
		err := s.calm(what, do)
		mem.SetFault(nil)
		if err != nil {
			s.fails(err, ndfile.ErrNoMemory)
			if seen.Load() <= at {
				s.fatalf("nothing failed")
			}
		}
		if done != nil {
			done(s, err)
		}
		return seen.Load()
	}
	n := try(math.MaxInt64, false)
	for _, onwards := range []bool{false, true} {
		for _, at := range s.places(int(n), 8) {
			try(int64(at), onwards)
		}
	}
}

// is checks that a file holds one of some states; nil stands for no file.
func (s *suite) is(fsys ndfile.FS, path string, states ...*bulk) {
	s.tb.Helper()
	if _, err := fsys.Lstat(path); err != nil && slices.Contains(states, nil) {
		return
	}
	var wrong []error
	for _, want := range states {
		if want == nil {
			continue
		}
		got, err := s.readBulk(fsys, path, want, 1)
		if err == nil {
			err = got.same(want)
		}
		if err == nil {
			return
		}
		wrong = append(wrong, err)
	}
	s.errorf("the file is none that there may be: %v", wrong)
}

// starveWrites makes new files, where there is none and over an old one.
func (s *suite) starveWrites(b *bulk) {
	path, old := s.path("f"), b.rows(0, b.spec.Shape[0]/2)
	for _, replace := range []bool{false, true} {
		for name, write := range map[string]func(fsys ndfile.FS) error{
			"save": func(fsys ndfile.FS) error {
				return ndfile.Save(ctx, s.cfg.Formats, path, []ndfile.Item{b.item()}, ndfile.SaveOptions{FS: fsys, Format: s.format.Name()})
			},
			"create":         func(fsys ndfile.FS) error { return s.createBulk(fsys, path, b, b.spec.Shape[0]) },
			"create by rows": func(fsys ndfile.FS) error { return s.createBulk(fsys, path, b, b.spec.Shape[0]/3) },
		} {
			var fsys *ndfile.Mem
			s.starve(fmt.Sprintf("%s, replace: %t", name, replace), func() error {
				fsys = ndfile.NewMem()
				if replace {
					f := mem.Unfaulted(func() error { return s.createBulk(fsys, path, old, old.spec.Shape[0]) })
					s.ok(f)
				}
				return write(fsys)
			}, func(s *suite, err error) {
				switch {
				case err == nil:
					s.is(fsys, path, b)
				case replace:
					s.is(fsys, path, old)
				default:
					s.is(fsys, path, nil)
				}
			})
		}
	}
}

// starveReads reads all, and every third row.
func (s *suite) starveReads(fsys ndfile.FS, path string, b *bulk) {
	for _, step := range []int64{1, 3} {
		var want, got *bulk
		want, err := s.readBulk(fsys, path, b, step)
		s.ok(err)
		s.starve(fmt.Sprintf("read, step %d", step), func() (err error) {
			got, err = s.readBulk(fsys, path, b, step)
			return err
		}, func(s *suite, err error) {
			if err == nil {
				s.sameOr(got.same(want))
			}
		})
	}
	s.starve("load", func() error {
		sink := &ndfile.Sink{Meta: true}
		sink.Want(nil, nil, ndfile.Limits{})
		if err := ndfile.Load(ctx, s.cfg.Formats, fsys, path, sink); ndfile.KindOf(err) != ndfile.ErrBuffer {
			return err
		}
		sink.Want(make([]byte, sink.Need), make([]ndfile.LoadInfo, sink.N), ndfile.Limits{})
		return ndfile.Load(ctx, s.cfg.Formats, fsys, path, sink)
	}, nil)
	s.starve("open and load", func() error {
		f, err := s.open(fsys, path)
		if err != nil {
			return err
		}
		defer f.Abort()
		sink := &ndfile.Sink{Meta: true}
		sink.Want(nil, nil, ndfile.Limits{})
		if err := ndfile.LoadFile(ctx, f, sink); ndfile.KindOf(err) != ndfile.ErrBuffer {
			return err
		}
		sink.Want(make([]byte, sink.Need), make([]ndfile.LoadInfo, sink.N), ndfile.Limits{})
		return ndfile.LoadFile(ctx, f, sink)
	}, nil)
	if s.has(ndfile.CapChunked) {
		s.starve("read a chunk", func() error {
			f, err := s.open(fsys, path)
			if err != nil {
				return err
			}
			defer f.Abort()
			a, err := f.Array(b.name)
			if err == nil {
				_, _, err = a.(ndfile.Chunked).ReadChunk(ctx, make([]int64, len(b.spec.Shape)), nil)
			}
			return err
		}, nil)
	}
}

// starveTable takes rows, reduces, and looks for rows.
func (s *suite) starveTable(fsys ndfile.FS, path string, b *bulk) {
	if b.offsets != nil {
		return
	}
	with := func(do func(f ndfile.File, a ndfile.Array) error) func() error {
		return func() error {
			f, err := s.open(fsys, path)
			if err != nil {
				return err
			}
			defer f.Abort()
			a, err := f.Array(b.name)
			if err != nil {
				return err
			}
			return do(f, a)
		}
	}
	rows := make([]int64, b.spec.Shape[0])
	for i := range rows {
		rows[i] = (int64(i)*7919 + 5) % int64(len(rows))
	}
	to := ndarray.Buffer{DType: b.spec.DType, Shape: b.spec.Shape, Data: make([]byte, len(b.data))}
	if b.mask == nil {
		s.starve("take", with(func(_ ndfile.File, a ndfile.Array) error { return ndfile.Take(ctx, a, rows, to) }), nil)
	}
	if b.spec.DType.Kind == ndarray.Float {
		s.starve("reduce", with(func(_ ndfile.File, a ndfile.Array) error {
			_, err := ndfile.Reduce(ctx, a, ndarray.Full(b.spec.Shape), ndfile.ReduceSum|ndfile.ReduceMin)
			return err
		}), nil)
		if s.kind == ndfile.Table {
			s.starve("where", with(func(f ndfile.File, _ ndfile.Array) error {
				v, err := ndfile.ParseValue([]byte("0"))
				s.ok(err)
				op, err := ndfile.ParseOp(">")
				s.ok(err)
				q := ndfile.Query{Terms: []ndfile.Term{{Column: b.name, Op: op, Value: v}}}
				return ndfile.Where(ctx, f, q, func([]int64) (bool, error) { return true, nil })
			}), nil)
		}
	}
}

// starveChanges changes a file in place. A write of several chunks may have been done
// in part; all else is done or not.
func (s *suite) starveChanges(tree map[string]string, path string, b *bulk) {
	n := b.spec.Shape[0]
	cut, changed := n/2-n/6, b.changed(n/3, n/3+n/4)
	partly := b.rows(0, (n+1)/2).joined(changed.rows((n+1)/2, n)) // by chunks
	partly2 := changed.rows(0, (n+1)/2).joined(b.rows((n+1)/2, n))
	more := b.rows(n/4, n/4+n/2)
	grows := s.grows(&content{arrays: []*array{{dtype: b.spec.DType}}})
	for _, change := range []struct {
		name   string
		able   bool
		do     func(f ndfile.File, a ndfile.Array) error
		states []*bulk // behind the last one
	}{
		{"write", true, func(_ ndfile.File, a ndfile.Array) error { return b.rows(n-n/4, n).write(a, n/3) }, []*bulk{b, partly, partly2, changed}},
		{"append", grows && b.offsets == nil, func(f ndfile.File, a ndfile.Array) error {
			if s.kind == ndfile.Table {
				return f.(ndfile.RowResizer).AppendRows(ctx, []ndarray.Buffer{more.buffer()})
			}
			return a.(ndfile.Resizer).Append(ctx, 0, more.buffer())
		}, []*bulk{b, b.joined(more)}},
		{"shrink", grows && b.spec.Shards == nil, func(f ndfile.File, a ndfile.Array) error {
			if s.kind == ndfile.Table {
				return f.(ndfile.RowResizer).ResizeRows(ctx, cut)
			}
			shape := slices.Clone(b.spec.Shape)
			shape[0] = cut
			return a.(ndfile.Resizer).Resize(ctx, shape)
		}, []*bulk{b, b.rows(0, cut)}},
	} {
		if !change.able || b.mask != nil {
			continue
		}
		for _, closes := range []bool{true, false} {
			var fsys *ndfile.Mem
			s.starve(fmt.Sprintf("%s, then Close: %t", change.name, closes), func() error {
				fsys = s.plant(tree)
				f, err := s.update(fsys, path)
				if err != nil {
					return err
				}
				defer f.Abort()
				a, err := f.Array(b.name)
				if err == nil {
					err = change.do(f, a)
				}
				if err != nil && !closes {
					return err
				}
				if e := f.Close(ctx); err == nil {
					err = e
				}
				return err
			}, func(s *suite, err error) {
				if err == nil {
					s.is(fsys, path, change.states[len(change.states)-1])
				} else {
					s.is(fsys, path, change.states...)
				}
			})
		}
	}
}

// starveFiles verifies, repairs, converts and splits.
func (s *suite) starveFiles(tree map[string]string, path string, b *bulk) {
	fsys := s.plant(tree)
	s.starve("verify", func() error {
		return ndfile.Verify(ctx, s.cfg.Formats, path, ndfile.VerifyOptions{FS: fsys, Format: s.format.Name()}, func(p ndfile.Problem) {
			s.errorf("Verify of a good file: %s: %s", p.Path, p.Msg)
		})
	}, nil)
	s.starve("repair", func() error {
		fsys = s.plant(tree)
		return ndfile.Verify(ctx, s.cfg.Formats, path, ndfile.VerifyOptions{FS: fsys, Format: s.format.Name(), Repair: true}, func(p ndfile.Problem) {
			s.errorf("Verify of a good file: %s: %s", p.Path, p.Msg)
		})
	}, func(s *suite, _ error) { s.is(fsys, path, b) })
	to := s.path("g")
	for _, replace := range []bool{false, true} {
		s.starve(fmt.Sprintf("convert, replace: %t", replace), func() error {
			fsys = s.plant(tree)
			if replace {
				s.ok(mem.Unfaulted(func() error { return s.createBulk(fsys, to, b.rows(0, 5), 5) }))
			}
			_, err := ndfile.Convert(ctx, s.cfg.Formats, path, to, ndfile.ConvertOptions{FS: fsys, From: s.format.Name(), To: s.format.Name(), Overwrite: replace})
			return err
		}, func(s *suite, err error) {
			s.is(fsys, path, b)
			states := []*bulk{b, nil}
			if replace {
				states[1] = b.rows(0, 5)
			}
			if err == nil {
				states = states[:1]
			}
			s.is(fsys, to, states...)
		})
	}
	if s.has(ndfile.CapSplit) {
		n := b.spec.Shape[0]
		s.starve("split", func() error {
			fsys = s.plant(tree)
			return ndfile.Split(ctx, s.cfg.Formats, path, []ndfile.Part{{Path: to, Rows: (n + 1) / 2}, {Path: s.path("h"), Rows: n / 2}}, ndfile.SplitOptions{FS: fsys})
		}, func(s *suite, err error) {
			if err == nil {
				s.is(fsys, to, b.rows(0, (n+1)/2))
			} else {
				s.is(fsys, to, nil, b.rows(0, (n+1)/2))
			}
		})
	}
}
