package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ndfile/ndfile/pkg/store"
)

// Counter is a store that counts the requests to another one, which it does not tell
// to hold values or to read several ranges at once.
type Counter struct {
	store.Reader

	mu    sync.Mutex
	log   []string
	bytes int64
}

// Count gives a Counter of a store.
func Count(r store.Reader) *Counter { return &Counter{Reader: r} }

func (c *Counter) note(n int, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, fmt.Sprintf(format, args...))
	c.bytes += int64(n)
}

// Get implements [store.Reader].
func (c *Counter) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	n, info, err := c.Reader.Get(ctx, key, off, dst)
	c.note(n, "get %s %d+%d", key, off, len(dst))
	return n, info, err
}

// List implements [store.Lister], if the store inside does; else it is
// errors.ErrUnsupported, and no request.
func (c *Counter) List(ctx context.Context, folder string, fn func(store.Entry) error) error {
	l, ok := c.Reader.(store.Lister)
	if !ok {
		return errors.ErrUnsupported
	}
	c.note(0, "list %s", folder)
	return l.List(ctx, folder, fn)
}

// Put implements [store.Writer], as Delete does, if the store inside does; else they
// are errors.ErrUnsupported, and no request.
func (c *Counter) Put(ctx context.Context, key string, parts [][]byte, when store.Condition) (string, error) {
	w, ok := c.Reader.(store.Writer)
	if !ok {
		return "", errors.ErrUnsupported
	}
	c.note(0, "put %s", key)
	return w.Put(ctx, key, parts, when)
}

// Delete implements [store.Writer].
func (c *Counter) Delete(ctx context.Context, key string) error {
	w, ok := c.Reader.(store.Writer)
	if !ok {
		return errors.ErrUnsupported
	}
	c.note(0, "delete %s", key)
	return w.Delete(ctx, key)
}

// Taken gives the requests since the last call, one line each ("get KEY OFF+LENGTH",
// "list FOLDER", "put KEY", "delete KEY"), and the bytes that were read.
func (c *Counter) Taken() (log []string, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, bytes = c.log, c.bytes
	c.log, c.bytes = nil, 0
	return log, bytes
}

// Failing is a store of which chosen requests fail.
type Failing struct {
	store.Reader
	// Fail gives the error of request i, counted from 0; nil lets it pass.
	Fail func(i int, key string) error

	mu sync.Mutex
	n  int
}

// Get implements [store.Reader].
func (f *Failing) Get(ctx context.Context, key string, off int64, dst []byte) (int, store.Info, error) {
	f.mu.Lock()
	i := f.n
	f.n++
	f.mu.Unlock()
	if err := f.Fail(i, key); err != nil {
		return 0, store.Info{}, err
	}
	return f.Reader.Get(ctx, key, off, dst)
}
