package formattest

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// among tells whether a file is in one of the states that it went through or, if
// mix, between two of them: each chunk old or new.
func (s *suite) among(got *content, states []*content, mix bool) error {
	for i := len(states) - 1; i >= 0; i-- {
		if s.sameContent(got, states[i]) == nil {
			return nil
		}
	}
	for i := 1; mix && i < len(states); i++ {
		if s.mixed(got, states[i-1], states[i]) == nil {
			return nil
		}
	}
	asOld, asNew := s.sameContent(got, states[0]), s.sameContent(got, states[len(states)-1])
	if mix {
		asNew = fmt.Errorf("%w; %w", asNew, s.mixed(got, states[0], states[len(states)-1]))
	}
	return fmt.Errorf("neither the old state (%w) nor the new one (%w)", asOld, asNew)
}

// mixed compares a file with two states that differ in elements only, or in arrays
// that the new one has beside the old one's.
func (s *suite) mixed(got, old, new *content) error {
	var blanks []*array
	same := func(got, new *array) error {
		was := old.find(new.name)
		if was == nil {
			blank := *new
			blank.elems = slices.Repeat([][]byte{new.blank()}, len(new.elems))
			was = &blank
			blanks = append(blanks, was)
		}
		merged := *new
		merged.elems = slices.Clone(got.elems)
		if err := s.sameArray(got, &merged); err != nil {
			return err
		}
		if len(was.elems) != len(new.elems) || len(got.elems) != len(new.elems) {
			return fmt.Errorf("%d elements, old %d, new %d", len(got.elems), len(was.elems), len(new.elems))
		}
		chunks := got.chunks
		if chunks == nil {
			chunks = slices.Clone(got.shape) // one
		}
		type verdict struct{ notOld, notNew bool }
		found := map[string]verdict{}
		each(got.shape, func(k int, index []int64) {
			key := make([]int64, len(index))
			for axis := range index {
				key[axis] = index[axis] / chunks[axis]
			}
			name := fmt.Sprint(key)
			v := found[name]
			v.notOld = v.notOld || !slices.Equal(got.elems[k], was.elems[k])
			v.notNew = v.notNew || !slices.Equal(got.elems[k], new.elems[k])
			found[name] = v
		})
		for name, v := range found {
			if v.notOld && v.notNew {
				return fmt.Errorf("chunk %s is neither old nor new", name)
			}
		}
		return nil
	}
	if err := s.sameArrays(got, new, same); err != nil {
		return err
	}
	return s.sameAttrs(got.attrs, new.attrs)
}

// sessions are what the sweeps disturb.
var sessions = []struct {
	steps []string
	flush bool // after each step
}{
	{[]string{"write", "write", "write"}, false},
	{[]string{"raw chunk"}, false},
	{[]string{"attrs"}, false},
	{[]string{"append", "append", "append"}, false},
	{[]string{"append", "append"}, true},
	{[]string{"grow"}, false},
	{[]string{"shrink"}, false},
	{[]string{"shrink", "grow"}, true},
	{[]string{"reshape"}, false},
	{[]string{"widen", "widen"}, false},
	{[]string{"add"}, false},
	{[]string{"remove"}, false},
	{[]string{"attrs", "append", "write", "shrink", "append", "add", "remove"}, true},
}

// checkUpdateFaults makes each call of the file system fail once, and all calls
// from each on, in sessions of all kinds: the store is old or new, a region each
// chunk for itself; the error is reported, no file stays open, and old values do
// not come back.
func checkUpdateFaults(s *suite) {
	for _, plan := range sessions {
		s, do, c := s.in("%v, flushed: %t", plan.steps, plan.flush).planned(plan.steps)
		if len(do) > 0 {
			s.sweepSession(do, plan.flush, c)
		}
	}
}

// planned gives a file for a session, and the steps of it that the format can do.
func (s *suite) planned(names []string) (_ *suite, do []step, c *content) {
	c = s.modest(7)
	for len(c.arrays[0].shape) < 2 && s.stores([]int64{7, 3}) {
		c = s.modest(7) // with several axes
	}
	for _, name := range names {
		if st := stepOf(name); st.able(s, c) {
			do = append(do, st)
		}
	}
	return s, do, c
}

// reaction is what a session does after an error.
type reaction string

const (
	aborts reaction = "then Abort"
	closes reaction = "then Close"
	goesOn reaction = "and it goes on" // with what the file says that it holds now
)

// outcome is what a disturbed session leaves.
type outcome struct {
	mem     *ndfile.Mem
	watched *watch
	states  []*content // after each step, the first before all
	err     error      // the first one
	went    bool       // the session went on after it
}

