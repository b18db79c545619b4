package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	workers map[string]string // commands by name
	tmpfs   string
	disk    string
	out     string
	readme  string
	only    string
	effort  effort
	serve   bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		switch {
		case o.serve:
			err = serve(os.Stdin, os.Stdout)
		default:
			err = run(o, os.Stdout)
		}
	}
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// parse reads the flags.
func parse(args []string) (options, error) {
	o := options{workers: map[string]string{}}
	f := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	f.BoolVar(&o.serve, "serve", false, "be the worker for Go, on standard input and output")
	f.Func("worker", "NAME=COMMAND of a worker (repeated); without one nothing of that language is measured", func(s string) error {
		name, command, ok := strings.Cut(s, "=")
		if !ok || name == "" || command == "" {
			return errors.New("expected NAME=COMMAND")
		}
		o.workers[name] = command
		return nil
	})
	f.StringVar(&o.tmpfs, "tmpfs", "/dev/shm", "where the files in memory lie")
	f.StringVar(&o.disk, "disk", "", "a folder on a disk, to measure there too")
	f.StringVar(&o.out, "out", "", "folder for results.json, results.md and the plots")
	f.StringVar(&o.readme, "readme", "", "page whose part between the marks \"results\" is to be replaced by the summary")
	f.StringVar(&o.only, "only", "", "measure only the experiments whose name matches this regular expression")
	fast := f.Bool("quick", false, "see that everything works: few files, no figures to believe in")
	var e effort
	f.IntVar(&e.tiny, "tiny", 0, "tiny files for each contender; 0: 100000")
	f.IntVar(&e.small, "small", 0, "small files; 0: 100000")
	f.IntVar(&e.large, "large", 0, "large files; 0: 10")
	f.StringVar(&e.largeShape, "large-shape", "", "shape of the large ones, float64; default 100x1000x1000")
	f.IntVar(&e.rounds, "rounds", 0, "rounds of everything but the tiny, small and large files; 0: 7")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	o.effort = full
	if *fast {
		o.effort = quick
	}
	override(&o.effort.tiny, e.tiny)
	override(&o.effort.small, e.small)
	override(&o.effort.large, e.large)
	override(&o.effort.largeShape, e.largeShape)
	override(&o.effort.rounds, e.rounds)
	return o, nil
}

// override sets what has been given.
func override[T comparable](setting *T, given T) {
	var zero T
	if given != zero {
		*setting = given
	}
}

// run measures everything and writes the results.
func run(o options, out io.Writer) (err error) {
	experiments := plan(o.effort, o.disk != "")
	if o.only != "" {
		pattern, err := regexp.Compile(o.only)
		if err != nil {
			return err
		}
		experiments = slices.DeleteFunc(experiments, func(x experiment) bool { return !pattern.MatchString(x.name) })
	}
	b := &bench{workers: map[string]*worker{}, places: map[string]string{}}
	b.results.Versions = map[string]string{}
	for name, top := range map[string]string{"tmpfs": o.tmpfs, "disk": o.disk} {
		if top == "" {
			continue
		}
		if b.places[name], err = workspace(top); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.places[name])) }()
	}
	started := time.Now()
	b.results.Started = started.UTC().Format(time.RFC3339)
	b.results.Machine = describe(b.places)
	for name, command := range o.workers {
		w, err := startWorker(name, command)
		if err != nil {
			return err
		}
		b.workers[name] = w
		defer func() { err = errors.Join(err, w.stop()) }()
		for what, version := range w.versions {
			b.results.Versions[name+": "+what] = version
		}
	}
	b.results.Missing = keepMeasurable(experiments, b.workers)
	for _, x := range experiments {
		fmt.Fprintf(os.Stderr, "%6.1f min  %s, in %s\n", time.Since(started).Minutes(), x.title, x.place)
		if err := b.run(x); err != nil {
			return err
		}
	}
	b.results.Minutes = time.Since(started).Minutes()
	b.results.conclude(experiments)
	return b.results.write(o, experiments, out)
}

// keepMeasurable drops the contenders whose worker is not there, and gives the names of these workers.
func keepMeasurable(experiments []experiment, workers map[string]*worker) (missing []string) {
	for _, x := range experiments {
		for i := range x.rows {
			x.rows[i].contenders = slices.DeleteFunc(slices.Clone(x.rows[i].contenders), func(contender string) bool {
				name, _, _ := strings.Cut(contender, "/")
				if workers[name] != nil {
					return false
				}
				if !slices.Contains(missing, name) {
					missing = append(missing, name)
				}
				return true
			})
		}
	}
	slices.Sort(missing)
	return missing
}

// workspace makes a folder of this run.
func workspace(top string) (string, error) {
	top, err := filepath.Abs(top)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(top, 0o777); err != nil {
		return "", err
	}
	return os.MkdirTemp(top, "ndfile-bench-")
}

// conclude draws the conclusions from the times.
func (r *Results) conclude(experiments []experiment) {
	for _, c := range claims() {
		if o, ok := c.check(r); ok {
			r.Claims = append(r.Claims, o)
		}
	}
	r.Scales = r.scales(experiments)
}

// write writes the results: the summary to out, and everything to where the options say.
func (r *Results) write(o options, experiments []experiment, out io.Writer) error {
	summary := r.summary()
	fmt.Fprint(out, summary)
	if o.out != "" {
		if err := os.MkdirAll(o.out, 0o777); err != nil {
			return err
		}
		if err := r.writeJSON(filepath.Join(o.out, "results.json")); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.out, "results.md"), []byte(r.report(experiments)), 0o666); err != nil {
			return err
		}
		if err := r.plot(o.out, experiments); err != nil {
			return err
		}
	}
	if o.readme != "" {
		return replaceSummary(o.readme, summary)
	}
	return nil
}
