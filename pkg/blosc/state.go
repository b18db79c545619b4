package blosc

import (
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// state is the memory of one worker, kept between calls.
type state struct {
	filtered scratch // a block as the codec sees it
	partial  scratch // a block of which only a part is wanted
	encoded  scratch // in parallel: blocks on their way to the chunk
	sizes    []int   // of those blocks
	planes   planes
	tile     bitTile
	codecState
}

var states = sync.Pool{New: func() any { return new(state) }}

func (st *state) release() {
	for _, s := range []*scratch{&st.filtered, &st.partial, &st.encoded, &st.stream, &st.probe} {
		s.FreeLarge()
	}
	clear(st.planes[:]) // they point into the caller's memory
	states.Put(st)
}

// scratch is a buffer that only grows.
type scratch struct{ mem.Block }

// sized gives n bytes with whatever they held before. Without memory it panics with
// a noMemory, which safely and serialBlocks make an error.
func (s *scratch) sized(n int) []byte {
	p, err := s.Sized(n)
	if err != nil {
		panic(noMemory{err})
	}
	return p
}

// noMemory is an error on its way up.
type noMemory struct{ error }
