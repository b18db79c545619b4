package vfs

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxMemFile bounds a file of Mem, in bytes; more is EFBIG.
const maxMemFile = 1 << 31

// Mem is a file system in memory with the errors of Linux. It cannot map files.
// Relative paths start at its root. The zero value is not usable: NewMem.
type Mem struct {
	mu   sync.Mutex // guards the whole tree
	root *memNode
	ino  uint64
	log  *journal // nil unless it records
}

// memNode is a file, folder or symlink. The synced fields are what a power
// failure leaves of it.
type memNode struct {
	mode    FileMode
	ino     uint64
	modTime int64
	access  MemAccess

	data, syncedData       []byte              // of a file; syncedData is never written to
	entries, syncedEntries map[string]*memNode // of a folder
	link                   string              // of a symlink
	locks                  []memRange          // of a file

	log     *journal // of its Mem; nil unless that records
	path    string   // the last one, for messages about power cuts
	changes []change // since it was synced
	cut     bool     // to nothing, and not closed since
}

// MemAccess is who may do what with a file or folder of Mem. It is kept, but
// everybody may do everything.
type MemAccess struct {
	Perm       uint32
	UID, GID   uint32
	Attributes map[string]string // extended attributes; it is never changed
}

// SetAccess sets the access of the file or folder at path.
func (m *Mem) SetAccess(path string, access MemAccess) error {
	return m.atNode("access", path, followed, func(p place) error { p.node.access = access; return nil })
}

// Access returns the access of the file or folder at path.
func (m *Mem) Access(path string) (access MemAccess, err error) {
	err = m.atNode("access", path, followed, func(p place) error { access = p.node.access; return nil })
	return access, err
}

// Adopt is FS.Adopt.
func (m *Mem) Adopt(path, like string, all bool) error {
	want, err := m.Access(like)
	if err != nil {
		return err
	}
	return m.atNode("adopt", path, never, func(p place) error {
		if !all {
			some := map[string]string{}
			for name, value := range want.Attributes {
				if strings.HasPrefix(name, "system.posix_acl_") {
					some[name] = value
				}
			}
			want.Attributes = some
		}
		p.node.access = want
		return nil
	})
}

func (n *memNode) info() Info {
	return Info{Size: int64(len(n.data) + len(n.link)), Mode: n.mode, ModTime: n.modTime, Ino: n.ino, Dev: 1,
		Perm: n.access.Perm, UID: n.access.UID, GID: n.access.GID}
}

// NewMem returns an empty file system.
func NewMem() *Mem {
	m := &Mem{}
	m.root = m.newNode(Dir)
	return m
}

func (m *Mem) newNode(mode FileMode) *memNode {
	m.ino++
	n := &memNode{mode: mode, ino: m.ino, modTime: time.Now().UnixNano(), access: MemAccess{Perm: 0o644}, log: m.log}
	if mode == Dir {
		n.access.Perm = 0o755
		n.entries = map[string]*memNode{}
	}
	return n
}

// CrashClone returns what would survive a power failure now: the folder entries
// of the last SyncDir with the file contents of the last File.Sync. A file whose
// content was never synced is empty.
func (m *Mem) CrashClone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Mem{ino: m.ino, root: m.root.survivor()}
}

func (n *memNode) survivor() *memNode {
	c := &memNode{mode: n.mode, ino: n.ino, modTime: n.modTime, access: n.access, link: n.link,
		data: slices.Clone(n.syncedData), syncedData: n.syncedData}
	if n.mode == Dir {
		c.entries = make(map[string]*memNode, len(n.syncedEntries))
		for name, child := range n.syncedEntries {
			c.entries[name] = child.survivor()
		}
		c.syncedEntries = maps.Clone(c.entries)
	}
	return c
}

// place is where a path leads to.
type place struct {
	node  *memNode // nil when there is nothing
	dir   *memNode // the folder of the last name; nil for "/", "." and ".."
	name  string
	slash bool // a slash follows the last name
}

// follow says what to do with a symlink at the end of a path.
type follow uint8

const (
	never   follow = iota
	ifSlash        // only when a slash follows it
	followed
)

