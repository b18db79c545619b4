package zipstore

import (
	"context"
	"io"
	"io/fs"
	"sync"

	"github.com/ndfile/ndfile/pkg/store"
)

// value is a member that is held open.
type value struct {
	s *Store
	m *member

	mu    sync.Mutex
	raw   []byte // of a deflated member, when it was read
	plain []byte // and when it was inflated
	begin int64  // of a stored one, when it is known
}

func (v *value) Size() (int64, error) { return v.m.size, nil }
func (v *value) Close() error         { return nil }

// load makes ready to read.
func (v *value) load(ctx context.Context) (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.m.method == stored && v.begin == 0:
		v.begin, err = v.s.begin(ctx, v.m)
	case v.m.method == deflated && v.plain == nil:
		if v.raw == nil {
			if v.raw, err = v.s.raw(ctx, v.m); err != nil {
				return err
			}
		}
		plain := make([]byte, v.m.size)
		if err = v.s.decode(v.m, plain, v.raw); err == nil {
			v.raw, v.plain = nil, plain
		}
	}
	return err
}

func (v *value) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: v.m.name, Err: fs.ErrInvalid}
	}
	return v.ReadContext(context.Background(), p, off)
}

// ReadContext implements [store.ContextValue].
func (v *value) ReadContext(ctx context.Context, p []byte, off int64) (n int, err error) {
	off = store.Start(off, v.m.size)
	fit := p[:min(int64(len(p)), v.m.size-off)]
	if v.m.method == stored && int64(len(fit)) == v.m.size {
		err = v.s.all(ctx, v.m, fit) // which checks them
	} else if err = v.load(ctx); err == nil && v.m.method == stored {
		err = v.s.readAt(ctx, fit, v.begin+off)
	} else if err == nil {
		copy(fit, v.plain[off:])
	}
	if err != nil {
		return 0, err
	}
	if len(fit) < len(p) {
		err = io.EOF
	}
	return len(fit), err
}

// ReadParts implements [store.ContextValue].
func (v *value) ReadParts(ctx context.Context, parts []store.Part) error {
	for _, p := range parts {
		if p.Off < 0 || p.Off > v.m.size || int64(len(p.Dst)) > v.m.size-p.Off {
			return &fs.PathError{Op: "read", Path: v.m.name, Err: io.ErrUnexpectedEOF}
		}
	}
	if err := v.load(ctx); err != nil {
		return err
	}
	if v.m.method == deflated {
		for _, p := range parts {
			copy(p.Dst, v.plain[p.Off:])
		}
		return nil
	}
	within := make([]store.Part, len(parts))
	for i, p := range parts {
		within[i] = store.Part{Off: v.begin + p.Off, Dst: p.Dst}
	}
	file, err := store.Open(ctx, v.s.from, v.s.key)
	if err != nil {
		return err
	}
	defer file.Close()
	return store.ReadParts(ctx, file, within)
}
