package blosc

import "sync"

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

// keepScratch bounds what a pooled buffer may hold on to.
const keepScratch = 16 << 20

func (st *state) release() {
	for _, s := range []*scratch{&st.filtered, &st.partial, &st.encoded, &st.stream} {
		if cap(s.buf) > keepScratch {
			s.buf = nil
		}
	}
	clear(st.planes[:]) // they point into the caller's memory
	states.Put(st)
}

// scratch is a buffer that only grows.
type scratch struct{ buf []byte }

// sized gives n bytes with whatever they held before.
func (s *scratch) sized(n int) []byte {
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	return s.buf[:n]
}
