package querycache

import "runtime"

// MaxEntries is the bound of a cache.
const MaxEntries = maxEntries

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Waiting returns how many calls wait for a load that has not begun.
func (c *Cache[K, V]) Waiting() int {
	c.loader.mu.Lock()
	defer c.loader.mu.Unlock()
	return len(c.loader.waiting)
}

// ChecksHits reports whether every hit is loaded again, so that tests cannot count loads.
func ChecksHits() bool { return checkHits != "" }

// MaxRunning is how many loads of a cache run at once.
func MaxRunning() int { return runtime.GOMAXPROCS(0) }
