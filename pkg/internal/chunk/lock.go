package chunk

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// identity tells a folder from all others of the machine.
type identity struct{ dev, ino uint64 }

// stripes are the locks of all chunks of all arrays of the process. Nobody holds
// two of them at once.
var stripes [256]sync.RWMutex

// seed is for the names of folders.
var seed = maphash.MakeSeed()

// stripe is the lock of a chunk. It is the same for all Arrays that stand for
// the folder, which is made if it is missing.
func (a *Array) stripe(index []int64) (*sync.RWMutex, error) {
	id := a.folder.Load()
	if id == nil && a.remote {
		id = &identity{ino: maphash.String(seed, a.Folder)} // folders of stores have their names only
		a.folder.Store(id)
	}
	if id == nil {
		info, err := a.FS.Stat(a.Folder)
		if errors.Is(err, fs.ErrNotExist) {
			if err := a.makeFolder(a.Folder); err != nil {
				return nil, err
			}
			info, err = a.FS.Stat(a.Folder)
		}
		if err != nil {
			return nil, err
		}
		id = &identity{info.Dev, info.Ino}
		a.folder.Store(id)
	}
	const prime = 0x9e3779b97f4a7c15
	h := (id.dev*prime ^ id.ino) * prime
	for _, i := range index {
		h = (h ^ h>>29 ^ uint64(i)) * prime
	}
	return &stripes[h>>56], nil
}

// exclusively runs do while nobody else writes the chunk, nor reads it where a
// write would be seen half done.
func (a *Array) exclusively(ctx context.Context, index []int64, do func() error) (err error) {
	mu, err := a.stripe(index)
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if a.Lock != nil {
		unlock, err := a.Lock(ctx, index)
		if err != nil {
			return err
		}
		defer func() {
			if e := unlock(); err == nil {
				err = e
			}
		}()
	}
	a.cache.BeginChange(a.Number(index))
	defer a.cache.EndChange()
	return do()
}

// reading keeps writers off the chunk until unlock, which may be nil. Where
// files are replaced in one step there is no need. Of shards readCell does it.
func (a *Array) reading(index []int64) (unlock func(), err error) {
	if a.Shards != nil {
		return nil, nil
	}
	return a.readingFile(index)
}

// readingFile is reading of the file with an index.
func (a *Array) readingFile(index []int64) (unlock func(), err error) {
	if a.Write.Commit != vfs.CommitDirect {
		return nil, nil
	}
	mu, err := a.stripe(index)
	if err != nil {
		return nil, err
	}
	mu.RLock()
	return mu.RUnlock, nil
}
