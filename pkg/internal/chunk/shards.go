package chunk

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/store"
)

// Shards has the chunks of an Array lie in files of several: shards, each with an
// index of where its chunks are. AppendPath then gives the file of a shard.
type Shards struct {
	// Shape is that of a shard, a multiple of Chunks along each axis.
	Shape []int64
	// Layout is how a shard is stored. Its inner chain is that of Array.Codec.
	Layout *codec.Shard

	indexes indexes
}

// inner is the number of a chunk in its shard.
func (a *Array) inner(index []int64) int {
	n := int64(0)
	for axis, per := range a.Shards.Layout.Grid {
		n = n*per + index[axis]%per
	}
	return int(n)
}

// shardOf is the index of the shard of a chunk, in dst.
func (a *Array) shardOf(dst, index []int64) []int64 {
	for axis, per := range a.Shards.Layout.Grid {
		dst = append(dst, index[axis]/per)
	}
	return dst
}

// indexes keeps the indexes of shards that were read last. An entry holds for one
// file, which is told by its place on the disk, size and time.
type indexes struct {
	mu    sync.Mutex
	known map[string]*shardIndex
	size  int // entries
}

type shardIndex struct {
	info    vfs.Info
	entries []codec.Entry
}

// maxEntries bounds what an Array keeps of indexes: 16 bytes each.
const maxEntries = 1 << 17

func (c *indexes) get(path string, info vfs.Info) []codec.Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.known[path]; x != nil && x.info == info {
		return x.entries
	}
	return nil
}

func (c *indexes) put(path string, info vfs.Info, entries []codec.Entry) {
	if len(entries) > maxEntries/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(entries); c.known == nil || c.size > maxEntries {
		c.known, c.size = map[string]*shardIndex{}, len(entries)
	}
	c.known[string([]byte(path))] = &shardIndex{info, entries}
}

// openShard is a shard that is read. It is part of a worker.
type openShard struct {
	file    vfs.File // nil: there is none
	entries []codec.Entry
	opened  bool
	index   []int64
	name    []byte
	space   [64]int64
	block   mem.Block
	run     []byte // of the file, from byte at on
	at      uint64
}

func (o *openShard) close() {
	if o.file != nil {
		o.file.Close()
	}
	o.block.FreeLarge()
	o.file, o.entries, o.run, o.opened = nil, nil, nil, false
}

// enterShard opens the shard of a chunk and reads its index, unless it is open.
func (w *worker) enterShard(ctx context.Context, a *Array, index []int64) error {
	o := &w.shard
	var space [64]int64
	shard := a.shardOf(space[:0], index)
	if o.opened && slices.Equal(o.index, shard) {
		return nil
	}
	o.close()
	o.index = append(o.space[:0], shard...)
	path := w.setPath(a, o.index)
	o.name = append(o.name[:0], path...)
	if err := a.checkFoldersOnce(path); err != nil {
		return err
	}
	file, err := a.fs.Open(path)
	if errors.Is(err, fs.ErrNotExist) && a.Sparse {
		o.opened = true
		return nil
	}
	if err != nil {
		return a.fileError(err, path)
	}
	o.file, o.opened = file, true
	if err := w.readIndex(ctx, a, path); err != nil {
		o.close()
		return located(ndfile.CodecError(err, 0), path)
	}
	return nil
}

