// Package crashtest kills a process at every system call of an operation on
// files, one process a call, and lets a test look at what is left.
//
// The processes are copies of the test binary, run under strace, which injects
// SIGKILL into one of its calls. It is the real file system and the real kill;
// what a power failure does is vfs.Mem.CrashClone's part.
package crashtest

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndfile"
)

const (
	opEnv  = "NDFILE_CRASH_OP"
	dirEnv = "NDFILE_CRASH_DIR"
	// tortureEnv asks for the calls that only look at files too. What is left by
	// a process killed at one of them is what a kill at the next change leaves.
	tortureEnv = "NDFILE_TORTURE"
	// straceEnv names the strace to use; without it, the one on the PATH.
	straceEnv = "NDFILE_TEST_STRACE"

	// traced are the calls that can change files, and those around them.
	traced = "openat,creat,read,write,pread64,pwrite64,writev,pwritev,pwritev2,copy_file_range,ftruncate,fallocate,fsync,fdatasync,close," +
		"rename,renameat,renameat2,link,linkat,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,getdents64,newfstatat,statx,fchmod,fchown,fsetxattr,fremovexattr"

	// begin and end are files that do not exist: opening them marks the trace.
	begin = "ndfile-crash-begin"
	end   = "ndfile-crash-end"
)

// Main is the TestMain of a package with sweeps. In a process that a sweep has
// started it does the operation and ends.
func Main(m *testing.M, ops map[string]func(dir string) error) {
	name := os.Getenv(opEnv)
	if name == "" {
		os.Exit(m.Run())
	}
	// strace counts the calls of each thread: there is to be one that works.
	runtime.LockOSThread()
	ndfile.SetThreads(1)
	os.Open(begin)
	if err := ops[name](os.Getenv(dirEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Open(end)
	os.Exit(0)
}

// Sweep does the operation op, one of those given to Main, on copies of the
// folder template: first to its end, then killed at each of its calls that can
// change files (at all of its calls where NDFILE_TORTURE is set). check
// gets each copy that is left, and what was going on, such as "append, killed
// at call 7 (renameat2)". The copies stay until the test ends. Without a working
// strace the test is skipped.
func Sweep(t *testing.T, op, template string, check func(dir, at string)) {
	t.Helper()
	s := sweep{t: t, op: op, template: template, strace: findStrace(t), root: t.TempDir()}
	calls := s.trace()
	if len(calls) < 2 {
		t.Fatalf("%s: the trace shows %d calls: %v", op, len(calls), calls)
	}
	check(filepath.Join(s.root, "whole"), op)
	for i, c := range calls {
		at := fmt.Sprintf("%s, killed at call %d (%s)", op, i+1, c.name)
		dir := filepath.Join(s.root, fmt.Sprint(i+1))
		killed, out := s.run(dir, c)
		if !killed {
			t.Fatalf("%s: it was not killed: %s", at, out)
		}
		check(dir, at)
	}
	t.Logf("%s: killed at each of %d calls", op, len(calls))
}

// Undamaged checks that Verify finds no damage in what a kill has left: leftovers
// are no loss.
func Undamaged(t *testing.T, format ndfile.Format, path, at string) {
	t.Helper()
	err := ndfile.Verify(t.Context(), []ndfile.Format{format}, path, ndfile.VerifyOptions{}, func(p ndfile.Problem) {
		if p.Class == ndfile.Damage {
			t.Errorf("%s: Verify calls it damage: %v", at, p)
		}
	})
	if err != nil {
		t.Errorf("%s: Verify: %v", at, err)
	}
}

type sweep struct {
	t            *testing.T
	op, template string
	strace, root string
	flags        []string // more of them, for strace
}

// call is a system call: the n-th of that name that the thread makes.
type call struct {
	name string
	n    int
}

func findStrace(t *testing.T) string {
	path := os.Getenv(straceEnv)
	if path == "" {
		path, _ = exec.LookPath("strace")
	}
	if path == "" || exec.Command(path, "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("*** SKIPPED: no strace that works here (it needs ptrace): nothing is killed ***")
	}
	return path
}

// trace does the operation undisturbed and gives its calls.
func (s *sweep) trace() (calls []call) {
	if killed, out := s.run(filepath.Join(s.root, "whole"), call{}); killed || out != "" {
		s.t.Fatalf("%s: killed %v, output %s", s.op, killed, out)
	}
	log, err := os.Open(s.log())
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	// "1234 openat(...": the thread that opens the marker is the one that works.
	worker, seen, on := "", map[string]int{}, false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		thread, text, _ := strings.Cut(lines.Text(), " ")
		name, _, ok := strings.Cut(strings.TrimSpace(text), "(")
		if !ok || strings.ContainsAny(name, " <+-") {
			continue
		}
		seen[thread+name]++
		switch {
		case strings.Contains(text, begin):
			worker, on = thread, true
		case strings.Contains(text, end):
			on = false
		case on && thread == worker && (changes(name, text) || os.Getenv(tortureEnv) != ""):
			calls = append(calls, call{name, seen[thread+name]})
		}
	}
	return calls
}

// changes reports whether a call can change files.
func changes(name, text string) bool {
	switch name {
	case "openat":
		return !strings.Contains(text, "O_RDONLY")
	case "read", "pread64", "close", "getdents64", "newfstatat", "statx":
		return false
	}
	return true
}

func (s *sweep) log() string { return filepath.Join(s.root, "trace") }

// run does the operation in a fresh copy, killed at a call; the zero call: not
// at all.
func (s *sweep) run(dir string, at call) (killed bool, output string) {
	s.t.Helper()
	if err := copyTree(dir, s.template); err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	args := append(slices.Clone(s.flags), "-f", "-qq", "-o", s.log())
	if at.n == 0 {
		args = append(args, "-e", "trace="+traced)
	} else {
		args = append(args, "-e", "trace="+at.name, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", at.name, at.n))
	}
	cmd := exec.Command(s.strace, append(args, self)...)
	cmd.Env = append(os.Environ(), opEnv+"="+s.op, dirEnv+"="+dir, "GOMAXPROCS=1", "GOGC=off")
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		return true, ""
	}
	return false, string(out)
}

// copyTree copies a folder with the modes of what is in it.
func copyTree(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from || d.Type() == fs.ModeSymlink {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(to+path[len(from):], info.Mode().Perm())
	})
}
