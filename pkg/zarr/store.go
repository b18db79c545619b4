package zarr

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// store is the folder of an array.
type store struct {
	version *version
	fsys    ndfile.FS
	root    string // where the files are
	follow  bool   // symlinks in it
	limits  ndfile.Limits
	write   ndfile.WriteOptions // of all files
}

func (s *store) path(name string) string { return s.root + "/" + name }

// dataPath is the folder that holds the chunks.
func (s *store) dataPath() string {
	if s.version.data == "" {
		return s.root
	}
	return s.path(s.version.data)
}

// files is the file system to open files of the store with.
func (s *store) files() ndfile.FS {
	if s.follow {
		return s.fsys
	}
	return vfs.NoFollow(s.fsys)
}

// fileError says what an error about a file of the store means.
func (s *store) fileError(err error, path string) error {
	switch {
	case errors.Is(err, syscall.ELOOP) && !s.follow:
		return ndfile.NewError(ndfile.ErrNotSupported, "a symbolic link in a store; following them has to be asked for").On(path)
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ESPIPE):
		return ndfile.NewError(ndfile.ErrCorrupt, "expected a file, found something else").On(path)
	}
	return err
}

// read reads a document. A file that does not exist is fs.ErrNotExist.
func (s *store) read(ctx context.Context, name string) ([]byte, error) {
	path := s.path(name)
	buf := make([]byte, 4<<10)
	n, rest, err := s.files().ReadSmall(path, buf)
	if err != nil || rest == nil {
		return buf[:n], s.fileError(err, path)
	}
	defer rest.Close()
	size, err := rest.Size()
	if err != nil {
		return nil, err
	}
	if most := s.limits.Header(); size > most {
		return nil, ndfile.NewError(ndfile.ErrLimit, "expected at most "+strconv.FormatInt(most, 10)+" bytes, found "+strconv.FormatInt(size, 10)).On(path)
	}
	buf = make([]byte, size)
	return buf, flat.ReadFull(ctx, rest, buf, 0)
}

// expect checks what a name in the folder is, without opening it.
func (s *store) expect(name string, mode vfs.FileMode) error {
	path := s.path(name)
	info, err := s.fsys.Lstat(path)
	if err == nil && info.Mode == vfs.Symlink {
		if !s.follow {
			return s.fileError(syscall.ELOOP, path)
		}
		info, err = s.fsys.Stat(path)
	}
	if err == nil && info.Mode != mode {
		what := map[vfs.FileMode]string{vfs.Regular: "a file", vfs.Dir: "a folder", vfs.Other: "a FIFO, socket or device"}
		err = ndfile.NewError(ndfile.ErrCorrupt, "expected "+what[mode]+", found "+what[info.Mode]).On(path)
	}
	return err
}

// checkData looks whether the folder of the chunks is one, or does not exist.
func (s *store) checkData() error {
	if s.version.data == "" {
		return nil
	}
	err := s.expect(s.version.data, vfs.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readMeta reads and checks the metadata.
func (s *store) readMeta(ctx context.Context) (*metadata, error) {
	text, err := s.read(ctx, s.version.meta)
	if err == nil {
		m, err := s.version.read(text, s.limits)
		return m, ndfile.Locate(err, s.path(s.version.meta), "", false)
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, syscall.ENOTDIR) {
		return nil, err
	}
	info, err := s.fsys.Stat(s.root)
	if err != nil {
		return nil, err
	}
	if s.version.isGroup(s.fsys, s.root) {
		return nil, errGroup().On(s.path(s.version.group))
	}
	found := "a file"
	if info.Mode == vfs.Dir {
		found = "none"
	}
	return nil, ndfile.NewError(ndfile.ErrFormat, "no "+s.version.format+" array: expected a folder with a file "+s.version.meta+", found "+found).On(s.root)
}

// read reads the text of a metadata document.
func (v *version) read(text []byte, lim ndfile.Limits) (*metadata, error) {
	doc, err := parseDocument(text, lim)
	if err != nil {
		if v.notJSON != nil {
			if known := v.notJSON(text); known != nil {
				err = known
			}
		}
		return nil, err
	}
	m, err := v.parse(doc)
	if err == nil {
		err = doc.checkGrid(m, v.grid)
	}
	return m, err
}

// writeDocument writes a metadata document or attributes.
func (s *store) writeDocument(name string, doc *pyjson.Object) error {
	path := s.path(name)
	return s.fileError(s.files().WriteFile(path, [][]byte{s.version.append(nil, doc)}, s.write), path)
}

// eachFile calls fn for everything in the folder of the chunks, with its path
// from there. Folders in it are looked into only where the names of chunks have
// slashes; then fn gets what is in them, not the folders.
func (s *store) eachFile(keys *chunkKeys, fn func(rel string, mode vfs.FileMode) error) error {
	err := s.walk("", strings.Contains(keys.prefix+keys.separator, "/"), fn)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := s.fsys.Lstat(s.dataPath()); errors.Is(e, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

func (s *store) walk(below string, nested bool, fn func(rel string, mode vfs.FileMode) error) error {
	entries, err := s.fsys.ReadDir(s.dataPath() + "/" + below)
	for i := 0; err == nil && i < len(entries); i++ {
		if rel := below + entries[i].Name; nested && entries[i].Mode == vfs.Dir {
			err = s.walk(rel+"/", nested, fn)
		} else {
			err = fn(rel, entries[i].Mode)
		}
	}
	return err
}
