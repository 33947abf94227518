package charge_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

func TestAmountsThatTheProviderCharges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		currency string
		decimals int
		// Pairs of an amount in this service and the provider's amount.
		good [][2]int64
		// Amounts that cannot be charged, with the nearest chargeable ones.
		bad map[int64][]int64
		min int64
	}{
		{"EUR", 2, [][2]int64{{0, 0}, {1, 1}, {99_999_999, 99_999_999}}, map[int64][]int64{-1: {1}, 100_000_000: {99_999_999}}, 50},
		{"usd", 3, [][2]int64{{50, 5}}, map[int64][]int64{55: {50, 60}, 5: {10}}, 500},
		{"HUF", 2, [][2]int64{{1045, 1045}}, nil, 17500}, // whole amounts are required only for payouts
		{"JPY", 0, [][2]int64{{1, 1}, {500, 500}}, map[int64][]int64{-500: {1}}, 50},
		{"JPY", 2, [][2]int64{{50_000, 500}}, map[int64][]int64{50_050: {50_000, 50_100}, 10_000_000_000: {9_999_999_900}}, 5000},
		{"KWD", 3, [][2]int64{{5120, 5120}}, map[int64][]int64{5124: {5120, 5130}, 1: {10}, 99_999_999: {99_999_990}}, 0},
		{"TND", 2, [][2]int64{{11, 110}}, map[int64][]int64{10_000_000: {9_999_999}}, 0},
		{"ISK", 2, [][2]int64{{500, 500}}, map[int64][]int64{550: {500, 600}}, 0},
		{"ISK", 0, [][2]int64{{5, 500}, {999_999, 99_999_900}}, map[int64][]int64{1_000_000: {999_999}}, 0},
		{"UGX", 0, [][2]int64{{1, 100}}, nil, 0},
		{"MGA", 2, [][2]int64{{100, 1}}, map[int64][]int64{1: {100}}, 0},
		{"IDR", 2, [][2]int64{{999_999_999_999, 999_999_999_999}}, nil, 0},
	} {
		u, err := charge.UnitsOf(tt.currency, tt.decimals)
		if err != nil || u.Minimum() != tt.min {
			t.Errorf("%s with %d decimals: %v, minimum %d", tt.currency, tt.decimals, err, u.Minimum())
		}
		for _, pair := range tt.good {
			if got, err := u.ToProvider(pair[0]); err != nil || got != pair[1] || u.FromProvider(got) != pair[0] {
				t.Errorf("%d %s: %d at the provider, converted back %d, %v", pair[0], tt.currency, got, u.FromProvider(got), err)
			}
		}
		for minor, want := range tt.bad {
			_, err := u.ToProvider(minor)
			refusal, _ := errors.AsType[*fault.Error](err)
			if !errors.Is(err, charge.ErrUnsupported) || !cmp.Equal(refusal.Extra["possible_amounts"], any(want)) {
				t.Errorf("%d %s: %v, possible %v", minor, tt.currency, err, u.NearestChargeable(minor))
			}
			for _, possible := range want {
				if err := u.Check(possible); err != nil {
					t.Errorf("%d %s is proposed, but %v", possible, tt.currency, err)
				}
			}
		}
	}
	for currency, decimals := range map[string]int{"EUR": 0, "KWD": 0, "XYZ": 1} {
		if _, err := charge.UnitsOf(currency, decimals); !errors.Is(err, charge.ErrMinorUnits) {
			t.Errorf("%s with %d decimals: %v, want ErrMinorUnits", currency, decimals, err)
		}
	}
}

// Every chargeable amount survives the conversion to the provider and back, in every currency and
// with any number of decimals in this service. Any other amount lies between the proposed ones.
func TestUnitsThereAndBack(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"EUR", "JPY", "KWD", "ISK", "UGX", "MGA", "IDR", "HUF"} {
		for _, decimals := range []int{0, 2, 3} {
			u, err := charge.UnitsOf(currency, decimals)
			if err != nil {
				continue
			}
			for minor := int64(0); minor < 5000; minor += 7 {
				possible := u.NearestChargeable(minor)
				there, err := u.ToProvider(minor)
				switch {
				case len(possible) == 0 && err == nil:
					if again := u.FromProvider(there); again != minor {
						t.Errorf("%d %s with %d decimals is %d at the provider, converted back %d", minor, currency, decimals, there, again)
					}
				case len(possible) == 0 || err == nil:
					t.Errorf("%d %s with %d decimals: %v, possible %v", minor, currency, decimals, err, possible)
				case len(possible) == 2 && (possible[0] >= minor || possible[1] <= minor):
					t.Errorf("%d %s with %d decimals is not between %v", minor, currency, decimals, possible)
				}
				if u.FromProvider(-there) != -u.FromProvider(there) {
					t.Errorf("%d %s: a credit is not the opposite of a charge", there, currency)
				}
			}
			if most := u.Maximum(); u.Check(most) != nil || u.Check(most+1) == nil {
				t.Errorf("%s with %d decimals: %d is not the maximum", currency, decimals, most)
			}
		}
	}
}
