package ndfile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
)

// SealSuffix is behind the name of a file or folder in that of its seal, which
// lies beside it.
const SealSuffix = ".ndf-seal"

// A seal is a text that sha256sum -c understands, run in the folder around: a line
// a file with its SHA-256, two spaces and its path. The first line and the last
// one are comments to it; the last one holds the SHA-256 of all lines before.
const (
	sealHead = "# ndf-seal 1: check with \"ndfile seal --check\", or here with \"sha256sum -c\"\n"
	sealTail = "# end "
	maxSeal  = 4 << 30
)

// SealOptions are the options of [Seal].
type SealOptions struct {
	// FS is the file system; nil is OS.
	FS FS
	// FollowSymlinks seals what links in a store lead to. Otherwise they are
	// ErrNotSupported.
	FollowSymlinks bool
	// Progress, where it is set, is called about every 50 ms with the number of
	// bytes that are done; false cancels.
	Progress func(done, total int64) bool
}

// Seal writes a manifest of the SHA-256 of every file of a store, or of one file,
// to PATH.ndf-seal beside it, and gives the number of files. It replaces an older
// one in one step. [Verify] with Sealed compares; what changes a store does not
// change its seal: seal it again.
//
// Files with names of temporary ones and of locks are left out. Folders of no
// known format can be sealed too. Nobody should write meanwhile.
func Seal(ctx context.Context, path string, opt SealOptions) (files int64, err error) {
	if opt.FS == nil {
		opt.FS = OS
	}
	s, err := newSealing(ctx, path, opt)
	if err == nil {
		err = s.hash(ctx, opt.Progress)
	}
	if err == nil {
		err = opt.FS.WriteFile(s.seal(), [][]byte{s.text()}, WriteOptions{Sync: true})
	}
	if err != nil {
		return 0, Locate(err, path, "", false)
	}
	return int64(len(s.files)), nil
}

// sealing is a file or folder with the files that belong to it.
type sealing struct {
	fsys   FS
	follow bool
	given  string // as the caller knows it
	root   string // without links and slashes at the end
	files  []sealed
	bytes  int64
}

// sealed is a file: its path below the root, "" for the root itself.
type sealed struct {
	rel string
	sum [sha256.Size]byte
	err error
}

func newSealing(ctx context.Context, path string, opt SealOptions) (*sealing, error) {
	name, err := withName(opt.FS, path)
	if err != nil {
		return nil, err
	}
	s := &sealing{fsys: opt.FS, follow: opt.FollowSymlinks, given: strings.TrimRight(path, "/")}
	if s.root, err = vfs.Resolve(opt.FS, name); err != nil {
		return nil, err
	}
	info, err := opt.FS.Stat(s.root)
	if err == nil {
		err = s.add(ctx, "", info, nil)
	}
	return s, err
}

// seal is the path of the manifest.
func (s *sealing) seal() string { return s.root + SealSuffix }

func (s *sealing) at(rel string) string { return below(s.root, rel) }

// below is the path of something below a folder, or of itself.
func below(root, rel string) string {
	if rel == "" {
		return root
	}
	return root + "/" + rel
}

// add adds a file, or what is in a folder; around are the folders around it.
func (s *sealing) add(ctx context.Context, rel string, info vfs.Info, around []vfs.Info) error {
	switch {
	case ctx.Err() != nil:
		return NewError(ErrCanceled, "")
	case info.Mode == vfs.Regular:
		s.files = append(s.files, sealed{rel: rel})
		s.bytes += info.Size
		return nil
	case info.Mode == vfs.Symlink:
		return NewError(ErrNotSupported, "a symbolic link in a store; following them has to be asked for").On(below(s.given, rel))
	case info.Mode != vfs.Dir:
		return NewError(ErrNotSupported, "neither a file nor a folder: it cannot be sealed").On(below(s.given, rel))
	case slices.ContainsFunc(around, func(o vfs.Info) bool { return o.Ino == info.Ino && o.Dev == info.Dev }):
		return NewError(ErrNotSupported, "a link to a folder that it lies in").On(below(s.given, rel))
	}
	around = append(around, info)
	entries, err := s.fsys.ReadDir(s.at(rel))
	for i := 0; err == nil && i < len(entries); i++ {
		if vfs.IsTempName(entries[i].Name) || entries[i].Name == vfs.LockName {
			continue
		}
		look, inner := s.fsys.Lstat, entries[i].Name
		if s.follow {
			look = s.fsys.Stat
		}
		if rel != "" {
			inner = rel + "/" + inner
		}
		var info vfs.Info
		if info, err = look(s.at(inner)); err == nil {
			err = s.add(ctx, inner, info, around)
		}
	}
	return err
}

// hash reads all files.
func (s *sealing) hash(ctx context.Context, progress func(done, total int64) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var done atomic.Int64
	var err error
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		err = Parallel{}.Each(ctx, int64(len(s.files)), func(ctx context.Context, _ int, i int64) {
			f := &s.files[i]
			if f.sum, f.err = s.sum(ctx, f.rel, &done); f.err != nil {
				cancel()
			}
		})
	}()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	wanted := true // by progress, however far the work has come
	for running := true; running; {
		if progress != nil && wanted && !progress(min(done.Load(), s.bytes), s.bytes) {
			wanted = false
			cancel()
		}
		select {
		case panicked := <-ended:
			if running = false; panicked != nil {
				panic(panicked)
			}
		case <-tick.C:
		}
	}
	for i := range s.files {
		if e := s.files[i].err; e != nil && KindOf(e) != ErrCanceled {
			return e
		}
	}
	if err == nil && progress != nil && wanted {
		wanted = progress(s.bytes, s.bytes)
	}
	if err == nil && !wanted {
		err = NewError(ErrCanceled, "")
	}
	return err
}

