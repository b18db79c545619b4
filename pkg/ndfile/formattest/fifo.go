//go:build unix

package formattest

import (
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ndfile/ndfile/pkg/ndarray"
	"github.com/ndfile/ndfile/pkg/ndfile"
)

// checkFIFOs puts a FIFO in the place of each file of a store: nothing waits for
// its other end.
func checkFIFOs(s *suite) {
	c := s.modest(3)
	path := s.tb.TempDir() + s.path("f")
	if !s.folder(ndfile.OS, path, c) {
		return
	}
	for p := range s.tree(ndfile.OS, path) {
		if strings.HasSuffix(p, "/") {
			continue
		}
		s := s.in("a FIFO in the place of %s", p)
		s.ok(os.Rename(p, p+".away"))
		s.ok(syscall.Mkfifo(p, 0o666))
		s.prompt(p, func() {
			_, err := s.read(ndfile.OS, path)
			if err == nil {
				s.errorf("no error")
			} else if ndfile.KindOf(err) == ndfile.ErrInternal {
				s.errorf("%v", err)
			}
			if !s.has(ndfile.CapUpdate) {
				return
			}
			if f, err := s.update(ndfile.OS, path); err == nil {
				for _, a := range c.arrays {
					if dst, err := f.Array(a.name); err == nil {
						a.writeBox(dst, ndarray.Full(a.shape), layouts[0])
					}
				}
				f.Abort()
			}
		})
		s.ok(os.Remove(p))
		s.ok(os.Rename(p+".away", p))
	}
	s.in("afterwards").expect(ndfile.OS, path, c)
}

// prompt reports it if fn waits for the other end of a FIFO, and then is the other
// end.
func (s *suite) prompt(fifo string, fn func()) {
	s.tb.Helper()
	done := make(chan bool)
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
		return
	case <-time.After(time.Second):
		s.errorf("it waits")
	}
	for {
		end, err := os.OpenFile(fifo, os.O_RDWR|syscall.O_NONBLOCK, 0)
		select {
		case <-done:
		case <-time.After(10 * time.Millisecond):
		}
		if err == nil {
			end.Close()
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
