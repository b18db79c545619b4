package zarr

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/edit"
	"github.com/ndfile/ndfile/pkg/internal/pyjson"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// Migration of version 2 to version 3 in place, of an array or of a group with all that
// is in it, changes documents only: chunks keep their names, which the key encoding "v2"
// of version 3 has, and their bytes. The order of its writes is
//
//  1. the mark,
//  2. zarr.json of all nodes below the folder,
//  3. zarr.json of the folder itself: now all of it is version 3,
//  4. the documents of version 2 go,
//  5. the mark goes.
//
// As in the migration of early zarr each step is on disk before the next begins, the
// folder is one version or the other whenever it stops, and another call completes it.

// mark2 is the name of the file that is there meanwhile.
const mark2 = "__ndfile_migration_to_3__"

const markText2 = "This Zarr 2 store is being migrated to Zarr 3, or that was interrupted: convert it in place again to complete it.\n"

// replaced2 tells whether a document of version 2 counts no more, since the migration
// of its folder, or of one above it, came as far as the new documents.
func replaced2(fsys ndfile.FS, folder string) bool {
	exists := func(name string) bool { found, _ := vfs.HasFile(fsys, folder+"/"+name); return found }
	if !exists(meta3) {
		return false
	}
	for range maxGroups {
		if exists(mark2) {
			return exists(meta3)
		}
		trimmed := strings.TrimRight(folder, "/")
		above := path.Dir(trimmed)
		if base := path.Base(trimmed); above == trimmed || base == "." || base == ".." {
			return false
		}
		folder = above
	}
	return false
}

// fromVersion2 tells whether a migration to version 3 is one of a store of version 2.
func fromVersion2(fsys ndfile.FS, path string, from ndfile.Format) (bool, error) {
	if from.Name() == version2.format {
		return true, nil
	}
	begun, err := vfs.HasFile(fsys, path+"/"+mark2)
	return begun && from.Name() == version3.format, err
}

// migrate2 is Migrate of a store of version 2.
func (f migrator) migrate2(ctx context.Context, fsys ndfile.FS, path string, from ndfile.Format, opt ndfile.ConvertOptions) error {
	signs := []string{meta2, version2.group, version2.copies, meta3}
	root := strings.Clone(path)
	m := migration2{ctx: ctx, progress: opt.Progress, old: newStore(&version2, vfs.InStore(fsys, path, signs...), root, false, opt.Limits)}
	var s edit.Session
	_, err := s.Open(ctx, fsys, path, &ndfile.OpenOptions{Mode: ndfile.Update}, signs...)
	if err == nil {
		err = m.run(from.Name())
	}
	s.End()
	return err
}

// migration2 is one call of Migrate for a store of version 2.
type migration2 struct {
	ctx      context.Context
	old      store
	progress func(done, total int64) bool

	nodes        *nodes
	names        []string                  // of all nodes, the folder itself, "", last
	docs         map[string]*pyjson.Object // their new documents
	consolidated bool
	resumed      bool // the mark was there
	held         []*edit.Session
}

func (m *migration2) run(from string) (err error) {
	defer func() {
		for _, s := range m.held {
			s.End()
		}
	}()
	if m.resumed, err = m.exists("", mark2); err != nil {
		return err
	}
	committed, err := m.exists("", meta3)
	switch {
	case err != nil:
		return err
	case committed && m.resumed:
		return m.finish()
	case committed && from == version3.format:
		return ndfile.NewError(ndfile.ErrArgument, "it is "+version3.format+" already")
	case committed:
		return inTheWay(m.old.path(meta3))
	}
	if err := m.plan(); err != nil {
		return err
	}
	err = m.commit()
	if err == nil {
		return m.finish()
	}
	if committed, e := m.exists("", meta3); e == nil && !committed {
		m.undo()
	}
	return err
}

// node is the store of a node in a version.
func (m *migration2) node(v *version, name string) store {
	s := newStore(v, m.old.files.FS, m.old.root, false, m.old.files.Limits)
	if name != "" {
		s.root = m.old.path(name)
	}
	return s
}