// sealPieces is memory to read files into.
var sealPieces = sync.Pool{New: func() any { return new([1 << 20]byte) }}

// sum reads one file.
func (s *sealing) sum(ctx context.Context, rel string, done *atomic.Int64) (sum [sha256.Size]byte, err error) {
	f, err := s.fsys.Open(s.at(rel))
	if err != nil {
		return sum, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return sum, err
	}
	buf := sealPieces.Get().(*[1 << 20]byte)
	defer sealPieces.Put(buf)
	h := sha256.New()
	for off := int64(0); off < size; {
		if ctx.Err() != nil {
			return sum, NewError(ErrCanceled, "")
		}
		n, err := f.ReadAt(buf[:min(size-off, int64(len(buf)))], off)
		if n == 0 {
			return sum, NewError(ErrBusy, "it became shorter while it was read").Because(err).On(below(s.given, rel))
		}
		h.Write(buf[:n])
		off += int64(n)
		done.Add(int64(n))
	}
	h.Sum(sum[:0])
	return sum, nil
}

// text is the manifest.
func (s *sealing) text() []byte {
	slices.SortFunc(s.files, func(a, b sealed) int { return strings.Compare(a.rel, b.rel) })
	text, base := []byte(sealHead), path.Base(s.root)
	for i := range s.files {
		name := below(base, s.files[i].rel)
		if strings.ContainsAny(name, "\\\n\r") { // as sha256sum has it
			text = append(text, '\\')
			name = strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r").Replace(name)
		}
		text = hex.AppendEncode(text, s.files[i].sum[:])
		text = append(append(append(text, "  "...), name...), '\n')
	}
	sum := sha256.Sum256(text)
	return append(hex.AppendEncode(append(text, sealTail...), sum[:]), '\n')
}

// readSeal reads the manifest: the hashes by the paths below the root.
func (s *sealing) readSeal() (map[string][sha256.Size]byte, error) {
	at := s.seal()
	text, err := readWhole(s.fsys, at, maxSeal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NewError(ErrNotFound, "there is no seal "+at+": seal it first")
	}
	if err != nil {
		return nil, err
	}
	bad := func(line int) error {
		return NewError(ErrCorrupt, "the seal itself is damaged, in line "+strconv.Itoa(line)).On(at)
	}
	end := bytes.LastIndex(text, []byte(sealTail))
	if !bytes.HasPrefix(text, []byte(sealHead)) || end < 0 {
		return nil, bad(1)
	}
	sum := sha256.Sum256(text[:end])
	lines := strings.Split(string(text[:end]), "\n")
	if string(text[end:]) != sealTail+hex.EncodeToString(sum[:])+"\n" {
		return nil, bad(len(lines))
	}
	sums := make(map[string][sha256.Size]byte, len(lines))
	for i, line := range lines[1 : len(lines)-1] {
		line, escaped := strings.CutPrefix(line, "\\")
		digits, name, ok := strings.Cut(line, "  ")
		n, err := hex.Decode(sum[:], []byte(digits[:min(len(digits), 2*len(sum))]))
		if !ok || err != nil || n != len(sum) || len(digits) != 2*n {
			return nil, bad(i + 2)
		}
		if escaped {
			name = strings.NewReplacer("\\\\", "\\", "\\n", "\n", "\\r", "\r").Replace(name)
		}
		_, rel, _ := strings.Cut(name, "/") // it may have another name by now
		sums[rel] = sum
	}
	return sums, nil
}

// readWhole reads a file of at most so many bytes.
func readWhole(fsys FS, path string, most int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil && size > most {
		err = NewError(ErrLimit, fmt.Sprintf("expected at most %d bytes, found %d", most, size)).On(path)
	}
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	for n := 0; n < len(text); {
		m, err := f.ReadAt(text[n:], int64(n))
		if n += m; m == 0 {
			return nil, NewError(ErrBusy, "it became shorter while it was read").Because(err).On(path)
		}
	}
	return text, nil
}

// verifySeal compares all files with the seal.
func verifySeal(ctx context.Context, path string, opt VerifyOptions, report func(Problem)) error {
	s, err := newSealing(ctx, path, SealOptions{FS: opt.FS, FollowSymlinks: opt.FollowSymlinks})
	if err != nil {
		return Locate(err, path, "", false)
	}
	sums, err := s.readSeal()
	if err == nil {
		err = s.hash(ctx, opt.Progress)
	}
	if err != nil {
		return Locate(err, path, "", false)
	}
	found := map[string]string{}
	for i := range s.files {
		f := &s.files[i]
		sum, known := sums[f.rel]
		switch {
		case !known:
			found[f.rel] = "added since it was sealed"
		case sum != f.sum:
			found[f.rel] = "changed since it was sealed: expected SHA-256 " + hex.EncodeToString(sum[:]) + ", found " + hex.EncodeToString(f.sum[:])
		}
		delete(sums, f.rel)
	}
	for rel := range sums {
		found[rel] = "missing: it was there when it was sealed"
	}
	for _, rel := range slices.Sorted(maps.Keys(found)) {
		report(Problem{Path: below(s.given, rel), Kind: ErrCorrupt, Offset: -1, Msg: found[rel]})
	}
	return nil
}
