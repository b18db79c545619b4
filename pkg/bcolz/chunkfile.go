package bcolz

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
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

// chunkFiles are the numbers of the chunk files that there are, in rising order.
func (c *column) chunkFiles() ([]int64, error) {
	entries, err := c.file.disk.ReadDir(c.dir + "/" + dataFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var numbers []int64
	for _, e := range entries {
		if k, ok := chunkNumber(e.Name); ok && e.Mode != vfs.Dir {
			numbers = append(numbers, k)
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// chunkBytes is the size of a whole chunk in memory.
func (c *column) chunkBytes() int64 {
	n, _ := ndarray.NBytes(c.chunks.Chunks, c.storage.dtype.Size) // was checked by chunk.Array
	return n
}

// compressed is the size of the Blosc chunks from up to to.
func (c *column) compressed(from, to int64) (sum int64) {
	for k := from; k < to; k++ {
		sum += c.compressedOne(k)
	}
	return sum
}

// compressedOne is the size of a Blosc chunk; 0 if that is not to be learned: the
// number it goes into is for information only.
func (c *column) compressedOne(k int64) int64 {
	info, err := c.file.disk.Stat(chunkPath(c.dir, k))
	if err != nil || info.Size < blpkSize {
		return 0
	}
	return info.Size - blpkSize
}
