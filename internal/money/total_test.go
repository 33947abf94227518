package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
)

func exact(t money.Total) *big.Int {
	n := new(big.Int).Mul(big.NewInt(t.Units), big.NewInt(1_000_000))
	return n.Add(n, big.NewInt(t.Millionths))
}

func anyTotal(t *rapid.T, name string) money.Total {
	units := rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(money.MaxTotal-3, money.MaxTotal-1), rapid.Int64Range(0, money.MaxTotal-1)).Draw(t, name)
	return money.NewTotal(units, rapid.OneOf(rapid.Int64Range(0, 2), rapid.Int64Range(999_998, 1_000_001)).Draw(t, name+" millionths"))
}

// Totals are added, subtracted, compared and formatted exactly.
func TestTotalIsExact(t *testing.T) {
	t.Parallel()
	most := exact(money.Total{Units: money.MaxTotal})
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyTotal(t, "a"), anyTotal(t, "b")
		sum, ok := a.Add(b)
		want := new(big.Int).Add(exact(a), exact(b))
		if fits := want.Cmp(most) <= 0; ok != fits || fits && exact(sum).Cmp(want) != 0 || !fits && exact(sum).Cmp(most) != 0 {
			t.Fatalf("%s + %s = %s, %v", a, b, sum, ok)
		}
		if a.Compare(b) != exact(a).Cmp(exact(b)) {
			t.Fatalf("%s compared with %s is %d", a, b, a.Compare(b))
		}
		if a.Compare(b) >= 0 && exact(a.Sub(b)).Cmp(new(big.Int).Sub(exact(a), exact(b))) != 0 {
			t.Fatalf("%s - %s = %s", a, b, a.Sub(b))
		}
		limit := rapid.Int64Range(max(0, a.Units-1), a.Units+1).Draw(t, "limit")
		if a.Exceeds(limit) != (exact(a).Cmp(exact(money.Total{Units: limit})) > 0) {
			t.Fatalf("%s exceeds %d: %v", a, limit, a.Exceeds(limit))
		}
		if ceil := a.Ceil(); a.Exceeds(ceil) || ceil > 0 && !a.Exceeds(ceil-1) {
			t.Fatalf("%s rounds up to %d", a, ceil)
		}
		text, err := json.Marshal(a)
		written, ok := new(big.Rat).SetString(string(text))
		if err != nil || !ok || written.Mul(written, big.NewRat(1_000_000, 1)).Cmp(new(big.Rat).SetInt(exact(a))) != 0 || a.String() != string(text) {
			t.Fatalf("%v is written %s", a, text)
		}
		if q, ok := a.Quantity(); ok && money.TotalOf(q) != a || !ok && a.Units <= math.MaxInt64/1_000_000-1 {
			t.Fatalf("%s is the quantity %s, %v", a, q, ok)
		}
	})
}

func TestTotalOfManyParts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		units, millionths int64
		want              string
	}{
		{0, 0, "0"},
		{1, 2_500_000, "3.5"},
		{money.MaxTotal - 1, 999_999, "999999999999999999.999999"},
		{money.MaxTotal - 1, 1_000_000, "1000000000000000000"},
		{money.MaxTotal, 1, "1000000000000000000"},
		{math.MaxInt64, 0, "1000000000000000000"},
		{0, math.MaxInt64, "9223372036854.775807"},
	} {
		if got := money.NewTotal(tt.units, tt.millionths).String(); got != tt.want {
			t.Errorf("%d units and %d millionths are %s, want %s", tt.units, tt.millionths, got, tt.want)
		}
	}
}
