package bcolz

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/edit"
)

// intend notes in the lock file that the rows on disk are about to become as many,
// so that what a kill leaves is known to be nobody's loss.
func (f *file) intend(rows int64) {
	if f.Mode != edit.Updating || !f.settled {
		return
	}
	for _, c := range f.columns {
		if !c.fresh {
			f.Intend("rows " + decimal(c.sizes.shape[0]) + " " + decimal(rows))
			return
		}
	}
}

// undone is a change of the number of rows that a writer, which was killed or still
// runs, has not brought to its end.
type undone struct{ fewer, more int64 }

// parseUndone reads an intent; rows are those of the table, which such a change
// leaves at the smaller number.
func parseUndone(intent string, rows int64) (u undone, ok bool) {
	words := strings.Fields(intent)
	if len(words) != 3 || words[0] != "rows" {
		return u, false
	}
	from, err1 := strconv.ParseUint(words[1], 10, 63)
	to, err2 := strconv.ParseUint(words[2], 10, 63)
	u = undone{int64(min(from, to)), int64(max(from, to))}
	return u, err1 == nil && err2 == nil && u.fewer == rows
}

// explains tells whether a column is as the change leaves it.
func (u undone) explains(a *account) bool {
	files := a.files
	return (a.claimed == u.fewer || a.claimed == u.more) && (len(files) == 0 || files[len(files)-1] < a.chunkCount(u.more))
}

// cutAway cuts all columns to the length of the table; what it takes away was never
// reported to be there, or reported to be gone.
func (f *file) cutAway(ctx context.Context, all []*account) error {
	if err := f.unchanged(ctx); err != nil {
		return err
	}
	for _, a := range all {
		if a.claimed != f.rows {
			if err := a.cut(f.rows); err != nil {
				return a.located(err)
			}
		}
	}
	for _, a := range all {
		if err := a.drop(ctx, f.rows); err != nil {
			return a.located(err)
		}
	}
	f.Settle()
	return nil
}

// explained tells whether a writer has noted what it has left in all columns.
func (u undone) explained(all []*account) bool {
	return !slices.ContainsFunc(all, func(a *account) bool { return !u.explains(a) })
}
