package ndfile

import "github.com/ndfile/ndfile/pkg/internal/cache"

// DefaultCacheLimit is the limit of SetCacheLimit where nobody set one: 64 MiB.
const DefaultCacheLimit = cache.DefaultLimit

// CacheInfo tells what is kept of decoded chunks: see [SetCacheLimit].
type CacheInfo struct {
	Hits, Misses int64 // reads of parts of chunks that were, or were not, served from what is kept
	Used, Limit  int64 // bytes
}

// SetCacheLimit sets how many bytes of decoded elements the process keeps for reads of
// parts of chunks, of all open arrays together; 0 keeps nothing. What is beyond the
// limit goes at once: what was used least recently first. An array's part goes when its
// file is closed or it is changed through it; changes by others are not noticed.
//
// It may be called at any time from any goroutine.
func SetCacheLimit(n int64) { cache.SetLimit(n) }

// Cache tells what is kept now.
func Cache() CacheInfo {
	s := cache.Stats()
	return CacheInfo{Hits: s.Hits, Misses: s.Misses, Used: s.Used, Limit: s.Limit}
}