// readIndex gives the open shard its entries.
func (w *worker) readIndex(ctx context.Context, a *Array, path string) error {
	o, layout := &w.shard, a.Shards.Layout
	// The file was opened before: if what is there now is what an index was read of,
	// then so was what was opened, or it is newer still.
	info, err := a.fs.Stat(path)
	known := err == nil && !a.remote
	if known {
		if o.entries = a.Shards.indexes.get(path, info); o.entries != nil {
			return nil
		}
	}
	size, err := o.file.Size()
	if err != nil {
		return a.fileError(err, path)
	}
	if size < int64(layout.IndexSize) {
		return corrupt(int(size), "a shard of %d bytes, its index alone has %d", size, layout.IndexSize)
	}
	at := int64(0)
	if !layout.AtStart {
		at = size - int64(layout.IndexSize)
	}
	raw, err := mem.Make[byte](layout.IndexSize, 1)
	if err == nil {
		err = flat.ReadFull(ctx, o.file, raw, at)
	}
	if err != nil {
		return a.fileError(err, path)
	}
	if o.entries, err = layout.DecodeIndex(raw, size); err != nil {
		return err
	}
	if known && info.Size == size {
		a.Shards.indexes.put(path, info, o.entries)
	}
	return nil
}

// openInner is open for a chunk in a shard.
func (w *worker) openInner(ctx context.Context, a *Array, index []int64, least int, all bool) (found bool, err error) {
	if err := w.enterShard(ctx, a, index); err != nil {
		return false, err
	}
	o := &w.shard
	w.source = source{name: string(o.name)}
	if o.file == nil {
		return false, nil
	}
	e := o.entries[a.inner(index)]
	if e == codec.Missing {
		if !a.Sparse {
			return false, ndfile.NewError(ndfile.ErrCorrupt, "the chunk is missing in its shard").On(w.name)
		}
		return false, nil
	}
	w.base = int64(e.Off)
	if e.Off >= o.at && e.Off+e.Len <= o.at+uint64(len(o.run)) {
		w.raw = o.run[e.Off-o.at:][:e.Len:e.Len]
		w.have = int(e.Len)
	} else {
		n := firstRead
		if all {
			n = min(max(n, a.size+128), maxFirstRead)
		}
		if n = int(min(uint64(n), e.Len)); a.direct {
			n = 0
		}
		if err := w.room(n, 0); err != nil {
			return false, err
		}
		part := section{o.file, int64(e.Off), int64(e.Len)}
		if err := flat.ReadFull(ctx, part, w.raw, 0); err != nil {
			return false, a.fileError(err, w.name)
		}
		if w.have = n; uint64(n) < e.Len {
			w.rest = part
		}
	}
	if err := w.readHeader(a, least); err != nil {
		w.close()
		return false, w.inFile(located(err, w.name))
	}
	return true, nil
}

// inFile makes the offset of an error in a chunk one in the file.
func (w *worker) inFile(err error) error {
	var e *ndfile.Error
	if w.base > 0 && errors.As(err, &e) && e.Offset >= 0 {
		e.Offset += w.base
		w.base = 0
	}
	return err
}

// section is a part of a file, as a file that is read.
type section struct {
	vfs.File
	off, size int64
}

func (s section) ReadAt(p []byte, off int64) (int, error) { return s.File.ReadAt(p, s.off+off) }
func (s section) Size() (int64, error)                    { return s.size, nil }

// ReadParts has the shard's file read the parts.
func (s section) ReadParts(ctx context.Context, parts []store.Part) error {
	for i := range parts {
		parts[i].Off += s.off
	}
	return flat.ReadParts(ctx, s.File, parts)
}

func (s section) Close() error { return nil } // the shard stays open

// cells divides a selection by shards.
func (a *Array) cells(s *selection) (axes [][][2]int64, n int64) {
	n = 1
	for i := range s.axes {
		x, per := &s.axes[i], a.Shards.Layout.Grid[i]
		var parts [][2]int64
		for j := int64(0); j < x.chunks; {
			index, _, _, _ := x.part(j)
			end := j + 1
			if x.step <= x.chunk {
				end = min(x.chunks, j+per-index%per)
			} else {
				for end < x.chunks {
					if next, _, _, _ := x.part(end); next/per != index/per {
						break
					}
					end++
				}
			}
			parts = append(parts, [2]int64{j, end})
			j = end
		}
		axes = append(axes, parts)
		n *= int64(len(parts))
	}
	return axes, n
}

