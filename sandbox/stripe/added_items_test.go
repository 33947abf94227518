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
