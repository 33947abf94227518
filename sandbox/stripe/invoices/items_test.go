package invoices_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// A client's invoice item is billed on the next invoice of its subscription. If the invoice is
// voided, the item stays on it. A preview includes the given items without storing them.
func TestItemsOfAClient(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	sub := w.Subscribe(price, "pm_card_visa")
	customer, id := sub.At("customer"), sub.At("id")
	of := "&currency=eur&customer=" + customer + "&subscription=" + id
	w.Post("/v1/invoiceitems", "amount=300&description=Setup&metadata[for]=a&period[start]=10&period[end]=20"+of).CheckValues(t, "a charge",
		"object", "invoiceitem", "amount", "300", "currency", "eur", "customer", customer, "invoice", "null", "proration", "false",
		"description", "Setup", "metadata.for", "a", "period.start", "10", "period.end", "20", "quantity", "1",
		"parent.subscription_details.subscription", id, "parent.subscription_details.subscription_item", "null")
	w.Post("/v1/invoiceitems", "amount=-50"+of)
	preview := w.Post("/v1/invoices/create_preview", "subscription="+id+"&invoice_items[0][amount]=7&invoice_items[0][currency]=eur&invoice_items[1][amount]=-2&invoice_items[1][currency]=eur")
	preview.CheckValues(t, "with more", "total", "1255")
	w.Post("/v1/invoices/create_preview", "subscription="+id).CheckValues(t, "without", "total", "1250")

	w.Clock.Set(w.Clock.Now().AddDate(0, 1, 0))
	w.Advance(stripetest.Day)
	renewal := w.Get("/v1/subscriptions/" + id).At("latest_invoice")
	w.Get("/v1/invoices/"+renewal).CheckValues(t, "the renewal", "total", "1250", "status", "paid",
		"lines.data.1.parent.type", "invoice_item_details", "lines.data.1.parent.invoice_item_details.subscription", id,
		"lines.data.1.parent.subscription_item_details", "null")
	if ids := w.IDs("/v1/invoiceitems?pending=true&customer=" + customer); len(ids) != 0 {
		t.Errorf("%d pending", len(ids))
	}
	if ids := w.IDs("/v1/invoiceitems?invoice=" + renewal); len(ids) != 2 {
		t.Errorf("the invoice has %d", len(ids))
	}
	w.Delete("/v1/subscriptions/" + id)
	w.CheckRefused(
		stripetest.Refusal{Name: "an ended one", Method: "POST", Path: "/v1/invoiceitems", Body: "amount=1" + of, Param: "subscription"},
		stripetest.Refusal{Name: "no amount", Method: "POST", Path: "/v1/invoiceitems", Body: of[1:], Code: "parameter_missing", Param: "amount"},
	)
	other := w.Subscribe(price, "pm_card_visa")
	w.CheckRefused(
		stripetest.Refusal{Name: "another customer", Method: "POST", Path: "/v1/invoiceitems", Body: "amount=1&currency=eur&customer=" + customer + "&subscription=" + other.At("id"), Param: "subscription"},
		stripetest.Refusal{Name: "another currency", Method: "POST", Path: "/v1/invoiceitems", Body: "amount=1&currency=usd&customer=" + other.At("customer") + "&subscription=" + other.At("id"), Param: "currency"},
	)
}
