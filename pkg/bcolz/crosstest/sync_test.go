package crosstest

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/crashtest"
)

// TestSynced looks at the system calls of changes that are synced: contents before
// names, data before metadata, folders after what changed in them.
func TestSynced(t *testing.T) {
	template := newTable(t)
	store := crashtest.Store{
		IsData: func(p string) bool { return path.Ext(p) == ".blp" },
		IsMeta: func(p string) bool {
			return slices.Contains([]string{"sizes", "storage", "__rootdirs__", "__attrs__"}, path.Base(p))
		},
	}
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		if op == "append" { // the folders of chunks are made anew where a copy has lost them
			bare := emptyTable(t)
			events := crashtest.Events(t, "synced: "+op, bare)
			made := slices.ContainsFunc(events, func(e crashtest.Event) bool { return e.Kind == "mkdir" && path.Base(e.Path) == "data" })
			if err := store.Synced(events, false); err != nil || !made {
				t.Errorf("%s without folders of chunks: %v\n%v", op, err, events)
			}
		}
		t.Run(op, func(t *testing.T) {
			events := crashtest.Events(t, "synced: "+op, template)
			shrinks := strings.HasPrefix(op, "trim") || op == "delcol"
			if err := store.Synced(events, shrinks); err != nil || len(events) < 3 {
				t.Errorf("opened with Sync: %v\n%v", err, events)
			}
			events = crashtest.Events(t, "flushed: "+op, template)
			if err := store.Flushed(events); err != nil || len(events) < 3 {
				t.Errorf("flushed with Sync: %v\n%v", err, events)
			}
		})
	}
}

// emptyTable makes a table without rows, whose folders of chunks are not there: not
// every program copies empty folders.
func emptyTable(t *testing.T) (dir string) {
	dir = newTable(t)
	if err := change(dir, resize(0)); err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		if err := os.Remove(root(dir) + "/" + c.name + "/data"); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
