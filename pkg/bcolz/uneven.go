package bcolz

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// settleLocked is settleRows for changes that do not have the lock yet.
func (f *file) settleLocked(ctx context.Context) error {
	f.RLock()
	done := f.settled || f.Closed() || f.Mode != edit.Updating
	f.RUnlock()
	if done {
		return nil
	}
	f.Lock()
	defer f.Unlock()
	if f.Closed() {
		return nil
	}
	return f.settleRows(ctx)
}

// settleRows comes before the first change of a root that was opened: columns are
// cut to the length of the table, if all witnesses agree that what is behind it
// was left by a writer that was stopped (see account.go). Otherwise ErrCorrupt
// says what contradicts what, and nothing is changed.
func (f *file) settleRows(ctx context.Context) error {
	if f.settled || f.Mode != edit.Updating {
		return nil
	}
	even, err := f.even(ctx)
	if err != nil {
		return err
	}
	if !even && f.Shared() {
		return ndfile.NewError(ndfile.ErrBusy, "a writer that was stopped has left columns of different lengths, or chunks behind the end: for the first change open it without shared")
	}
	if !even {
		if err := f.settleUneven(ctx); err != nil {
			return err
		}
	}
	for _, c := range f.columns {
		if c.fresh {
			continue
		}
		if err := f.disk.Mkdir(c.dir + "/" + dataFolder); err != nil && !errors.Is(err, fs.ErrExist) {
			return c.located(err)
		}
	}
	f.settled = true
	return nil
}

// even tells whether there is nothing to settle, by few looks at the disk.
func (f *file) even(ctx context.Context) (bool, error) {
	for _, c := range f.columns {
		if c.fresh {
			continue
		}
		if a := newAccount(c, c.sizes.shape[0]); !a.consistent() || a.claimed != f.rows {
			return false, nil
		}
		switch _, err := f.disk.Lstat(chunkPath(c.dir, c.chunkCount(f.rows))); {
		case err == nil:
			return false, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, c.located(err)
		}
	}
	return true, ctx.Err()
}

// settleUneven settles what even did not find to be settled.
func (f *file) settleUneven(ctx context.Context) error {
	var all []*account
	for _, c := range f.columns {
		if c.fresh {
			continue
		}
		a := newAccount(c, c.sizes.shape[0])
		if err := a.list(); err != nil {
			return c.located(err)
		}
		a.glance(ctx)
		all = append(all, a)
	}
	judge(all)
	for _, a := range all {
		if err := a.refuse(all); err != nil {
			return a.located(err.On(a.dir + "/" + sizesFile))
		}
	}
	return f.trim(ctx, f.rows)
}

// refuse is what is wrong with a column for a writer; nil: it can be changed.
func (a *account) refuse(all []*account) *ndfile.Error {
	told := ""
	switch {
	case a.verdict == unfinished || a.verdict == sound && inOrder(all):
		return nil
	case a.verdict == sound:
		told = "columns of " + decimal(a.claimed) + " and other numbers of rows, not as a writer leaves them that was stopped"
	case !a.consistent():
		told = "the shape says " + decimal(a.claimed) + " rows, nbytes says " + a.nbytesText()
	case a.verdict == miscounted:
		told = "the shape says " + decimal(a.claimed) + " rows, but there are " + decimal(a.accepted) + ", " + a.because
	case a.verdict == torn:
		told = "the shape says " + decimal(a.claimed) + " rows, but the chunk files hold " + decimal(a.held)
	default:
		told = "the shape says " + decimal(a.claimed) + " rows, but there are " + decimal(int64(len(a.files))) + " chunk files, the last of which is " + decimal(a.files[len(a.files)-1])
	}
	return ndfile.NewError(ndfile.ErrCorrupt, told+"; a change could destroy rows, and is refused: verify tells more, and a repair can mend it")
}
