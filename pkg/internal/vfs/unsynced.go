package vfs

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Unsynced keeps in mind which files and folders of a store were changed without
// being synced, in the order of the last change. The zero value is ready.
type Unsynced struct {
	mu      sync.Mutex
	sync    bool              // what is written is synced at once
	count   int64             // of changes
	files   map[string]*int64 // path, and which change was its last one
	folders map[string]*int64
	lost    bool // there were too many: anything in the store may have been changed
}

// mostUnsynced bounds what is kept in mind, of files and of folders.
const mostUnsynced = 10_000

// SyncAll says whether all that is written from now on is synced at once, whatever
// its options.
func (u *Unsynced) SyncAll(on bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sync = on
}

// Flush syncs what was changed in the store in a folder: contents first, then
// folders, each in the order of the last change, or everything in the store after
// very many changes. What was not synced because of an error, and what is changed
// meanwhile, stays in mind.
func (u *Unsynced) Flush(fsys FS, store string) error {
	if err := u.recall(fsys, store); err != nil {
		return err
	}
	sync := func(changes *map[string]*int64, do func(FS, string) error) error {
		for _, c := range u.inOrder(changes) {
			if err := do(fsys, c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			u.forget(changes, c)
		}
		return nil
	}
	if err := sync(&u.files, syncFile); err != nil {
		return err
	}
	return sync(&u.folders, FS.SyncDir)
}

// recall notes everything in the store again, where too much was changed to be kept
// in mind.
func (u *Unsynced) recall(fsys FS, store string) error {
	u.mu.Lock()
	lost := u.lost
	u.mu.Unlock()
	if !lost {
		return nil
	}
	tree, err := listTree(fsys, nil, store, "", nil)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lost = false
	u.change(&u.folders, store)
	for _, e := range tree {
		switch e.mode {
		case Regular:
			u.change(&u.files, e.path)
		case Dir:
			u.change(&u.folders, e.path)
		}
	}
	return nil
}

// touched is a path and its last change.
type touched struct {
	path string
	n    int64
}

func (u *Unsynced) inOrder(changes *map[string]*int64) []touched {
	u.mu.Lock()
	defer u.mu.Unlock()
	var all []touched
	for path, n := range *changes {
		all = append(all, touched{path, *n})
	}
	slices.SortFunc(all, func(a, b touched) int { return cmp.Compare(a.n, b.n) })
	return all
}

// forget drops a change, unless there was another one of the path.
func (u *Unsynced) forget(changes *map[string]*int64, c touched) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := (*changes)[c.path]; n != nil && *n == c.n {
		delete(*changes, c.path)
	}
}

func syncFile(fsys FS, path string) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	f.Close()
	return err
}

// synced tells whether a file is to be synced when it is written.
func (u *Unsynced) synced() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.sync
}

// wrote notes that a file was written, and its entry in the folder.
func (u *Unsynced) wrote(file string) {
	u.note(&u.files, file)
	u.note(&u.folders, folderOf(file))
}

// listed notes that the folder of a path has got or lost an entry.
func (u *Unsynced) listed(entry string) { u.note(&u.folders, folderOf(entry)) }

func (u *Unsynced) note(changes *map[string]*int64, path string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.change(changes, path); len(*changes) > mostUnsynced {
		u.files, u.folders, u.lost = nil, nil, true
	}
}

// change is note with the lock held, without a bound.
func (u *Unsynced) change(changes *map[string]*int64, path string) {
	if u.lost {
		return
	}
	if *changes == nil {
		*changes = map[string]*int64{}
	}
	path = trimSlash(path)
	last := (*changes)[path]
	if last == nil {
		last = new(int64)
		(*changes)[strings.Clone(path)] = last // it may lie in a buffer that is used again
	}
	u.count++
	*last = u.count
}

// settled forgets a folder, which was synced.
func (u *Unsynced) settled(folder string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.folders, trimSlash(folder))
}

// trimSlash gives one name to each folder.
func trimSlash(path string) string {
	if short := strings.TrimRight(path, "/"); short != "" {
		return short
	}
	return path
}

// moved gives what was noted below a path its new place.
func (u *Unsynced) moved(from, to string) {
	u.listed(from)
	u.listed(to)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, changes := range []map[string]*int64{u.files, u.folders} {
		for name, n := range changes {
			if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
				delete(changes, name)
				changes[to+rest] = n
			}
		}
	}
}
