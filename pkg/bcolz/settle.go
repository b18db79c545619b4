package bcolz

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
)

// settle writes everything of a new column that is not in its folder yet.
func (c *column) settle(ctx context.Context) error {
	if err := c.chunks.FlushRows(ctx); err != nil {
		return err
	}
	if err := c.fillMissing(ctx); err != nil {
		return err
	}
	c.sizes = sizes{shape: c.chunks.Shape()}
	c.sizes.cbytes = c.chunkBytes() + c.compressed(0, c.rows()/c.storage.chunklen)
	d, opt := &c.file.disk, c.writeOptions()
	if err := c.attrs.save(d, c.dir, opt, true); err != nil {
		return err
	}
	if err := d.write(c.dir+"/"+storageFile, c.storage.text(), opt); err != nil {
		return err
	}
	return d.write(c.dir+"/"+sizesFile, c.sizes.text(c.storage.dtype.Size), opt)
}

// fillMissing writes the chunks that nobody wrote: bcolz has no sparse arrays.
func (c *column) fillMissing(ctx context.Context) error {
	there, err := c.chunkFiles()
	if err != nil {
		return err
	}
	need, next := c.chunks.Grid()[0], int64(0)
	for _, k := range append(there, need) {
		if k = min(k, need); k > next {
			if err := c.writeFill(ctx, next, k); err != nil {
				return err
			}
		}
		next = k + 1
	}
	return nil
}

// writeFill fills chunks from up to to.
func (c *column) writeFill(ctx context.Context, from, to int64) error {
	first := from * c.storage.chunklen
	box := ndarray.Full(c.chunks.Shape())
	box.Start[0] = first
	box.Count[0] = min(c.rows()-first, (to-from)*c.storage.chunklen)
	rows, err := c.fillRows(box.Count[0])
	if err != nil {
		return err
	}
	return c.chunks.WriteBox(ctx, box, rows)
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
