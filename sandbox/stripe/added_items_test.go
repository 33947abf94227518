package stripe_test

import (
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"
)

// add_invoice_items are billed on the invoice of an update. In the flexible billing mode, added
// items alone cause no invoice, not even with always_invoice
// (https://docs.stripe.com/billing/subscriptions/billing-mode/compare#invoice-one-time-charges).
func TestAddInvoiceItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sold(1000, "eur", "month")
	_, sub := w.bought(p, 2)
	update := func(product, currency string, quantity int64) (*api.Subscription, error) {
		at := w.clock.Now().Unix()
		return w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
			Items: []*api.SubscriptionUpdateItemParams{item(sub, nil, quantity)}, ProrationBehavior: api.String("always_invoice"),
			AddInvoiceItems: []*api.SubscriptionUpdateAddInvoiceItemParams{{
				PriceData: &api.InvoiceItemPriceDataParams{Currency: api.String(currency), Product: api.String(product), UnitAmount: api.Int64(300)},
				Period: &api.SubscriptionUpdateAddInvoiceItemPeriodParams{
					Start: &api.SubscriptionUpdateAddInvoiceItemPeriodStartParams{Type: api.String("timestamp"), Timestamp: api.Int64(at)},
					End:   &api.SubscriptionUpdateAddInvoiceItemPeriodEndParams{Type: api.String("timestamp"), Timestamp: api.Int64(at + 60)},
				},
				Metadata: map[string]string{"note": "again"},
			}},
		})
	}
	product := sub.Items.Data[0].Price.Product.ID
	for name, try := range map[string][2]string{"unknown product": {"prod_none", "eur"}, "another currency": {product, "usd"}} {
		if _, err := update(try[0], try[1], 3); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	before := w.latestInvoice(sub.ID).ID
	if _, err := update(product, "eur", 2); err != nil {
		t.Fatal(err)
	}
	if got := w.latestInvoice(sub.ID).ID; got != before {
		t.Error("item without an update created an invoice")
	}
	w.advance(time.Hour)
	if _, err := update(product, "eur", 3); err != nil {
		t.Fatal(err)
	}
	added := 0
	for _, line := range w.latestInvoice(sub.ID).Lines.Data {
		if line.Metadata["note"] == "again" && line.Amount == 300 && line.Period.End-line.Period.Start == 60 {
			added++
		}
	}
	if added != 2 {
		t.Errorf("the invoice of the change has %d of the items", added)
	}
}

// The discount of the subscription applies to an added item unless discountable is false. Prorations are
// never discounted a second time
// (https://docs.stripe.com/changelog/dahlia/2026-05-27/invoice-items-discount-eligibility).
func TestDiscountOfAddInvoiceItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, code := w.coupon("HALF", nil, nil)
	p, large := w.sold(1000, "eur", "month"), w.sold(3000, "eur", "month")
	for name, c := range map[string]struct {
		discountable *bool
		total        int64
	}{
		"by default":     {nil, 1500 - 500 + 150},
		"discountable":   {api.Bool(true), 1500 - 500 + 150},
		"undiscountable": {api.Bool(false), 1500 - 500 + 300},
	} {
		sub := w.discounted(p, code)
		at := w.clock.Now().Unix()
		changed := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
			Items:             []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Price: &large.ID}},
			ProrationBehavior: api.String("always_invoice"), ProrationDate: &at,
			AddInvoiceItems: []*api.SubscriptionUpdateAddInvoiceItemParams{{
				Discountable: c.discountable,
				PriceData:    &api.InvoiceItemPriceDataParams{Currency: api.String("eur"), Product: &p.Product.ID, UnitAmount: api.Int64(300)},
			}},
		}))
		if in := w.latestInvoice(changed.ID); in.Total != c.total {
			t.Errorf("%s: the invoice is %d, want %d", name, in.Total, c.total)
		}
	}
}
