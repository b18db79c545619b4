package aside

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

const (
	mark        = ".ndf-removed-"
	journalName = "journal"
	journalHead = "ndfile repair 1"
	maxJournal  = 1 << 30
	maxCopy     = 1 << 30 // of a file to be written anew, where there are no hard links
)

// IsName tells whether base, one path element, is the name of such a folder.
func IsName(base string) bool {
	i := strings.LastIndex(base, mark)
	return i >= 0 && number(base[i+len(mark):]) > 0
}

// number is the positive number that a text is in decimal, or 0.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != text {
		return 0
	}
	return n
}

// Step is one change of a repair. The path has that of the store in front.
type Step struct {
	Path string
	// Text is the new content of a metadata file; nil: the file or folder is
	// moved aside.
	Text []byte
}

// verbs of the journal.
const (
	moved = "moved"
	wrote = "wrote" // over a file
	made  = "made"  // where there was none
)

// line is a step as the journal has it.
type line struct {
	verb string
	n    int64  // name of what is kept
	path string // below the store
	sum  string // of what was written
}

// Repair is a repair under way, for one goroutine.
type Repair struct {
	fsys  vfs.FS
	store string
	dir   string
	steps []Step
	lines []line
}

// Begin writes the journal of a repair, and changes nothing in the store yet. A
// symbolic link at store is followed: the folder lies beside what it leads to.
func Begin(fsys vfs.FS, store string, steps []Step) (*Repair, error) {
	real, err := locate(fsys, store)
	if err != nil {
		return nil, err
	}
	r := &Repair{fsys: fsys, store: real, steps: slices.Clone(steps)}
	for i := range steps {
		rel, ok := strings.CutPrefix(steps[i].Path, strings.TrimRight(store, "/")+"/")
		if !ok || !inside(rel) {
			return nil, fmt.Errorf("%s does not lie in %s", steps[i].Path, store)
		}
		r.steps[i].Path = real + "/" + rel
		l := line{verb: moved, n: int64(i + 1), path: rel}
		if text := steps[i].Text; text != nil {
			l.verb, l.sum = wrote, sum(text)
			switch info, err := fsys.Lstat(r.steps[i].Path); {
			case errors.Is(err, fs.ErrNotExist):
				l.verb = made
			case err != nil:
				return nil, err
			case info.Mode != vfs.Regular:
				return nil, &vfs.PathError{Op: "write", Path: steps[i].Path, Errno: syscall.EINVAL}
			}
		}
		r.lines = append(r.lines, l)
	}
	if r.dir, err = newFolder(fsys, real); err != nil {
		return nil, err
	}
	if err := r.writeJournal(); err != nil {
		fsys.Rmdir(r.dir)
		return nil, err
	}
	return r, nil
}

// Folder is the folder that things are moved to.
func (r *Repair) Folder() string { return r.dir }

// Do does step i of Begin, and tells where what was there lies now.
func (r *Repair) Do(i int) (kept string, err error) {
	s, l := &r.steps[i], &r.lines[i]
	kept = r.dir + "/" + strconv.FormatInt(l.n, 10)
	if l.verb == moved {
		return kept, r.fsys.RenameNoReplace(s.Path, kept)
	}
	if l.verb == wrote {
		if err := keep(r.fsys, s.Path, kept); err != nil {
			return "", err
		}
	}
	return kept, r.fsys.WriteFile(s.Path, [][]byte{s.Text}, vfs.WriteOptions{Sync: true})
}

// Apply takes all steps of a repair that needs no report; none is nothing to do.
func Apply(fsys vfs.FS, store string, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	r, err := Begin(fsys, store, steps)
	for i := 0; err == nil && i < len(steps); i++ {
		_, err = r.Do(i)
	}
	return err
}

// Read reads a file that a step is to write anew.
func Read(fsys vfs.FS, path string) ([]byte, error) { return read(fsys, path, maxCopy) }

// keep gives a file a second name, or copies it.
func keep(fsys vfs.FS, path, to string) error {
	err := fsys.Link(path, to)
	if !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.EXDEV) {
		return err
	}
	text, err := read(fsys, path, maxCopy)
	if err != nil {
		return err
	}
	return fsys.WriteFile(to, [][]byte{text}, vfs.WriteOptions{Sync: true})
}

func (r *Repair) writeJournal() error {
	text := append([]byte(journalHead), "\ntime "+time.Now().UTC().Format(time.RFC3339)+"\n"...)
	for _, l := range r.lines {
		text = append(text, l.verb+" "+strconv.FormatInt(l.n, 10)+" "+strconv.Quote(l.path)...)
		if l.sum != "" {
			text = append(text, " "+l.sum...)
		}
		text = append(text, '\n')
	}
	err := r.fsys.WriteFile(r.dir+"/"+journalName, [][]byte{append(text, "end\n"...)}, vfs.WriteOptions{Sync: true})
	if err == nil {
		err = r.fsys.SyncDir(parent(r.dir))
	}
	return err
}

// newFolder makes the next folder beside a store.
func newFolder(fsys vfs.FS, store string) (string, error) {
	for {
		all, err := folders(fsys, store)
		if err != nil {
			return "", err
		}
		next := int64(1)
		if len(all) > 0 {
			next = all[len(all)-1] + 1
		}
		dir := store + mark + strconv.FormatInt(next, 10)
		if err = fsys.Mkdir(dir); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// folders are the numbers of the folders beside a store, in rising order.
func folders(fsys vfs.FS, store string) (all []int64, err error) {
	base := store[strings.LastIndexByte(store, '/')+1:] + mark
	entries, err := fsys.ReadDir(parent(store))
	for _, e := range entries {
		if tail, ok := strings.CutPrefix(e.Name, base); ok && e.Mode == vfs.Dir && number(tail) > 0 {
			all = append(all, number(tail))
		}
	}
	slices.Sort(all)
	return all, err
}

// locate is the path of a store without links and slashes at its end.
func locate(fsys vfs.FS, store string) (string, error) {
	path, err := vfs.Resolve(fsys, store)
	if err != nil {
		return "", err
	}
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "", ".", "..":
		return "", &vfs.PathError{Op: "mkdir", Path: store, Errno: syscall.EBUSY} // it has no name
	}
	return path, nil
}

func parent(path string) string {
	switch i := strings.LastIndexByte(path, '/'); i {
	case -1:
		return "."
	case 0:
		return "/"
	default:
		return path[:i]
	}
}

// inside tells whether a path leads to something below the store.
func inside(rel string) bool {
	for part := range strings.SplitSeq(rel, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// read reads a file of at most so many bytes.
func read(fsys vfs.FS, path string, most int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, &vfs.PathError{Op: "read", Path: path, Errno: syscall.EFBIG}
	}
	text := make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, size), text)
	return text, err
}
