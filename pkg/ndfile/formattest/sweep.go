package formattest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// either tells whether a file is in one of two states; nil stands for no file.
func (s *suite) either(fsys ndfile.FS, path string, old, new *content) (isNew bool, err error) {
	if _, err := fsys.Lstat(path); errors.Is(err, syscall.ENOENT) {
		if old != nil {
			return false, fmt.Errorf("the old file is gone")
		}
		return false, nil
	}
	asNew := s.compare(fsys, path, new)
	if asNew == nil {
		return true, nil
	}
	if old == nil {
		return false, fmt.Errorf("not the new file: %w", asNew)
	}
	if asOld := s.compare(fsys, path, old); asOld != nil {
		return false, fmt.Errorf("neither the old file (%v) nor the new one: %w", asOld, asNew)
	}
	return false, nil
}

// seeded is the suite with random numbers that are the same each time.
func (s *suite) seeded(seed uint64) *suite {
	c := *s
	c.rng = rand.New(rand.NewPCG(seed, 3))
	return &c
}

// inOrder makes formats work in one thread until undo is called: sweeps need the
// same calls in the same order each time.
func inOrder() (undo func()) {
	ndfile.SetThreads(1)
	return func() { ndfile.SetThreads(0) }
}

// writers are the operations that the sweeps disturb: each makes a file of c at
// path.
func (s *suite) writers() []way {
	return slices.DeleteFunc(s.ways(), func(w way) bool { return w.name == "whole" }) // as rows
}

// checkWriteFaults makes each call of the file system fail once, and all calls
// from each on: the old file or the new one is there, the error is reported, and
// nothing is left.
func checkWriteFaults(s *suite) {
	old, c := s.modest(2), s.modest(3)
	for _, w := range s.writers() {
		for _, replace := range []bool{false, true} {
			for _, opt := range []ndfile.WriteOptions{{}, {Sync: true}} {
				s := s.in("%s, replace: %t, sync: %t", w.name, replace, opt.Sync)
				s.sweepWrite(w, opt, replace, old, c)
			}
		}
	}
}

func (s *suite) sweepWrite(w way, opt ndfile.WriteOptions, replace bool, old, c *content) {
	defer inOrder()()
	if !replace {
		old = nil
	}
	path := s.path("f")
	// run does it once; the same random numbers make the same calls.
	run := func(f *fault) (*ndfile.Mem, *watch, error) {
		mem := ndfile.NewMem()
		if replace {
			s.ok(s.save(mem, path, old, ndfile.WriteOptions{}))
		}
		watched := newWatch(mem)
		watched.fault = f
		err := w.write(s.seeded(2), watched.pieces(), path, c, opt)
		return mem, watched, err
	}
	_, good, err := run(nil)
	s.ok(err)
	for _, i := range s.places(len(good.ops), 400) {
		for _, f := range []*fault{{at: i}, {at: i, short: true}, {at: i, after: true}} {
			if f.short && good.ops[i] != "write" {
				continue
			}
			mem, watched, err := run(f)
			op := f.op
			s := s.in("call %d, %s, %s", i, op, f.how())
			isNew, state := s.either(mem, path, old, c)
			if state != nil {
				s.errorf("%v", state)
				continue
			}
			if open := watched.left(); len(open) > 0 {
				s.errorf("still open: %q", open)
			}
			switch {
			case err == nil && !isNew:
				s.errorf("no error, but the new file is not there")
			case err == nil && changes(op):
				s.errorf("no error")
			case err != nil:
				s.fails(err, ndfile.ErrIO)
				if w.name == "save" || op != "syncdir" { // which names the folder
					s.says(err, path, "", false)
				}
				if !f.short && !errors.Is(err, syscall.EIO) {
					s.errorf("the error does not hold the cause: %v", err)
				}
			}
			switch {
			case f.after, op == "remove", op == "rmdir": // cleaning up failed too
			case replace && isNew && err != nil && s.isFolder(mem, path):
				s.onlyTemps(mem, path) // the old folder may be beside the new one
			default:
				s.only(mem, path)
			}
		}
	}
}

