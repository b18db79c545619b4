// Command ndfile looks at and converts n-dimensional arrays in files.
//
// Exit status: 0 done, 1 a file is bad or a comparison differs, 2 wrong usage,
// 3 input or output failed. Errors are one line on standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

// The exit statuses.
const (
	exitOK    = 0
	exitBad   = 1
	exitUsage = 2
	exitIO    = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "ndfile: %v\n", err)
	}
	return exitStatus(err)
}

// newRoot builds the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "ndfile",
		Short:         "n-dimensional arrays in files",
		Long:          "ndfile looks at files of n-dimensional arrays.\n\nExit status: 0 done, 1 a file is bad, 2 wrong usage, 3 input or output failed.",
		Version:       ndfile.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.PersistentFlags().Bool("json", false, "print JSON (strict: NaN and the infinities are strings)")
	root.AddCommand(newInfo(), newCat(), newFormats(), newDemo())
	return root
}

// asJSON reports whether --json was given.
func asJSON(cmd *cobra.Command) bool {
	on, _ := cmd.Flags().GetBool("json")
	return on
}

// exitStatus maps an error to the exit status. What is not an error of the
// library was said by the argument parser, and is wrong usage.
func exitStatus(err error) int {
	var e *ndfile.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		switch ndfile.KindOf(err) {
		case ndfile.ErrNotFound, ndfile.ErrExists, ndfile.ErrPermission, ndfile.ErrIO, ndfile.ErrNoMemory, ndfile.ErrCanceled:
			return exitIO
		case ndfile.ErrArgument, ndfile.ErrName:
			return exitUsage
		}
		return exitBad
	case ndfile.Errno(err) != 0:
		return exitIO
	}
	return exitUsage
}
