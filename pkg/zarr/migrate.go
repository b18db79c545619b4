package zarr

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/metafile"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Migration in place gives the chunks of an early array the names of the new
// version, without a look at what is in them. The order of its writes is
//
//  1. the mark: what has a name of the new version from here on is ours,
//  2. a second name, a hard link, for every chunk, and for __zattr__,
//  3. the new metadata document: now it is an array of the new version,
//  4. __zmeta__ goes, then the old names and everything else of early zarr,
//  5. the mark goes.
//
// Each step is on disk before the next begins. Whenever it stops, the folder is a
// whole array of the one version or, with the new document, of the other, which
// counts where both documents are there. Migrate completes what was stopped. An
// error before the new document undoes the steps.

// mark is the name of the file that is there while an array is migrated.
const mark = "__ndfile_migration__"

const markText = "This zarr array is being migrated, or that was interrupted: convert it in place again to complete it.\n"

// replaced tells whether an interrupted migration came as far as the documents of a
// newer version, which then count.
func (v *version) replaced(fsys ndfile.FS, path string) bool {
	switch v {
	case &version0:
		return replaced0(fsys, path)
	case &version2:
		return replaced2(fsys, path)
	}
	return false
}

func replaced0(fsys ndfile.FS, path string) bool {
	exists := func(name string) bool { found, _ := vfs.HasFile(fsys, path+"/"+name); return found }
	return exists(mark) && (exists(meta2) || exists(meta3))
}

// migrator is a format that takes over arrays of early zarr.
type migrator struct{ format }

// Caps are those of the format, and CapMigrate.
func (f migrator) Caps() ndfile.Caps { return f.format.Caps() | ndfile.CapMigrate }

// Migrate implements [ndfile.Migrator] for arrays of Format0, and in version 3 for arrays
// and groups of Format2, of which all chunks stay and only documents are written anew.
//
// Of Format0 chunks are not read but linked under their new name, so it takes no space, and is as fast as the
// file system. It takes the lock of a writer (ErrBusy);
// nobody else may have the array open.
//
// The dtype must have a name in the new version, else it is ErrDType. In version
// 3, where there is none, no fill value becomes zero. Chunk files outside of the
// grid are deleted, as by Resize; files that are not early zarr's are left alone.
// Where an entry of the folder has a name that the new version needs it is
// ErrExists, and where the file system has no hard links ErrNotSupported.
//
// Codecs of version 2 that version 3 does not have so are ErrNotSupported, and consolidated
// metadata stay such.
//
// An interrupted migration is completed by another call, with either format as
// from. Everything is synced to disk, whatever opt says.
func (f migrator) Migrate(ctx context.Context, fsys ndfile.FS, path string, from ndfile.Format, opt ndfile.ConvertOptions) error {
	if f.version == &version3 {
		if is2, err := fromVersion2(fsys, path, from); err != nil || is2 {
			if err == nil {
				err = f.migrate2(ctx, fsys, path, from, opt)
			}
			return ndfile.Locate(err, path, "", false)
		}
	}
	m := migration{ctx: ctx, to: f.version, progress: opt.Progress,
		old: store{version: &version0, files: metafile.NewFiles(vfs.InStore(fsys, path, version0.meta, f.version.meta), false, opt.Limits), root: strings.Clone(path)}}
	var s edit.Session
	_, err := s.Open(ctx, fsys, path, &ndfile.OpenOptions{Mode: ndfile.Update}, version0.meta, f.version.meta)
	if err == nil {
		err = m.run(from.Name())
	}
	s.End()
	return ndfile.Locate(err, path, "", false)
}

// migration is one call of Migrate.
type migration struct {
	ctx      context.Context
	old      store
	to       *version
	progress func(done, total int64) bool

	before, after *metadata
	names         []string // of the chunks in the old folder that move
	bytes         int64    // of a chunk, decoded
	resumed       bool     // the mark was there
}

var durable = ndfile.WriteOptions{Sync: true}

