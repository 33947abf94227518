package querycache

import (
	"context"
	"fmt"
	"os"
	"reflect"
)

// If checkHits is not empty, every cache hit is compared with the database. The linker sets it for
// tests: go test -ldflags="-X …/internal/querycache.checkHits=yes" (make check-cache).
var checkHits string

// check loads a cached value again. It ends the process if the loaded value differs although the
// generation is the same.
func (c *Cache[K, V]) check(ctx context.Context, key K, hit entry[V]) {
	if checkHits == "" {
		return
	}
	value, found, err := c.load(context.WithoutCancel(ctx), key)
	if generation, stable := c.tables.FreshGeneration(ctx); err != nil || !stable || generation != hit.generation {
		return
	}
	if !found || !reflect.DeepEqual(value, hit.value) {
		fmt.Fprintf(os.Stderr, "querycache: stale entry for %v: cached %+v, loaded (%t) %+v\n", key, hit.value, found, value)
		os.Exit(2)
	}
}
