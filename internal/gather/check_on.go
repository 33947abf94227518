//go:build checkkept

package gather

import (
	"context"
	"fmt"
	"os"
	"reflect"
)

// check finds a value that was kept again, and ends the process if it is another one
// although nothing that it depends on has changed, neither before nor meanwhile.
func (k *Kept[K, V]) check(ctx context.Context, key K, hit kept[V]) {
	if !k.holds(hit) {
		return // since it was taken
	}
	values, err := k.look(context.WithoutCancel(ctx), []K{key})
	if err != nil || !k.holds(hit) {
		return
	}
	if value, found := values[key]; !found || !reflect.DeepEqual(value, hit.value) {
		fmt.Fprintf(os.Stderr, "gather: kept of %v: %+v\nfound now (%t): %+v\n", key, hit.value, found, value)
		os.Exit(2)
	}
}
