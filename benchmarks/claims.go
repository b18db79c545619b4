package main

import (
	"math"
	"slices"
	"strings"
)

// A claim is a ratio that has to be reached: of peers' times to ours, at least; or of ours to a floor, at most.
type claim struct {
	what       string
	experiment string
	metric     string // "cpu" or "wall"
	operation  string // ours
	ours       string // a contender
	than       string // the peers' operation, where it is another one
	peers      []string
	bound      float64
	atMost     bool
}

// Outcome says how a claim came out. With several peers the best of them counts.
type Outcome struct {
	What   string   `json:"what"`
	Metric string   `json:"metric"`
	Ours   string   `json:"ours"`
	Peer   string   `json:"peer"`
	Bound  float64  `json:"bound"`
	AtMost bool     `json:"at_most"`
	Ratio  Estimate `json:"ratio"`
	Met    bool     `json:"met"`
	Why    string   `json:"why,omitempty"` // why there is no ratio: the contender could not do it
}

// claims are the aims of the project, all in tmpfs.
func claims() []claim {
	var all []claim
	add := func(c claim) { all = append(all, c) }
	speedup := func(what, experiment, metric, operation, ours, than string, bound float64, peers ...string) {
		add(claim{what, experiment, metric, operation, ours, than, peers, bound, false})
	}
	floor := func(what, experiment, metric, operation, ours, peer string, bound float64) {
		add(claim{what, experiment, metric, operation, ours, operation, []string{peer}, bound, true})
	}
	bounds := map[string]struct{ direct, atomic, read, floorWrite, floorRead, many float64 }{
		"c":      {20, 13, 38, 1.3, 1.35, 1.6},
		"python": {30, 22, 55, 1.45, 1.45, 2},
	}
	for _, in := range []string{"c", "python"} {
		b := bounds[in]
		netcdf := []string{in + "/netcdf4"}
		if in == "c" {
			netcdf = []string{"c/netcdf4", "c-wheel/netcdf4"} // two versions: each has its row
		}
		for _, size := range []string{"tiny", "small"} {
			for _, peer := range netcdf {
				speedup("write "+size+", direct commit, vs NetCDF-4", size, "cpu", "write", in+"/ds-direct", "write", b.direct, peer)
				speedup("write "+size+", atomic commit, vs NetCDF-4", size, "cpu", "write", in+"/ds", "write", b.atomic, peer)
				speedup("read "+size+" vs NetCDF-4", size, "cpu", "read", in+"/ds", "read", b.read, peer)
			}
			floor("write "+size+", direct commit, over the system calls", size, "cpu", "write", in+"/ds-direct", in+"/syscalls", b.floorWrite)
			floor("read "+size+" over the system calls", size, "cpu", "read", in+"/ds", in+"/syscalls", b.floorRead)
		}
		for _, ours := range []string{in + "/ds-direct", in + "/ra"} {
			best := []string{in + "/netcdf4", in + "/cdf5"}
			if in == "c" {
				best = append(best, "c-wheel/netcdf4", "c-wheel/cdf5")
			}
			speedup("write large vs NetCDF, the best", "large", "wall", "write", ours, "write", 1, best...)
			speedup("write large vs write(2)", "large", "wall", "write", ours, "write", 0.97, in+"/syscalls")
			if in == "python" {
				best = append(best, "python/h5py", "python/numpy", "python/ds-format", "python/safetensors")
			}
			speedup("read large into a touched buffer vs the best peer", "large", "wall", "read-reused", ours, "", 1, best...)
			speedup("map and sum vs read into fresh memory and sum", "large", "wall", "map-sum", ours, "read-sum", 2, ours)
		}
		speedup("save_many of the most files vs one by one", "files", "wall", "write", in+"/ds-many", "write", b.many, in+"/ds")
		speedup("read_many of the most files vs one by one", "files", "wall", "read", in+"/ds-many", "read", b.many, in+"/ds")
	}
	for _, size := range []string{"tiny", "small"} {
		speedup("write "+size+" vs ds-format", size, "cpu", "write", "python/ds-direct", "write", 8, "python/ds-format")
		speedup("read "+size+" vs ds-format", size, "cpu", "read", "python/ds", "read", 5, "python/ds-format")
		floor("Julia over C, write "+size, size, "cpu", "write", "julia/ds-direct", "c/ds-direct", 1.15)
		floor("Julia over C, read "+size+" into fresh memory over reused", size, "cpu", "read", "julia/ds", "c/ds", 1.15)
		floor("Julia over C, read! "+size+", both into reused memory", size, "cpu", "read-reused", "julia/ds", "c/ds", 1.15)
	}
	all = append(all, wideClaims()...)
	slices.SortStableFunc(all, func(a, b claim) int { return strings.Compare(a.language(), b.language()) })
	return all
}

