package psp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

func TestAmountsThatTheProviderCharges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		currency string
		decimals int
		// Pairs of an amount here and the provider's.
		good [][2]int64
		// Amounts that cannot be charged, with the nearest ones that can.
		bad map[int64][]int64
		min int64
	}{
		{"EUR", 2, [][2]int64{{0, 0}, {1, 1}, {99_999_999, 99_999_999}}, map[int64][]int64{-1: {1}, 100_000_000: {99_999_999}}, 50},
		{"usd", 3, [][2]int64{{50, 5}}, map[int64][]int64{55: {50, 60}, 5: {10}}, 500},
		{"HUF", 2, [][2]int64{{1045, 1045}}, nil, 17500}, // whole only for payouts
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
		u, err := psp.UnitsOf(tt.currency, tt.decimals)
		if err != nil || u.Minimum() != tt.min {
			t.Errorf("%s with %d decimals: %v, minimum %d", tt.currency, tt.decimals, err, u.Minimum())
		}
		for _, pair := range tt.good {
			if got, err := u.ToProvider(pair[0]); err != nil || got != pair[1] || u.FromProvider(got) != pair[0] {
				t.Errorf("%d %s: %d there and %d again, %v", pair[0], tt.currency, got, u.FromProvider(got), err)
			}
		}
		for amount, want := range tt.bad {
			_, err := u.ToProvider(amount)
			refusal, _ := errors.AsType[*fault.Error](err)
			if !errors.Is(err, psp.ErrAmount) || !cmp.Equal(refusal.Extra["possible_amounts"], any(want)) {
				t.Errorf("%d %s: %v, possible %v", amount, tt.currency, err, u.Possible(amount))
			}
			for _, possible := range want {
				if err := u.Check(possible); err != nil {
					t.Errorf("%d %s is proposed, but %v", possible, tt.currency, err)
				}
			}
		}
	}
	for currency, decimals := range map[string]int{"EUR": 0, "KWD": 0, "XYZ": 1} {
		if _, err := psp.UnitsOf(currency, decimals); !errors.Is(err, psp.ErrMinorUnits) {
			t.Errorf("%s with %d decimals: %v, want ErrMinorUnits", currency, decimals, err)
		}
	}
}

// What is read comes in our units: prices, subscriptions, and invoices with each line.
func TestAmountsAreReadInOurUnits(t *testing.T) {
	t.Parallel()
	const price = `"currency": "isk", "active": true, "recurring": {"interval": "month", "interval_count": 1}`
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch r.URL.Path {
		case "/v1/prices/price_whole":
			reply(w, 200, `{"id": "price_whole", "unit_amount": 120100, `+price+`}`)
		case "/v1/prices/price_part":
			reply(w, 200, `{"id": "price_part", "unit_amount": 120150, `+price+`}`)
		case "/v1/subscriptions/sub_1":
			reply(w, 200, strings.NewReplacer(`"eur"`, `"isk"`, `1200`, `120000`).Replace(subscriptionJSON))
		default:
			reply(w, 200, `{"id": "in_1", "currency": "isk", "subtotal": 250100, "total": 300150, "amount_due": -150,
				"total_taxes": [{"amount": 50000, "tax_behavior": "exclusive"}],
				"lines": {"data": [{"id": "il_1", "currency": "isk", "amount": -250100, "quantity": 2, "pricing": {"unit_amount_decimal": "125050.5"}}]}}`)
		}
	})
	c := provider.client(t, func(c *psp.Config) {
		c.Decimals = func(_ context.Context, code string) (int, bool, error) { return 0, code == "ISK", nil }
	})
	whole, err := c.GetPrice(t.Context(), "price_whole")
	if err != nil || whole.UnitAmount == nil || *whole.UnitAmount != 1201 {
		t.Errorf("price: %+v, %v", whole, err)
	}
	if part, err := c.GetPrice(t.Context(), "price_part"); err != nil || part.UnitAmount != nil {
		t.Errorf("a price with a fraction of our unit: %+v, %v", part, err)
	}
	if sub, err := c.GetSubscription(t.Context(), "sub_1"); err != nil || sub.UnitAmount != 1200 {
		t.Errorf("subscription: %+v, %v", sub, err)
	}
	in, err := c.GetInvoice(t.Context(), "in_1")
	if err != nil {
		t.Fatal(err)
	}
	got := []int64{in.Subtotal, in.Tax, in.Total, in.AmountDue, in.Lines[0].Amount}
	if diff := cmp.Diff([]int64{2501, 500, 3002, -2, -2501}, got); diff != "" || in.Lines[0].UnitAmount != "1250.505" {
		t.Errorf("invoice: %s %s", diff, in.Lines[0].UnitAmount)
	}
}

// Without knowing how a currency is counted here nothing is read or written.
func TestAmountsNeedTheirDecimals(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, `{"id": "in_1", "currency": "isk", "total": 100}`)
	})
	broken := errors.New("the database is away")
	c := provider.client(t, func(c *psp.Config) {
		c.Decimals = func(context.Context, string) (int, bool, error) { return 0, false, broken }
	})
	if _, err := c.GetInvoice(t.Context(), "in_1"); !errors.Is(err, broken) {
		t.Errorf("an invoice was read: %v", err)
	}
	_, err := c.CreatePrice(t.Context(), psp.PriceParams{Key: "k", ProductID: "prod_1", Currency: "ISK", UnitAmount: 100})
	if sent := len(provider.requests()); !errors.Is(err, broken) || sent != 1 {
		t.Errorf("a price was made: %v, %d requests", err, sent)
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
