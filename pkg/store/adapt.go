package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

// OfFS gives a store over an [fs.FS]: an embed.FS, a zip.Reader, os.DirFS. Files that
// cannot be read at an offset (io.ReaderAt, io.Seeker) are read from their beginning
// on. It lists, and does not write.
func OfFS(fsys fs.FS) interface {
	Reader
	Lister
} {
	return ofFS{fsys}
}

type ofFS struct{ fsys fs.FS }

func (s ofFS) Get(ctx context.Context, key string, off int64, dst []byte) (int, Info, error) {
	if err := ctx.Err(); err != nil {
		return 0, Info{}, err
	}
	file, err := s.fsys.Open(key)
	if err != nil {
		// What lies below a file, and what no name can be, is not there either.
		if !ValidKey(key) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
			err = &fs.PathError{Op: "get", Path: strings.Clone(key), Err: fs.ErrNotExist}
		}
		return 0, Info{}, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return 0, Info{}, err
	}
	if !stat.Mode().IsRegular() {
		return 0, Info{}, &fs.PathError{Op: "get", Path: strings.Clone(key), Err: fs.ErrNotExist}
	}
	info := Info{Size: stat.Size()}
	if t := stat.ModTime(); !t.IsZero() {
		info.Tag = strconv.FormatInt(t.UnixNano(), 36)
	}
	off = Start(off, info.Size)
	dst = dst[:min(int64(len(dst)), info.Size-off)]
	if len(dst) == 0 {
		return 0, info, nil
	}
	n := 0
	if at, ok := file.(io.ReaderAt); ok {
		n, err = at.ReadAt(dst, off)
	} else {
		if seek, ok := file.(io.Seeker); ok {
			_, err = seek.Seek(off, io.SeekStart)
		} else {
			_, err = io.CopyN(io.Discard, file, off)
		}
		if err == nil {
			n, err = io.ReadFull(file, dst)
		}
	}
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return n, info, err
}

func (s ofFS) List(ctx context.Context, folder string, fn func(Entry) error) error {
	if folder == "" {
		folder = "."
	}
	list, err := fs.ReadDir(s.fsys, folder)
	for i := 0; err == nil && i < len(list); i++ {
		if err = ctx.Err(); err == nil && (list[i].IsDir() || list[i].Type().IsRegular()) {
			err = fn(Entry{Name: list[i].Name(), Folder: list[i].IsDir(), Size: -1})
		}
	}
	return err
}

// OfReaderAt gives a store of one value: size bytes of r under a key. It does not
// change while the store is used.
func OfReaderAt(key string, r io.ReaderAt, size int64) Reader { return single{key, r, size} }

type single struct {
	key  string
	r    io.ReaderAt
	size int64
}

func (s single) Get(ctx context.Context, key string, off int64, dst []byte) (int, Info, error) {
	if err := ctx.Err(); err != nil {
		return 0, Info{}, err
	}
	if key != s.key {
		return 0, Info{}, &fs.PathError{Op: "get", Path: strings.Clone(key), Err: fs.ErrNotExist}
	}
	off = Start(off, s.size)
	dst = dst[:min(int64(len(dst)), s.size-off)]
	n, err := s.r.ReadAt(dst, off)
	if n == len(dst) || err == io.EOF {
		err = nil
	}
	return n, Info{Size: s.size}, err
}
