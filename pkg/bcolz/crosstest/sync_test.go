package crosstest

import (
	"maps"
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
