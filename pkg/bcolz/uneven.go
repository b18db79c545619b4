package bcolz

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ndfile/ndfile/pkg/internal/aside"
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
// was left by a writer that was stopped (see account.go). They may agree because
// all of them are wrong: what is cut off is moved aside, as a repair does it, unless
// that writer has noted what it was about to do.
// Otherwise ErrCorrupt says what contradicts what, and nothing is changed.
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
		err := f.disk.Mkdir(c.dir + "/" + dataFolder)
		if err == nil && f.Write.Sync { // chunks are to be found in it after a power failure
			err = f.disk.SyncDir(c.dir)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
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
		if c.longer(ctx) {
			return false, nil
		}
	}
	return true, ctx.Err()
}

// longer tells whether the file of the last chunk has rows that nobody counts: a
// change would write it without them.
func (c *column) longer(ctx context.Context) bool {
	rest := c.rows() % c.storage.chunklen
	if rest == 0 {
		return false
	}
	a := account{column: c}
	rows, err := a.chunkRows(ctx, c.wholeChunks(c.rows()))
	return err == nil && rows > rest
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
	if u, ok := parseUndone(f.Intended(), f.rows); ok && u.explained(all) {
		return f.cutAway(ctx, all)
	}
	return f.cutAside(ctx, all)
}

// cutAside cuts all columns to the length of the table. What it takes away is kept
// in a folder beside the root.
func (f *file) cutAside(ctx context.Context, all []*account) error {
	if err := f.unchanged(ctx); err != nil {
		return err
	}
	var counts, files []aside.Step
	for _, a := range all {
		if a.claimed != f.rows {
			counts = append(counts, a.count(f.rows))
		}
		if path := chunkPath(a.dir, a.wholeChunks(f.rows)); a.longer(ctx) {
			text, err := aside.Read(f.disk.FS, path)
			if err != nil {
				return a.located(err)
			}
			files = append(files, aside.Step{Path: path, Text: text}) // Refill cuts it
		}
		for _, k := range a.surplus(f.rows) {
			files = append(files, aside.Step{Path: chunkPath(a.dir, k)})
		}
	}
	if err := aside.Apply(f.disk.FS, f.Root, append(counts, files...)); err != nil {
		return err
	}
	for _, a := range all {
		if a.claimed != f.rows {
			if err := a.readSizes(ctx); err != nil {
				return a.located(err)
			}
		}
		if err := a.chunks.Refill(ctx, a.chunks.Shape()); err != nil {
			return a.located(err)
		}
	}
	return nil
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
