// Package findings gathers the problems that a verification finds and what a
// repair would do about each, so that a repair knows all of its steps, and has
// written them down, before it takes the first.
package findings

import (
	"github.com/ndfile/ndfile/pkg/internal/aside"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// List is what a verification of a store found, for one goroutine.
type List struct {
	FS     ndfile.FS
	Store  string // what is repaired
	Repair bool   // it is wanted

	problems []problem
	repairs  []*Repair
}

type problem struct {
	ndfile.Problem
	repair *Repair
}

// Repair is what is done about one or several problems.
type Repair struct {
	text  string
	steps []aside.Step
	done  bool
	kept  string
	err   error
}

// Plan adds a repair: text says what it does, in one line.
func (l *List) Plan(text string, steps ...aside.Step) *Repair {
	r := &Repair{text: text, steps: steps}
	l.repairs = append(l.repairs, r)
	return r
}

// Add adds a problem. repair is nil where nothing certain can be done.
func (l *List) Add(p ndfile.Problem, repair *Repair) {
	if repair != nil {
		p.Repair = repair.text
	}
	l.problems = append(l.problems, problem{p, repair})
}

// Report repairs, if that is wanted, and reports all problems in the order in
// which they were added. A repair that fails is no error: its problems say so.
func (l *List) Report(report func(ndfile.Problem)) {
	if l.Repair {
		l.mend()
	}
	for _, p := range l.problems {
		if r := p.repair; r != nil {
			switch {
			case r.err != nil:
				p.Msg += " (the repair failed: " + r.err.Error() + ")"
			case r.done:
				p.Repaired = true
				p.Problem.Repair += "; what was there is kept in " + r.kept
			}
		}
		report(p.Problem)
	}
}

func (l *List) mend() {
	var steps []aside.Step
	for _, r := range l.repairs {
		steps = append(steps, r.steps...)
	}
	if len(steps) == 0 {
		return
	}
	work, err := aside.Begin(l.FS, l.Store, steps)
	i := 0
	for _, r := range l.repairs {
		if r.err = err; err != nil {
			continue
		}
		for range r.steps {
			if r.err == nil {
				_, r.err = work.Do(i)
			}
			i++
		}
		r.done, r.kept = r.err == nil, work.Folder()
	}
}
