package chunk

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ndfile/ndfile/pkg/codec"
	"github.com/ndfile/ndfile/pkg/internal/flat"
	"github.com/ndfile/ndfile/pkg/internal/mem"
	"github.com/ndfile/ndfile/pkg/internal/vfs"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// shardFile is the file of a shard that is made: encoded chunks one after the other,
// and their index. It holds at most maxRun bytes, or one chunk, in memory; what is
// larger goes to the file meanwhile. It is part of a worker.
type shardFile struct {
	a       *Array
	path    string
	opt     vfs.WriteOptions
	entries []codec.Entry

	block mem.Block
	buf   []byte // of the file, from byte at on
	at    int64
	file  *vfs.Replace // nil: all is in buf

	old  vfs.File    // where kept chunks come from
	kept codec.Entry // of it: what comes next, and is not in buf yet
}

// begin starts the file at path. The path must be valid until the end.
func (f *shardFile) begin(a *Array, path string, old vfs.File, opt vfs.WriteOptions) error {
	layout := a.Shards.Layout
	f.a, f.path, f.opt, f.old = a, path, opt, old
	if n := layout.Count(); n > cap(f.entries) {
		var err error
		if f.entries, err = mem.Make[codec.Entry](n, 16); err != nil {
			return err
		}
	} else {
		f.entries = f.entries[:n]
	}
	for k := range f.entries {
		f.entries[k] = codec.Missing
	}
	f.buf, f.at, f.kept = f.buf[:0], 0, codec.Entry{}
	if !layout.AtStart {
		return nil
	}
	space, err := f.room(layout.IndexSize)
	clear(space)
	return err
}

// end drops what was not finished.
func (f *shardFile) end() {
	if f.file != nil {
		f.file.Abort()
	}
	f.block.FreeLarge()
	f.a, f.path, f.buf, f.file, f.old = nil, "", nil, nil, nil
}

// next is where in the file the next chunk comes to lie.
func (f *shardFile) next() uint64 { return uint64(f.at) + uint64(len(f.buf)) + f.kept.Len }

// room gives memory for the next n bytes of the file.
func (f *shardFile) room(n int) ([]byte, error) {
	if len(f.buf) > 0 && len(f.buf)+n > maxRun {
		if err := f.flush(); err != nil {
			return nil, err
		}
	}
	have := len(f.buf)
	if have+n > f.block.Cap() {
		// Doubled, as what is appended in small pieces.
		if _, err := f.block.Grown(max(have+n, min(2*have, maxRun)), have); err != nil {
			return nil, err
		}
	}
	var err error
	f.buf, err = f.block.Sized(have + n)
	return f.buf[have:], err
}

// flush writes what is in memory.
func (f *shardFile) flush() error {
	if f.file == nil {
		var err error
		if f.file, err = f.create(); err != nil {
			return err
		}
	}
	if _, err := f.file.File().WriteAt(f.buf, f.at); err != nil {
		return f.a.fileError(err, f.path)
	}
	f.at += int64(len(f.buf))
	f.buf = f.buf[:0]
	return nil
}

// create opens the file, and makes its folders where they are missing.
func (f *shardFile) create() (*vfs.Replace, error) {
	if err := f.a.checkPlace(f.path); err != nil {
		return nil, err
	}
	r, err := vfs.NewReplace(f.a.fs, f.path, f.opt)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.a.makeFolders(f.path); err != nil {
			return nil, err
		}
		r, err = vfs.NewReplace(f.a.fs, f.path, f.opt)
	}
	return r, f.a.fileError(err, f.path)
}

// add appends an encoded chunk.
func (f *shardFile) add(ctx context.Context, k int, raw []byte) error {
	if err := f.copyKept(ctx); err != nil {
		return err
	}
	f.entries[k] = codec.Entry{Off: f.next(), Len: uint64(len(raw))}
	dst, err := f.room(len(raw))
	copy(dst, raw)
	return err
}

// keep appends a chunk of the old file. Those that follow each other there are copied
// together.
func (f *shardFile) keep(ctx context.Context, k int, e codec.Entry) error {
	if f.kept.Len > 0 && e.Off != f.kept.Off+f.kept.Len {
		if err := f.copyKept(ctx); err != nil {
			return err
		}
	}
	f.entries[k] = codec.Entry{Off: f.next(), Len: e.Len}
	if f.kept.Len == 0 {
		f.kept.Off = e.Off
	}
	f.kept.Len += e.Len
	return nil
}

// copyKept copies what keep has collected.
func (f *shardFile) copyKept(ctx context.Context) error {
	for f.kept.Len > 0 {
		n := min(f.kept.Len, maxRun)
		dst, err := f.room(int(n))
		if err == nil {
			err = flat.ReadFull(ctx, f.old, dst, int64(f.kept.Off))
		}
		if err != nil {
			return f.a.fileError(err, f.path)
		}
		f.kept.Off += n
		f.kept.Len -= n
	}
	return ctx.Err()
}

// finish writes the index, and makes the file visible. Of a shard without chunks there
// is no file.
func (f *shardFile) finish(ctx context.Context) error {
	if err := f.copyKept(ctx); err != nil {
		return err
	}
	if f.a.Sparse && !slices.ContainsFunc(f.entries, func(e codec.Entry) bool { return e != codec.Missing }) {
		if err := f.a.checkPlace(f.path); err != nil {
			return err
		}
		if err := f.a.fs.Remove(f.path); !errors.Is(err, fs.ErrNotExist) {
			return f.a.fileError(err, f.path)
		}
		return nil
	}
	layout := f.a.Shards.Layout
	var encoded mem.Buffer
	defer encoded.Free()
	if err := layout.AppendIndex(&encoded, f.entries); err != nil {
		return ndfile.CodecError(err, 0)
	}
	index := encoded.B
	if !layout.AtStart {
		dst, err := f.room(len(index))
		if err != nil {
			return err
		}
		copy(dst, index)
	} else if f.file == nil {
		copy(f.buf, index)
	}
	if f.file == nil {
		return f.a.storeFile(f.path, f.opt, [][]byte{f.buf})
	}
	if err := f.flush(); err != nil {
		return err
	}
	if layout.AtStart {
		if _, err := f.file.File().WriteAt(index, 0); err != nil {
			return f.a.fileError(err, f.path)
		}
	}
	err := f.file.Commit()
	f.file = nil
	return f.a.fileError(err, f.path)
}
