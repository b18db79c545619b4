package bcolz

import (
	"context"

	"github.com/ndfile/ndfile/pkg/internal/edit"
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
	opt.Ordered = c.file.Mode == edit.Updating // else a power failure could leave a table with a column that is empty files
	if err := c.attrs.save(d, c.dir, opt); err != nil {
		return err
	}
	if err := d.write(c.dir+"/"+storageFile, c.storage.text(), opt); err != nil {
		return err
	}
	c.sizesText = c.sizes.text(c.storage.dtype.Size)
	return d.write(c.dir+"/"+sizesFile, c.sizesText, opt)
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
