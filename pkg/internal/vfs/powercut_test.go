package vfs

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// cutEverywhere runs a protocol of which each step is one call, cuts the power in
// many ways before each step and after the last, and counts what check says of the
// disks.
func cutEverywhere(t *testing.T, ordered bool, prepare func(m *Mem), steps []func(m *Mem) error, check func(disk *Mem, done bool) string) map[string]int {
	t.Helper()
	found := map[string]int{}
	m := NewMem()
	prepare(m)
	m.Record()
	for i := 0; ; i++ {
		for seed := range uint64(200) {
			verdict := check(m.Cut(PowerCut{Seed: seed, Ordered: ordered, Block: 4}).Disk(), i == len(steps))
			found[verdict]++
		}
		if i == len(steps) {
			return found
		}
		if err := steps[i](m); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	oldText = "old content"
	newText = "the new content, longer"
)

func writeText(path, text string) func(m *Mem) error {
	return func(m *Mem) error {
		f, err := m.Create(path, false)
		if err == nil {
			_, err = f.WriteAt([]byte(text), 0)
			f.Close()
		}
		return err
	}
}

func writeFileText(path string, opt WriteOptions) func(m *Mem) error {
	return func(m *Mem) error { return m.WriteFile(path, [][]byte{[]byte(newText)}, opt) }
}

func flushText(path string) func(m *Mem) error {
	return func(m *Mem) error { return flushFile(m, path, true) }
}

func syncText(path string) func(m *Mem) error {
	return func(m *Mem) error {
		f, err := m.OpenRW(path)
		if err == nil {
			err = f.Sync()
			f.Close()
		}
		return err
	}
}

func renamed(from, to string) func(m *Mem) error {
	return func(m *Mem) error { return m.Rename(from, to) }
}

func syncedDir(path string) func(m *Mem) error { return func(m *Mem) error { return m.SyncDir(path) } }

// TestPowerCutProtocols: the model catches what is known to be wrong, and finds
// nothing in what is known to be right.
func TestPowerCutProtocols(t *testing.T) {
	old := func(m *Mem) { put(t, m, "f", oldText) }
	none := func(*Mem) {}
	// what is at f: old, new, or something that is neither
	state := func(disk *Mem, done bool) string {
		switch got := text(disk, "f"); {
		case got == newText:
			return "new"
		case got == oldText, got == syscall.ENOENT.Error():
			if done {
				return "lost"
			}
			return "old"
		case got == "":
			return "empty"
		case strings.Trim(got, "\x00") == "":
			return "zeros"
		default:
			return "torn"
		}
	}
	for _, c := range []struct {
		name             string
		prepare          func(m *Mem)
		steps            []func(m *Mem) error
		bad, badOrdered  string // what must be found
		never, neverOnes string // what must not
	}{
		{"all synced", old, []func(*Mem) error{writeText("t", newText), syncText("t"), renamed("t", "f"), syncedDir("/")},
			"old new", "old new", "lost empty zeros torn", "lost empty zeros torn"},
		{"all synced, new", none, []func(*Mem) error{writeText("t", newText), syncText("t"), renamed("t", "f"), syncedDir("/")},
			"old new", "old new", "lost empty zeros torn", "lost empty zeros torn"},
		{"no sync of the folder", old, []func(*Mem) error{writeText("t", newText), syncText("t"), renamed("t", "f")},
			"old new lost", "old new lost", "empty zeros torn", "empty zeros torn"},
		{"rename without sync", old, []func(*Mem) error{writeText("t", newText), renamed("t", "f"), syncedDir("/")},
			"old new empty zeros torn", "old new", "lost", "lost empty zeros torn"},
		{"rename without sync, new", none, []func(*Mem) error{writeText("t", newText), renamed("t", "f"), syncedDir("/")},
			"old new empty zeros torn", "old new empty torn", "lost", "lost zeros"},
		{"synced after the rename", old, []func(*Mem) error{writeText("t", newText), renamed("t", "f"), syncText("f"), syncedDir("/")},
			"old new empty torn", "old new", "lost", "lost empty zeros torn"},
		{"flushed before the rename, new", none, []func(*Mem) error{writeText("t", newText), flushText("t"), renamed("t", "f"), syncedDir("/")},
			"old new empty zeros torn", "old new", "lost", "lost empty zeros torn"},
		{"WriteFile, ordered", none, []func(*Mem) error{writeFileText("f", WriteOptions{Ordered: true}), syncedDir("/")},
			"old new empty zeros torn", "old new", "lost", "lost empty zeros torn"},
		{"WriteFile, synced", old, []func(*Mem) error{writeFileText("f", WriteOptions{Sync: true})},
			"old new", "old new", "lost empty zeros torn", "lost empty zeros torn"},
		{"in place", old, []func(*Mem) error{writeText("f", newText), syncText("f")},
			"old new empty zeros torn", "old new empty torn", "lost", "lost zeros"},
	} {
		for _, ordered := range []bool{false, true} {
			must, never := c.bad, c.never
			if ordered {
				must, never = c.badOrdered, c.neverOnes
			}
			found := cutEverywhere(t, ordered, c.prepare, c.steps, state)
			for _, word := range strings.Fields(must) {
				if found[word] == 0 {
					t.Errorf("%s, ordered %t: never %s: %v", c.name, ordered, word, found)
				}
			}
			for _, word := range strings.Fields(never) {
				if found[word] > 0 {
					t.Errorf("%s, ordered %t: %s: %v", c.name, ordered, word, found)
				}
			}
		}
	}
}

// TestPowerCutMetadataFirst: a count that is on disk before what it counts is found,
// and the other way round nothing is.
func TestPowerCutMetadataFirst(t *testing.T) {
	save := func(path, text string) func(m *Mem) error {
		return func(m *Mem) error { return m.WriteFile(path, [][]byte{[]byte(text)}, WriteOptions{Sync: true}) }
	}
	check := func(disk *Mem, done bool) string {
		if text(disk, "d/count") == "2" && text(disk, "d/1") != "second" {
			return "counted, but not there"
		}
		return "right"
	}
	prepare := func(m *Mem) {
		m.Mkdir("d")
		put(t, m, "d/count", "1")
		put(t, m, "d/0", "first")
	}
	for _, ordered := range []bool{false, true} {
		found := cutEverywhere(t, ordered, prepare, []func(*Mem) error{save("d/count", "2"), save("d/1", "second")}, check)
		if found["counted, but not there"] == 0 {
			t.Errorf("ordered %t: metadata before data is not found", ordered)
		}
		found = cutEverywhere(t, ordered, prepare, []func(*Mem) error{save("d/1", "second"), save("d/count", "2")}, check)
		if found["counted, but not there"] > 0 {
			t.Errorf("ordered %t: data before metadata: %v", ordered, found)
		}
	}
}

// TestPowerCutEntries: names come and go on their own, but a rename within a folder
// is one thing, and so is an exchange.
func TestPowerCutEntries(t *testing.T) {
	states := func(ordered bool, steps ...func(m *Mem) error) map[string]int {
		return cutEverywhere(t, ordered, func(m *Mem) {
			m.Mkdir("d")
			put(t, m, "d/a", "a")
			put(t, m, "d/b", "b")
		}, steps, func(disk *Mem, _ bool) string {
			var list []string
			for _, name := range strings.Split(names(t, disk, "d"), " ") {
				list = append(list, name+"="+text(disk, "d/"+name))
			}
			return strings.Join(list, " ")
		})
	}
	for _, ordered := range []bool{false, true} {
		found := states(ordered, renamed("d/a", "d/c"), renamed("d/b", "d/e"))
		want := []string{"a=a b=b", "b=b c=a", "c=a e=b"}
		if !ordered {
			want = append(want, "a=a e=b")
		}
		if fmt.Sprint(len(found)) != fmt.Sprint(len(want)) {
			t.Errorf("ordered %t: two renames: %v, expected %q", ordered, found, want)
		}
		for _, s := range want {
			if found[s] == 0 {
				t.Errorf("ordered %t: two renames never left %q: %v", ordered, s, found)
			}
		}
		found = states(ordered, func(m *Mem) error { return m.Exchange("d/a", "d/b") })
		if len(found) != 2 || found["a=a b=b"] == 0 || found["a=b b=a"] == 0 {
			t.Errorf("ordered %t: an exchange: %v", ordered, found)
		}
		found = states(ordered, func(m *Mem) error { return m.Link("d/a", "d/c") }, func(m *Mem) error { return m.Remove("d/a") })
		if lost := found["b=b"]; ordered == (lost > 0) || found["a=a b=b c=a"] == 0 || found["b=b c=a"] == 0 {
			t.Errorf("ordered %t: a link in the place of a name: %v", ordered, found)
		}
	}
}

// TestPowerCutExplains: the same seed makes the same disk, Mem goes on, and what is
// told to be lost is what matters.
func TestPowerCutExplains(t *testing.T) {
	m := NewMem()
	m.Record()
	for i := range 20 {
		if err := m.WriteFile(fmt.Sprint("f", i), [][]byte{[]byte(newText)}, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	explained := 0
	for seed := range uint64(100) {
		o := m.Cut(PowerCut{Seed: seed, Block: 4})
		if a, b := fmt.Sprint(listing(t, o.Disk())), fmt.Sprint(listing(t, m.Cut(PowerCut{Seed: seed, Block: 4}).Disk())); a != b {
			t.Fatalf("seed %d makes two disks: %s and %s", seed, a, b)
		}
		fails := func(disk *Mem) bool { return text(disk, "f7") == "" }
		if !fails(o.Disk()) {
			continue
		}
		explained++
		why := o.Explain(fails)
		if !fails(o.Disk()) || strings.Count(why, "/f") != strings.Count(why, "/f7") || !strings.Contains(why, fmt.Sprint("seed ", seed)) {
			t.Errorf("%s", why)
		}
	}
	if explained == 0 {
		t.Error("no seed leaves an empty file")
	}
	wantGet(t, m, "f3", newText)
	if got := get(m.CrashClone(), "f3"); got != syscall.ENOENT.Error() {
		t.Errorf("CrashClone has %q", got)
	}
}

// listing is all files at the root with what they hold.
func listing(t *testing.T, m *Mem) (list []string) {
	for _, name := range strings.Fields(names(t, m, "/")) {
		list = append(list, name+"="+text(m, name))
	}
	return list
}

// text is get for small files.
func text(m *Mem, path string) string {
	var buf [100]byte
	n, rest, err := m.ReadSmall(ctx, path, buf[:])
	if err != nil || rest != nil {
		return errnoOf(err).Error()
	}
	return string(buf[:n])
}
