package chunk

import (
	"context"
	"fmt"
	"slices"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/flat"
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
	return each(ctx, n, maxRun+3*a.size, func(w *worker, c int64) error { return w.writeCell(ctx, s, axes, c) })
}

func (w *worker) writeCell(ctx context.Context, s *selection, axes [][][2]int64, c int64) error {
	a, list := s.a, w.pieces(s, axes, c)
	w.locate(s, list[0].j)
	shard := a.shardOf(nil, w.index)
	return a.exclusively(ctx, shard, func() error {
		a.cache.Clear()
		defer w.shard.close()
		return w.writeShard(ctx, s, list, shard)
	})
}

// writeShard writes pieces to a shard. They are in the order of the chunks there.
func (w *worker) writeShard(ctx context.Context, s *selection, list []shardPiece, shard []int64) error {
	a := s.a
	whole := len(list) == a.chunksIn(shard)
	for i := 0; whole && i < len(list); i++ {
		w.locate(s, list[i].j)
		whole = w.inside
	}
	opt := a.Write
	if !whole {
		opt.Commit = vfs.CommitAtomic
		if err := w.enterShard(ctx, a, w.index); err != nil {
			return err
		}
	}
	out := &w.out
	defer out.end()
	if err := out.begin(a, string(a.AppendPath(nil, shard)), w.shard.file, opt); err != nil {
		return err
	}
	for k := range out.entries {
		var err error
		if len(list) > 0 && list[0].k == k {
			w.locate(s, list[0].j)
			list = list[1:]
			err = w.addPiece(ctx, s, k)
		} else if e := w.oldEntry(k); e != codec.Missing {
			err = out.keep(ctx, k, e)
		}
		if err != nil {
			return err
		}
	}
	return out.finish(ctx)
}

// chunksIn is how many chunks of a shard have elements of the array.
func (a *Array) chunksIn(shard []int64) int {
	n := int64(1)
	for axis, per := range a.Shards.Layout.Grid {
		n *= min(per, a.grid[axis]-shard[axis]*per)
	}
	return int(n)
}

// oldEntry is the place of a chunk in the shard that is written anew.
func (w *worker) oldEntry(k int) codec.Entry {
	if w.shard.file == nil {
		return codec.Missing
	}
	return w.shard.entries[k]
}

// addPiece adds the encoded chunk of the worker's piece to the shard that is made.
// One of nothing but the fill value is left out.
func (w *worker) addPiece(ctx context.Context, s *selection, k int) error {
	a := s.a
	full := w.items*int64(a.DType.Size) == int64(a.size)
	var plain []byte
	if full && w.dense && a.Order == nil && s.match == equal {
		plain = w.memory()
	} else {
		var err error
		if plain, err = w.plain.Sized(a.size); err != nil {
			return err
		}
		switch e := w.oldEntry(k); {
		case full:
		case w.inside || e == codec.Missing:
			a.fill(plain)
		default:
			if err := w.decodeOld(ctx, a, plain, e); err != nil {
				return err
			}
		}
		if err := ndarray.Copy(w.in(a, plain, 0), w.buf); err != nil {
			return err
		}
	}
	elem := a.Fill
	if elem == nil {
		elem = w.zero(a.DType.Size)
	}
	if a.Sparse && repeats(plain, elem) {
		return ctx.Err()
	}
	w.rawMem.Reset()
	raw, err := a.Codec.Encode(&w.rawMem, plain, 1)
	if err != nil {
		return ndfile.CodecError(err, 0)
	}
	return w.out.add(ctx, k, raw)
}

// decodeOld decodes a chunk of the shard that is written anew.
func (w *worker) decodeOld(ctx context.Context, a *Array, plain []byte, e codec.Entry) error {
	o := &w.shard
	if err := checkWhole(int(e.Len), 0); err != nil {
		return err
	}
	raw, err := o.block.Sized(int(e.Len))
	if err != nil {
		return err
	}
	if err := flat.ReadFull(ctx, o.file, raw, int64(e.Off)); err != nil {
		return a.fileError(err, string(o.name))
	}
	if err := a.Shards.Layout.Inner.Decode(plain, raw); err != nil {
		return located(ndfile.CodecError(err, int64(e.Off)), string(o.name))
	}
	return nil
}

// zero is an element of zeros.
func (w *worker) zero(size int) []byte {
	w.elem = append(w.elem[:0], make([]byte, size)...)
	return w.elem
}

// WriteShard is [ndfile.ShardWriter].WriteShard.
func (a *Array) WriteShard(ctx context.Context, index []int64, chunk func(index []int64) (raw []byte, err error)) error {
	lo, hi := make([]int64, len(index)), make([]int64, len(index))
	ok := len(index) == len(a.grid)
	for axis := 0; ok && axis < len(index); axis++ {
		per := a.Shards.Layout.Grid[axis]
		ok = index[axis] >= 0 && index[axis] < ceilDiv(a.grid[axis], per)
		lo[axis] = index[axis] * per
		hi[axis] = min(lo[axis]+per, a.grid[axis])
	}
	if !ok {
		return ndfile.NewError(ndfile.ErrBounds, fmt.Sprintf("shard %v of %v, the grid of chunks is %v", slices.Clone(index), a.Shards.Layout.Grid, a.grid))
	}
	return one(ctx, func(w *worker, _ int64) error {
		return a.exclusively(ctx, index, func() error {
			a.cache.Clear()
			out := &w.out
			defer out.end()
			err := out.begin(a, string(a.AppendPath(nil, index)), nil, a.Write)
			if err != nil {
				return err
			}
			indices(lo, hi, func(at []int64) bool {
				var raw []byte
				if raw, err = chunk(at); err == nil && raw != nil {
					if err = a.checkRaw(at, raw); err == nil {
						err = out.add(ctx, a.inner(at), raw)
					}
				}
				return err == nil
			})
			if err != nil {
				return err
			}
			return out.finish(ctx)
		})
	})
}