// checkFullDisk fills the disk at each call that needs room, for good: the error says
// so, the old content stays, and no file is left that is no part of it, since that
// would keep the disk full.
func checkFullDisk(s *suite) {
	defer inOrder()()
	path, old, c := s.path("f"), s.modest(2), s.modest(3)
	for _, w := range s.writers() {
		for _, replace := range []bool{false, true} {
			s := s.in("%s, replace: %t", w.name, replace)
			run := func(f *fault) (*ndfile.Mem, *watch, error) {
				mem := ndfile.NewMem()
				if replace {
					s.ok(s.save(mem, path, old, ndfile.WriteOptions{}))
				}
				watched := newWatch(mem)
				watched.fault = f
				err := w.write(s.seeded(2), watched.pieces(), path, c, ndfile.WriteOptions{})
				return mem, watched, err
			}
			_, good, err := run(nil)
			s.ok(err)
			for _, i := range s.places(len(good.ops), 60) {
				if !needsRoom(good.ops[i]) {
					continue
				}
				mem, _, err := run(&fault{at: i, full: true})
				s := s.in("call %d, %s, finds the disk full", i, good.ops[i])
				was := old
				if !replace {
					was = nil
				}
				s.leftNothing(mem, path, was, err)
			}
		}
	}
	if !s.has(ndfile.CapUpdate) {
		return
	}
	for i := range 3 * len(sessions) {
		plan := sessions[i%len(sessions)]
		s, do, c := s.in("%v, flushed: %t", plan.steps, plan.flush).planned(plan.steps)
		start := ndfile.NewMem()
		s.ok(s.writeRows(start, path, c, ndfile.WriteOptions{}))
		whole, seed := s.tree(start, "/"), s.rng.Uint64()
		good := s.seeded(seed).disturb(whole, c, do, plan.flush, nil, aborts)
		s.ok(good.err)
		for _, i := range s.places(len(good.watched.ops), 60) {
			if !needsRoom(good.watched.ops[i]) {
				continue
			}
			for _, then := range []reaction{aborts, closes} {
				o := s.seeded(seed).disturb(whole, c, do, plan.flush, &fault{at: i, full: true}, then)
				s := s.in("call %d, %s, finds the disk full, %s", i, good.watched.ops[i], then)
				got, err := s.read(o.mem, path)
				if err == nil {
					err = s.among(got, good.states, slices.ContainsFunc(do, func(st step) bool { return st.mix }))
				}
				s.sameOr(err)
				s.leftNothing(o.mem, path, got, o.err)
			}
		}
	}
}

// leftNothing looks for what a writer left who found the disk full.
func (s *suite) leftNothing(mem *ndfile.Mem, path string, want *content, err error) {
	s.tb.Helper()
	if !errors.Is(err, syscall.ENOSPC) {
		s.errorf("the error does not hold the cause: %v", err)
	}
	if want == nil {
		s.only(mem)
		return
	}
	s.only(mem, path)
	s.sameOr(s.compare(mem, path, want))
	problems, err := s.verify(mem, path, false)
	s.sameOr(err)
	for _, p := range problems {
		// Rows that only some columns have are no files, and to take them back needs room.
		if p.Kind != ndfile.ErrLoss {
			s.errorf("Verify reports %s: %s", p.Path, p.Msg)
		}
	}
}

// checkReadFaults makes each call of the file system fail once while a file is
// read: the right values or the error, and no file stays open.
func checkReadFaults(s *suite) {
	s.sweepRead(s.modest(4))
	s.in("large").sweepRead(s.large())
}

func (s *suite) sweepRead(c *content) {
	defer inOrder()()
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	for _, read := range []struct {
		name string
		fn   func(s *suite, fsys ndfile.FS) error
	}{
		{"Open and ReadBox", func(s *suite, fsys ndfile.FS) error {
			got, err := s.read(fsys, path)
			if err == nil {
				s.sameOr(s.sameContent(got, c))
			}
			return err
		}},
		{"Load", func(s *suite, fsys ndfile.FS) error {
			got, err := s.load(fsys, path, nil)
			if err == nil {
				s.sameOr(s.sameArrays(got, c, s.sameValues))
			}
			return err
		}},
		{"Detect", func(s *suite, fsys ndfile.FS) error {
			f, err := ndfile.Detect(ctx, s.cfg.Formats, fsys, path)
			if err == nil && !s.cfg.Quirks.Weak && f.Name() != s.format.Name() {
				s.errorf("Detect: %s", f.Name())
			}
			return err
		}},
	} {
		watched := newWatch(mem)
		s.ok(read.fn(s.seeded(1), watched))
		ops := watched.ops
		for _, i := range s.places(len(ops), 60) {
			watched := newWatch(mem)
			watched.fault = &fault{at: i}
			err := read.fn(s.seeded(1), watched)
			s := s.in("%s, call %d, %s, fails", read.name, i, watched.fault.op)
			if err != nil {
				s.fails(err, ndfile.ErrIO)
				s.says(err, path, "", false)
			} else if watched.fault.op == "read" {
				s.errorf("no error")
			}
			if open := watched.left(); len(open) > 0 {
				s.errorf("still open: %q", open)
			}
		}
	}
}

