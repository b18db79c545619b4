package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// summary is what README.md shows: the machine, the claims, the exponents.
func (r *Results) summary() string {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "Run of %s, %.0f minutes. %s, %d cores%s, %.0f GiB; %s, Linux %s; %s, %s; load before: %s.\n\n", r.Started, r.Minutes,
		m.Processor, m.Cores, map[bool]string{true: " of a virtual machine"}[m.Hypervisor], m.MemoryGiB, m.System, m.Kernel, m.Go, m.Compiler, m.Load)
	for i, what := range slices.Sorted(maps.Keys(r.Versions)) {
		b.WriteString(map[bool]string{true: "Versions: ", false: "; "}[i == 0] + what + " " + r.Versions[what])
	}
	b.WriteString(".\n\n")
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, "**Without a worker, and so without figures: %s.**\n\n", strings.Join(r.Missing, ", "))
	}
	if len(r.Claims) > 0 {
		b.WriteString("| claim (in tmpfs) | time | ours | peer | ratio | 95 % | aim | |\n|---|---|---|---|---|---|---|---|\n")
		for _, c := range r.Claims {
			sign := "≥"
			if c.AtMost {
				sign = "≤"
			}
			if c.Why != "" {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | none: %s | | %s %g | %s |\n", c.What, c.Metric, c.Ours, c.Peer, c.Why, sign, c.Bound, verdict(c.Met))
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s to %s | %s %g | %s |\n", c.What, c.Metric, c.Ours, c.Peer,
				figure(c.Ratio.Median), figure(c.Ratio.Low), figure(c.Ratio.High), sign, c.Bound, verdict(c.Met))
		}
		b.WriteString("\n")
	}
	if len(r.Scales) > 0 {
		fmt.Fprintf(&b, "CPU time = factor × size^exponent; at most %g is linear.\n\n", maxExponent)
		b.WriteString("| size counts | operation | contender | exponent | 95 % | R² | last step | of size 1 | |\n|---|---|---|---|---|---|---|---|---|\n")
		for _, s := range r.Scales {
			aim := "" // peers have none
			if isOurs(s.Contender) {
				aim = verdict(s.Met)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %.3f | %.3f to %.3f | %.4f | %.3f | %s | %s |\n", s.Experiment, s.Operation, s.Contender,
				s.Exponent, s.Low, s.High, s.R2, s.Last, duration(s.Factor), aim)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// report is the page of all figures.
func (r *Results) report(experiments []experiment) string {
	var b strings.Builder
	b.WriteString("# Results\n\nWritten by `make bench`; [the method](../README.md). Medians over the rounds, of one piece of work (a file, where nothing else is said),\n" +
		"with the interval that holds 95 % of bootstrapped medians. CPU time is that of the worker's process: user and kernel, all threads.\n\n")
	b.WriteString(r.summary())
	for _, x := range experiments {
		r.section(&b, x)
	}
	return b.String()
}

// section writes the tables of an experiment: one for each case and operation.
func (r *Results) section(b *strings.Builder, x experiment) {
	fmt.Fprintf(b, "## %s, in %s\n\n", x.title, x.place)
	for _, row := range x.rows {
		for _, operation := range row.operations {
			reference, name := r.reference(x, row, operation)
			fmt.Fprintf(b, "### %s `%s`\n\n", operation, row.case_)
			fmt.Fprintf(b, "| contender | CPU | 95 %% | wall | 95 %% | %s | bytes | on disk | rounds × pieces |\n|---|---|---|---|---|---|---|---|---|\n", name)
			var skipped []string
			for _, contender := range row.contenders {
				s := r.at(x, row, operation, contender)
				if s == nil {
					continue
				}
				if len(s.Wall) == 0 {
					skipped = append(skipped, contender+": "+s.Skipped)
					continue
				}
				cpu, wall := estimate(s.CPU), estimate(s.Wall)
				against := ""
				if reference != nil {
					metric := "cpu"
					if x.bulky {
						metric = "wall"
					}
					against = figure(estimate(ratios(reference.times(metric), s.times(metric))).Median)
				}
				fmt.Fprintf(b, "| %s | %s | %s to %s | %s | %s to %s | %s | %s | %s | %d × %d |\n", contender,
					duration(cpu.Median), duration(cpu.Low), duration(cpu.High), duration(wall.Median), duration(wall.Low), duration(wall.High),
					against, size(s.Bytes), size(s.Disk), len(s.Wall), s.Count)
			}
			b.WriteString("\n")
			if len(skipped) > 0 {
				fmt.Fprintf(b, "Left out: %s.\n\n", strings.Join(skipped, "; "))
			}
		}
	}
}

// at gives the series of exactly that case.
func (r *Results) at(x experiment, row row, operation, contender string) *Series {
	for _, s := range r.Series {
		if s.Experiment == x.name && s.Place == x.place && s.Case == row.case_ && s.X == row.x && s.Operation == operation && s.Contender == contender {
			return s
		}
	}
	return nil
}

// reference gives the contender that the others of a table are compared with, and the head of that column.
func (r *Results) reference(x experiment, row row, operation string) (*Series, string) {
	for _, contender := range []string{"c/netcdf4", "c/syscalls", "python/bcolz-zipline", "python/zarr-python", "python/blosc", "go/zarr0"} {
		if s := r.at(x, row, operation, contender); s != nil && len(s.Wall) > 0 {
			return s, "times faster than " + contender
		}
	}
	return nil, ""
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// figure gives three significant digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// duration gives nanoseconds in a unit that suits them.
func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return figure(ns/1e9) + " s"
	case ns >= 1e6:
		return figure(ns/1e6) + " ms"
	case ns >= 1e3:
		return figure(ns/1e3) + " µs"
	}
	return figure(ns) + " ns"
}

// size gives a number of bytes in a unit that suits it; nothing where it is not known.
func size(bytes float64) string {
	switch {
	case bytes == 0:
		return ""
	case bytes >= 1<<20:
		return figure(bytes/(1<<20)) + " MiB"
	case bytes >= 1<<10:
		return figure(bytes/(1<<10)) + " KiB"
	}
	return fmt.Sprintf("%.0f B", bytes)
}

// The marks of the part of a page that replaceSummary writes.
const beginMark, endMark = "<!-- results -->\n", "<!-- end of results -->"

// replaceSummary puts the summary between the marks of a page.
func replaceSummary(page, summary string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), beginMark)
	_, tail, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return fmt.Errorf("%s: the marks %q and %q were not found", page, beginMark, endMark)
	}
	return os.WriteFile(page, []byte(head+beginMark+"\n"+summary+endMark+tail), 0o666)
}
