package crosstest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/internal/crashtest"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/zarr"
)

// TestSynced looks at the system calls of changes that are synced: contents before
// names, data before metadata, folders after what changed in them.
func TestSynced(t *testing.T) {
	chunk := regexp.MustCompile(`/(__zdata__/[\d.]+blosc|\d+\.\d+|c/\d+/\d+)$`)
	store := crashtest.Store{
		IsData: chunk.MatchString,
		IsMeta: func(p string) bool {
			return slices.Contains([]string{"__zmeta__", "__zattr__", ".zarray", ".zattrs", "zarr.json"}, path.Base(p))
		},
	}
	for _, format := range []ndfile.Format{zarr.Format0, zarr.Format2, zarr.Format3} {
		template := newStore(t, format)
		for _, op := range slices.Sorted(maps.Keys(changes)) {
			if strings.HasPrefix(op, "migrate") {
				continue
			}
			t.Run(op+" "+format.Name(), func(t *testing.T) {
				name := op + " " + format.Name()
				events := crashtest.Events(t, "synced: "+name, template)
				if err := store.Synced(events, op == "shrink"); err != nil || len(events) < 3 {
					t.Errorf("opened with Sync: %v\n%v", err, events)
				}
				events = crashtest.Events(t, "flushed: "+name, template)
				if err := store.Flushed(events); err != nil || len(events) < 3 {
					t.Errorf("flushed with Sync: %v\n%v", err, events)
				}
			})
		}
	}
}
