//go:build !checkkept

package gather

import "context"

// check does nothing: see check_on.go.
func (k *Kept[K, V]) check(context.Context, K, kept[V]) {}
