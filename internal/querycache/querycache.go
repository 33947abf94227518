// Package querycache answers the queries that nearly every request makes: for callers, memberships,
// entitlements and usage summaries. On SQLite it caches each result in memory until a table that
// the query reads changes. On PostgreSQL it does not cache, because this process does not notice
// the commits of other instances. Instead, it loads the keys of concurrent requests together.
// docs/performance.md shows the effect of both.
package querycache

import (
	"context"
	"sync"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxEntries bounds a cache. Entries are a few hundred bytes to a few kilobytes.
const maxEntries = 4096

// Config configures a Cache.
type Config[K comparable, V any] struct {
	DB *sqldb.DB
	// Tables are all tables that Load reads.
	Tables []string
	// Load reads the values of keys, in the transaction of ctx if there is one. Keys may repeat;
	// keys without a value are left out of the result.
	Load func(ctx context.Context, keys []K) (map[K]V, error)
	// Valid reports whether a cached value may be used now, for values that depend on the
	// time; nil means always.
	Valid func(value V) bool
}

// Cache reads values through Config.Load. It is safe for concurrent use. Callers share the values
// and must not change them.
//
// Invariant: Get never returns a value older than a commit of this process that any caller could
// have seen before calling Get (see sqldb.Tables).
type Cache[K comparable, V any] struct {
	config Config[K, V]
	loader *loader[K, V] // on PostgreSQL
	tables *sqldb.Tables // on SQLite

	mu      sync.RWMutex
	entries map[K]entry[V]
}

type entry[V any] struct {
	value      V
	generation uint64 // of the tables
}

// New returns an empty cache.
func New[K comparable, V any](c Config[K, V]) *Cache[K, V] {
	return &Cache[K, V]{
		config: c, loader: &loader[K, V]{load: c.Load}, tables: c.DB.Tables(c.Tables...), entries: map[K]entry[V]{},
	}
}

// Get returns the value of a key and reports whether it exists. In a transaction it returns the
// value that the transaction sees. On SQLite it uses the cache only while the generation is stable,
// so the open transaction has not changed the tables.
func (c *Cache[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	if c.tables == nil {
		if sqldb.InTx(ctx) {
			return c.load(ctx, key)
		}
		return c.loader.get(ctx, key)
	}
	generation, stable := c.tables.Generation()
	if !stable {
		return c.load(ctx, key)
	}
	if value, found := c.cachedValue(ctx, key, generation); found {
		return value, true, nil
	}
	value, found, err = c.load(ctx, key)
	if found {
		c.store(map[K]V{key: value}, generation)
	}
	return value, found, err
}

// Lookup returns the cached values of keys, the keys that the caller must load, and a function
// that caches the loaded values. On PostgreSQL the caller must load all keys.
func (c *Cache[K, V]) Lookup(ctx context.Context, keys []K) (values map[K]V, missing []K, store func(loaded map[K]V)) {
	values = make(map[K]V, len(keys))
	if c.tables == nil {
		return values, keys, func(map[K]V) {}
	}
	generation, stable := c.tables.Generation()
	if !stable {
		return values, keys, func(map[K]V) {}
	}
	for _, key := range keys {
		if value, found := c.cachedValue(ctx, key, generation); found {
			values[key] = value
		} else {
			missing = append(missing, key)
		}
	}
	return values, missing, func(loaded map[K]V) { c.store(loaded, generation) }
}

// cachedValue returns the cached value of a key if it belongs to the generation.
func (c *Cache[K, V]) cachedValue(ctx context.Context, key K, generation uint64) (value V, found bool) {
	c.mu.RLock()
	hit, found := c.entries[key]
	c.mu.RUnlock()
	if !found || hit.generation != generation || !c.isValid(hit.value) {
		return value, false
	}
	c.check(ctx, key, hit)
	return hit.value, true
}

// store caches values that were loaded after the generation was read, unless the generation has
// changed since.
func (c *Cache[K, V]) store(loaded map[K]V, generation uint64) {
	if after, stable := c.tables.Generation(); !stable || after != generation {
		return
	}
	for key, value := range loaded {
		c.put(key, entry[V]{value, generation})
	}
}

func (c *Cache[K, V]) load(ctx context.Context, key K) (value V, found bool, err error) {
	values, err := c.config.Load(ctx, []K{key})
	value, found = values[key]
	return value, found, err
}

func (c *Cache[K, V]) isValid(value V) bool { return c.config.Valid == nil || c.config.Valid(value) }

// put stores an entry. A full cache drops an arbitrary one.
func (c *Cache[K, V]) put(key K, e entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, replaces := c.entries[key]; !replaces && len(c.entries) >= maxEntries {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	c.entries[key] = e
}
