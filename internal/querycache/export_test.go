package querycache

import "runtime"

// MaxEntries is the maximum number of entries in a cache.
const MaxEntries = maxEntries

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Waiting returns the number of calls that wait for a load that has not started.
func (c *Cache[K, V]) Waiting() int {
	c.loader.mu.Lock()
	defer c.loader.mu.Unlock()
	return len(c.loader.waiting)
}

// ChecksHits reports whether every hit is loaded again, in which case tests cannot count loads.
func ChecksHits() bool { return checkHits != "" }

// MaxRunning is the maximum number of concurrent loads of a cache.
func MaxRunning() int { return runtime.GOMAXPROCS(0) }
