// Package cache keeps decoded parts of the chunks of all arrays of the process, up to
// a limit in bytes. What was used last stays.
package cache

import (
	"math"
	"sync"

	"github.com/ndfile/ndfile/pkg/internal/mem"
)

// DefaultLimit is the limit where nobody set one, in bytes.
const DefaultLimit = 64 << 20

// Window is a decoded part of a chunk: its bytes from Lo on.
type Window struct {
	Lo   int
	Data []byte

	key            int64
	of             *Cache // which it is in, or nil
	block          mem.Block
	uses           int // readers, and 1 while it is in a cache
	older, younger *Window
}

// all is what the caches share.
var all = struct {
	sync.Mutex
	ends         Window // of the ring: younger is the oldest window, older the youngest
	bytes, limit int64  // that windows take, at most
	hits, misses int64
	spare        mem.Block // memory for the next small window
}{limit: DefaultLimit}

// Cache keeps one window of each chunk of an array. The zero value is empty. All
// methods may be called from any goroutine.
type Cache struct {
	windows map[int64]*Window
	writing int    // chunks that are being written: nothing is kept meanwhile
	changes uint64 // of chunks
}

// Info is what the caches hold, and how often they had what was asked for.
type Info struct{ Hits, Misses, Used, Limit int64 }

// Stats describes all caches.
func Stats() Info {
	all.Lock()
	defer all.Unlock()
	return Info{all.hits, all.misses, all.bytes, all.limit}
}

// SetLimit sets how many bytes all caches may take together. What is beyond goes at once.
func SetLimit(n int64) {
	all.Lock()
	defer all.Unlock()
	all.limit = max(n, 0)
	shrink(all.limit)
	all.spare.Free()
}

// Limit is the setting of SetLimit.
func Limit() int64 {
	all.Lock()
	defer all.Unlock()
	return all.limit
}

// Near is how close to a window what is wanted next is, for more than that to be
// wanted soon.
const Near = 64 << 10

// None is the gap where nothing of a chunk is kept.
const None = math.MaxInt

// Get gives the window of a chunk if it has the bytes from lo to hi; the caller
// releases it. Otherwise gap is how many bytes lie between what is wanted and the window
// that there is, None without one, and changes is for Put.
func (c *Cache) Get(key int64, lo, hi int) (w *Window, gap int, changes uint64) {
	all.Lock()
	defer all.Unlock()
	w = c.windows[key]
	switch {
	case w == nil:
		all.misses++
		return nil, None, c.changes
	case lo < w.Lo || hi > w.Lo+len(w.Data):
		all.misses++
		return nil, max(0, lo-w.Lo-len(w.Data), w.Lo-hi), c.changes
	}
	all.hits++
	w.uses++
	if all.ends.older != w {
		w.unlink()
		w.link()
	}
	return w, 0, c.changes
}

// New gives a window with n bytes, of which any may have any value, that the caller
// puts or releases.
func New(key int64, lo, n int) (*Window, error) {
	w := &Window{key: key, Lo: lo, uses: 1}
	all.Lock()
	if have := all.spare.Cap(); n <= have && have <= 2*n {
		w.block, all.spare = all.spare, mem.Block{}
	}
	all.Unlock()
	var err error
	w.Data, err = w.block.Sized(n)
	return w, err
}

// Put keeps a window, unless a chunk changed since Get. The caller still releases it.
func (c *Cache) Put(w *Window, changes uint64) {
	all.Lock()
	defer all.Unlock()
	if c.writing > 0 || c.changes != changes || w.size() > all.limit {
		return
	}
	c.windows[w.key].drop()
	shrink(all.limit - w.size())
	if c.windows == nil {
		c.windows = map[int64]*Window{}
	}
	c.windows[w.key] = w
	w.of = c
	all.bytes += w.size()
	w.uses++
	w.link()
}

// Release ends the use of a window.
func (w *Window) Release() {
	all.Lock()
	defer all.Unlock()
	w.unuse()
}

// BeginChange drops the window of a chunk. Until EndChange nothing is kept, and
// after it nothing that was read before: a reader that saw the new elements shall
// not see the old ones again.
func (c *Cache) BeginChange(key int64) {
	all.Lock()
	defer all.Unlock()
	c.writing++
	c.windows[key].drop()
}

// EndChange is the end of BeginChange.
func (c *Cache) EndChange() {
	all.Lock()
	defer all.Unlock()
	c.writing--
	c.changes++
}

// Clear drops everything. What is being read is not kept either.
func (c *Cache) Clear() {
	all.Lock()
	defer all.Unlock()
	c.changes++
	for _, w := range c.windows {
		w.drop()
	}
}

// Used is the bytes that the cache's windows take.
func (c *Cache) Used() (n int64) {
	all.Lock()
	defer all.Unlock()
	for _, w := range c.windows {
		n += w.size()
	}
	return n
}

// shrink drops the oldest windows until all of them take at most so many bytes.
func shrink(most int64) {
	for all.bytes > most {
		all.ends.younger.drop()
	}
}

func (w *Window) size() int64 { return int64(w.block.Cap()) }

func (w *Window) drop() {
	if w == nil {
		return
	}
	delete(w.of.windows, w.key)
	all.bytes -= w.size()
	w.unlink()
	w.unuse()
}

func (w *Window) unuse() {
	if w.uses--; w.uses > 0 {
		return
	}
	if n := w.block.Cap(); n > all.spare.Cap() && n <= mem.Large && w.size() <= all.limit {
		w.block, all.spare = all.spare, w.block
	}
	w.block.Free() // large ones are kept there
}

func (w *Window) link() {
	if all.ends.older == nil {
		all.ends.older, all.ends.younger = &all.ends, &all.ends
	}
	w.older, w.younger = all.ends.older, &all.ends
	w.older.younger, all.ends.older = w, w
}

func (w *Window) unlink() {
	w.older.younger, w.younger.older = w.younger, w.older
}
