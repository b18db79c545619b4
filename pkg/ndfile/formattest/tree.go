package formattest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// walk calls fn for everything below a folder, folders before what is in them.
// Symlinks are not followed.
func (s *suite) walk(fsys ndfile.FS, dir string, fn func(path string, mode vfs.FileMode)) {
	s.tb.Helper()
	list, err := fsys.ReadDir(dir)
	s.ok(err)
	for _, e := range list {
		path := strings.TrimSuffix(dir, "/") + "/" + e.Name
		fn(path, e.Mode)
		if e.Mode == vfs.Dir {
			s.walk(fsys, path, fn)
		}
	}
}

// tree reads all files under a folder: path -> content. Folders are the paths
// that end in a slash, and what a symlink leads to stands for its content.
func (s *suite) tree(fsys ndfile.FS, dir string) map[string]string {
	s.tb.Helper()
	t := map[string]string{}
	s.walk(fsys, dir, func(path string, mode vfs.FileMode) {
		s.tb.Helper()
		switch mode {
		case vfs.Dir:
			t[path+"/"] = ""
		case vfs.Symlink:
			to, err := fsys.Readlink(path)
			s.ok(err)
			t[path] = "-> " + to
		default:
			t[path] = s.text(fsys, path)
		}
	})
	return t
}

// text reads a file.
func (s *suite) text(fsys ndfile.FS, path string) string {
	s.tb.Helper()
	f, err := fsys.Open(path)
	s.ok(err)
	defer f.Close()
	n, err := f.Size()
	s.ok(err)
	data := make([]byte, n)
	if n > 0 {
		_, err = f.ReadAt(data, 0)
		s.ok(err)
	}
	return string(data)
}

// plant makes a tree on an empty file system.
func (s *suite) plant(t map[string]string) *ndfile.Mem {
	s.tb.Helper()
	m := ndfile.NewMem()
	for _, p := range sorted(t) {
		if folder, ok := strings.CutSuffix(p, "/"); ok {
			s.ok(m.Mkdir(folder))
			continue
		}
		s.put(m, p, t[p])
	}
	return m
}

// put writes a file.
func (s *suite) put(fsys ndfile.FS, path, text string) {
	s.tb.Helper()
	s.ok(fsys.WriteFile(path, [][]byte{[]byte(text)}, ndfile.WriteOptions{Commit: ndfile.CommitDirect}))
}

// sorted gives the paths of a tree, folders before what is in them.
func sorted(t map[string]string) []string {
	return slices.Sorted(maps.Keys(t))
}

// sameTree checks that no file changed.
func (s *suite) sameTree(fsys ndfile.FS, want map[string]string) {
	s.tb.Helper()
	got := s.tree(fsys, "/")
	for _, p := range sorted(want) {
		if c, ok := got[p]; !ok || c != want[p] {
			s.errorf("%s changed", p)
		}
		delete(got, p)
	}
	for _, p := range sorted(got) {
		s.errorf("%s appeared", p)
	}
}

// only reports files and folders in the root beside those at the given paths, and
// temporary ones in these.
func (s *suite) only(fsys ndfile.FS, paths ...string) {
	s.tb.Helper()
	for _, path := range s.beside(fsys, paths...) {
		s.errorf("%q is left behind", path)
	}
	for _, p := range paths {
		if s.isFolder(fsys, p) {
			s.walk(fsys, p, func(path string, _ vfs.FileMode) {
				if isTemp(path) {
					s.errorf("%q is left behind", path)
				}
			})
		}
	}
}

// onlyTemps reports files and folders in the root beside those at the given paths,
// but for temporary ones.
func (s *suite) onlyTemps(fsys ndfile.FS, paths ...string) {
	s.tb.Helper()
	for _, path := range s.beside(fsys, paths...) {
		if !isTemp(path) {
			s.errorf("%q is left behind", path)
		}
	}
}

// beside lists the files and folders in the root but for those at the given paths.
func (s *suite) beside(fsys ndfile.FS, paths ...string) (others []string) {
	s.tb.Helper()
	list, err := fsys.ReadDir("/")
	s.ok(err)
	for _, e := range list {
		if !slices.Contains(paths, "/"+e.Name) {
			others = append(others, "/"+e.Name)
		}
	}
	return others
}

func isTemp(path string) bool { return vfs.IsTempName(path[strings.LastIndexByte(path, '/')+1:]) }

// isFolder tells whether there is a folder at path.
func (s *suite) isFolder(fsys ndfile.FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.Mode == vfs.Dir
}

// folder saves c at path and tells whether that is a folder.
func (s *suite) folder(fsys ndfile.FS, path string, c *content) bool {
	s.tb.Helper()
	s.ok(s.save(fsys, path, c, ndfile.WriteOptions{}))
	return s.isFolder(fsys, path)
}