func (s *suite) sameOr(err error) {
	s.tb.Helper()
	if err != nil {
		s.errorf("%v", err)
	}
}

// checkCrash cuts the power, and kills the process, before every change: with
// WriteOptions.Sync the old file or the new one survives, and after the call the
// new one.
func checkCrash(s *suite) {
	defer inOrder()()
	old, c := s.modest(2), s.modest(3)
	path := s.path("f")
	opt := ndfile.WriteOptions{Sync: true}
	for _, w := range s.writers() {
		for _, replace := range []bool{false, true} {
			s := s.in("%s, replace: %t", w.name, replace)
			mem := ndfile.NewMem()
			was := old
			if !replace {
				was = nil
			} else {
				s.ok(s.save(mem, path, old, opt))
			}
			watched := newWatch(mem)
			watched.before = func(op string) {
				if !changes(op) && op != "remove" && op != "rmdir" {
					return
				}
				if _, err := s.either(mem.CrashClone(), path, was, c); err != nil {
					s.errorf("power cut before call %d, %s: %v", len(watched.ops)-1, op, err)
				}
				if _, err := s.either(mem, path, was, c); err != nil {
					s.errorf("killed before call %d, %s: %v", len(watched.ops)-1, op, err)
				}
			}
			s.ok(w.write(s, watched.pieces(), path, c, opt))
			if isNew, err := s.either(mem.CrashClone(), path, was, c); err != nil || !isNew {
				s.errorf("power cut after the call: the new file is not there: %v", err)
			}
		}
	}
}

// damage reads a damaged file in all ways, and repairs it; it gives what was read,
// or the errors.
func (s *suite) damage(mem ndfile.FS, path string) (opened, loaded *content, err error) {
	s.tb.Helper()
	read := s.calm("Open", func() (err error) { opened, err = s.read(mem, path); return err })
	load := s.calm("Load", func() (err error) { loaded, err = s.load(mem, path, nil); return err })
	for _, err := range []error{read, load} {
		if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal { // also what breaks the rules of reading
			s.errorf("%v", err)
		}
	}
	s.says(load, path, "", false)
	s.mends(mem, path, opened, read)
	return opened, loaded, errors.Join(read, load)
}

// places gives about n/sparse positions below size: the first ones, the last
// ones, and some between.
func (s *suite) places(size, n int) []int {
	var at []int
	n /= sparse
	for i := range size {
		if size <= n || i < n/2 || i >= size-n/4 || s.rng.IntN(size) < n/4 {
			at = append(at, i)
		}
	}
	return at
}

// checkTruncate cuts the files short: an error, or everything is as it was.
func checkTruncate(s *suite) {
	for range 2 {
		c := s.modest(3)
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
		whole := s.tree(mem, "/")
		per := max(300/len(whole), 4)
		for _, p := range sorted(whole) {
			for _, n := range s.places(len(whole[p]), per) {
				s := s.in("%s cut from %d to %d bytes", p, len(whole[p]), n)
				t := maps.Clone(whole)
				t[p] = t[p][:n]
				opened, loaded, _ := s.damage(s.plant(t), path)
				if opened != nil {
					s.sameOr(s.sameContent(opened, c))
				}
				if loaded != nil {
					s.sameOr(s.sameArrays(loaded, c, s.sameValues))
				}
			}
		}
	}
}

// maxGarbage is what reading a small damaged file may allocate, in bytes: no
// number in it is taken at its word.
const maxGarbage = 32 << 20

// checkFlip changes bytes of the files: no panic, and little memory.
func checkFlip(s *suite) {
	for range 2 {
		c := s.modest(3)
		mem, path := ndfile.NewMem(), s.path("f")
		s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
		whole := s.tree(mem, "/")
		per := max(300/len(whole), 4)
		for _, p := range sorted(whole) {
			for _, at := range s.places(len(whole[p]), per) {
				was := whole[p][at]
				for _, b := range []byte{was ^ 0x80, was ^ 1<<s.rng.IntN(7), "0919 []{}\",-e\xff\x00"[s.rng.IntN(15)]} {
					t := maps.Clone(whole)
					t[p] = t[p][:at] + string(b) + t[p][at+1:]
					damaged := s.plant(t)
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					s := s.in("%s, byte %d changed from %#x to %#x", p, at, was, b)
					s.damage(damaged, path)
					runtime.ReadMemStats(&after)
					if used := after.TotalAlloc - before.TotalAlloc; used > maxGarbage {
						s.errorf("%d bytes allocated", used)
					}
				}
			}
		}
	}
	// Nothing is shared with a file that shrinks while it is open.
	c := s.modest(4)
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	for p, text := range s.tree(mem, "/") {
		if !strings.HasSuffix(p, "/") {
			s.ok(mem.WriteFile(p, [][]byte{[]byte(text[:len(text)/2])}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}))
		}
	}
	var got *content
	err = s.calm("reading a file that shrank", func() (err error) { got, err = s.readFile(f); return err })
	if err == nil {
		s.in("a file that shrank").sameOr(s.sameContent(got, c))
	}
}

