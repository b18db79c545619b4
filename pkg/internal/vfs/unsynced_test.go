package vfs

import (
	"fmt"
	"testing"
)

// TestUnsyncedBounded: after more changes than are kept in mind, Flush syncs all.
func TestUnsyncedBounded(t *testing.T) {
	for _, n := range []int{3, mostUnsynced + 3} {
		m := NewMem()
		if err := m.Mkdir("s"); err != nil {
			t.Fatal(err)
		}
		put(t, m, "s/meta", "")
		m.Record()
		info, err := m.Stat("s/meta")
		if err != nil {
			t.Fatal(err)
		}
		var changes Unsynced
		fsys := InStoreLike(m, "s", "meta", info, &changes)
		for i := range n {
			if err := fsys.WriteFile(fmt.Sprintf("s/%d", i), [][]byte{[]byte("new")}, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if most := len(changes.files) + len(changes.folders); most > mostUnsynced+1 {
			t.Errorf("%d paths in mind", most)
		}
		if err := changes.Flush(fsys, "s"); err != nil {
			t.Fatal(err)
		}
		disk := m.Cut(PowerCut{}).Disk()
		for i := range n {
			if got := text(disk, fmt.Sprintf("s/%d", i)); got != "new" {
				t.Fatalf("%d of %d files: %q", i, n, got)
			}
		}
	}
}