// checkFolder opens folders as users write their paths, and folders that are
// none of the format's.
func checkFolder(s *suite) {
	c := s.modest(3)
	mem, path := ndfile.NewMem(), s.path("f")
	if !s.folder(mem, path, c) {
		return
	}
	s.in("a slash behind the path").expect(mem, path+"/", c)
	s.ok(mem.Symlink(path, s.path("link")))
	s.in("through a link").expect(mem, s.path("link"), c)
	err := s.save(mem, s.path("new")+"/", c, ndfile.WriteOptions{})
	if err == nil {
		s.in("created with a slash").expect(mem, s.path("new"), c)
	}
	for _, name := range []string{"empty", "foreign"} {
		folder := s.path(name)
		s.ok(mem.Mkdir(folder))
		if name == "foreign" {
			s.put(mem, folder+"/notes.txt", "some text")
			s.ok(mem.Mkdir(folder + "/data"))
		}
		s := s.in("Open of a folder that is %s", name)
		f, err := s.open(mem, folder)
		s.fails(err, ndfile.ErrFormat, ndfile.ErrCorrupt)
		s.says(err, folder, "", false)
		if err == nil {
			f.Abort()
		}
		m, err := s.format.Detect(ctx, mem, folder)
		if m != ndfile.NoMatch && !s.cfg.Quirks.Guesses || err != nil {
			s.errorf("Detect: %d, %v", m, err)
		}
	}
}

// foreign is the text of files that are not the format's.
const foreign = "nobody but its owner may remove this"

// checkForeign creates stores where something else is: that is refused, or what
// was there is kept.
func checkForeign(s *suite) {
	old, c := s.modest(2), s.modest(3)
	path := s.path("f")
	if !s.folder(ndfile.NewMem(), path, old) {
		return
	}
	things := []struct {
		name string
		put  func(s *suite, mem *ndfile.Mem)
	}{
		{"a file", func(s *suite, mem *ndfile.Mem) { s.put(mem, path, foreign) }},
		{"a folder with a file", func(s *suite, mem *ndfile.Mem) {
			s.ok(mem.Mkdir(path))
			s.put(mem, path+"/notes.txt", foreign)
		}},
		{"a folder with a folder", func(s *suite, mem *ndfile.Mem) {
			s.ok(mem.Mkdir(path))
			s.ok(mem.Mkdir(path + "/sub"))
			s.put(mem, path+"/sub/0", foreign)
		}},
		{"an empty folder", func(s *suite, mem *ndfile.Mem) { s.ok(mem.Mkdir(path)) }},
		{"a store with a file of somebody", func(s *suite, mem *ndfile.Mem) {
			s.ok(s.save(mem, path, old, ndfile.WriteOptions{}))
			s.put(mem, path+"/notes.txt", foreign)
		}},
		{"a store with a folder of somebody", func(s *suite, mem *ndfile.Mem) {
			s.ok(s.save(mem, path, old, ndfile.WriteOptions{}))
			s.ok(mem.Mkdir(path + "/sub"))
			s.put(mem, path+"/sub/notes.txt", foreign)
		}},
		{"a link to a folder with a file", func(s *suite, mem *ndfile.Mem) {
			s.ok(mem.Mkdir("/target"))
			s.put(mem, "/target/notes.txt", foreign)
			s.ok(mem.Symlink("/target", path))
		}},
	}
	for _, there := range things {
		for _, opt := range []ndfile.WriteOptions{{}, {Commit: ndfile.CommitDirect}, {Sync: true}, {Exclusive: true}} {
			for _, late := range []bool{false, true} {
				s := s.in("%s, %+v, it came after Create: %t", there.name, opt, late)
				mem := ndfile.NewMem()
				if !late {
					there.put(s, mem)
				}
				err := s.fileWith(mem, path, c, opt, func(dst ndfile.Array, a *array) error {
					if _, err := mem.Lstat(path); late && errors.Is(err, syscall.ENOENT) {
						there.put(s, mem)
					}
					return a.writeBox(dst, ndarray.Full(a.shape), layouts[0])
				})
				s.kept(mem, path, there.name != "an empty folder" && !(late && opt.Commit == ndfile.CommitDirect))
				switch {
				case err == nil && opt.Exclusive && !late:
					s.errorf("no error, though the path exists")
				case err == nil:
					s.expect(mem, path, c)
				default:
					s.fails(err, ndfile.ErrExists, ndfile.ErrFormat, ndfile.ErrNotSupported, ndfile.ErrArgument)
					s.says(err, path, "", false)
				}
			}
		}
	}
}

