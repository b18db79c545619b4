package chunk

import (
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// CacheSize is the most that an Array keeps of what it decoded for small reads,
// in bytes.
const CacheSize = 8 << 20

// window is a decoded part of a chunk: its bytes from lo on.
type window struct {
	key  int64
	lo   int
	data []byte

	uses           int // readers, and 1 while it is in the cache
	older, younger *window
}

// cache keeps one window of each of the chunks that were used last. The zero
// value is empty. All methods may be called from any goroutine.
type cache struct {
	mu      sync.Mutex
	windows map[int64]*window
	ends    window // of the ring: younger is the oldest window, older the youngest
	bytes   int    // that windows take
	writing int    // chunks that are being written: nothing is kept meanwhile
	changes uint64 // of chunks
	spare   []byte // memory for the next window
}

// nearBytes is how close to a window what is wanted next is, for more than that
// to be wanted soon.
const nearBytes = 64 << 10

// get gives the window of a chunk if it has the bytes from lo to hi; the caller
// releases it. Otherwise known tells that there is one with others near by, and
// changes is for put.
func (c *cache) get(key int64, lo, hi int) (w *window, known bool, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, known = c.windows[key]
	if !known || lo < w.lo || hi > w.lo+len(w.data) {
		known = known && lo < w.lo+len(w.data)+nearBytes && hi > w.lo-nearBytes
		return nil, known, c.changes
	}
	w.uses++
	if c.ends.older != w {
		c.unlink(w)
		c.link(w)
	}
	return w, true, c.changes
}

// memory gives n bytes for a window that the caller puts or releases.
func (c *cache) memory(key int64, lo, n int) (w *window, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w = &window{key: key, lo: lo, uses: 1}
	if n <= cap(c.spare) && cap(c.spare) <= 2*n {
		w.data, c.spare = c.spare[:n], nil
	} else {
		w.data, err = mem.Make[byte](n, 1)
	}
	return w, err
}

// put keeps a window, unless a chunk changed since get. The caller still
// releases it.
func (c *cache) put(w *window, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writing > 0 || c.changes != changes || cap(w.data) > CacheSize {
		return
	}
	c.drop(c.windows[w.key])
	for c.bytes+cap(w.data) > CacheSize {
		c.drop(c.ends.younger)
	}
	if c.windows == nil {
		c.windows = map[int64]*window{}
		c.ends.older, c.ends.younger = &c.ends, &c.ends
	}
	c.windows[w.key] = w
	c.bytes += cap(w.data)
	w.uses++
	c.link(w)
}

// release ends the use of a window.
func (c *cache) release(w *window) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unuse(w)
}

// beginChange drops the window of a chunk. Until endChange nothing is kept, and
// after it nothing that was read before: a reader that saw the new elements shall
// not see the old ones again.
func (c *cache) beginChange(key int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing++
	c.drop(c.windows[key])
}

func (c *cache) endChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing--
	c.changes++
}

// forget drops all windows, while chunks are being written.
func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.windows {
		c.drop(w)
	}
}

// clear drops everything.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for _, w := range c.windows {
		c.drop(w)
	}
	c.spare = nil
}

func (c *cache) drop(w *window) {
	if w == nil {
		return
	}
	delete(c.windows, w.key)
	c.bytes -= cap(w.data)
	c.unlink(w)
	c.unuse(w)
}

func (c *cache) unuse(w *window) {
	if w.uses--; w.uses == 0 && cap(w.data) > cap(c.spare) {
		c.spare = w.data
	}
}

func (c *cache) link(w *window) {
	w.older, w.younger = c.ends.older, &c.ends
	w.older.younger, c.ends.older = w, w
}

func (c *cache) unlink(w *window) {
	w.older.younger, w.younger.older = w.younger, w.older
}
