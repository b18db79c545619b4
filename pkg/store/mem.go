package store

import (
	"bytes"
	"context"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// Mem is a store in memory, with all abilities but Holder. The zero value is empty
// and ready.
type Mem struct {
	mu     sync.RWMutex
	values map[string]memValue
	count  uint64 // of puts: the tags
}

type memValue struct {
	data []byte // never changed
	tag  string
}

// NewMem gives an empty store.
func NewMem() *Mem { return new(Mem) }

func (m *Mem) value(op, key string) (memValue, error) {
	m.mu.RLock()
	v, ok := m.values[key]
	m.mu.RUnlock()
	if !ok {
		return v, &fs.PathError{Op: op, Path: strings.Clone(key), Err: fs.ErrNotExist}
	}
	return v, nil
}

// Get implements [Reader].
func (m *Mem) Get(ctx context.Context, key string, off int64, dst []byte) (int, Info, error) {
	v, err := m.value("get", key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, Info{}, err
	}
	return copy(dst, v.data[Start(off, int64(len(v.data))):]), Info{int64(len(v.data)), v.tag}, nil
}

// Start is where a read from byte off begins in a value of size bytes: off as
// [Reader].Get has it, within the value.
func Start(off, size int64) int64 {
	if off < 0 {
		off = max(off+size, 0)
	}
	return min(off, size)
}

// List implements [Lister].
func (m *Mem) List(ctx context.Context, folder string, fn func(Entry) error) error {
	if folder != "" {
		folder += "/"
	}
	found := map[Entry]bool{}
	m.mu.RLock()
	for key, v := range m.values {
		if rest, ok := strings.CutPrefix(key, folder); ok {
			name, _, more := strings.Cut(rest, "/")
			e := Entry{Name: name, Size: int64(len(v.data))}
			if more {
				e = Entry{Name: name, Folder: true, Size: -1}
			}
			found[e] = true
		}
	}
	m.mu.RUnlock()
	for e := range found {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// Put implements [Writer].
func (m *Mem) Put(ctx context.Context, key string, parts [][]byte, when Condition) (tag string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if !ValidKey(key) {
		return "", &fs.PathError{Op: "put", Path: strings.Clone(key), Err: fs.ErrInvalid}
	}
	data := bytes.Join(parts, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	old, there := m.values[key]
	if when.Absent && there || when.Tag != "" && (!there || old.tag != when.Tag) {
		return "", &fs.PathError{Op: "put", Path: strings.Clone(key), Err: ErrCondition}
	}
	if m.values == nil {
		m.values = map[string]memValue{}
	}
	m.count++
	v := memValue{data, strconv.FormatUint(m.count, 10)}
	m.values[strings.Clone(key)] = v
	return v.tag, nil
}

// Delete implements [Writer].
func (m *Mem) Delete(ctx context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
	return ctx.Err()
}
