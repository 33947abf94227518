package kernel

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRetryDelaysGrow(t *testing.T) {
	t.Parallel()
	var all []string
	for n := 1; n <= 10; n++ {
		all = append(all, retryAfter(n).String())
	}
	if diff := cmp.Diff("200ms 1s 5s 30s 2m0s 10m0s 1h0m0s 3h0m0s 3h0m0s 3h0m0s", strings.Join(all, " ")); diff != "" {
		t.Error(diff)
	}
}
