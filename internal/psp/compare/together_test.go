package compare_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/psp/compare"
)

// However many comparisons fail, the error stays short and names the first failures.
func TestTogether(t *testing.T) {
	t.Parallel()
	first := errors.New("the first")
	for n, want := range map[int]string{
		0: "<nil>",
		1: "the first",
		5: "the first\n1\n2\n3\n4",
		6: "the first\n1\n2\n3\n4\nand 1 more failures",
		9: "the first\n1\n2\n3\n4\nand 4 more failures",
	} {
		var failures []error
		for i := range n {
			failures = append(failures, nil, fmt.Errorf("%d", i))
		}
		if n > 0 {
			failures[1] = first
		}
		err := compare.JoinErrors(failures)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("of %d: %q", n, got)
		}
		if errors.Is(err, first) != (n > 0) {
			t.Errorf("of %d: errors.Is does not find the first error", n)
		}
	}
}
