package vfs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/ndfile/ndfile/pkg/store"
)

// Remembering gives a file system for one opening, in which formats ask one after
// the other for the same few keys. Of a store it remembers small values, beginnings
// of larger ones and keys without a value, until done is called; from then on it is
// as fsys, and can be kept. Others are given back as they are.
func Remembering(fsys FS) (view FS, done func()) {
	s, ok := fsys.(*ofStore)
	if !ok {
		return fsys, func() {}
	}
	own := mount(s.r, s.at)
	own.memo.Store(&memo{heads: map[string]memoHead{}})
	return own, func() { own.memo.Store(nil) }
}

// memoBytes is how much of a value is remembered.
const memoBytes = 64 << 10

type memo struct {
	mu    sync.Mutex
	heads map[string]memoHead
}

type memoHead struct {
	data []byte
	size int64
	err  error // fs.ErrNotExist, or nil
}

// head gives the beginning of a value.
func (m *memo) head(ctx context.Context, r store.Reader, key string) (h memoHead, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.heads[key]
	if ok {
		return h, h.err
	}
	buf := make([]byte, memoBytes)
	n, rest, err := store.Hold(ctx, r, key, buf)
	h.data, h.size = bytes.Clone(buf[:n]), int64(n)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		h.err = err
	case err != nil:
		return h, err
	case rest != nil:
		h.size, err = rest.Size()
		rest.Close()
		if err != nil {
			return h, err
		}
	}
	m.heads[strings.Clone(key)] = h
	return h, h.err
}

// hold is store.Hold.
func (s *ofStore) hold(ctx context.Context, key string, buf []byte) (int, store.Value, error) {
	m := s.memo.Load()
	if m == nil || len(buf) > memoBytes {
		return store.Hold(ctx, s.r, key, buf)
	}
	h, err := m.head(ctx, s.r, key)
	if err != nil {
		return 0, nil, err
	}
	n := copy(buf, h.data)
	if int64(n) == h.size && n < len(buf) {
		return n, nil, nil
	}
	rest, err := store.Open(ctx, s.r, key)
	return n, rest, err
}

// size is that of a value.
func (s *ofStore) size(key string) (int64, error) {
	if m := s.memo.Load(); m != nil {
		h, err := m.head(context.Background(), s.r, key)
		return h.size, err
	}
	_, info, err := s.r.Get(context.Background(), key, 0, nil)
	return info.Size, err
}