// walk finds path. Only the last name may be missing.
func (m *Mem) walk(path string, rule follow) (place, error) {
	switch {
	case path == "":
		return place{}, syscall.ENOENT
	case len(path) >= 4096:
		return place{}, syscall.ENAMETOOLONG
	case strings.IndexByte(path, 0) >= 0:
		return place{}, syscall.EINVAL
	}
	at := place{node: m.root}
	var up []*memNode // the folders above at.node
	todo, links := path, 0
	for {
		if todo = strings.TrimLeft(todo, "/"); todo == "" {
			return at, nil
		}
		here := at.node
		if here == nil {
			return at, syscall.ENOENT
		}
		if here.mode != Dir {
			return at, syscall.ENOTDIR
		}
		name, rest, slash := strings.Cut(todo, "/")
		last := strings.Trim(rest, "/") == ""
		todo = rest
		if name == "." || name == ".." {
			if name == ".." && len(up) > 0 {
				here, up = up[len(up)-1], up[:len(up)-1]
			}
			at = place{node: here, name: name}
			continue
		}
		if len(name) > maxName {
			return at, syscall.ENAMETOOLONG
		}
		child := here.entries[name]
		if child != nil && child.mode == Symlink && (!last || rule == followed || rule == ifSlash && slash) {
			if links++; links > maxLinks {
				return at, syscall.ELOOP
			}
			if todo = child.link; slash {
				todo += "/" + rest
			}
			if strings.HasPrefix(todo, "/") {
				at, up = place{node: m.root}, nil
			}
			continue
		}
		up = append(up, here)
		at = place{node: child, dir: here, name: strings.Clone(name), slash: slash && last}
	}
}

// put makes node the entry at p, nil removes the entry.
func (p place) put(node *memNode) {
	if node == nil {
		delete(p.dir.entries, p.name)
	} else {
		p.dir.entries[p.name] = node
	}
	p.dir.modTime = time.Now().UnixNano()
	p.dir.note(change{kind: changeEntry, name: p.name, node: node})
}

// at runs do on the place of path.
func (m *Mem) at(op, path string, rule follow, do func(p place) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.walk(path, rule)
	if err == nil {
		err = do(p)
	}
	return pathError(op, path, err)
}

// atNode is at for a place that must hold something.
func (m *Mem) atNode(op, path string, rule follow, do func(p place) error) error {
	return m.at(op, path, rule, func(p place) error {
		if p.node == nil {
			return syscall.ENOENT
		}
		if p.slash && p.node.mode != Dir {
			return syscall.ENOTDIR
		}
		return do(p)
	})
}

// Open is FS.Open.
func (m *Mem) Open(path string) (File, error) { return m.open(path, false) }

// OpenRW is FS.OpenRW.
func (m *Mem) OpenRW(path string) (File, error) { return m.open(path, true) }

func (m *Mem) open(path string, write bool) (f File, err error) {
	err = m.atNode("open", path, followed, func(p place) error {
		if write && p.node.mode == Dir {
			return syscall.EISDIR
		}
		f = &memFile{fs: m, node: p.node, name: strings.Clone(path), write: write}
		return nil
	})
	return f, err
}

// Create is FS.Create.
func (m *Mem) Create(path string, excl bool) (File, error) { return m.create(path, excl, 0o644) }

// CreatePrivate is FS.CreatePrivate.
func (m *Mem) CreatePrivate(path string) (File, error) { return m.create(path, true, 0o600) }

func (m *Mem) create(path string, excl bool, perm uint32) (f File, err error) {
	rule := followed
	if excl || strings.HasSuffix(path, "/") {
		rule = never
	}
	err = m.at("create", path, rule, func(p place) error {
		switch {
		case p.slash:
			return syscall.EISDIR
		case p.node == nil:
			p.node = m.newNode(Regular)
			p.node.access.Perm = perm
			p.put(p.node)
		case excl:
			return syscall.EEXIST
		case p.node.mode == Dir:
			return syscall.EISDIR
		}
		if len(p.node.data) > 0 {
			p.node.note(change{kind: changeSize})
			p.node.cut = true
		}
		p.node.setData(nil)
		f = &memFile{fs: m, node: p.node, name: strings.Clone(path), write: true}
		return nil
	})
	return f, err
}

// ReadSmall is FS.ReadSmall.
func (m *Mem) ReadSmall(ctx context.Context, path string, buf []byte) (n int, rest File, err error) {
	err = m.atNode("read", path, followed, func(p place) error {
		if p.node.mode == Dir {
			return syscall.EISDIR
		}
		if n = copy(buf, p.node.data); n == len(buf) {
			rest = &memFile{fs: m, node: p.node, name: strings.Clone(path)}
		}
		return nil
	})
	return n, rest, err
}

// WriteFile is FS.WriteFile.
func (m *Mem) WriteFile(path string, parts [][]byte, opt WriteOptions) error {
	return writeFile(m, path, parts, opt)
}

// Stat is FS.Stat.
func (m *Mem) Stat(path string) (Info, error) { return m.stat("stat", path, followed) }

// Lstat is FS.Lstat.
func (m *Mem) Lstat(path string) (Info, error) { return m.stat("lstat", path, ifSlash) }

func (m *Mem) stat(op, path string, rule follow) (info Info, err error) {
	err = m.atNode(op, path, rule, func(p place) error {
		n := p.node
		info = n.info()
		return nil
	})
	return info, err
}

