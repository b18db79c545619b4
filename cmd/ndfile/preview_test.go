package main

import (
	"strings"
	"testing"
)

func TestPreview(t *testing.T) {
	path := packedFile(t) // t: 60 -- 160, 210 260 --
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{path + ":t"}, "t  60 to 260  [degree_Celsius]\n▓▓▓▓████····\n    ····▒▒▒▒\n"},
		{[]string{path + ":time"}, "time  0 to 36"},
		{[]string{path + ":t", "--histogram"}, "t  60 to 260"},
	} {
		got := ok(t, append([]string{"plot", "--preview"}, c.args...)...)
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%v\n got %q\nwant %q", c.args, got, c.want)
		}
	}
	rows := strings.Split(ok(t, "plot", "--preview", path+":time"), "\n")
	const blank = "\u2800" // from below left to above right
	if first, last := rows[1], rows[previewRows]; !strings.HasPrefix(first, blank) || strings.HasSuffix(first, blank) || strings.HasPrefix(last, blank) || !strings.HasSuffix(last, blank) {
		t.Errorf("no line that rises:\n%s", strings.Join(rows, "\n"))
	}
	fails(t, 2, "less than two elements", "plot", "--preview", path+":t[0,0]")
}