func (m *migration) run(from string) error {
	if from != version0.format && from != m.to.format {
		return notInPlace(nil, m.to.format)
	}
	var err error
	if m.resumed, err = m.exists(mark); err != nil {
		return err
	}
	committed, err := m.exists(m.to.meta)
	switch {
	case err != nil:
		return err
	case committed && m.resumed:
		return m.finish()
	case committed && from == m.to.format:
		return ndfile.NewError(ndfile.ErrArgument, "the array is "+m.to.format+" already")
	}
	if err := m.plan(); err != nil {
		return err
	}
	if err := m.prepare(); err != nil {
		return err
	}
	err = m.commit()
	if err == nil {
		err = m.finish()
	} else if committed, e := m.exists(m.to.meta); e == nil && !committed {
		m.undo()
	}
	return err
}

// notInPlace is the error of what is no store that can be migrated, unless there is one.
func notInPlace(err error, to string) error {
	if err != nil {
		return err
	}
	return ndfile.NewError(ndfile.ErrNotSupported, "only arrays of early zarr, and to zarr3 stores of zarr2, become "+to+" in place: convert to a new folder")
}

func (m *migration) exists(name string) (bool, error) {
	_, err := m.old.files.Lstat(m.old.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// plan reads the array and makes the new document.
func (m *migration) plan() error {
	var err error
	if m.before, err = m.old.readMeta(m.ctx); err != nil {
		return err
	}
	if err := ndfile.Locate(m.before.fillErr, m.old.path(version0.meta), "", false); err != nil {
		return err
	}
	attrs, err := m.old.readAttrs(m.ctx, m.before)
	if err != nil {
		return err
	}
	b := m.before
	m.after, err = m.to.make(&ndfile.Spec{DType: b.dtype, Shape: b.shape, Chunks: b.chunks, Codecs: b.specs, Fill: b.fill})
	if err != nil {
		return err
	}
	if !m.after.dtype.Equal(b.dtype) {
		return ndfile.NewError(ndfile.ErrDType, m.to.format+" has records in little endian order only, found "+b.dtype.String()+": convert to a new folder")
	}
	if m.to.attrs == "" {
		m.after.doc.Set(inDocument, pyjson.ObjectValue(attrs))
	} else if b.fill == nil {
		m.after.doc.Set("fill_value", pyjson.Null())
	}
	m.bytes, err = ndarray.NBytes(b.chunks, b.dtype.Size)
	return err
}

// prepare looks for what is in the way, and lists the chunks.
func (m *migration) prepare() error {
	for _, name := range []string{meta2, attrs2, meta3} {
		there, err := m.exists(name)
		if err == nil && there && !(m.resumed && name == attrs2) {
			err = inTheWay(m.old.path(name))
		}
		if err != nil {
			return err
		}
	}
	if err := m.old.checkData(); err != nil {
		return err
	}
	err := m.old.eachFile(&keys0, func(name string, mode vfs.FileMode) error {
		index := make([]int64, len(m.before.shape))
		if !keys0.parse(index, name) || !m.before.inGrid(index) {
			return nil
		}
		m.names = append(m.names, name)
		path := m.old.dataPath() + "/" + name
		switch mode {
		case vfs.Regular:
			return nil
		case vfs.Symlink:
			return m.old.files.Explain(syscall.ELOOP, path)
		}
		return m.old.files.Explain(syscall.EISDIR, path)
	})
	if err != nil || m.resumed {
		return err
	}
	entries, err := m.old.files.ReadDir(m.old.root)
	for _, e := range entries {
		if m.isChunk(e.Name) {
			return inTheWay(m.old.path(e.Name))
		}
	}
	return err
}

func inTheWay(path string) error {
	return ndfile.NewError(ndfile.ErrExists, "the array that is migrated needs this name, but it is taken by something that is not part of it").On(path)
}

// inGrid tells whether a chunk has elements of the array.
func (m *metadata) inGrid(index []int64) bool {
	for axis, i := range index {
		if m.shape[axis] == 0 || i > (m.shape[axis]-1)/m.chunks[axis] {
			return false
		}
	}
	return true
}

// isChunk tells whether a name in the folder is one of a chunk of the new array.
func (m *migration) isChunk(name string) bool {
	return m.after.keys.matches(name, len(m.after.shape))
}

// matches tells whether a name is one of a chunk.
func (k chunkKeys) matches(name string, rank int) bool { return k.parse(make([]int64, rank), name) }

// newName is the new name of a chunk. That of version 3 is the same, see build3.
func newName(old string) string { return strings.TrimSuffix(old, keys0.suffix) }

// commit makes the array one of the new version.
func (m *migration) commit() error {
	fsys := m.old.files.FS
	if !m.resumed {
		opt := durable
		opt.Exclusive = true
		if err := fsys.WriteFile(m.old.path(mark), [][]byte{[]byte(markText)}, opt); err != nil {
			return err
		}
	} else if err := m.dropStale(); err != nil {
		return err
	}
	for i, name := range m.names {
		if err := m.tick(i); err != nil {
			return err
		}
		if err := m.link(version0.data+"/"+name, newName(name)); err != nil {
			return err
		}
	}
	if err := m.tick(len(m.names)); err != nil {
		return err
	}
	if m.to.attrs != "" {
		if err := m.link(version0.attrs, m.to.attrs); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := fsys.SyncDir(m.old.root); err != nil {
		return err
	}
	return fsys.WriteFile(m.old.path(m.to.meta), [][]byte{m.to.append(nil, m.after.doc)}, durable)
}

// tick reports progress and stops when it is told to.
func (m *migration) tick(done int) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if m.progress != nil && (done%256 == 0 || done == len(m.names)) && !m.progress(int64(done)*m.bytes, int64(len(m.names))*m.bytes) {
		return ndfile.NewError(ndfile.ErrCanceled, "")
	}
	return nil
}

func (m *migration) link(old, new string) error {
	err := m.old.files.Link(m.old.path(old), m.old.path(new))
	for _, none := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EXDEV, syscall.ENOSYS} {
		if errors.Is(err, none) {
			return ndfile.NewError(ndfile.ErrNotSupported, "migration in place needs hard links, which are refused here: convert to a new folder").Because(err)
		}
	}
	return err
}

// dropStale removes the links that an interrupted migration made. The chunks may
// have been written since.
func (m *migration) dropStale() error {
	entries, err := m.old.files.ReadDir(m.old.root)
	for i := 0; err == nil && i < len(entries); i++ {
		if name := entries[i].Name; name == attrs2 || m.isChunk(name) {
			err = m.old.files.Remove(m.old.path(name))
		}
	}
	return err
}

// undo removes what commit made. Where it fails, the mark stays.
func (m *migration) undo() {
	if err := m.dropStale(); err == nil {
		m.old.files.Remove(m.old.path(mark))
	}
}

// finish removes what is early zarr's, once the new array can be opened.
func (m *migration) finish() error {
	fsys := m.old.files.FS
	now := m.old
	now.version = m.to
	after, err := now.readMeta(m.ctx)
	if err != nil {
		return err
	}
	if err := m.remove(version0.meta); err != nil {
		return err
	}
	if err := fsys.SyncDir(m.old.root); err != nil {
		return err
	}
	if err := m.removeData(len(after.shape)); err != nil {
		return err
	}
	rest := []string{version0.attrs, version0.attrs + lockSuffix, version0.meta + lockSuffix}
	if m.to.attrs == "" {
		rest = append(rest, attrs2) // of an attempt with version 2
	}
	for _, name := range rest {
		if err := m.remove(name); err != nil {
			return err
		}
	}
	if err := fsys.SyncDir(m.old.root); err != nil {
		return err
	}
	if err := fsys.Remove(m.old.path(mark)); err != nil {
		return err
	}
	return fsys.SyncDir(m.old.root)
}

// remove removes a file that may be gone.
func (m *migration) remove(name string) error {
	err := m.old.files.Remove(m.old.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeData removes the folder of the chunks, but for what is foreign in it.
func (m *migration) removeData(rank int) error {
	foreign := false
	err := m.old.eachFile(&keys0, func(name string, mode vfs.FileMode) error {
		// Chunks, and files named after them: locks, partial and temporary files.
		index, _, isChunk := strings.Cut(name, keys0.suffix)
		rel := version0.data + "/" + name
		if isChunk && keys2(".", rank).matches(index, rank) && (ours0(rel, mode) || vfs.IsTempName(name)) {
			return m.remove(rel)
		}
		foreign = true
		return nil
	})
	switch {
	case err != nil:
		return err
	case foreign:
		return m.old.files.SyncDir(m.old.dataPath())
	}
	if err := m.old.files.Rmdir(m.old.dataPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
