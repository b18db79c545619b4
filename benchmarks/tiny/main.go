// Command tiny runs the benchmark of small files and prints the ratios to the system calls that no program can do
// without.
//
//	tiny [-rounds 30] [-files 1000] [-folder /dev/shm] PROGRAM [ARGUMENTS]
//
// PROGRAM is run with a folder, the number of rounds and of files as its last arguments, and prints a line
// "OPERATION RAW NDF" a round: nanoseconds of CPU time a file. The folder is deleted at the very end.
//
// A ratio is the median over the rounds of NDF/RAW; the interval holds 95 % of the medians of 10,000 samples drawn
// from the rounds with replacement.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

func main() {
	rounds := flag.Int("rounds", 30, "rounds, each in fresh folders")
	files := flag.Int("files", 1000, "files a round")
	folder := flag.String("folder", "/dev/shm", "where to work")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*folder, *rounds, *files, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "tiny:", err)
		os.Exit(1)
	}
}

// run runs the program in a folder of its own and prints what comes out.
func run(folder string, rounds, files int, command []string) (err error) {
	dir, err := os.MkdirTemp(folder, "ndf-tiny-")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	cmd := exec.Command(command[0], append(command[1:], dir, strconv.Itoa(rounds), strconv.Itoa(files))...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	operations, err := parse(out)
	if err != nil {
		return err
	}
	fmt.Printf("%d rounds of %d files in %s, CPU time a file\n", rounds, files, folder)
	for _, o := range operations {
		low, high := o.interval(10_000)
		fmt.Printf("  %-6s system calls %7.0f ns   ndfile %7.0f ns   ratio %.3f  [%.3f, %.3f]\n",
			o.name, median(o.raw), median(o.ndf), median(o.ratio), low, high)
	}
	return nil
}

// operation is one thing that is measured, with a value a round.
type operation struct {
	name            string
	raw, ndf, ratio []float64
}

// parse reads what the program has printed.
func parse(out []byte) ([]*operation, error) {
	var all []*operation
	for line := range bytes.Lines(out) {
		var name string
		var raw, ndf float64
		if _, err := fmt.Sscan(string(line), &name, &raw, &ndf); err != nil || raw <= 0 {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		i := slices.IndexFunc(all, func(o *operation) bool { return o.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, &operation{name: name})
		}
		o := all[i]
		o.raw, o.ndf, o.ratio = append(o.raw, raw), append(o.ndf, ndf), append(o.ratio, ndf/raw)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the program has printed nothing")
	}
	return all, nil
}

// interval is the 95 % bootstrap interval of the median ratio.
func (o *operation) interval(samples int) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2)) // the same every time
	medians := make([]float64, samples)
	draw := make([]float64, len(o.ratio))
	for i := range medians {
		for j := range draw {
			draw[j] = o.ratio[random.IntN(len(o.ratio))]
		}
		medians[i] = median(draw)
	}
	slices.Sort(medians)
	return stat.Quantile(0.025, stat.Empirical, medians, nil), stat.Quantile(0.975, stat.Empirical, medians, nil)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return stat.Quantile(0.5, stat.LinInterp, sorted, nil)
}