// checkMetamorphic does random operations on a few files and on models of them.
func checkMetamorphic(s *suite) {
	for seed := range uint64(6) {
		s := s.in("seed %d", seed)
		s.rng = rand.New(rand.NewPCG(seed, 77))
		mem := ndfile.NewMem()
		model := map[string]*content{}
		paths := []string{s.path("a"), s.path("b"), s.path("c")}
		for step := range 60 {
			path := paths[s.rng.IntN(len(paths))]
			s := s.in("step %d, %s", step, path)
			s.randomOp(mem, path, model)
			if *s.errs > 0 {
				return // what follows is no news
			}
		}
		for path, c := range model {
			s.expect(mem, path, c)
		}
		s.only(mem, slices.Collect(maps.Keys(model))...)
	}
}

func (s *suite) randomOp(mem ndfile.FS, path string, model map[string]*content) {
	c := model[path]
	switch op := s.rng.IntN(8); {
	case op <= 1 || c == nil: // a new file, in any way
		c := s.sample(1 + s.rng.Int64N(6))
		ways := s.ways()
		w := ways[s.rng.IntN(len(ways))]
		opt := ndfile.WriteOptions{Commit: []vfs.Commit{ndfile.CommitAtomic, ndfile.CommitDirect}[s.rng.IntN(2)], Sync: s.rng.IntN(2) == 0}
		s.in("%s", w.name).ok(w.write(s, mem, path, c, opt))
		model[path] = c
	case op == 2: // a new file, given up
		c := s.sample(4)
		f, err := s.create(mem, path, ndfile.WriteOptions{}, c.attrs)
		s.ok(err)
		for _, a := range c.arrays[:s.rng.IntN(len(c.arrays)+1)] {
			dst, err := f.Add(ctx, a.name, a.spec())
			s.ok(err)
			s.ok(a.writeBox(dst, rowBox(a.shape, 0, 1+s.rng.Int64N(a.shape[0])), s.layout()))
		}
		s.in("Abort").ok(f.Abort())
	case op == 3: // an older reader sees its file to the end
		f, err := s.open(mem, path)
		s.ok(err)
		new := s.sample(3)
		s.ok(s.save(mem, path, new, ndfile.WriteOptions{}))
		if !s.has(ndfile.CapUpdate) { // a folder may change under its reader
			got, err := s.readFile(f)
			s.in("read after the file was replaced").ok(err)
			s.sameOr(s.sameContent(got, c))
		}
		s.ok(f.Abort())
		model[path] = new
	case op == 4 && s.has(ndfile.CapUpdate):
		f, err := s.session(mem, path, c)
		s.ok(err)
		s.play(f, c, 1+s.rng.IntN(6))
		if s.rng.IntN(3) == 0 && flushes(f) {
			s.in("Flush").ok(flush(f))
			s.ok(f.Abort())
		} else {
			s.ok(f.Close(ctx))
		}
		s.healthy(mem, path)
	case len(c.arrays) == 0:
	case op == 5:
		a := c.arrays[s.rng.IntN(len(c.arrays))]
		one, err := s.load(mem, path, &a.name)
		s.ok(err)
		s.sameOr(s.sameArrays(one, &content{arrays: []*array{a}}, s.sameValues))
	default: // boxes
		f, err := s.open(mem, path)
		s.ok(err)
		for range 6 {
			a := c.arrays[s.rng.IntN(len(c.arrays))]
			src, err := f.Array(a.name)
			s.ok(err)
			box := s.box(a.shape)
			s.checkBox(src, a, box)
			if s.has(ndfile.CapMasked) && ndarray.Box.Check(box, a.shape) == nil {
				s.checkPlainRead(src, a, box)
			}
		}
		s.ok(f.Abort())
	}
}
