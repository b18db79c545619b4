package bcolz

import (
	"context"
	"slices"
)

// takeBack removes the chunk files of an append that failed, or that was dropped:
// on a full disk they would keep it full. Chunks stay that meta/sizes counts on the
// disk, and with memory also those of rows that are counted here. What cannot be
// removed does no harm.
func (f *file) takeBack(ctx context.Context, memory bool) {
	if !f.appended {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, c := range f.columns {
		rows := int64(0)
		if memory {
			rows = c.rows()
		}
		if !c.fresh {
			now := column{file: f, dir: c.dir}
			if now.readSizes(ctx) != nil {
				continue
			}
			rows = max(rows, now.sizes.shape[0])
		}
		numbers, _ := c.chunkFiles()
		for _, k := range slices.Backward(numbers) {
			if k <= (rows-1)/c.storage.chunklen && rows > 0 {
				break
			}
			f.disk.Remove(chunkPath(c.dir, k))
		}
	}
}
