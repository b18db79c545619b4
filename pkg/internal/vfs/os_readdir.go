//go:build linux || darwin

package vfs

import (
	"bytes"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

func (o osFS) ReadDir(path string) ([]DirEntry, error) {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, pathError("readdir", path, err)
	}
	defer syscall.Close(fd)
	var list []DirEntry
	buf := make([]byte, 32<<10)
	for {
		var n int
		err := retry(func() (err error) { n, err = syscall.ReadDirent(fd, buf); return err })
		if err != nil {
			return nil, pathError("readdir", path, err)
		}
		if n <= 0 {
			break
		}
		list = appendEntries(list, buf[:n])
	}
	known := list[:0]
	for _, e := range list {
		if e.Mode == modeUnknown {
			info, err := o.Lstat(strings.TrimRight(path, "/") + "/" + e.Name)
			if errnoOf(err) == syscall.ENOENT {
				continue // removed meanwhile
			}
			if err != nil {
				return nil, err
			}
			e.Mode = info.Mode
		}
		known = append(known, e)
	}
	slices.SortFunc(known, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return known, nil
}

// modeUnknown marks an entry whose kind the file system does not list.
const modeUnknown FileMode = 255

// appendEntries appends the entries that the kernel put into buf.
func appendEntries(list []DirEntry, buf []byte) []DirEntry {
	var d syscall.Dirent
	const nameOff = unsafe.Offsetof(d.Name)
	for len(buf) > int(nameOff) {
		rec := (*syscall.Dirent)(unsafe.Pointer(unsafe.SliceData(buf)))
		size := int(rec.Reclen)
		if size <= int(nameOff) || size > len(buf) {
			break
		}
		name, _, _ := bytes.Cut(buf[nameOff:size], []byte{0})
		mode := Other
		switch rec.Type {
		case syscall.DT_REG:
			mode = Regular
		case syscall.DT_DIR:
			mode = Dir
		case syscall.DT_LNK:
			mode = Symlink
		case syscall.DT_UNKNOWN:
			mode = modeUnknown
		}
		if s := string(name); rec.Ino != 0 && s != "." && s != ".." {
			list = append(list, DirEntry{Name: s, Mode: mode})
		}
		buf = buf[size:]
	}
	return list
}