// pieces lists the pieces of cell c of a selection, with their numbers in the shard.
func (w *worker) pieces(s *selection, axes [][][2]int64, c int64) []shardPiece {
	nd := len(axes)
	lo, hi := make([]int64, nd), make([]int64, nd)
	for i := nd - 1; i >= 0; i-- {
		part := axes[i][c%int64(len(axes[i]))]
		c /= int64(len(axes[i]))
		lo[i], hi[i] = part[0], part[1]
	}
	list := w.list[:0]
	indices(lo, hi, func(at []int64) bool {
		j, k := int64(0), int64(0)
		for i, n := range at {
			index, _, _, _ := s.axes[i].part(n)
			j = j*s.axes[i].chunks + n
			per := s.a.Shards.Layout.Grid[i]
			k = k*per + index%per
		}
		list = append(list, shardPiece{j, int(k)})
		return true
	})
	w.list = list
	return list
}

// shardPiece is a piece of a selection, and the number of its chunk in the shard.
type shardPiece struct {
	j int64
	k int
}

// readShards is readStored of an Array in shards.
func (a *Array) readShards(ctx context.Context, s *selection) error {
	axes, n := a.cells(s)
	if n == 1 {
		return one(ctx, func(w *worker, _ int64) error { return w.readCell(ctx, s, axes, 0) })
	}
	return each(ctx, n, a.readMemory()+maxRun, func(w *worker, c int64) error { return w.readCell(ctx, s, axes, c) })
}

// maxRun is the most of a shard that is read at once.
const maxRun = 4 << 20

// readCell reads what a shard has of a selection: ranges of the file that lie near
// each other by one read.
func (w *worker) readCell(ctx context.Context, s *selection, axes [][][2]int64, c int64) error {
	defer w.shard.close()
	a, list := s.a, w.pieces(s, axes, c)
	w.locate(s, list[0].j)
	if a.Write.Commit == vfs.CommitDirect {
		unlock, err := a.readingFile(a.shardOf(nil, w.index))
		if err != nil {
			return err
		}
		defer unlock()
	}
	if len(list) == 1 { // which may be in the cache
		return w.inFile(w.readPiece(ctx, s, list[0].j))
	}
	err := w.enterShard(ctx, a, w.index)
	if err != nil {
		return err
	}
	o := &w.shard
	if o.file != nil {
		slices.SortFunc(list, func(x, y shardPiece) int { return cmp.Compare(o.entries[x.k].Off, o.entries[y.k].Off) })
	}
	for i := 0; i < len(list); {
		end := i + 1
		if o.file != nil {
			if end, err = w.readRun(ctx, a, list, i); err != nil {
				return err
			}
		}
		for ; i < end; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.readPiece(ctx, s, list[i].j); err != nil {
				return w.inFile(err)
			}
		}
	}
	return nil
}

// readRun reads the chunks from list[i] on that lie near each other in the file. It
// gives the first one behind them.
func (w *worker) readRun(ctx context.Context, a *Array, list []shardPiece, i int) (end int, err error) {
	o := &w.shard
	first := o.entries[list[i].k]
	if end = i + 1; first == codec.Missing {
		return end, nil
	}
	lo, hi := first.Off, first.Off+first.Len
	for ; end < len(list) && !a.direct; end++ {
		e := o.entries[list[end].k]
		if e == codec.Missing || e.Off > hi+maxGap || max(hi, e.Off+e.Len)-lo > maxRun {
			break
		}
		hi = max(hi, e.Off+e.Len)
	}
	if o.run = nil; hi-lo > maxRun || a.direct { // one chunk, read as it is needed
		return end, nil
	}
	run, err := o.block.Sized(int(hi - lo))
	if err != nil {
		return end, err
	}
	if err := flat.ReadFull(ctx, o.file, run, int64(lo)); err != nil {
		return end, a.fileError(err, string(o.name))
	}
	o.run, o.at = run, lo
	return end, nil
}
