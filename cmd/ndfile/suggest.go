package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// knownCommand refuses arguments of the root, which are misspelt commands.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return errors.New("unknown command " + printable(args[0]) + didYouMean(args[0], names))
}

// suggested gives the error of a name that a file does not have the names that are
// like it.
func suggested(err error, name string, names []string) error {
	var e *ndfile.Error
	if errors.As(err, &e) && e.Kind == ndfile.ErrName {
		if more := didYouMean(name, names); more != "" {
			e.Msg = either(e.Msg == "", e.Kind.Text, e.Msg) + more
		}
	}
	return err
}

// didYouMean is a question to add to a message, or "".
func didYouMean(wrong string, names []string) string {
	best, most := []string(nil), max(1, len(wrong)/3)+1
	for _, name := range names {
		n := distance(strings.ToLower(wrong), strings.ToLower(name))
		if n < most {
			best, most = nil, n
		}
		if n == most && n <= max(1, len(wrong)/3) && len(best) < 3 {
			best = append(best, printable(name))
		}
	}
	if best == nil {
		return ""
	}
	return "; did you mean " + strings.Join(best, " or ") + "?"
}

// distance is how many letters are to be inserted, removed, replaced or swapped with
// the next one to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, row, next := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		next[0] = i + 1
		for j, s := range y {
			cost := 1
			if r == s {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && r == y[j-1] && x[i-1] == s {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(y)]
}
