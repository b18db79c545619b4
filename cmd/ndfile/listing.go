package main

import "github.com/spf13/cobra"

// listEach is what commands do that tell something about every target, in any
// number of rows. With --json all rows are one list; without, each is printed as it
// comes.
func listEach[T any](cmd *cobra.Command, args []string, find func(t target, tell func(T)) error, print func(T)) error {
	list := []T{}
	tell := print
	if asJSON(cmd) {
		tell = func(row T) { list = append(list, row) }
	}
	err := each(cmd.Context(), args, func(t target) error { return find(t, tell) })
	if asJSON(cmd) {
		return joined(err, emit(cmd, list))
	}
	return err
}

// joined adds an error to those of each.
func joined(err, more error) error {
	failed, _ := err.(failures)
	failed.add(more)
	return failed.err()
}
