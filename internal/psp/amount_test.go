package psp_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/tenantry/tenantry/internal/psp"
)

func TestAmountsThatTheProviderCharges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		currency string
		units    int
		good     []int64
		bad      []int64
	}{
		{"EUR", 2, []int64{0, 1, 1999}, []int64{-1}},
		{"usd", 2, []int64{5}, nil},
		{"HUF", 2, []int64{1045}, nil}, // whole only for payouts
		{"JPY", 0, []int64{1, 500}, []int64{-500}},
		{"KWD", 3, []int64{0, 5120, 5130}, []int64{5124, 1}},
		{"tnd", 3, []int64{10}, []int64{11}},
		{"ISK", 2, []int64{500}, []int64{550}},
		{"UGX", 2, []int64{100}, []int64{1}},
	}
	for _, tt := range tests {
		if got := psp.MinorUnits(tt.currency); got != tt.units {
			t.Errorf("%s has %d decimals, want %d", tt.currency, got, tt.units)
		}
		for units := range 4 {
			err := psp.CheckMinorUnits(tt.currency, units)
			if good := units == tt.units; good != (err == nil) || !good && !errors.Is(err, psp.ErrMinorUnits) {
				t.Errorf("%s with %d decimals: %v", tt.currency, units, err)
			}
		}
		for _, amount := range tt.good {
			if err := psp.CheckAmount(tt.currency, amount); err != nil {
				t.Errorf("%d %s: %v", amount, tt.currency, err)
			}
		}
		for _, amount := range tt.bad {
			if err := psp.CheckAmount(tt.currency, amount); !errors.Is(err, psp.ErrAmount) {
				t.Errorf("%d %s: %v, want ErrAmount", amount, tt.currency, err)
			}
		}
	}
}

func TestCreatePriceRefusesSuchAnAmountItself(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{"id": "price_1"}`) })
	_, err := provider.client(t).CreatePrice(t.Context(), psp.PriceParams{
		Key: "k", ProductID: "prod_1", Currency: "KWD", UnitAmount: 5124, IntervalUnit: psp.IntervalMonth, IntervalCount: 1,
	})
	if !errors.Is(err, psp.ErrAmount) {
		t.Errorf("got %v", err)
	}
	if got := len(provider.requests()); got != 0 {
		t.Errorf("%d requests were sent", got)
	}
}
