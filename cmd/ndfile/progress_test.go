package main

import (
	"testing"
	"time"
	"unicode/utf8"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		unit        unit
		done, total int64
		columns     int
		want        string
	}{
		{countBytes, 0, 4 << 20, 40, "x.ds ░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0 B"},
		{countBytes, 1 << 20, 4 << 20, 60, "x.ds █████░░░░░░░░░░░░░░░░░  25 %  1 MiB  512 KiB/s  6s left"},
		{countBlocks, 4, 4, 50, "x.ds ████████ 100 %  4 blocks  2 blocks/s  0s left"},
		{countBlocks, 4, 4, 10, "x.ds 100 %  4 blocks  2 blocks/s  0s left"}, // a narrow window: no bar
	} {
		got := progressLine("x.ds", c.unit, c.done, c.total, 2*time.Second, c.columns)
		if n := utf8.RuneCountInString(got); n > c.columns && c.columns > 10 {
			t.Errorf("%d columns in a window of %d: %q", n, c.columns, got)
		}
		if c.want != got {
			t.Errorf("%d of %d\n got %q\nwant %q", c.done, c.total, got, c.want)
		}
	}
}
