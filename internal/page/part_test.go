package page_test

import (
	"context"
	"errors"
	"math"
	"net/url"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/page"
)

// A list that is read in parts has every entry once. A failed read returns no entries.
func TestAfter(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, page.PartSize - 1, page.PartSize, page.PartSize + 1, 3*page.PartSize + 7} {
		next := page.ReadAfter(0, func(_ context.Context, last, most int) (part []int, err error) {
			for n := last + 1; n <= length && len(part) < most; n++ {
				part = append(part, n)
			}
			return part, nil
		})
		var all []int
		for more := true; more; {
			var part []int
			var err error
			if part, more, err = next(t.Context()); err != nil || len(part) > page.PartSize {
				t.Fatalf("%d of %d: %v", len(part), length, err)
			}
			all = append(all, part...)
		}
		if len(all) != length || !slices.IsSorted(all) || len(slices.Compact(all)) != length {
			t.Errorf("%d of %d: %v", len(all), length, all)
		}
	}
	broken := errors.New("broken")
	next := page.ReadAfter(0, func(context.Context, int, int) ([]int, error) { return make([]int, page.PartSize), broken })
	if _, more, err := next(t.Context()); more || !errors.Is(err, broken) {
		t.Errorf("%v, more: %v", err, more)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][2]int32{
		"page=1":                            {25, 0},
		"page=3&per_page=10":                {10, 20},
		"page=1000000000000&per_page=2":     {2, math.MaxInt32},
		"page=9223372036854775807":          {25, math.MaxInt32},
		"page=21474837&per_page=100&status": {100, math.MaxInt32 - 47},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		q, err := page.ParsePart(values)
		if err != nil || q.IsWhole() {
			t.Fatalf("%s: %v", query, err)
		}
		if limit, offset := q.Limits(); [2]int32{limit, offset} != want {
			t.Errorf("%s: %d, %d, want %v", query, limit, offset, want)
		}
	}
}
