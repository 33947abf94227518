package vat

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The included tax is rounded to the nearest cent.
func TestTaxWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ total, rate, want int64 }{
		{1900, 0, 0},
		{1900, 200_000, 317},
		{119, 190_000, 19},
		{-119, 190_000, -19},
		{0, 190_000, 0},
		{1, 1_000_000, 1},
		{3, 1_000_000, 2},
	} {
		if got := IncludedTax(test.total, test.rate); got != test.want {
			t.Errorf("%d at %d: %d, want %d", test.total, test.rate, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(-1e15, 1e15).Draw(t, "total")
		rate := rapid.Int64Range(0, 1_000_000).Draw(t, "rate")
		exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(total), big.NewInt(rate)), big.NewInt(1_000_000+rate))
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(IncludedTax(total, rate)), exact)
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("off by %s", off)
		}
	})
}
