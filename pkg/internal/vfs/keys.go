package vfs

import (
	"context"
	"errors"
	"io"

	"github.com/ndfile/ndfile/pkg/store"
)

// Keys is a file system as a store to read from: keys are paths, used as they are.
func Keys(fsys FS) store.Holder { return keys{fsys} }

type keys struct{ fsys FS }

func (k keys) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	if err := ctx.Err(); err != nil {
		return 0, store.Info{}, err
	}
	f, err := k.fsys.Open(key)
	if err != nil {
		return 0, store.Info{}, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return 0, store.Info{}, err
	}
	off = store.Start(off, size)
	n, err := 0, nil
	if dst = dst[:min(int64(len(dst)), size-off)]; len(dst) > 0 {
		if n, err = store.ReadFull(ctx, f, dst, off); errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // it became shorter
		}
	}
	return n, store.Info{Size: size}, err
}

func (k keys) Hold(ctx context.Context, key string, head []byte) (int, store.Value, error) {
	if len(head) == 0 {
		f, err := k.fsys.Open(key)
		return 0, f, err
	}
	n, rest, err := k.fsys.ReadSmall(ctx, key, head)
	if err != nil || rest == nil {
		return n, nil, err
	}
	return n, rest, nil
}
