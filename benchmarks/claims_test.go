package main

import (
	"strings"
	"testing"
)

// series makes a series of constant times.
func series(experiment, operation, contender string, x, wall, cpu float64) *Series {
	return &Series{Experiment: experiment, Place: "tmpfs", Operation: operation, Contender: contender, X: x,
		Wall: []float64{wall, wall, wall}, CPU: []float64{cpu, cpu, cpu}}
}

func TestCheck(t *testing.T) {
	r := &Results{Series: []*Series{
		series("tiny", "write", "c/ds-direct", 0, 99, 10),
		series("tiny", "write", "c/netcdf4", 0, 1, 210),
		series("tiny", "write", "c/syscalls", 0, 1, 8),
		series("files", "write", "c/ds", 100, 10, 10),
		series("files", "write", "c/ds", 1000, 30, 10),
		series("files", "write", "c/ds-many", 1000, 10, 10),
		series("large", "read-reused", "c/ds", 0, 10, 1),
		series("large", "read", "c/netcdf4", 0, 15, 1),
		series("large", "read-reused", "c/netcdf4", 0, 12, 1),
		series("large", "read", "c/cdf5", 0, 40, 1),
	}}
	for _, test := range []struct {
		claim
		ratio float64
		peer  string
		met   bool
	}{
		{claim{experiment: "tiny", metric: "cpu", operation: "write", ours: "c/ds-direct", than: "write", peers: []string{"c/netcdf4"}, bound: 20}, 21, "c/netcdf4", true},
		{claim{experiment: "tiny", metric: "cpu", operation: "write", ours: "c/ds-direct", than: "write", peers: []string{"c/netcdf4"}, bound: 22}, 21, "c/netcdf4", false},
		{claim{experiment: "tiny", metric: "cpu", operation: "write", ours: "c/ds-direct", than: "write", peers: []string{"c/syscalls"}, bound: 1.3, atMost: true}, 1.25, "c/syscalls", true},
		{claim{experiment: "tiny", metric: "cpu", operation: "write", ours: "c/ds-direct", than: "write", peers: []string{"c/syscalls"}, bound: 1.2, atMost: true}, 1.25, "c/syscalls", false},
		{claim{experiment: "files", metric: "wall", operation: "write", ours: "c/ds-many", than: "write", peers: []string{"c/ds"}, bound: 2}, 3, "c/ds", true},
		// The best peer counts, by its quickest way to read.
		{claim{experiment: "large", metric: "wall", operation: "read-reused", ours: "c/ds", peers: []string{"c/cdf5", "c/netcdf4"}, bound: 1}, 1.2, "c/netcdf4", true},
	} {
		o, ok := test.check(r)
		if !ok || o.Ratio.Median != test.ratio || o.Peer != test.peer || o.Met != test.met {
			t.Errorf("%+v: %+v, %v", test.claim, o, ok)
		}
	}
	skipped := series("large", "map-sum", "c/ds", 0, 1, 1)
	skipped.Wall, skipped.CPU, skipped.Skipped = nil, nil, "not aligned"
	r.Series = append(r.Series, skipped)
	c := claim{experiment: "large", metric: "wall", operation: "map-sum", ours: "c/ds", than: "read-reused", peers: []string{"c/ds"}, bound: 2}
	if o, ok := c.check(r); !ok || o.Met || o.Why != "not aligned" {
		t.Errorf("what was skipped: %+v, %v", o, ok)
	}
	if _, ok := (claim{experiment: "tiny", metric: "cpu", operation: "read", ours: "c/ds-direct", than: "read", peers: []string{"c/netcdf4"}}).check(r); ok {
		t.Error("a claim without series came out")
	}
}

func TestScales(t *testing.T) {
	var r Results
	x := experiment{name: "files", scale: "files", rows: []row{{operations: []string{"write"}, contenders: []string{"c/ds"}}}}
	for _, n := range []float64{10, 100, 1000} {
		r.Series = append(r.Series, series("files", "write", "c/ds", n, 0, 5)) // of one file: the same at every size
	}
	got := r.scales([]experiment{x})
	if len(got) != 1 || got[0].Exponent < 0.999 || got[0].Exponent > 1.001 || !got[0].Met {
		t.Errorf("linear: %+v", got)
	}
	for _, s := range r.Series {
		for i := range s.CPU {
			s.CPU[i] *= s.X
		}
	}
	if got = r.scales([]experiment{x}); got[0].Exponent < 1.999 || got[0].Met {
		t.Errorf("quadratic: %+v", got)
	}
}

// Every claim has to be about something that the plan measures: a slip of the pen would leave it out in silence.
func TestClaimsAreMeasured(t *testing.T) {
	for _, e := range []effort{full, quick} {
		planned := map[string]bool{}
		for _, x := range plan(e, true) {
			for _, r := range x.rows {
				for _, operation := range r.operations {
					for _, contender := range r.contenders {
						planned[strings.Join([]string{x.place, x.name, operation, contender}, " ")] = true
					}
				}
			}
		}
		for _, c := range claims() {
			if !planned["tmpfs "+c.experiment+" "+c.operation+" "+c.ours] {
				t.Errorf("%s: %s %s %s is not in the plan", c.what, c.experiment, c.operation, c.ours)
			}
			for _, peer := range c.peers {
				operation := c.than
				if operation == "" {
					operation = "read"
				}
				if !planned["tmpfs "+c.experiment+" "+operation+" "+peer] {
					t.Errorf("%s: peer %s %s %s is not in the plan", c.what, c.experiment, operation, peer)
				}
			}
		}
	}
}
