// Package peer runs the reference implementations that tests compare with, in a
// Python process of their own.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// Process is a running script. It ends with the test.
type Process struct {
	// In is its standard input, Out its standard output.
	In  io.Writer
	Out *bufio.Reader
}

// Start runs a script with the Python of NDFILE_TEST_PYTHON, in the test's
// folder. Where the variable is not set the test is skipped loudly, and fails
// in CI, which must not skip; needs names the modules of the script and what
// is not compared without them.
func Start(t *testing.T, script, needs string) Process {
	t.Helper()
	python := os.Getenv("NDFILE_TEST_PYTHON")
	if python == "" {
		why := "NDFILE_TEST_PYTHON does not name a Python with " + needs
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		fmt.Fprintln(os.Stderr, "*** SKIPPED: "+why+" ***")
		t.Skip(why)
	}
	cmd := exec.Command(python, script)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	})
	return Process{in, bufio.NewReaderSize(out, 1<<20)}
}
