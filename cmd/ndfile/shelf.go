package main

import (
	"context"
	"slices"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
	"github.com/ndfile/ndfile/pkg/ndfile/all"
)

// shelfOpen is how many files a shelf keeps open, beside those that are being read.
const shelfOpen = 32

// shelf keeps files of which few are open at a time: the others are opened again when
// they are read. It may be used from any goroutine.
type shelf struct {
	mu   sync.Mutex
	open []*shelved // the last one was used last
}

// shelved is a file of a shelf.
type shelved struct {
	shelf  *shelf
	path   string
	format string
	file   ndfile.File // nil: not open
	users  int
}

// add puts an open file on the shelf, which closes it from now on.
func (s *shelf) add(path, format string, f ndfile.File) *shelved {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &shelved{shelf: s, path: path, format: format, file: f}
	s.open = append(s.open, b)
	s.tidy()
	return b
}

// tidy closes files that are not being read, until few are open.
func (s *shelf) tidy() {
	for i := 0; i < len(s.open) && len(s.open) > shelfOpen; {
		b := s.open[i]
		if b.users > 0 {
			i++
			continue
		}
		b.file.Abort()
		b.file = nil
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// close closes all files.
func (s *shelf) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.open {
		b.file.Abort()
		b.file = nil
	}
	s.open = nil
}

// use runs do while the file is open.
func (b *shelved) use(ctx context.Context, do func(f ndfile.File) error) error {
	s := b.shelf
	s.mu.Lock()
	if b.file == nil {
		f, _, err := ndfile.OpenAs(ctx, all.Formats, b.path, ndfile.OpenOptions{Format: b.format})
		if err != nil {
			s.mu.Unlock()
			return err
		}
		b.file = f
	} else {
		s.open = slices.DeleteFunc(s.open, func(o *shelved) bool { return o == b })
	}
	b.users++
	s.open = append(s.open, b)
	s.tidy()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		b.users--
		s.mu.Unlock()
	}()
	return do(b.file)
}

// lent is an array of a shelved file. It can only be read.
type lent struct {
	*view // of the array as it was; its methods for reading are not used
	from  *shelved
	name  string
}

// lend gives the array of that name, which a is at present.
func (b *shelved) lend(name string, a ndfile.Array) *lent {
	v := whole(a)
	v.inner = nil // it is closed at some time
	return &lent{v, b, name}
}

// use runs do with the array. Errors tell the file.
func (l *lent) use(ctx context.Context, do func(a ndfile.Array) error) error {
	err := l.from.use(ctx, func(f ndfile.File) error {
		a, err := f.Array(l.name)
		if err != nil {
			return err
		}
		if s := a.Spec(); !s.DType.Equal(l.spec.DType) || !slices.Equal(s.Shape, l.spec.Shape) {
			return ndfile.NewError(ndfile.ErrCorrupt, "the file was changed while it was read")
		}
		return do(a)
	})
	return ndfile.Locate(err, l.from.path, l.name, true)
}

func (l *lent) ReadBox(ctx context.Context, box ndarray.Box, dst ndarray.Buffer) error {
	return l.use(ctx, func(a ndfile.Array) error { return a.ReadBox(ctx, box, dst) })
}

// ReadMasked implements [ndfile.Masked].
func (l *lent) ReadMasked(ctx context.Context, box ndarray.Box, dst ndarray.Buffer, mask []byte) error {
	return l.use(ctx, func(a ndfile.Array) error { return whole(a).read(ctx, box, dst, mask) })
}

// ReadStrings implements [ndfile.Strings].
func (l *lent) ReadStrings(ctx context.Context, box ndarray.Box, offsets []int64, data, mask []byte) (n int64, err error) {
	err = l.use(ctx, func(a ndfile.Array) (err error) {
		n, err = whole(a).ReadStrings(ctx, box, offsets, data, mask)
		return err
	})
	return n, err
}
