package aside

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// Errors of Undo beside those of the file system.
var (
	ErrNone    = errors.New("no repair to undo")
	ErrJournal = errors.New("not the journal of a repair")
	ErrChanged = errors.New("changed since the repair")
)

// Undo gives back what the last repair of a store took away or wrote anew. given
// is called with the path of each file or folder that is as it was before. Where
// something was changed since the repair, nothing is undone: ErrChanged, with
// its path.
func Undo(fsys vfs.FS, store string, given func(path string)) error {
	real, err := locate(fsys, store)
	if err != nil {
		return err
	}
	all, err := folders(fsys, real)
	if err != nil {
		return err
	}
	u := undo{fsys: fsys, store: real}
	for ; ; all = all[:len(all)-1] {
		if len(all) == 0 {
			return fmt.Errorf("%w: there is no folder %s*", ErrNone, real+mark)
		}
		u.dir = real + mark + strconv.FormatInt(all[len(all)-1], 10)
		err := u.readJournal()
		if errors.Is(err, fs.ErrNotExist) { // it stopped before the first step, or after the last one was undone
			err = vfs.RemoveTree(fsys, u.dir, func(string, vfs.FileMode) bool { return false })
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		break
	}
	for i := len(u.lines) - 1; i >= 0; i-- {
		if err := u.check(&u.lines[i]); err != nil {
			return err
		}
	}
	for i := len(u.lines) - 1; i >= 0; i-- {
		done, err := u.back(&u.lines[i])
		if err != nil {
			return err
		}
		if done && given != nil {
			given(strings.TrimRight(store, "/") + "/" + u.lines[i].path)
		}
	}
	if err := fsys.SyncDir(parent(real)); err != nil {
		return err
	}
	if err := fsys.Remove(u.dir + "/" + journalName); err != nil {
		return err
	}
	return fsys.Rmdir(u.dir)
}

type undo struct {
	fsys       vfs.FS
	store, dir string
	lines      []line
}

func (u *undo) kept(l *line) string  { return u.dir + "/" + strconv.FormatInt(l.n, 10) }
func (u *undo) place(l *line) string { return u.store + "/" + l.path }

// there tells whether something is at a path.
func (u *undo) there(path string) (bool, error) {
	_, err := u.fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// check fails when a step cannot be undone without a loss.
func (u *undo) check(l *line) error {
	kept, err := u.there(u.kept(l))
	if err != nil {
		return err
	}
	now, err := u.there(u.place(l))
	if err != nil {
		return err
	}
	switch {
	case l.verb == moved && kept && now:
		return fmt.Errorf("%s: %w; what was there before is %s", u.place(l), ErrChanged, u.kept(l))
	case l.verb == moved && !kept && !now:
		return fmt.Errorf("%s: %w: it lies neither there nor in %s", u.place(l), ErrChanged, u.kept(l))
	case l.verb == wrote && !kept, l.verb == moved, !now:
		return nil // never done, undone already, or free to be given back
	}
	text, err := read(u.fsys, u.place(l), maxCopy)
	if err != nil || sum(text) == l.sum {
		return err
	}
	if l.verb == wrote {
		before, err := read(u.fsys, u.kept(l), maxCopy)
		if err != nil || string(before) == string(text) {
			return err // it stopped before it wrote
		}
	}
	return fmt.Errorf("%s: %w; what was there before is in %s", u.place(l), ErrChanged, u.dir)
}

// back undoes a step, unless that is done already.
func (u *undo) back(l *line) (done bool, err error) {
	kept, err := u.there(u.kept(l))
	switch {
	case err != nil:
		return false, err
	case l.verb == made:
		err = u.fsys.Remove(u.place(l))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return true, err
	case !kept:
		return false, nil
	case l.verb == moved:
		return true, u.fsys.RenameNoReplace(u.kept(l), u.place(l))
	}
	// Of two names of one file a rename removes none.
	before, err := u.fsys.Lstat(u.kept(l))
	if err != nil {
		return false, err
	}
	if now, err := u.fsys.Lstat(u.place(l)); err == nil && now.Ino == before.Ino && now.Dev == before.Dev {
		return false, u.fsys.Remove(u.kept(l))
	}
	return true, u.fsys.Rename(u.kept(l), u.place(l))
}

// readJournal reads what the repair did, or was about to do.
func (u *undo) readJournal() error {
	path := u.dir + "/" + journalName
	bad := func(what string) error { return fmt.Errorf("%s: %w: %s", path, ErrJournal, what) }
	text, err := read(u.fsys, path, maxJournal)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	n := len(lines)
	if n < 4 || lines[0] != journalHead || lines[n-2] != "end" || lines[n-1] != "" {
		return bad("expected " + strconv.Quote(journalHead) + " in the first line and \"end\" in the last one")
	}
	for i, s := range lines[2 : n-2] {
		l := line{}
		name, tail, _ := strings.Cut(s, " ")
		num, tail, _ := strings.Cut(tail, " ")
		quoted, err := strconv.QuotedPrefix(tail)
		if err != nil {
			return bad("line " + strconv.Itoa(i+3))
		}
		l.verb, l.n, l.sum = name, number(num), strings.TrimPrefix(tail[len(quoted):], " ")
		l.path, err = strconv.Unquote(quoted)
		if err != nil || l.n == 0 || !inside(l.path) || l.verb != moved && l.verb != wrote && l.verb != made || (l.verb == moved) != (l.sum == "") {
			return bad("line " + strconv.Itoa(i+3))
		}
		u.lines = append(u.lines, l)
	}
	return nil
}
