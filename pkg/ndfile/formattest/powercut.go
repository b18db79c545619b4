package formattest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// cutsOf is how often the power is cut during one operation.
func cutsOf() int {
	if os.Getenv("NDFILE_TORTURE") != "" {
		return 1000
	}
	return 50 / sparse
}

// roundsOf is how many files are tried for each kind of session.
func roundsOf() int {
	if os.Getenv("NDFILE_TORTURE") != "" {
		return 6
	}
	return 1
}

// checkPowerCuts cuts the power while files are written and changed, at all moments
// and in many ways (vfs.PowerCut).
//
// Synced: whatever was reported to be done is there, and of what was going on all or
// nothing; of a region each chunk.
//
// Not synced, on a file system that keeps order: what was there before the session
// and was not changed by it can be read, and a store that was there opens. Where the
// rest is not as it was after one of the calls, Verify says so. Where rows were
// appended to columns, a repair cuts them to the last one that is whole.
//
// Not synced, and no order: nothing hangs or crashes, and what is not there is an
// error.
func checkPowerCuts(s *suite) {
	defer inOrder()()
	for _, sync := range []bool{true, false} {
		for _, replace := range []bool{false, true} {
			for _, w := range s.writers() {
				s.in("%s, replace: %t, sync: %t", w.name, replace, sync).cutWriter(w, replace, sync)
			}
		}
		if !s.has(ndfile.CapUpdate) {
			continue
		}
		for i := range len(sessions) * roundsOf() {
			plan := sessions[i%len(sessions)]
			s, do, c := s.in("%v, flushed: %t, sync: %t", plan.steps, plan.flush, sync).planned(plan.steps)
			if len(do) > 0 {
				s.cutSession(do, plan.flush, sync, c)
				if sync {
					s.cutFlushed(do, c)
				}
			}
			if len(do) > 0 && do[0].name == "attrs" { // the first ones
				c.attrs = ndfile.NewAttrs()
				for _, a := range c.arrays {
					if a.attrs = ndfile.NewAttrs(); s.oneAttrs() {
						a.attrs = c.attrs
					}
				}
				s.in("no attributes before").cutSession(do, plan.flush, sync, c)
			}
		}
	}
}

// progress is how far an operation has come: through how many of its states.
type progress struct {
	states []*content // the first one before all; nil is no file
	begun  int        // the state that it is on the way to, or has reached
	done   int        // the last one that was reported
	mix    bool       // see step
	whole  bool       // all or nothing where order is kept, synced or not
	grows  bool       // rows are added, and nothing else is done
}

// possible are the states that a synced file can be in.
func (p *progress) possible() []*content { return p.states[p.done : p.begun+1] }

// cutWriter cuts the power while a new file is written.
func (s *suite) cutWriter(w way, replace, sync bool) {
	old, c := s.modest(2), s.modest(3)
	path, opt := s.path("f"), ndfile.WriteOptions{Sync: sync}
	start := ndfile.NewMem()
	p := &progress{states: []*content{nil, c}}
	if replace {
		s.ok(s.save(start, path, old, ndfile.WriteOptions{}))
		p.states[0], p.whole = old, true
	}
	s.blackouts(s.tree(start, "/"), sync, p, func(s *suite, fsys ndfile.FS) {
		p.begun, p.done = 1, 0
		s.ok(w.write(s, fsys, path, c, opt))
		p.done = 1
	})
}

// cutSession cuts the power while a file is changed.
func (s *suite) cutSession(do []step, flushed, sync bool, c *content) {
	path := s.path("f")
	start := ndfile.NewMem()
	s.ok(s.writeRows(start, path, c, ndfile.WriteOptions{}))
	p := &progress{
		mix:   slices.ContainsFunc(do, func(st step) bool { return st.mix }),
		grows: !slices.ContainsFunc(do, func(st step) bool { return st.name != "append" && st.name != "grow" }),
	}
	s.blackouts(s.tree(start, "/"), sync, p, func(s *suite, fsys ndfile.FS) {
		s.synced = sync
		c := c.clone()
		file, err := s.session(fsys, path, c)
		s.ok(err)
		defer file.Abort()
		states := []*content{c.clone()}
		p.begun, p.done = 0, 0
		for i, st := range do {
			p.begun = i + 1
			if st.able(s, c) {
				s.ok(st.do(s, file, c))
			}
			states = append(states, c.clone())
			if flushed {
				s.ok(flush(file))
			}
			region := st.name == "write" || st.name == "raw chunk"
			if flushed && flushes(file) || region && s.has(ndfile.CapChunked) { // is on disk when the call returns
				p.done = i + 1
			}
		}
		p.states = states
		s.ok(file.Close(ctx))
		p.done = len(do)
	})
}

