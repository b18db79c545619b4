package bcolz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// numbers are n elements, no two of which are alike.
func numbers(n int64) ndarray.Buffer {
	data := make([]byte, 0, 4*n)
	for i := range n {
		data = append(data, byte(i), byte(i>>8), byte(7*i), 1)
	}
	return buffer(ndarray.MustParse("<i4"), data, n)
}

// miscount makes meta/sizes of a column of chunks of 10 rows tell another length,
// so that shape, nbytes and cbytes agree.
func miscount(t *testing.T, mem *ndfile.Mem, dir string, rows int64) {
	t.Helper()
	cbytes := int64(40)
	for k := range rows / 10 {
		cbytes += int64(len(get(t, mem, fmt.Sprintf("%s/data/__%d.blp", dir, k)))) - blpkSize
	}
	put(t, mem, dir+"/"+sizesFile, fmt.Sprintf(`{"shape": [%d], "nbytes": %d, "cbytes": %d}`, rows, 4*rows, cbytes))
}

// TestFirstChangeKeeps: where all of meta/sizes is wrong alike, the first change
// takes chunks for what a stopped writer left. They are moved aside, not lost.
func TestFirstChangeKeeps(t *testing.T) {
	changes := map[string]func(f ndfile.File, rows int64) error{
		"append": func(f ndfile.File, rows int64) error {
			if r, is := f.(ndfile.RowResizer); is && f.Kind() == ndfile.Table {
				return r.AppendRows(ctx, []ndarray.Buffer{numbers(30), numbers(30)})
			}
			return array(t, f, "").(ndfile.Resizer).Append(ctx, 0, numbers(30))
		},
		"write": func(f ndfile.File, rows int64) error {
			box := ndarray.Full([]int64{min(rows, 3)})
			box.Start[0] = rows - box.Count[0]
			return array(t, f, f.Names()[0]).WriteBox(ctx, box, numbers(box.Count[0]))
		},
		"resize": func(f ndfile.File, rows int64) error {
			if f.Kind() == ndfile.Table {
				return f.(ndfile.RowResizer).ResizeRows(ctx, 120)
			}
			return array(t, f, "").(ndfile.Resizer).Resize(ctx, []int64{120})
		},
	}
	for name, do := range changes {
		for _, columns := range []string{"", "ab"} {
			for _, rows := range []int64{0, 20, 23, 81, 90} { // of 97
				at := fmt.Sprintf("%s, columns %q, %d rows", name, columns, rows)
				mem := ndfile.NewMem()
				ok(t, mem.Mkdir("/d"))
				f, err := Format.Create(ctx, mem, "/d/t", ndfile.CreateOptions{})
				ok(t, err)
				names := strings.Split(columns, "")
				if columns == "" {
					names = []string{""}
				}
				for _, column := range names {
					a, err := f.Add(ctx, column, ndfile.Spec{DType: ndarray.MustParse("<i4"), Shape: []int64{97}, Chunks: []int64{10}})
					ok(t, err)
					ok(t, a.WriteBox(ctx, ndarray.Full([]int64{97}), numbers(97)))
				}
				ok(t, f.Close(ctx))
				var chunks []string // with rows that nobody will count: of what is counted the caller may write over
				for path, text := range files(t, mem, "/d") {
					if i := strings.Index(path, "data/__"); i >= 0 && path[i:] >= fmt.Sprintf("data/__%d", rows/10) {
						chunks = append(chunks, text)
					}
				}
				last := strings.TrimSuffix("/d/t/"+names[len(names)-1], "/")
				miscount(t, mem, last, rows)
				f = open(t, mem, "/d/t", ndfile.Update)
				if err := do(f, rows); err != nil {
					is(t, err, ndfile.ErrCorrupt, last+"/"+sizesFile)
				}
				ok(t, f.Close(ctx))
				there := map[string]bool{}
				for _, text := range files(t, mem, "/d") {
					there[text] = true
				}
				lost := 0
				for _, text := range chunks {
					if !there[text] {
						lost++
					}
				}
				if lost > 0 || len(chunks) == 0 {
					t.Errorf("%s: %d of %d chunks are lost", at, lost, len(chunks))
				}
				if f, err := Format.Open(ctx, mem, "/d/t", ndfile.OpenOptions{}); err != nil {
					t.Errorf("%s: %v", at, err)
				} else {
					ok(t, f.Abort())
				}
			}
		}
	}
}
