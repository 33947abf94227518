package psp_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/psp/charge"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
)

// Amounts are read in the units of this service: prices, subscriptions, and invoices with each
// line.
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
		t.Errorf("a price with a fraction of a unit: %+v, %v", part, err)
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

// If the decimals of a currency cannot be looked up, nothing is read or written. This is not a
// failure of the provider: the call is not retried, and the circuit breaker stays closed.
func TestAmountsNeedTheirDecimals(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, `{"id": "in_1", "currency": "isk", "total": 100, "data": []}`)
	})
	broken := errors.New("the database is away")
	c := provider.client(t, func(c *psp.Config) {
		c.Decimals = func(context.Context, string) (int, bool, error) { return 0, false, broken }
		c.BreakerLimit = 1
	})
	if amount, err := c.RefundedAmount(t.Context(), psp.Invoice{ID: "in_1", Currency: "ISK", Total: 100}); !errors.Is(err, broken) {
		t.Errorf("refunded %d, %v", amount, err)
	}
	const reads = 4
	for range reads - 1 {
		if _, err := c.GetInvoice(t.Context(), "in_1"); !errors.Is(err, broken) || errors.Is(err, psp.ErrUnavailable) {
			t.Errorf("an invoice was read: %v", err)
		}
	}
	_, err := c.CreatePrice(t.Context(), psp.PriceParams{Key: "k", ProductID: "prod_1", Currency: "ISK", UnitAmount: 100})
	if sent := len(provider.requests()); !errors.Is(err, broken) || sent != reads {
		t.Errorf("a price was made: %v, %d requests", err, sent)
	}
}

func TestCreatePriceRefusesSuchAnAmountItself(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{"id": "price_1"}`) })
	_, err := provider.client(t).CreatePrice(t.Context(), psp.PriceParams{
		Key: "k", ProductID: "prod_1", Currency: "KWD", UnitAmount: 5124, IntervalUnit: psp.IntervalMonth, IntervalCount: 1,
	})
	if !errors.Is(err, charge.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if got := len(provider.requests()); got != 0 {
		t.Errorf("%d requests were sent", got)
	}
}