// cutFlushed cuts the power after a Flush with Sync of a file that was opened
// without: all is there that was done before.
func (s *suite) cutFlushed(do []step, c *content) {
	path := s.path("f")
	mem := ndfile.NewMem()
	s.ok(s.writeRows(mem, path, c, ndfile.WriteOptions{}))
	mem = s.plant(s.tree(mem, "/"))
	mem.Record()
	c = c.clone()
	file, err := s.session(mem, path, c)
	s.ok(err)
	defer file.Abort()
	flusher, ok := file.(ndfile.Flusher)
	if !ok {
		return
	}
	for i, st := range do {
		if st.able(s, c) {
			s.ok(st.do(s, file, c))
		}
		s.ok(flusher.Flush(ctx, ndfile.FlushOptions{Sync: true}))
		for cut := range 2 * cutsOf() / 10 {
			how := vfs.PowerCut{Seed: s.rng.Uint64(), Ordered: cut%2 == 1, Block: 64}
			got, err := s.read(mem.Cut(how).Disk(), path)
			if err == nil {
				err = s.among(got, []*content{c}, false)
			}
			if err != nil {
				s.errorf("power cut after Flush with Sync, step %d (%s): %v", i, st.name, err)
				return
			}
		}
	}
}

// blackouts runs an operation twice: to see how long it is and what its states are,
// and to cut the power in between. The same random numbers make the same calls.
func (s *suite) blackouts(tree map[string]string, sync bool, p *progress, do func(s *suite, fsys ndfile.FS)) {
	s.tb.Helper()
	seed := s.rng.Uint64()
	dry := newWatch(s.plant(tree))
	do(s.seeded(seed), dry.pieces())
	moments := len(dry.ops)

	p.begun, p.done = 0, 0
	mem := s.plant(tree)
	mem.Record()
	watched := newWatch(mem)
	cut, calls := 0, 0
	judge := func() {
		for ; cut < cutsOf() && cut*(moments+1)/cutsOf() <= calls; cut++ {
			how := vfs.PowerCut{Seed: seed + uint64(cut), Ordered: cut%2 == 1, Block: []int{4096, 512, 64}[cut/2%3]}
			fails := func(disk *ndfile.Mem) bool { return s.seeded(1).survived(disk, p, how.Ordered, sync) != nil }
			o := mem.Cut(how)
			if fails(o.Disk()) {
				why := o.Explain(fails)
				err := s.seeded(1).survived(o.Disk(), p, how.Ordered, sync)
				s.errorf("power cut %d, before call %d of %d, %d of %d steps done: %v (%s)", cut, calls, moments, p.done, len(p.states)-1, err, why)
				cut = cutsOf() // one is enough
				return
			}
		}
		calls++
	}
	watched.before = func(string) { judge() }
	do(s.seeded(seed), watched.pieces())
	for cut < cutsOf() {
		judge()
	}
}

// survived tells what is wrong with a file after a power cut.
func (s *suite) survived(disk *ndfile.Mem, p *progress, ordered, sync bool) error {
	path := s.path("f")
	if _, err := disk.Lstat(path); errors.Is(err, syscall.ENOENT) {
		if sync && p.done > 0 || p.states[0] != nil && (sync || ordered) {
			return fmt.Errorf("the file is gone")
		}
		return nil
	}
	got, err := s.read(disk, path)
	states := p.states[:p.begun+1]
	if sync {
		states = p.possible()
	}
	if err == nil {
		err = s.amongOrNone(got, states, p.mix)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("wrong values: %w", err)
	}
	if sync || ordered && p.whole {
		return err
	}
	named := s.named(disk, path)
	switch {
	case !ordered:
		return nil // all that was written may be anything; that it is no crash is enough
	case !named:
		return fmt.Errorf("and Verify finds nothing: %w", err)
	}
	if p.states[0] == nil {
		return nil // the last step was to make it, and Verify says that it was not done
	}
	if err := s.oldRows(disk, path, states); err != nil || !p.grows || !s.has(ndfile.CapRows) {
		return err
	}
	return s.mended(disk, path, states)
}