// Symlink creates a symlink at path that leads to target.
func (m *Mem) Symlink(target, path string) error {
	return m.at("symlink", path, never, func(p place) error {
		if target == "" || p.node == nil && p.slash {
			return syscall.ENOENT
		}
		if p.node != nil {
			return syscall.EEXIST
		}
		link := m.newNode(Symlink)
		link.link = strings.Clone(target)
		p.put(link)
		return nil
	})
}

// Readlink is FS.Readlink.
func (m *Mem) Readlink(path string) (target string, err error) {
	err = m.atNode("readlink", path, ifSlash, func(p place) error {
		if p.node.mode != Symlink {
			return syscall.EINVAL
		}
		target = p.node.link
		return nil
	})
	return target, err
}

// ReadDir is FS.ReadDir.
func (m *Mem) ReadDir(path string) (list []DirEntry, err error) {
	err = m.atNode("readdir", path, followed, func(p place) error {
		if p.node.mode != Dir {
			return syscall.ENOTDIR
		}
		for _, name := range slices.Sorted(maps.Keys(p.node.entries)) {
			list = append(list, DirEntry{Name: name, Mode: p.node.entries[name].mode})
		}
		return nil
	})
	return list, err
}

// Mkdir is FS.Mkdir.
func (m *Mem) Mkdir(path string) error { return m.mkdir(path, 0o755) }

// MkdirPrivate is FS.MkdirPrivate.
func (m *Mem) MkdirPrivate(path string) error { return m.mkdir(path, 0o700) }

func (m *Mem) mkdir(path string, perm uint32) error {
	return m.at("mkdir", path, never, func(p place) error {
		if p.node != nil {
			return syscall.EEXIST
		}
		p.node = m.newNode(Dir)
		p.node.access.Perm = perm
		p.put(p.node)
		return nil
	})
}

// Remove is FS.Remove.
func (m *Mem) Remove(path string) error {
	return m.atNode("remove", path, never, func(p place) error {
		if p.node.mode == Dir {
			return syscall.EISDIR
		}
		p.put(nil)
		return nil
	})
}

// Rmdir is FS.Rmdir.
func (m *Mem) Rmdir(path string) error {
	return m.atNode("rmdir", path, never, func(p place) error {
		switch {
		case p.node.mode != Dir:
			return syscall.ENOTDIR
		case p.name == ".":
			return syscall.EINVAL
		case len(p.node.entries) > 0:
			return syscall.ENOTEMPTY
		case p.dir == nil:
			return syscall.EBUSY
		}
		p.put(nil)
		return nil
	})
}

// Rename is FS.Rename.
func (m *Mem) Rename(old, new string) error { return m.rename("rename", old, new, false) }

// RenameNoReplace is FS.RenameNoReplace.
func (m *Mem) RenameNoReplace(old, new string) error { return m.rename("rename", old, new, true) }

// Link is FS.Link.
func (m *Mem) Link(old, new string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, err := m.walk(old, ifSlash)
	switch {
	case err != nil:
	case from.node == nil:
		err = syscall.ENOENT
	case from.slash && from.node.mode != Dir:
		err = syscall.ENOTDIR
	default:
		err = m.link(from.node, new)
	}
	return renameError("link", old, new, err)
}

func (m *Mem) link(node *memNode, new string) error {
	to, err := m.walk(new, never)
	switch {
	case err != nil:
		return err
	case to.node != nil:
		return syscall.EEXIST
	case to.slash:
		return syscall.ENOENT
	case node.mode == Dir:
		return syscall.EPERM
	}
	to.put(node)
	return nil
}

// Exchange is FS.Exchange.
func (m *Mem) Exchange(a, b string) error { return m.rename("exchange", a, b, false) }

func (m *Mem) rename(op, old, new string, keep bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, err := m.walk(old, never)
	var to place
	if err == nil {
		to, err = m.walk(new, never)
	}
	if err == nil {
		err = move(from, to, keep, op == "exchange")
	}
	return renameError(op, old, new, err)
}

