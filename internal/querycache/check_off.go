//go:build !checkcache

package querycache

import "context"

// check does nothing; see check_on.go.
func (c *Cache[K, V]) check(context.Context, K, entry[V]) {}
