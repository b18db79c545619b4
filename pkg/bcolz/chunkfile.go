package bcolz

import (
	"strconv"
	"strings"
)

// Chunk k of an array is data/__k.blp.
const (
	chunkPrefix = "__"
	chunkSuffix = ".blp"
)

// appendChunkPath appends the path of a chunk file.
func appendChunkPath(dst []byte, dir string, k int64) []byte {
	dst = append(append(dst, dir...), "/"+dataFolder+"/"+chunkPrefix...)
	return append(strconv.AppendInt(dst, k, 10), chunkSuffix...)
}

func chunkPath(dir string, k int64) string { return string(appendChunkPath(nil, dir, k)) }

// chunkNumber is the k of the name of a chunk file.
func chunkNumber(name string) (k int64, ok bool) {
	digits, ok := strings.CutPrefix(name, chunkPrefix)
	if ok {
		digits, ok = strings.CutSuffix(digits, chunkSuffix)
	}
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	k, err := strconv.ParseInt(digits, 10, 64)
	return k, err == nil
}