// kept reports that the file of somebody, if there was one, is gone, and all
// that is left behind.
func (s *suite) kept(fsys ndfile.FS, path string, was bool) {
	s.tb.Helper()
	s.only(fsys, path, "/target")
	if was && !slices.Contains(slices.Collect(maps.Values(s.tree(fsys, "/"))), foreign) {
		s.errorf("the file of somebody is gone")
	}
}

// checkLinks puts symlinks in the place of each file and folder of a store: they
// are followed only by those who ask for it, and never written through.
func checkLinks(s *suite) {
	c := s.modest(3)
	mem, path := ndfile.NewMem(), s.path("f")
	if !s.folder(mem, path, c) {
		return
	}
	whole := s.tree(mem, "/")
	for _, p := range sorted(whole)[1:] {
		p = strings.TrimSuffix(p, "/")
		s := s.in("a link in the place of %s", p)
		mem := s.plant(whole)
		s.ok(mem.Mkdir("/elsewhere"))
		s.ok(mem.Rename(p, "/elsewhere/x"))
		s.ok(mem.Symlink("/elsewhere/x", p))
		before := s.tree(mem, "/elsewhere")
		_, err := s.read(mem, path)
		s.fails(err, ndfile.ErrNotSupported, ndfile.ErrCorrupt, ndfile.ErrFormat)
		s.says(err, path, "", false)
		opt := ndfile.OpenOptions{FS: mem, Format: s.format.Name(), FollowSymlinks: true}
		f, err := ndfile.Open(ctx, s.cfg.Formats, path, opt)
		var got *content
		if err == nil {
			got, err = s.readFile(f)
			f.Abort()
		}
		if err == nil {
			err = s.sameContent(got, c)
		}
		if err != nil {
			s.errorf("with FollowSymlinks: %v", err)
		}
		if !s.has(ndfile.CapUpdate) {
			continue
		}
		if f, err := s.update(mem, path); err == nil {
			for _, a := range c.arrays {
				if dst, err := f.Array(a.name); err == nil {
					s.random("", a.dtype, a.shape...).writeBox(dst, ndarray.Full(a.shape), layouts[0])
				}
			}
			f.Close(ctx)
		}
		if after := s.tree(mem, "/elsewhere"); !maps.Equal(before, after) {
			s.errorf("written through the link")
		}
	}
}

// checkHoles takes away each file and folder of a store, and puts something else
// in its place: an error, or the right values, where nothing is the fill value.
func checkHoles(s *suite) {
	c := s.modest(3)
	mem, path := ndfile.NewMem(), s.path("f")
	if !s.folder(mem, path, c) {
		return
	}
	whole := s.tree(mem, "/")
	for _, p := range sorted(whole)[1:] {
		for _, instead := range []string{"nothing", "an empty file", "an empty folder"} {
			s := s.in("%s in the place of %s", instead, p)
			t := map[string]string{}
			for q, text := range whole {
				if q != p && !(strings.HasSuffix(p, "/") && strings.HasPrefix(q, p)) {
					t[q] = text
				}
			}
			switch instead {
			case "an empty file":
				t[strings.TrimSuffix(p, "/")] = ""
			case "an empty folder":
				t[strings.TrimSuffix(p, "/")+"/"] = ""
			}
			opened, _, _ := s.damage(s.plant(t), path)
			if opened != nil {
				left := *c
				if s.listed() {
					left.arrays = slices.DeleteFunc(slices.Clone(c.arrays), func(a *array) bool { return opened.find(a.name) == nil && strings.HasPrefix(p, path+"/"+a.name+"/") })
				}
				s.sameOr(s.sameOrFill(opened, &left))
			}
		}
	}
}

// listed tells that the arrays of a file are those that are found in its folder.
func (s *suite) listed() bool { return s.kind == ndfile.Dataset && s.has(ndfile.CapGroups) }

// sameOrFill compares a store from which something was taken away with what it
// was: attributes may be gone, and elements may have the fill value.
func (s *suite) sameOrFill(got, want *content) error {
	same := func(got, want *array) error {
		rest := *want
		if got.attrs.Len() == 0 {
			rest.attrs = nil
			if s.cfg.Quirks.DimsInAttrs && got.dims == nil {
				rest.dims = nil
			}
		}
		rest.elems = slices.Clone(want.elems)
		for i := range rest.elems {
			if i < len(got.elems) && slices.Equal(got.elems[i], want.blank()) {
				rest.elems[i] = got.elems[i]
			}
		}
		return s.sameArray(got, &rest)
	}
	if err := s.sameArrays(got, want, same); err != nil {
		return err
	}
	if got.attrs.Len() == 0 {
		return nil
	}
	return s.sameAttrs(got.attrs, want.attrs)
}
