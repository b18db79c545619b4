package crashtest

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Event is something that an operation did to a file or folder: "sync", "create" (for
// writing), "mkdir", "rename" (to this path) or "remove".
type Event struct{ Kind, Path string }

func (e Event) String() string { return e.Kind + " " + e.Path }

var (
	quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	opened = regexp.MustCompile(`^f(?:data)?sync\(\d+<(.*)>\)`)
)

// Events does the operation op in a copy of the folder template, and gives what it
// did to files below it, with paths from there. Without a working strace the test is
// skipped.
func Events(t *testing.T, op, template string) (events []Event) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{t: t, op: op, template: template, strace: findStrace(t), root: root, flags: []string{"-y", "-s", "4096"}}
	dir := filepath.Join(s.root, "whole")
	if killed, out := s.run(dir, call{}); killed || out != "" {
		t.Fatalf("%s: killed %v, output %s", op, killed, out)
	}
	log, err := os.Open(s.log())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	on := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		_, text, _ := strings.Cut(lines.Text(), " ")
		text = strings.TrimSpace(text)
		on = on && !strings.Contains(text, end) || strings.Contains(text, begin)
		e, ok := event(text)
		if rel, below := strings.CutPrefix(e.Path, dir); on && ok && below && !strings.Contains(text, ") = -1 ") {
			events = append(events, Event{e.Kind, strings.TrimPrefix(rel, "/")})
		}
	}
	return events
}

// event reads a line of the trace.
func event(text string) (e Event, ok bool) {
	if m := opened.FindStringSubmatch(text); m != nil {
		return Event{"sync", m[1]}, true
	}
	var names []string
	for _, q := range quoted.FindAllString(text, -1) {
		name, err := strconv.Unquote(q)
		if err != nil {
			return e, false
		}
		names = append(names, name)
	}
	name, _, _ := strings.Cut(text, "(")
	switch {
	case len(names) == 0:
		return e, false
	case strings.HasPrefix(name, "rename"), strings.HasPrefix(name, "link"):
		return Event{"rename", names[len(names)-1]}, true
	case strings.HasPrefix(name, "unlink"), name == "rmdir":
		return Event{"remove", names[0]}, true
	case strings.HasPrefix(name, "mkdir"):
		return Event{"mkdir", names[0]}, true
	case name == "openat" && strings.Contains(text, "O_CREAT"):
		return Event{"create", names[0]}, true
	}
	return e, false
}

// Store tells the files of a store apart by their paths.
type Store struct{ IsData, IsMeta func(path string) bool }

// Synced reports where events do not make a change durable step by step: a file gets
// its name before its content is synced, a folder is not synced after the last file
// that it got, or data and what tells of them are synced in the wrong order. Where
// rows go away (shrinks), metadata must be synced before data are removed, else data
// before metadata.
func (s Store) Synced(events []Event, shrinks bool) error {
	for i, e := range events {
		if e.Kind == "rename" && s.has(e) && !slices.ContainsFunc(events[:i], func(b Event) bool {
			return b.Kind == "sync" && strings.HasPrefix(b.Path, e.Path+".ndf-tmp-")
		}) {
			return fmt.Errorf("%v: its content is not synced before", e)
		}
	}
	if err := s.Flushed(events); err != nil {
		return err
	}
	if err := FoldersSynced(events); err != nil {
		return err
	}
	return s.inOrder(events, shrinks)
}

// FoldersSynced reports a folder that was made in the store, and whose own folder is
// not synced afterwards. What was made with a temporary name is found by its rename.
func FoldersSynced(events []Event) error {
	for i, e := range events {
		if e.Kind == "mkdir" && !strings.Contains(e.Path, ".ndf-tmp-") && !slices.Contains(events[i:], Event{"sync", filepath.Dir(e.Path)}) {
			return fmt.Errorf("%v: the folder around it is not synced afterwards", e)
		}
	}
	return nil
}

// Flushed reports what is not synced at the end: contents and folders of files that
// were written.
func (s Store) Flushed(events []Event) error {
	for i, e := range events {
		if e.Kind != "rename" && e.Kind != "create" || !s.has(e) {
			continue
		}
		synced := func(path string) bool { return slices.Contains(events[i:], Event{"sync", path}) }
		before := slices.ContainsFunc(events[:i], func(b Event) bool {
			return b.Kind == "sync" && e.Kind == "rename" && strings.HasPrefix(b.Path, e.Path+".ndf-tmp-")
		})
		if !before && !synced(e.Path) {
			return fmt.Errorf("%v: its content is not synced", e)
		}
		if !synced(filepath.Dir(e.Path)) {
			return fmt.Errorf("%v: the folder is not synced afterwards", e)
		}
	}
	return nil
}

// has tells whether an event is about a file of the store. What lies in a temporary
// folder gets its name with it.
func (s Store) has(e Event) bool {
	return (s.IsData(e.Path) || s.IsMeta(e.Path)) && !strings.Contains(e.Path, ".ndf-tmp-")
}

// inOrder checks data against metadata.
func (s Store) inOrder(events []Event, shrinks bool) error {
	first := slices.IndexFunc(events, func(e Event) bool { return e.Kind == "rename" && s.IsMeta(e.Path) })
	if first < 0 {
		return nil
	}
	tell := events[first]
	for i, e := range events {
		synced := func(events []Event, of Event) bool {
			return slices.Contains(events, Event{"sync", filepath.Dir(of.Path)})
		}
		switch {
		case !s.IsData(e.Path):
		case shrinks && e.Kind == "remove" && !synced(events[first:max(i, first)], tell):
			return fmt.Errorf("%v: before %v is synced", e, tell)
		case !shrinks && i > first:
			return fmt.Errorf("%v: after %v, which tells of it", e, tell)
		case !shrinks && e.Kind == "rename" && !synced(events[i:first], e):
			return fmt.Errorf("%v: the folder is not synced before %v", e, tell)
		}
	}
	return nil
}
