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
	t.Run("arrays", testArraysSynced)
	t.Run("groups", testGroupsSynced)
}

// testGroupsSynced: what is new in a group has its name and its folders on the disk.
func testGroupsSynced(t *testing.T) {
	for _, format := range []ndfile.Format{zarr.Format2, zarr.Format3} {
		template := newGroup(t, format)
		for op := range groupChanges {
			name := op + " " + format.Name()
			for _, how := range []string{"synced: ", "flushed: "} {
				events := crashtest.Events(t, how+name, template)
				if err := chunkedStore.Flushed(events); err != nil || len(events) < 3 {
					t.Errorf("%s%s: %v\n%v", how, name, err, events)
				}
				if err := crashtest.FoldersSynced(events); err != nil {
					t.Errorf("%s%s: %v\n%v", how, name, err, events)
				}
			}
		}
	}
}

var chunkedStore = crashtest.Store{
	IsData: regexp.MustCompile(`/(__zdata__/[\d.]+blosc|\d+\.\d+|c/\d+/\d+)$`).MatchString,
	IsMeta: func(p string) bool {
		return slices.Contains([]string{"__zmeta__", "__zattr__", ".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json"}, path.Base(p))
	},
}

func testArraysSynced(t *testing.T) {
	for _, format := range []ndfile.Format{zarr.Format0, zarr.Format2, zarr.Format3} {
		template := newStore(t, format)
		for _, op := range slices.Sorted(maps.Keys(changes)) {
			if strings.HasPrefix(op, "migrate") {
				continue
			}
			t.Run(op+" "+format.Name(), func(t *testing.T) {
				name := op + " " + format.Name()
				events := crashtest.Events(t, "synced: "+name, template)
				if err := chunkedStore.Synced(events, op == "shrink"); err != nil || len(events) < 3 {
					t.Errorf("opened with Sync: %v\n%v", err, events)
				}
				events = crashtest.Events(t, "flushed: "+name, template)
				if err := chunkedStore.Flushed(events); err != nil || len(events) < 3 {
					t.Errorf("flushed with Sync: %v\n%v", err, events)
				}
			})
		}
	}
}
