package store

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
)

// Hold opens a value of any store and reads its beginning into head, as
// [Holder].Hold does: one request. Of a store without that ability each read of rest
// is a request of its own; one that meets another value than the first did (by its
// size and tag) is ErrChanged.
func Hold(ctx context.Context, r Reader, key string, head []byte) (n int, rest Value, err error) {
	if h, ok := r.(Holder); ok {
		return h.Hold(ctx, key, head)
	}
	n, info, err := r.Get(ctx, key, 0, head)
	if err != nil || n < len(head) || info.Size == int64(n) && n > 0 {
		return n, nil, err
	}
	return n, &remote{from: r, key: strings.Clone(key), known: true, info: info}, nil
}

// Open opens a value. Of a store without [Holder] that is no request: a value that is
// not there is found out when it is read.
func Open(ctx context.Context, r Reader, key string) (Value, error) {
	if h, ok := r.(Holder); ok {
		_, v, err := h.Hold(ctx, key, nil)
		return v, err
	}
	return &remote{from: r, key: strings.Clone(key)}, nil
}

// remote is a value of a store that holds none open.
type remote struct {
	from Reader
	key  string

	mu    sync.Mutex
	known bool // info is
	info  Info
}

// same remembers what the first read met, and compares the others with it.
func (v *remote) same(info Info) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.known {
		v.info, v.known = info, true
	}
	if v.info != info {
		return &fs.PathError{Op: "read", Path: v.key, Err: ErrChanged}
	}
	return nil
}

func (v *remote) get(ctx context.Context, off int64, dst []byte) (int, error) {
	n, info, err := v.from.Get(ctx, v.key, off, dst)
	if err == nil {
		err = v.same(info)
	}
	return n, err
}

func (v *remote) ReadContext(ctx context.Context, p []byte, off int64) (int, error) {
	n, err := v.get(ctx, off, p)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (v *remote) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: v.key, Err: fs.ErrInvalid}
	}
	return v.ReadContext(context.Background(), p, off)
}

func (v *remote) Size() (int64, error) {
	v.mu.Lock()
	known, size := v.known, v.info.Size
	v.mu.Unlock()
	if known {
		return size, nil
	}
	_, info, err := v.from.Get(context.Background(), v.key, 0, nil)
	if err == nil {
		err = v.same(info)
	}
	return info.Size, err
}

func (v *remote) Close() error { return nil }

// ReadParts has neighbours joined and several requests under way at once, unless
// the store knows better.
func (v *remote) ReadParts(ctx context.Context, parts []Part) error {
	if r, ok := v.from.(RangeReader); ok {
		info, err := r.GetRanges(ctx, v.key, parts)
		if err == nil {
			err = v.same(info)
		}
		return err
	}
	return each(ctx, join(parts), v.readGroup)
}

// pieceBytes is how much is read at a time of a Value that takes no context: the
// context is looked at between.
const pieceBytes = 16 << 20

// ReadFull fills p from byte off of a value on; a negative off counts from the end
// and must be within the value. n < len(p) comes with an error, which is
// io.ErrUnexpectedEOF where the value ends.
func ReadFull(ctx context.Context, v Value, p []byte, off int64) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c, ok := v.(ContextValue); ok {
		if n, err = c.ReadContext(ctx, p, off); n < len(p) || err != nil && err != io.EOF {
			return n, endError(err)
		}
		return n, nil
	}
	if off < 0 {
		size, err := v.Size()
		if err != nil {
			return 0, err
		}
		if off += size; off < 0 {
			return 0, endError(io.EOF)
		}
	}
	for n < len(p) {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		end := min(len(p), n+pieceBytes)
		m, err := v.ReadAt(p[n:end], off+int64(n))
		if n += m; n < end {
			return n, endError(err)
		}
	}
	return n, nil
}

// endError is the error of a read that gave too little.
func endError(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

const (
	// gapBytes is the largest hole between two parts that is read rather than
	// skipped: in the time of a request, some hundred kilobytes travel.
	gapBytes = 256 << 10
	// joinBytes is the most that joined parts span: larger ones are faster in
	// parallel.
	joinBytes = 8 << 20
	// maxRequests is how many requests of one ReadParts are under way at once.
	maxRequests = 8
)

// ReadParts fills all parts from one value, none of them behind its end, and may change
// their Off. A [ContextValue], and any other with that method, knows what is best;
// else one is read after the other.
func ReadParts(ctx context.Context, v Value, parts []Part) error {
	if c, ok := v.(interface {
		ReadParts(ctx context.Context, parts []Part) error
	}); ok {
		return c.ReadParts(ctx, parts)
	}
	for _, p := range parts {
		if _, err := ReadFull(ctx, v, p.Dst, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// readGroup reads parts that were joined, by one request.
func (v *remote) readGroup(ctx context.Context, group []Part) error {
	from, to := group[0].Off, int64(0)
	for _, p := range group {
		to = max(to, p.Off+int64(len(p.Dst)))
	}
	all := group[0].Dst
	if len(group) > 1 {
		all = make([]byte, to-from)
	}
	if _, err := ReadFull(ctx, v, all, from); err != nil || len(group) == 1 {
		return err
	}
	for _, p := range group {
		copy(p.Dst, all[p.Off-from:])
	}
	return nil
}

// each calls do for all groups, a few at a time. The error is the first that
// happened.
func each(ctx context.Context, groups [][]Part, do func(ctx context.Context, group []Part) error) error {
	if len(groups) == 1 {
		return do(ctx, groups[0])
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	room := make(chan struct{}, maxRequests)
	for _, group := range groups {
		room <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			defer func() { <-room }()
			// A store is a stranger's code: what it does wrong must not end the process.
			defer func() {
				if p := recover(); p != nil {
					cancel(fmt.Errorf("the store panicked: %v", p))
				}
			}()
			if err := do(ctx, group); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// LimitError says that a value is larger than the caller allows.
type LimitError struct {
	Key        string
	Size, Most int64 // bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: expected at most %d bytes, found %d", e.Key, e.Most, e.Size)
}

// ReadAll reads a whole value: one request where it is shorter than 16 KiB, else
// two. A value of more than most bytes is not read, but a [*LimitError].
func ReadAll(ctx context.Context, r Reader, key string, most int64) ([]byte, error) {
	head := heads.Get().(*[16 << 10]byte)
	defer heads.Put(head)
	n, rest, err := Hold(ctx, r, key, head[:])
	if err != nil {
		return nil, err
	}
	size := int64(n)
	if rest != nil {
		defer rest.Close()
		if size, err = rest.Size(); err != nil {
			return nil, err
		}
	}
	if size > most {
		return nil, &LimitError{strings.Clone(key), size, most}
	}
	value := make([]byte, max(size, int64(n)))
	copy(value, head[:n])
	if rest != nil {
		_, err = ReadFull(ctx, rest, value[n:], int64(n))
	}
	return value, err
}

// heads is memory for the beginnings of values.
var heads = sync.Pool{New: func() any { return new([16 << 10]byte) }}
