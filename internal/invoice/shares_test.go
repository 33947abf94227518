package invoice_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/invoice"
)

func TestShares(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount int64
		parts  []int64
		want   []int64
	}{
		{100, nil, []int64{}},
		{100, []int64{0, 0}, []int64{100, 0}},
		{100, []int64{5, -5}, []int64{100, 0}},
		{100, []int64{1, 1, 1}, []int64{34, 33, 33}},
		{81, []int64{100}, []int64{81}},
		{-81, []int64{-100}, []int64{-81}},
		{84, []int64{150, -50}, []int64{126, -42}},
		{-84, []int64{50, -150}, []int64{42, -126}},
		{0, []int64{3, 4}, []int64{0, 0}},
		{math.MaxInt64 - 1, []int64{math.MaxInt64 / 2, math.MaxInt64 / 2}, []int64{math.MaxInt64 / 2, math.MaxInt64 / 2}},
	} {
		if got := invoice.SplitAmount(c.amount, c.parts); !slices.Equal(got, c.want) {
			t.Errorf("%d in %v: %v, want %v", c.amount, c.parts, got, c.want)
		}
	}
}

// The shares add up to the amount, and each is within one unit of its exact value.
func TestSharesAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Int64Range(-1_000_000, 1_000_000).Draw(t, "amount")
		parts := rapid.SliceOfN(rapid.Int64Range(-100_000, 100_000), 1, 20).Draw(t, "parts")
		var sum, total int64
		for _, part := range parts {
			sum += part
		}
		for i, share := range invoice.SplitAmount(amount, parts) {
			total += share
			if exact := float64(amount) * float64(parts[i]) / float64(sum); sum != 0 && math.Abs(exact-float64(share)) > 1.000001 {
				t.Fatalf("share %d of part %d", share, parts[i])
			}
		}
		if total != amount {
			t.Fatalf("%d, want %d", total, amount)
		}
	})
}