// mended repairs a file that rows were added to: then all of it can be read, with the
// rows that it had before and the first ones of those that were added.
func (s *suite) mended(disk *ndfile.Mem, path string, states []*content) error {
	opt := ndfile.VerifyOptions{FS: disk, Format: s.format.Name(), Repair: true}
	left := false
	report := func(p ndfile.Problem) { left = left || p.Class == ndfile.Damage && !p.Repaired }
	if err := ndfile.Verify(ctx, s.cfg.Formats, path, opt, report); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	if left {
		return nil // chunks behind the one that is damaged can be decoded: it is named, and left to the user
	}
	got, err := s.read(disk, path)
	if err != nil {
		return fmt.Errorf("after a repair: %w", err)
	}
	for _, a := range states[len(states)-1].arrays {
		b := got.find(a.name)
		if b == nil || b.shape[0] < states[0].find(a.name).shape[0] || b.shape[0] > a.shape[0] {
			return fmt.Errorf("after a repair: %q is not there, or has not the rows of before", a.name)
		}
		if want := a.sub(rowBox(a.shape, 0, b.shape[0])); !slices.EqualFunc(b.elems, want.elems, slices.Equal) {
			return fmt.Errorf("after a repair: %q has other elements", a.name)
		}
	}
	return nil
}

// amongOrNone is among, for states that can be no file.
func (s *suite) amongOrNone(got *content, states []*content, mix bool) error {
	states = slices.DeleteFunc(slices.Clone(states), func(c *content) bool { return c == nil })
	if len(states) == 0 {
		return fmt.Errorf("there is a file, expected none")
	}
	return s.among(got, states, mix)
}

// named tells whether Verify finds something that is worse than a leftover.
func (s *suite) named(fsys ndfile.FS, path string) (found bool) {
	err := s.calm("Verify", func() error {
		return ndfile.Verify(ctx, s.cfg.Formats, path, ndfile.VerifyOptions{FS: fsys, Format: s.format.Name()}, func(p ndfile.Problem) {
			found = found || p.Kind != ndfile.ErrValue
		})
	})
	if err != nil && ndfile.KindOf(err) == ndfile.ErrInternal {
		s.errorf("Verify: %v", err)
	}
	return found || err != nil
}

// oldRows reads the rows that are in all states, one by one: those that are the same
// in all can be read, since nobody was to change them. Of the others what can be read
// is from one of the states.
func (s *suite) oldRows(disk *ndfile.Mem, path string, states []*content) error {
	f, err := s.open(disk, path)
	if err != nil {
		return fmt.Errorf("the store does not open: %w", err)
	}
	defer f.Abort()
	for _, a := range states[0].arrays {
		inAll := !slices.ContainsFunc(states, func(c *content) bool { return c.find(a.name) == nil })
		if !inAll {
			continue
		}
		src, err := f.Array(a.name)
		if err != nil {
			return fmt.Errorf("%q: %w", a.name, err)
		}
		for row := range a.shape[0] {
			if err := s.sameRow(src, a, row, states); err != nil {
				return fmt.Errorf("%q, row %d: %w", a.name, row, err)
			}
		}
	}
	return nil
}

// sameRow reads a row, if it is in all states.
func (s *suite) sameRow(src ndfile.Array, a *array, row int64, states []*content) error {
	box := rowBox(a.shape, row, row+1)
	want, same := a.sub(box), true
	var rows []*array
	for _, c := range states {
		b := c.find(a.name)
		if !slices.Equal(b.shape[1:], a.shape[1:]) || b.shape[0] <= row {
			return nil
		}
		rows = append(rows, b.sub(box))
		same = same && slices.EqualFunc(rows[len(rows)-1].elems, want.elems, slices.Equal)
	}
	got, err := readBox(src, box, layouts[0])
	switch {
	case err != nil && same:
		return fmt.Errorf("it was there before: %w", err)
	case err != nil:
		return nil // Verify names it
	}
	for k, elem := range got.elems {
		if !slices.ContainsFunc(rows, func(b *array) bool { return slices.Equal(b.elems[k], elem) }) {
			return fmt.Errorf("element %d is of no state", k)
		}
	}
	return nil
}
