// Command ndfile looks at, converts and edits n-dimensional arrays in files.
//
// Exit status: 0 done, 1 a file is bad or a comparison differs, 2 wrong usage,
// 3 input or output failed. Errors are one line each on standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ndfile/ndfile/cmd/ndfile/dscmd"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	do := run
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "ds" { // by a symbolic link: ds-format's command
		do = dscmd.Run
	}
	status := do(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is main without the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	out := output{w: stdout}
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	all, ok := err.(failures)
	if !ok {
		all = failures{err}
	}
	if !errors.Is(err, out.err) {
		all.add(out.err)
	}
	status := exitOK
	for _, err := range all {
		status = max(status, exitStatus(err))
		if !errors.Is(err, errDiffers) && err != nil {
			fmt.Fprintf(stderr, "ndfile: %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
	}
	return status
}

// output is standard output. It keeps the first error, for those who do not look.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = ndfile.Locate(err, "standard output", "", false)
	return n, o.err
}

// newRoot builds the command tree.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "ndfile",
		Short: "n-dimensional arrays in files",
		Long: `ndfile looks at, converts and edits files of n-dimensional arrays.

A FILE may be a file, a folder that is a store, or a glob pattern. Where one array
is meant, FILE:NAME names it, and FILE:NAME[SLICE] or FILE[SLICE] selects elements
as NumPy does: x.ds:temp[0:3, -1, ::-2], with ... for all axes between. A path that
exists as it is written is taken as it is.

New files appear when they are whole, or not at all. What exists is overwritten
with --force only.

Exit status: 0 done, 1 a file is bad or a comparison differs, 2 wrong usage,
3 input or output failed.`,
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			threads, _ := cmd.Flags().GetInt("threads")
			ndfile.SetThreads(threads)
		},
	}
	root.PersistentFlags().Bool("json", false, "print JSON (strict: NaN and the infinities are strings)")
	root.PersistentFlags().Int("threads", 0, "how many threads may work at a time; 0 is one for each processor")
	root.AddCommand(newLs(), newInfo(), newCat(), newRows(), newHead(), newStats(), newPlot(), newDiff(), newVerify(), newRepair(), newSeal(), newClean(), newConvert(),
		newSelect(), newMerge(), newRename(), newRm(), newSet(), newFormats(), newDemo(), newDocs())
	return root
}

// buildCommit is the commit that was built; "" where that is not known. The linker sets it (build.sh).
var buildCommit string

func versionText() string {
	if buildCommit == "" {
		return ndfile.Version
	}
	return ndfile.Version + " (commit " + buildCommit + ")"
}

// asJSON reports whether --json was given.
func asJSON(cmd *cobra.Command) bool {
	on, _ := cmd.Flags().GetBool("json")
	return on
}

// errDiffers is exit status 1 without a message: the output tells the reason.
var errDiffers = errors.New("differs")

// failures are the errors of several files.
type failures []error

func (f failures) Error() string { return errors.Join(f...).Error() }

func (f failures) Unwrap() []error { return f }

// add notes an error, if it is one.
func (f *failures) add(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

// err is nil where nothing failed.
func (f failures) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// usage is an error of the arguments.
func usage(msg string) *ndfile.Error { return ndfile.NewError(ndfile.ErrArgument, msg) }

// exitStatus maps an error to the exit status. What is not an error of the
// library was said by the argument parser, and is wrong usage.
func exitStatus(err error) int {
	var e *ndfile.Error
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDiffers):
		return exitBad
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
