package chunk

import (
	"context"
	"slices"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// writeShards is writeStored of an Array in shards. Each shard is written anew, under
// its lock: of the chunks that are not written their bytes are copied as they are.
func (a *Array) writeShards(ctx context.Context, s *selection) error {
	axes, n := a.cells(s)
	if n == 1 {
		return one(ctx, func(w *worker, _ int64) error { return w.writeCell(ctx, s, axes, 0) })
	}
	size := 2 * a.size * a.Shards.Layout.Count()
	return each(ctx, n, size, func(w *worker, c int64) error { return w.writeCell(ctx, s, axes, c) })
}

func (w *worker) writeCell(ctx context.Context, s *selection, axes [][][2]int64, c int64) error {
	a, list := s.a, w.pieces(s, axes, c)
	w.locate(s, list[0].j)
	shard := a.shardOf(nil, w.index)
	return a.exclusively(ctx, shard, func() error {
		a.cache.forget()
		defer w.shard.close()
		return w.writeShard(ctx, s, list, shard)
	})
}

// writeShard writes pieces to a shard. They are in the order of the chunks there.
func (w *worker) writeShard(ctx context.Context, s *selection, list []shardPiece, shard []int64) error {
	a, layout := s.a, s.a.Shards.Layout
	whole := len(list) == a.chunksIn(shard)
	for i := 0; whole && i < len(list); i++ {
		w.locate(s, list[i].j)
		whole = w.inside
	}
	opt := a.Write
	var old []byte
	if !whole {
		opt.Commit = vfs.CommitAtomic
		var err error
		if old, err = w.readOld(ctx, a); err != nil {
			return err
		}
	}
	entries := slices.Repeat([]codec.Entry{codec.Missing}, layout.Count())
	out := w.out[:0]
	if layout.AtStart {
		out = append(out, make([]byte, layout.IndexSize)...)
	}
	next := 0
	for k := range entries {
		from := len(out)
		var err error
		if next < len(list) && list[next].k == k {
			w.locate(s, list[next].j)
			next++
			out, err = w.appendPiece(ctx, s, out, old, k)
		} else if e := w.oldEntry(k); e != codec.Missing {
			out = append(out, old[e.Off:e.Off+e.Len]...)
			if e.Len == 0 {
				entries[k] = codec.Entry{Off: uint64(from)}
			}
		}
		if err != nil {
			return err
		}
		if len(out) > from {
			entries[k] = codec.Entry{Off: uint64(from), Len: uint64(len(out) - from)}
		}
	}
	if layout.AtStart {
		index, err := layout.AppendIndex(nil, entries)
		if err != nil {
			return ndfile.CodecError(err, 0)
		}
		copy(out, index)
	} else {
		var err error
		if out, err = layout.AppendIndex(out, entries); err != nil {
			return ndfile.CodecError(err, 0)
		}
	}
	if w.out = out; cap(out) > mem.Large {
		w.out = nil
	}
	return w.storeRaw(a, shard, out, opt)
}

// chunksIn is how many chunks of a shard have elements of the array.
func (a *Array) chunksIn(shard []int64) int {
	n := int64(1)
	for axis, per := range a.Shards.Layout.Grid {
		n *= min(per, a.grid[axis]-shard[axis]*per)
	}
	return int(n)
}

// readOld opens the shard of the worker's piece and reads all of it; nil is none.
func (w *worker) readOld(ctx context.Context, a *Array) ([]byte, error) {
	if err := w.enterShard(ctx, a, w.index); err != nil || w.shard.file == nil {
		return nil, err
	}
	size, err := w.shard.file.Size()
	if err != nil {
		return nil, err
	}
	if err := checkWhole(int(size), int(size)); err != nil {
		return nil, err
	}
	old, err := w.shard.block.Sized(int(size))
	if err == nil {
		err = flat.ReadFull(ctx, w.shard.file, old, 0)
	}
	if err != nil {
		return nil, a.fileError(err, string(w.shard.name))
	}
	w.shard.run, w.shard.at = old, 0
	return old, nil
}

// oldEntry is the place of a chunk in the shard that is written anew.
func (w *worker) oldEntry(k int) codec.Entry {
	if w.shard.file == nil {
		return codec.Missing
	}
	return w.shard.entries[k]
}

// appendPiece appends the encoded chunk of the worker's piece. One of nothing but
// the fill value is left out.
func (w *worker) appendPiece(ctx context.Context, s *selection, out, old []byte, k int) ([]byte, error) {
	a := s.a
	full := w.items*int64(a.DType.Size) == int64(a.size)
	var plain []byte
	if full && w.dense && a.Order == nil && s.match == equal {
		plain = w.memory()
	} else {
		var err error
		if plain, err = w.plain.Sized(a.size); err != nil {
			return out, err
		}
		switch e := w.oldEntry(k); {
		case full:
		case w.inside || e == codec.Missing:
			a.fill(plain)
		default:
			if err := a.Shards.Layout.Inner.Decode(plain, old[e.Off:e.Off+e.Len]); err != nil {
				return out, located(ndfile.CodecError(err, int64(e.Off)), string(w.shard.name))
			}
		}
		if err := ndarray.Copy(w.in(a, plain, 0), w.buf); err != nil {
			return out, err
		}
	}
	elem := a.Fill
	if elem == nil {
		elem = w.zero(a.DType.Size)
	}
	if a.Sparse && repeats(plain, elem) {
		return out, nil
	}
	if err := w.room(a.Codec.Bound(len(plain)), 0); err != nil {
		return out, err
	}
	raw, err := a.Codec.Encode(w.raw, plain, 1)
	if err != nil {
		return out, ndfile.CodecError(err, 0)
	}
	return append(out, raw...), ctx.Err()
}

// zero is an element of zeros.
func (w *worker) zero(size int) []byte {
	w.elem = append(w.elem[:0], make([]byte, size)...)
	return w.elem
}