// language is that of our contender.
func (c claim) language() string {
	language, _, _ := strings.Cut(c.ours, "/")
	return language
}

// check measures a claim against results. False: the run had no such series. A series of ours that was skipped is a
// claim that is missed.
func (c claim) check(r *Results) (Outcome, bool) {
	out := Outcome{What: c.what, Metric: c.metric, Ours: c.ours, Bound: c.bound, AtMost: c.atMost}
	ours := r.find(c.experiment, "tmpfs", c.operation, c.ours, scaleOf(c.experiment))
	if ours == nil {
		return out, false
	}
	if len(ours.Wall) == 0 {
		out.Peer, out.Why = c.peers[0], ours.Skipped
		return out, true
	}
	best := math.Inf(1)
	for _, peer := range c.peers {
		// What reads into a buffer of the caller is compared with the quickest reading that the peer has.
		operations := []string{c.than}
		if c.than == "" {
			operations = []string{"read", "read-reused"}
		}
		for _, operation := range operations {
			theirs := r.find(c.experiment, "tmpfs", operation, peer, scaleOf(c.experiment))
			if theirs == nil || len(theirs.Wall) == 0 {
				continue
			}
			if m := median(slices.Clone(theirs.times(c.metric))); m < best {
				best, out.Peer = m, peer
				a, b := theirs.times(c.metric), ours.times(c.metric)
				if c.atMost {
					a, b = b, a
				}
				out.Ratio = estimate(ratios(a, b))
			}
		}
	}
	out.Met = out.Ratio.Median >= c.bound
	if c.atMost {
		out.Met = out.Ratio.Median <= c.bound
	}
	return out, out.Peer != ""
}

// scaleOf gives the size that a claim of an experiment is about, as find takes it.
func scaleOf(experiment string) float64 {
	if experiment == "files" {
		return -1
	}
	return 0
}

// maxExponent is the most that a cost may grow with the number of files, variables or chunks.
const maxExponent = 1.05

// Scale is how the cost of one contender grows.
type Scale struct {
	Experiment string `json:"experiment"`
	Operation  string `json:"operation"`
	Contender  string `json:"contender"`
	Fit
	Last float64 `json:"last"` // the exponent between the two largest sizes alone, where constant costs weigh least
	Met  bool    `json:"met"`
}

// scales fits a power law to the CPU times of each contender of the experiments that have a scale. A piece of work over
// files is one of x files; elsewhere it has the whole size.
func (r *Results) scales(all []experiment) []Scale {
	var out []Scale
	for _, x := range all {
		if x.scale == "" {
			continue
		}
		for _, operation := range x.rows[0].operations {
			for _, contender := range x.rows[0].contenders {
				var sizes []float64
				var costs [][]float64
				for _, s := range r.Series {
					if s.Experiment == x.name && s.Operation == operation && s.Contender == contender && len(s.CPU) > 0 {
						cost := slices.Clone(s.CPU)
						if x.scale == "files" {
							for i := range cost {
								cost[i] *= s.X
							}
						}
						sizes, costs = append(sizes, s.X), append(costs, cost)
					}
				}
				if len(sizes) > 2 {
					f, n := fit(sizes, costs), len(sizes)
					last := fit(sizes[n-2:], costs[n-2:]).Exponent
					out = append(out, Scale{x.name, operation, contender, f, last, f.Exponent <= maxExponent})
				}
			}
		}
	}
	return out
}