// move checks in the order of Linux.
func move(from, to place, keep, exchange bool) error {
	isDir := func(p place) bool { return p.node != nil && p.node.mode == Dir }
	switch {
	case from.dir == nil, to.dir == nil && !keep:
		return syscall.EBUSY // "/", "." or ".."
	case to.dir == nil:
		return syscall.EEXIST
	case from.node == nil || exchange && to.node == nil:
		return syscall.ENOENT
	case keep && to.node != nil:
		return syscall.EEXIST
	case from.slash && !isDir(from), exchange && to.slash && !isDir(to), !exchange && to.slash && !isDir(from):
		return syscall.ENOTDIR
	case from.node.contains(to.dir), exchange && to.node.contains(from.dir):
		return syscall.EINVAL
	case exchange:
		from.dir.noteMove(func() {
			from.put(to.node)
			to.put(from.node)
		})
		return nil
	case to.node == from.node:
		return nil
	case to.node.contains(from.dir):
		return syscall.ENOTEMPTY
	case to.node != nil && isDir(from) && !isDir(to):
		return syscall.ENOTDIR
	case isDir(to) && !isDir(from):
		return syscall.EISDIR
	case isDir(to) && len(to.node.entries) > 0:
		return syscall.ENOTEMPTY
	}
	from.dir.noteMove(func() {
		if to.node != nil && from.node.mode == Regular {
			from.node.note(change{kind: changeFlush})
		}
		from.put(nil)
		to.put(from.node)
	})
	return nil
}

// contains reports whether dir is n or below n.
func (n *memNode) contains(dir *memNode) bool {
	if n == nil || n == dir {
		return n != nil
	}
	for _, child := range n.entries {
		if child.contains(dir) {
			return true
		}
	}
	return false
}

// SyncDir is FS.SyncDir.
func (m *Mem) SyncDir(path string) error {
	return m.atNode("syncdir", path, followed, func(p place) error {
		if p.node.mode != Dir {
			return syscall.ENOTDIR
		}
		p.node.syncedEntries = maps.Clone(p.node.entries)
		p.node.noteSync()
		return nil
	})
}

// TempName is FS.TempName.
func (m *Mem) TempName(path string) string { return tempName(path) }

func (n *memNode) setData(data []byte) {
	n.data = data
	n.modTime = time.Now().UnixNano()
}

// resize sets the size of a file; new bytes are zero.
func (n *memNode) resize(size int64) error {
	if size > maxMemFile {
		return syscall.EFBIG
	}
	have := int64(len(n.data))
	data := slices.Grow(n.data, int(max(size-have, 0)))[:size]
	clear(data[min(have, size):])
	n.setData(data)
	return nil
}

// memFile is an open file of Mem. The lock of Mem guards it.
type memFile struct {
	fs     *Mem
	node   *memNode
	name   string
	write  bool
	closed bool
}

// use runs call while the file is open.
func (f *memFile) use(op string, call func() error) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return causeError(op, f.name, syscall.EBADF, fs.ErrClosed)
	}
	err := call()
	if err == io.EOF {
		return err
	}
	return pathError(op, f.name, err)
}

func (f *memFile) Name() string { return f.name }

func (f *memFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.use("read", func() error {
		switch {
		case off < 0:
			return syscall.EINVAL
		case f.node.mode == Dir && len(p) > 0:
			return syscall.EISDIR
		}
		if off < int64(len(f.node.data)) {
			n = copy(p, f.node.data[off:])
		}
		if n < len(p) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.use("write", func() error {
		switch {
		case off < 0:
			return syscall.EINVAL
		case len(p) == 0:
			return nil
		case !f.write:
			return syscall.EBADF
		case off > maxMemFile-int64(len(p)):
			return syscall.EFBIG
		}
		if end := off + int64(len(p)); end > int64(len(f.node.data)) {
			if err := f.node.resize(end); err != nil {
				return err
			}
		}
		f.node.note(change{kind: changeData, off: off, data: slices.Clone(p)})
		n = copy(f.node.data[off:], p)
		f.node.setData(f.node.data)
		return nil
	})
	return n, err
}

func (f *memFile) Size() (size int64, err error) {
	err = f.use("stat", func() error { size = int64(len(f.node.data)); return nil })
	return size, err
}

func (f *memFile) Truncate(size int64) error {
	return f.use("truncate", func() error {
		if size < 0 || !f.write {
			return syscall.EINVAL
		}
		f.node.cut = f.node.cut || size == 0 && len(f.node.data) > 0
		err := f.node.resize(size)
		if err == nil {
			f.node.note(change{kind: changeSize, off: size})
		}
		return err
	})
}

func (f *memFile) Sync() error {
	return f.use("sync", func() error {
		f.node.syncedData = slices.Clone(f.node.data)
		f.node.noteSync()
		return nil
	})
}

func (f *memFile) Flush(bool) error {
	return f.use("flush", func() error {
		f.node.note(change{kind: changeFlush})
		return nil
	})
}

func (f *memFile) Close() error {
	return f.use("close", func() error {
		if f.node.cut && f.write {
			f.node.cut = false
			f.node.note(change{kind: changeFlush})
		}
		f.closed = true
		return nil
	})
}

func (f *memFile) Map(off, n int64) ([]byte, func() error, error) {
	err := f.use("map", func() error { return nil })
	if err == nil {
		err = causeError("map", f.name, syscall.ENODEV, ErrNoMap)
	}
	return nil, nil, err
}