func (m *migration2) exists(node, file string) (bool, error) {
	s := m.node(&version2, node)
	_, err := s.files.Lstat(s.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// plan reads all documents and makes the new ones, under the locks of all nodes.
func (m *migration2) plan() error {
	single, err := m.exists("", meta2)
	if err != nil {
		return err
	}
	if m.nodes = (&nodes{}); !single {
		if group, err := m.old.isGroup(m.ctx); err != nil || !group {
			return notInPlace(err, version3.format)
		}
		if m.nodes, err = findNodes(m.ctx, &m.old); err != nil {
			return err
		}
		copies, err := m.old.consolidated(m.ctx)
		if err != nil {
			return err
		}
		m.consolidated = copies != nil
		if len(m.nodes.arrays)+len(m.nodes.groups) == 0 && copies.Len() > 1 {
			return ndfile.NewError(ndfile.ErrNotSupported, "there are consolidated metadata only: convert to a new folder").On(m.old.path(version2.copies))
		}
	}
	m.docs = map[string]*pyjson.Object{}
	m.names = append(append(append(m.names, m.nodes.arrays...), m.nodes.groups...), "")
	for _, name := range m.names {
		if name != "" {
			s := &edit.Session{Root: m.old.path(name)}
			m.held = append(m.held, s)
			if err := s.Hold(m.ctx, m.old.files.FS, 0); err != nil {
				return err
			}
		}
		there, err := m.exists(name, meta3)
		if err == nil && there && !m.resumed {
			err = inTheWay(path.Join(m.old.root, name, meta3))
		}
		if err != nil {
			return err
		}
		s := m.node(&version2, name)
		if single || m.nodes.has(name) == arrayNode {
			m.docs[name], err = s.array3(m.ctx)
		} else {
			m.docs[name], err = s.group3(m.ctx)
		}
		if err != nil {
			return ndfile.Locate(err, "", name, name != "")
		}
	}
	return nil
}

// group3 makes the document of version 3 of a group.
func (s *store) group3(ctx context.Context) (*pyjson.Object, error) {
	attrs, err := s.readAttrs(ctx, nil)
	if err != nil {
		return nil, err
	}
	doc := groupDocument3()
	doc.Set(inDocument, pyjson.ObjectValue(attrs))
	return doc, nil
}

// array3 makes the document of version 3 of an array whose chunks stay as they are.
func (s *store) array3(ctx context.Context) (*pyjson.Object, error) {
	old, err := s.readMeta(ctx)
	if err != nil {
		return nil, err
	}
	if err := ndfile.Locate(old.fillErr, s.path(meta2), "", false); err != nil {
		return nil, err
	}
	attrs, err := s.readAttrs(ctx, old)
	if err != nil {
		return nil, err
	}
	chain, err := old.chain(codec.V2)
	var codecs []codec.Spec
	if err == nil {
		codecs, err = chain.Specs(codec.V3)
	}
	if err != nil {
		return nil, noCounterpart(err)
	}
	for i := range codecs {
		if codecs[i].Name == "bitround" { // zarr-python has it by its other name only
			codecs[i].Name = "numcodecs.bitround"
		}
	}
	made, err := version3.make(&ndfile.Spec{DType: old.dtype, Shape: old.shape, Chunks: old.chunks, Fill: old.fill, Dims: old.dims, Codecs: codecs})
	if ndfile.KindOf(err) == ndfile.ErrNotSupported || ndfile.KindOf(err) == ndfile.ErrArgument {
		err = noCounterpart(err)
	}
	if err != nil {
		return nil, err
	}
	if !made.dtype.Equal(old.dtype) {
		return nil, ndfile.NewError(ndfile.ErrDType, version3.format+" has records in little endian order only, found "+old.dtype.String()+": convert to a new folder")
	}
	if same, err := made.chain(codec.V3); err != nil || !same.Equal(chain) {
		return nil, noCounterpart(err)
	}
	separator := old.keys.separator
	if separator == "" {
		separator = "."
	}
	made.doc.Set("chunk_key_encoding", named("v2", "separator", pyjson.String(separator)))
	made.doc.Set(inDocument, pyjson.ObjectValue(attrs))
	return made.doc, nil
}

// chain makes the codecs of an array of fixed chunks.
func (m *metadata) chain(v codec.Version) (*codec.Chain, error) {
	in, err := codec.Elements(m.dtype, m.chunks, m.fill)
	if err != nil {
		return nil, err
	}
	return codec.NewChain(v, m.specs, in)
}

func noCounterpart(err error) error {
	return ndfile.NewError(ndfile.ErrNotSupported, "the codecs of the array have no counterparts in "+version3.format+" that leave chunks as they are: convert to a new folder").Because(err)
}

// commit makes the folder version 3.
func (m *migration2) commit() error {
	fsys := m.old.files.FS
	if !m.resumed {
		opt := durable
		opt.Exclusive = true
		if err := fsys.WriteFile(m.old.path(mark2), [][]byte{[]byte(markText2)}, opt); err != nil {
			return err
		}
	} else if err := m.dropStale(); err != nil {
		return err
	}
	for i, name := range m.names {
		if err := m.tick(i); err != nil {
			return err
		}
		s := m.node(&version3, name)
		if name == "" && m.consolidated {
			all, err := s.gather(m.ctx, m.nodes)
			if err != nil {
				return err
			}
			m.docs[name] = withCopies3(m.docs[name], all)
		}
		if err := s.writeDocument(meta3, m.docs[name], durable); err != nil {
			return err
		}
	}
	return nil
}

// tick reports progress, in nodes, and stops when it is told to.
func (m *migration2) tick(done int) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if m.progress != nil && !m.progress(int64(done), int64(len(m.names))) {
		return ndfile.NewError(ndfile.ErrCanceled, "")
	}
	return nil
}

// dropStale removes the documents that an interrupted migration made. Those of version 2
// may have been changed since.
func (m *migration2) dropStale() error {
	for _, name := range m.names {
		if err := m.remove(name, meta3); err != nil {
			return err
		}
	}
	return nil
}

// undo removes what commit made. Where it fails, the mark stays.
func (m *migration2) undo() {
	if m.dropStale() == nil {
		m.old.files.Remove(m.old.path(mark2))
	}
}

// finish removes the documents of version 2, once the new store can be opened.
func (m *migration2) finish() error {
	now := m.node(&version3, "")
	m.nodes = &nodes{}
	if group, err := now.isGroup(m.ctx); err != nil {
		return err
	} else if group {
		if m.nodes, err = findNodes(m.ctx, &now); err != nil {
			return err
		}
	} else if _, err := now.readMeta(m.ctx); err != nil {
		return err
	}
	// The folder itself comes last: before, Zarr 2 finds nothing else in it.
	for _, name := range append(append(append([]string{}, m.nodes.arrays...), m.nodes.groups...), "") {
		s := m.node(&version2, name)
		for _, file := range [...]string{meta2, version2.group, version2.copies, attrs2} {
			if err := m.remove(name, file); err != nil {
				return err
			}
		}
		if err := s.files.SyncDir(s.root); err != nil {
			return err
		}
	}
	if err := m.remove("", mark2); err != nil {
		return err
	}
	return m.old.files.SyncDir(m.old.root)
}

// remove removes a file that may be gone.
func (m *migration2) remove(node, file string) error {
	s := m.node(&version2, node)
	err := s.files.Remove(s.path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
