package zarr

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// store is the folder of an array.
type store struct {
	version *version
	files   metafile.Files
	root    string // where the files are
	// The documents as they were read or written here; nil: there was none.
	metaText, attrsText []byte
	wrote               bool // a document, since somebody looked
}

func newStore(v *version, fsys ndfile.FS, root string, follow bool, limits ndfile.Limits) store {
	return store{version: v, files: metafile.NewFiles(fsys, follow, limits), root: root}
}

func (s *store) path(name string) string { return s.root + "/" + name }

// dataPath is the folder that holds the chunks.
func (s *store) dataPath() string {
	if s.version.data == "" {
		return s.root
	}
	return s.path(s.version.data)
}

// read reads a document. A file that does not exist is fs.ErrNotExist.
func (s *store) read(ctx context.Context, name string) ([]byte, error) {
	return s.files.Read(ctx, s.path(name))
}

// checkData looks whether the folder of the chunks is one, or does not exist.
func (s *store) checkData() error {
	if s.version.data == "" {
		return nil
	}
	err := s.files.Expect(s.dataPath(), vfs.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readMeta reads and checks the metadata.
func (s *store) readMeta(ctx context.Context) (*metadata, error) {
	text, err := s.read(ctx, s.version.meta)
	if s.metaText = text; err == nil {
		m, err := s.version.read(text, s.files.Limits)
		return m, ndfile.Locate(err, s.path(s.version.meta), "", false)
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, syscall.ENOTDIR) {
		return nil, err
	}
	info, err := s.files.Stat(s.root)
	if err != nil {
		return nil, err
	}
	if group, err := s.version.isGroup(s.files.FS, s.root); err != nil {
		return nil, err
	} else if group {
		return nil, errIsGroup
	}
	found := "a file"
	if info.Mode == vfs.Dir {
		found = "none"
	}
	return nil, ndfile.NewError(ndfile.ErrFormat, "no "+s.version.format+" array: expected a folder with a file "+s.version.meta+", found "+found).On(s.root)
}

// read reads the text of a metadata document.
func (v *version) read(text []byte, lim ndfile.Limits) (*metadata, error) {
	doc, err := metafile.Parse(text, lim)
	if err != nil {
		if v.notJSON != nil {
			if known := v.notJSON(text); known != nil {
				err = known
			}
		}
		return nil, err
	}
	return v.parsed(doc)
}

// parsed reads a document and checks all of it.
func (v *version) parsed(doc *metafile.Document) (*metadata, error) {
	m, err := v.parse(doc)
	if err == nil {
		err = m.checkGrid(doc, v.grid)
	}
	if err == nil && v.zarr != 0 {
		err = doc.Place(v.codecs, m.bind(v.zarr))
	}
	return m, err
}

// writeDocument writes a metadata document or attributes.
func (s *store) writeDocument(name string, doc *pyjson.Object, opt ndfile.WriteOptions) error {
	path, text := s.path(name), s.version.append(nil, doc)
	if err := s.files.WriteFile(path, [][]byte{text}, opt); err != nil {
		return s.files.Explain(err, path)
	}
	switch name {
	case s.version.meta:
		s.metaText = text
	case s.version.attrs:
		s.attrsText = text
	}
	s.wrote = true
	return nil
}

// eachFile calls fn for everything in the folder of the chunks, with its path
// from there. Folders in it are looked into only where the names of chunks have
// slashes; then fn gets what is in them, not the folders.
func (s *store) eachFile(keys *chunkKeys, fn func(rel string, mode vfs.FileMode) error) error {
	err := s.walk("", strings.Contains(keys.prefix+keys.separator, "/"), fn)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := s.files.Lstat(s.dataPath()); errors.Is(e, fs.ErrNotExist) {
			return nil
		}
	}
	return err
}

func (s *store) walk(below string, nested bool, fn func(rel string, mode vfs.FileMode) error) error {
	entries, err := s.files.ReadDir(s.dataPath() + "/" + below)
	for i := 0; err == nil && i < len(entries); i++ {
		if rel := below + entries[i].Name; nested && entries[i].Mode == vfs.Dir {
			err = s.walk(rel+"/", nested, fn)
		} else {
			err = fn(rel, entries[i].Mode)
		}
	}
	return err
}
