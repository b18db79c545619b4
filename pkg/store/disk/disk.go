// Package disk is the store of a folder on the disk, by the system calls that files are
// read and written with everywhere in this module.
package disk

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/store"
)

// Store is a folder: keys are the paths of files below it. It has all abilities of
// package store but RangeReader; values that are held stay as they were when others
// replace them. Symbolic links are followed. Put replaces a file in one step, makes the
// folders above it, and gives no tag: a condition on one is errors.ErrUnsupported.
//
// ndfile.OpenStore and ndfile.CreateStore know it: a file in it is opened as by its
// path, with locks, maps and what else the machine has.
type Store struct {
	path  string
	files store.Holder
}

// New gives the store of the folder at a path. The folder need not exist before
// something is put.
func New(path string) *Store {
	if short := strings.TrimRight(path, "/"); short != "" {
		path = short
	}
	return &Store{strings.Clone(path), vfs.Keys(vfs.OS)}
}

// Path is the path of the folder.
func (s *Store) Path() string { return s.path }

// file is the path of a key.
func (s *Store) file(op, key string) (string, error) {
	if !store.ValidKey(key) {
		return "", &fs.PathError{Op: op, Path: strings.Clone(key), Err: fs.ErrNotExist}
	}
	return s.path + "/" + key, nil
}

// found has every error that means that there is no value be fs.ErrNotExist.
func found(err error) error {
	for _, none := range []error{syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.ESPIPE} {
		if errors.Is(err, none) {
			return errors.Join(fs.ErrNotExist, err)
		}
	}
	return err
}

// Get implements [store.Reader].
func (s *Store) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	path, err := s.file("get", key)
	if err != nil {
		return 0, store.Info{}, err
	}
	n, info, err := s.files.Get(ctx, path, off, dst)
	return n, info, found(err)
}

// Hold implements [store.Holder].
func (s *Store) Hold(ctx context.Context, key string, head []byte) (n int, rest store.Value, err error) {
	path, err := s.file("get", key)
	if err != nil {
		return 0, nil, err
	}
	n, rest, err = s.files.Hold(ctx, path, head)
	return n, rest, found(err)
}

// List implements [store.Lister]. What others are about to write and has a temporary
// name, lock files, and what is neither file nor folder are left out.
func (s *Store) List(ctx context.Context, folder string, fn func(store.Entry) error) error {
	path := s.path
	if folder != "" {
		var err error
		if path, err = s.file("list", folder); err != nil {
			return err
		}
	}
	entries, err := vfs.OS.ReadDir(path)
	for i := 0; err == nil && i < len(entries); i++ {
		e := entries[i]
		if err = ctx.Err(); err != nil || vfs.IsTempName(e.Name) || e.Name == vfs.LockName {
			continue
		}
		mode := e.Mode
		if mode == vfs.Symlink {
			if info, err := vfs.OS.Stat(path + "/" + e.Name); err == nil {
				mode = info.Mode
			}
		}
		if mode == vfs.Dir || mode == vfs.Regular {
			err = fn(store.Entry{Name: e.Name, Folder: mode == vfs.Dir, Size: -1})
		}
	}
	return found(err)
}

// Put implements [store.Writer].
func (s *Store) Put(ctx context.Context, key string, parts [][]byte, when store.Condition) (tag string, err error) {
	if when.Tag != "" {
		return "", &fs.PathError{Op: "put", Path: strings.Clone(key), Err: errors.ErrUnsupported}
	}
	path, err := s.file("put", key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	opt := vfs.WriteOptions{Exclusive: when.Absent, OnlyFile: true}
	err = vfs.OS.WriteFile(path, parts, opt)
	for try := 0; try < 3 && errors.Is(err, fs.ErrNotExist); try++ { // a Delete may take an empty folder away again
		if err = makeFolders(path[:strings.LastIndexByte(path, '/')]); err == nil {
			err = vfs.OS.WriteFile(path, parts, opt)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		err = errors.Join(store.ErrCondition, err)
	}
	return "", err
}

// makeFolders makes a folder and those above it.
func makeFolders(path string) error {
	err := vfs.OS.Mkdir(path)
	if cut := strings.LastIndexByte(path, '/'); cut > 0 && errors.Is(err, fs.ErrNotExist) {
		if err = makeFolders(path[:cut]); err == nil {
			err = vfs.OS.Mkdir(path)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Delete implements [store.Writer]. Folders that are empty then go too.
func (s *Store) Delete(ctx context.Context, key string) error {
	path, err := s.file("delete", key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := found(vfs.OS.Remove(path)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for cut := strings.LastIndexByte(path, '/'); cut > len(s.path); cut = strings.LastIndexByte(path[:cut], '/') {
		if vfs.OS.Rmdir(path[:cut]) != nil {
			break // it holds something
		}
	}
	return nil
}
