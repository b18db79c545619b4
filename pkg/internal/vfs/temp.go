package vfs

import (
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

const (
	tempMark = ".ndf-tmp-"
	maxName  = 255 // bytes of a path element, on every common file system
)

// LockName is the name of the file in a folder that its writers lock. It is
// nothing that belongs to the content, as temporary names are.
const LockName = ".ndf-lock"

// A temporary name holds the process id and a token of the process, so that Owner
// can tell whether that one is still there, and a counter.
var tempCounter atomic.Uint64

// appendTempName appends a temporary name for path to buf.
func appendTempName(buf []byte, path string) []byte {
	var space [64]byte
	pid, token := self()
	tail := append(space[:0], tempMark...)
	tail = strconv.AppendUint(tail, uint64(pid), 36)
	tail = append(tail, '-')
	tail = append(tail, token...)
	tail = append(tail, '-')
	tail = strconv.AppendUint(tail, tempCounter.Add(1), 36)

	dir, base := splitPath(path)
	if room := maxName - len(tail); len(base) > room {
		for room > 0 && !utf8.RuneStart(base[room]) {
			room--
		}
		base = base[:room]
	}
	buf = append(buf, dir...)
	buf = append(buf, base...)
	return append(buf, tail...)
}

func tempName(path string) string { return string(appendTempName(nil, path)) }

// IsTempName reports whether base, one path element, is a name that TempName
// makes.
func IsTempName(base string) bool {
	i := strings.LastIndex(base, tempMark)
	if i < 0 {
		return false
	}
	fields := strings.Split(base[i+len(tempMark):], "-")
	for _, f := range fields {
		if f == "" || strings.Trim(f, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return len(fields) == 3
}

// TempTarget is the path that a temporary file or folder was to get, as far as its
// name tells: a long one is cut.
func TempTarget(path string) string { return path[:strings.LastIndex(path, tempMark)] }

// splitPath cuts path after the last slash.
func splitPath(path string) (dir, base string) {
	i := strings.LastIndexByte(path, '/') + 1
	return path[:i], path[i:]
}

// folderOf returns the folder that holds path.
func folderOf(path string) string {
	if dir, _ := splitPath(path); dir != "" {
		return dir
	}
	return "."
}
