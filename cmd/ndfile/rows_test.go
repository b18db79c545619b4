package main

import (
	"strings"
	"testing"
)

func TestRows(t *testing.T) {
	path := demoFile(t)
	all := ok(t, "cat", path)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rows", path, "--columns", "station,temperature"}, `station        temperature
"Praha-Libuš"  [271.25, 272.5, --]
"Reykjavík"    [268, 269.75, 270.5]
`},
		{[]string{"rows", path, "--columns", "station", "--to", "csv"}, "station\nPraha-Libuš\nReykjavík\n"},
		{[]string{"rows", path, "--columns", "time", "--where", "time >= 1 and time != 2", "--to", "tsv"}, "time\n1\n"},
		{[]string{"head", path, "-n", "1", "--columns", "station,rain", "--to", "jsonl"},
			`{"station": "Praha-Libu\u0161", "rain": [false, true, true]}` + "\n"},
		{[]string{"rows", path, "--columns", "temperature", "--limit", "1", "--json"}, `[{"temperature": [271.25, 272.5, null]}]` + "\n"},
		{[]string{"rows", path, "--columns", "temperature", "--skip", "1", "--to", "csv"}, "temperature\n\"[268, 269.75, 270.5]\"\n"},
		{[]string{"rows", path, "--columns", "time", "--where", "time > 9", "--json"}, "[]\n"},
	} {
		if got := ok(t, c.args...); got != c.want {
			t.Errorf("%v: got\n%s\nwant\n%s\nof\n%s", c.args[2:], got, c.want, all)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--columns", "sation"}, "did you mean station?"},
		{[]string{"--where", "tme > 1"}, "no array of that name"},
		{[]string{"--columns", "station,time"}, "another length"},
		{[]string{"--where", "time >"}, "condition"},
		{[]string{"--to", "xml"}, "csv"},
		{[]string{"--limit", "-1"}, "negative"},
	} {
		status, _, errs := call(t, append([]string{"rows", path}, c.args...)...)
		if status != exitUsage && c.want != "another length" || status == exitOK || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d: %s", c.args, status, errs)
		}
	}
}

// TestRowsNamesWhatIsNone: arrays of another length are no columns, and are named.
func TestRowsNamesWhatIsNone(t *testing.T) {
	path := demoFile(t)
	status, out, errs := call(t, "rows", path, "--to", "csv")
	if status != exitOK || !strings.HasPrefix(out, "rain,station,temperature\n") || !strings.Contains(errs, "another length than rain: height, time") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if status, _, errs = call(t, "rows", path, "--columns", "time"); status != exitOK || errs != "" {
		t.Errorf("status %d: %s", status, errs)
	}
}