// disturb plays a session over a tree in which a call fails.
func (s *suite) disturb(tree map[string]string, c *content, do []step, flushed bool, f *fault, then reaction) (o outcome) {
	o.mem = s.plant(tree)
	o.watched = newWatch(o.mem)
	o.watched.fault = f
	c = c.clone()
	file, err := s.session(o.watched.pieces(), s.path("f"), c)
	if o.err = err; err != nil {
		return o
	}
	defer file.Abort()
	o.states = append(o.states, c.clone())
	for _, st := range do {
		if !st.able(s, c) {
			continue
		}
		before := c.clone()
		err := st.do(s, file, c)
		o.states = append(o.states, c.clone())
		if err == nil && flushed {
			err = flush(file)
		}
		if err == nil {
			continue
		}
		if o.err = err; then != goesOn {
			break
		}
		o.went = true
		got, err := s.readFile(file)
		s.ok(err)
		s.sortAttrs(got)
		s.in("%s, read through the open file", st.name).sameOr(s.among(got, []*content{before, c}, st.mix))
		c = got.clone()
		o.states = append(o.states, c.clone())
	}
	if o.err == nil || then != aborts {
		if err := file.Close(ctx); o.err == nil {
			o.err = err
		} else if err != nil && o.went {
			s.errorf("Close fails after an error that is over: %v", err)
		}
	}
	return o
}

func (s *suite) sweepSession(do []step, flushed bool, c *content) {
	defer inOrder()()
	path, seed := s.path("f"), s.rng.Uint64()
	start := ndfile.NewMem()
	s.ok(s.writeRows(start, path, c, ndfile.WriteOptions{}))
	whole := s.tree(start, "/")
	mix := slices.ContainsFunc(do, func(st step) bool { return st.mix })
	good := s.seeded(seed).disturb(whole, c, do, flushed, nil, aborts)
	s.ok(good.err)
	new := good.states[len(good.states)-1]
	s.expect(good.mem, path, new)
	ops := good.watched.ops
	for _, i := range s.places(len(ops), 150) {
		for _, test := range []struct {
			fault
			then reaction
		}{
			{fault{at: i}, aborts}, {fault{at: i}, closes}, {fault{at: i}, goesOn}, {fault{at: i, short: true}, aborts}, {fault{at: i, after: true}, aborts},
		} {
			f := &test.fault
			if f.short && ops[i] != "write" {
				continue
			}
			s := s.in("call %d, %s, %s, %s", i, ops[i], f.how(), test.then)
			o := s.seeded(seed).disturb(whole, c, do, flushed, f, test.then)
			if open := o.watched.left(); len(open) > 0 {
				s.errorf("still open: %q", open)
			}
			switch {
			case o.err != nil:
				s.fails(o.err, ndfile.ErrIO)
				s.says(o.err, path, "", false)
				if !f.short && !errors.Is(o.err, syscall.EIO) {
					s.errorf("the error does not hold the cause: %v", o.err)
				}
			case changes(f.op):
				s.errorf("no error")
			}
			got, err := s.read(o.mem, path)
			switch {
			case err != nil:
			case o.err == nil:
				err = s.sameContent(got, new)
			case o.went:
				err = s.sameContent(got, o.states[len(o.states)-1])
			default:
				err = s.among(got, good.states, mix)
			}
			if err != nil {
				s.errorf("%v", err)
				continue
			}
			if f.after {
				s.checkSurvivor(o.mem, path, got)
			} else if f.op != "remove" && f.op != "rmdir" {
				s.only(o.mem, path)
			}
		}
	}
}

// checkSurvivor looks at a store over which somebody was killed: it can be changed
// and repaired, and what grows in it has the fill value.
func (s *suite) checkSurvivor(mem *ndfile.Mem, path string, c *content) {
	s.tb.Helper()
	whole := s.tree(mem, "/")
	s.in("afterwards").mends(mem, path, c, nil)
	s.notLost(mem, path)

	s, c = s.in("afterwards changed"), c.clone()
	mem = s.plant(whole)
	f, err := s.session(mem, path, c)
	s.ok(err)
	if s.grows(c) {
		s.ok(s.resizeRows(f, c, func(rows int64) int64 { return rows + 5 }))
	}
	s.ok(s.stepWrite(f, c))
	s.ok(f.Close(ctx))
	s.sameOr(s.compare(mem, path, c))
}

// notLost: nothing that Verify still finds makes data unreadable.
func (s *suite) notLost(mem *ndfile.Mem, path string) {
	s.tb.Helper()
	problems, err := s.verify(mem, path, false)
	s.sameOr(err)
	for _, p := range problems {
		if p.Kind == ndfile.ErrCorrupt {
			s.errorf("afterwards Verify reports %s: %s", p.Path, p.Msg)
		}
	}
}
