package formattest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// checkConcurrent reads boxes of one open file from several goroutines and, where
// chunks can be changed, writes.
func checkConcurrent(s *suite) {
	s.readTogether(s.sample(50), 60)
	s.readTogether(s.large(), 4)
	if s.has(ndfile.CapUpdate | ndfile.CapChunked) {
		s.writeTogether()
		s.readBesideWrites()
	}
}

// together runs fn in n goroutines, each with random numbers of its own.
func (s *suite) together(n int, fn func(s *suite, i int) error) {
	s.tb.Helper()
	found := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		mine := *s
		mine.rng = rand.New(rand.NewPCG(9, uint64(i)))
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					found[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			found[i] = fn(&mine, i)
		})
	}
	wg.Wait()
	for _, err := range found {
		s.sameOr(err)
	}
}

func (s *suite) readTogether(c *content, boxes int) {
	mem, path := ndfile.NewMem(), s.path("f")
	s.ok(s.save(mem, path, c, ndfile.WriteOptions{}))
	f, err := s.open(mem, path)
	s.ok(err)
	defer f.Abort()
	s.together(4, func(s *suite, _ int) error {
		for range boxes {
			a := c.arrays[s.rng.IntN(len(c.arrays))]
			src, err := f.Array(a.name)
			if err != nil {
				return err
			}
			box := s.box(a.shape)
			got, err := readBox(src, box, s.layout())
			if err == nil {
				err = sameElems(got.elems, a.sub(box).elems)
			}
			if err != nil {
				return fmt.Errorf("array %q, %s %v, box %v: %w", a.name, a.dtype, a.shape, box, err)
			}
		}
		return nil
	})
}

// shared makes a file of one array in few chunks, and gives a model of what it is
// to become.
func (s *suite) shared(fsys ndfile.FS, path string) (old, new *content) {
	s.tb.Helper()
	d := s.fixed()
	a := s.random("", d, 48)
	a.chunks = []int64{20}
	old = s.files([]*array{a})[0]
	s.ok(s.writeWhole(fsys, path, old, ndfile.WriteOptions{}))
	new = old.clone()
	new.arrays[0].elems = s.random("", d, 48).elems
	return old, new
}

// writeTogether writes different elements of the same chunks from several
// goroutines, over two open files: no write is lost.
func (s *suite) writeTogether() {
	s = s.in("writers of different elements")
	mem, path := ndfile.NewMem(), s.path("f")
	_, c := s.shared(mem, path)
	a := c.arrays[0]
	var files []ndfile.File
	for range 2 {
		f, err := ndfile.Open(ctx, s.cfg.Formats, path, ndfile.OpenOptions{FS: mem, Mode: ndfile.Update, Shared: true})
		if errors.Is(err, ndfile.ErrNotSupported) {
			f, err = s.update(mem, path) // the format knows no others
		}
		s.ok(err)
		files = append(files, f)
	}
	const writers = 6
	s.together(writers, func(s *suite, i int) error {
		dst, err := files[i%len(files)].Array(a.name)
		if err != nil {
			return err
		}
		for _, k := range s.rng.Perm(len(a.elems) / writers) {
			at := int64(k*writers + i)
			if err := a.writeBox(dst, rowBox(a.shape, at, at+1), s.layout()); err != nil {
				return err
			}
		}
		every := ndarray.Box{Start: []int64{int64(i)}, Count: []int64{int64(len(a.elems) / writers)}, Step: []int64{writers}}
		return a.writeBox(dst, every, s.layout())
	})
	for _, f := range files {
		s.ok(f.Close(ctx))
	}
	s.expect(mem, path, c)
}

// readBesideWrites reads chunks while they are written: each is old or new.
func (s *suite) readBesideWrites() {
	s = s.in("a reader beside a writer")
	mem, path := ndfile.NewMem(), s.path("f")
	old, new := s.shared(mem, path)
	f, err := s.update(mem, path)
	s.ok(err)
	other, err := s.open(mem, path)
	s.ok(err)
	name, full := old.arrays[0].name, ndarray.Full(old.arrays[0].shape)
	done := make(chan bool)
	s.together(3, func(s *suite, i int) error {
		if i == 0 {
			defer close(done)
			dst, err := f.Array(name)
			for k := 0; err == nil && k < 30; k++ {
				err = []*content{new, old}[k%2].arrays[0].writeBox(dst, full, s.layout())
			}
			return err
		}
		src, err := []ndfile.File{f, other}[i-1].Array(name)
		if err != nil {
			return err
		}
		for {
			got, err := readBox(src, full, s.layout())
			if err != nil {
				return err
			}
			got.name, got.attrs = name, nil
			if err := s.mixed(&content{arrays: []*array{got}}, old, new); err != nil {
				return err
			}
			select {
			case <-done:
				return nil
			default:
			}
		}
	})
	s.ok(other.Abort())
	s.ok(f.Close(ctx))
}
