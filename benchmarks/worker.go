package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A request asks for one piece of work: count files, or other equal parts, of one case in one folder.
type request struct {
	contender, operation, case_, folder string
	count                               int
}

// Timing is what one piece of work took, in nanoseconds.
type timing struct{ wall, cpu int64 }

// errSkipped says that a contender does not do such work; the error's text says why.
var errSkipped = errors.New("skipped")

// patience is how long one piece of work may take.
const patience = 20 * time.Minute

// A worker is a running process. It takes requests as lines of five fields and answers each by one line: "ok WALL CPU",
// "skip REASON" or "error MESSAGE". Its first line is "ready NAME=VERSION...".
type worker struct {
	name     string
	versions map[string]string
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
}

// startWorker runs a command of the shell.
func startWorker(name, command string) (*worker, error) {
	w := &worker{name: name, versions: map[string]string{}, cmd: exec.Command("sh", "-c", "exec "+command)}
	w.cmd.Stderr = os.Stderr
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("worker %s: %w", name, err)
	}
	line, err := w.line()
	if err == nil && !strings.HasPrefix(line, "ready") {
		err = fmt.Errorf("worker %s: its first line is %q, expected ready", name, line)
	}
	if err != nil {
		w.cmd.Process.Kill()
		w.cmd.Wait()
		return nil, err
	}
	for _, field := range strings.Fields(line)[1:] {
		if what, version, ok := strings.Cut(field, "="); ok {
			w.versions[what] = version
		}
	}
	return w, nil
}

// do has a piece of work done. The error is errSkipped when the contender does not do such work.
func (w *worker) do(r request) (timing, error) {
	if strings.ContainsAny(r.folder, " \n") {
		return timing{}, fmt.Errorf("folder %q: workers take no spaces", r.folder)
	}
	if _, err := fmt.Fprintln(w.in, r.contender, r.operation, r.case_, r.folder, r.count); err != nil {
		return timing{}, fmt.Errorf("worker %s: %w", w.name, err)
	}
	line, err := w.line()
	if err != nil {
		return timing{}, err
	}
	t, err := parseReply(line)
	if err != nil {
		return timing{}, fmt.Errorf("%s/%s %s %s: %w", w.name, r.contender, r.operation, r.case_, err)
	}
	return t, nil
}

// parseReply reads a worker's answer.
func parseReply(line string) (t timing, err error) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "ok":
		if _, err := fmt.Sscan(rest, &t.wall, &t.cpu); err != nil || t.wall <= 0 || t.cpu < 0 {
			return timing{}, fmt.Errorf("unexpected times %q", rest)
		}
		return t, nil
	case "skip":
		return timing{}, fmt.Errorf("%w: %s", errSkipped, rest)
	case "error":
		return timing{}, errors.New(rest)
	}
	return timing{}, fmt.Errorf("unexpected answer %q", line)
}

// line reads one line. A worker that is silent for too long is killed, which ends the reading.
func (w *worker) line() (string, error) {
	timer := time.AfterFunc(patience, func() { w.cmd.Process.Kill() })
	defer timer.Stop()
	line, err := w.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("worker %s has ended: %w", w.name, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// stop ends the process, which is idle.
func (w *worker) stop() error {
	w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("worker %s: %w", w.name, err)
	}
	return nil
}
