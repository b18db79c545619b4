package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// With 96 descriptors, 300 files are merged, and a bad one among them is named.
func TestMergeManyFiles(t *testing.T) {
	dir := t.TempDir()
	var files []string
	content, err := os.ReadFile(demoFile(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		path := filepath.Join(dir, fmt.Sprintf("day-%03d.ds", i))
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 96
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)

	out := filepath.Join(dir, "all.ds")
	ok(t, append([]string{"merge", "--dim", "time", "--out", out}, files...)...)
	if text := ok(t, "info", out+":time"); !strings.Contains(text, "(time 900)") {
		t.Errorf("found %s", text)
	}

	if err := os.WriteFile(files[200], content[:len(content)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	status, _, errs := call(t, append([]string{"merge", "--force", "--dim", "time", "--out", out}, files...)...)
	if status == exitOK || !strings.Contains(errs, "day-200.ds") {
		t.Errorf("status %d: %s", status, errs)
	}
}
