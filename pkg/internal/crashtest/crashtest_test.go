package crashtest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	Main(m, map[string]func(string) error{
		"torn": func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("new"), 0o666) },
		"safe": func(dir string) error {
			tmp := filepath.Join(dir, "tmp")
			if err := os.WriteFile(tmp, []byte("new"), 0o666); err != nil {
				return err
			}
			return os.Rename(tmp, filepath.Join(dir, "x"))
		},
	})
}

// states sweeps an operation on a file that holds "old" and collects what is found in it.
func states(t *testing.T, op string) map[string]int {
	template := t.TempDir()
	if err := os.WriteFile(filepath.Join(template, "x"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	Sweep(t, op, template, func(dir, at string) {
		content, err := os.ReadFile(filepath.Join(dir, "x"))
		if err != nil {
			t.Errorf("%s: %v", at, err)
		}
		found[string(content)]++
	})
	return found
}

// A sweep finds the state between truncating and writing, and none where there is none.
func TestSweep(t *testing.T) {
	if found := states(t, "torn"); found[""] == 0 || found["old"] == 0 || found["new"] == 0 {
		t.Errorf("written in place: found %v, expected the empty file too", found)
	}
	if found := states(t, "safe"); found[""] != 0 || found["old"] < 3 || found["new"] == 0 || len(found) != 2 {
		t.Errorf("renamed: found %v, expected old and new only", found)
	}
}
