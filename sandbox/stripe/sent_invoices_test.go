package stripe_test

import (
	"net/http"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"
)

// sentParams returns the parameters of a subscription to a new price, whose invoices are sent.
func (w *world) sentParams(customerID string, days int64) *api.SubscriptionCreateParams {
	w.t.Helper()
	product := w.sold(1000, "eur", "month").Product.ID
	return &api.SubscriptionCreateParams{
		Customer: &customerID, CollectionMethod: api.String("send_invoice"), DaysUntilDue: &days,
		Items: []*api.SubscriptionCreateItemParams{{Quantity: api.Int64(2), PriceData: &api.SubscriptionCreateItemPriceDataParams{
			Currency: api.String("eur"), Product: &product, UnitAmount: api.Int64(1234),
			Recurring: &api.SubscriptionCreateItemPriceDataRecurringParams{Interval: api.String("month")},
		}}},
	}
}

// sent returns a subscription whose first invoice is finalized and due after 14 days.
func (w *world) sent() (*api.Subscription, *api.Invoice) {
	w.t.Helper()
	sub := must[*api.Subscription](w.t)(w.V1Subscriptions.Create(w.t.Context(), w.sentParams(w.customer("ada@example.test").ID, 14)))
	in := w.latestInvoice(sub.ID)
	return sub, must[*api.Invoice](w.t)(w.V1Invoices.FinalizeInvoice(w.t.Context(), in.ID, nil))
}

// https://docs.stripe.com/billing/invoices/subscription: the first invoice is finalized immediately
// when collection_method is charge_automatically, or an hour later when it is send_invoice.
// https://docs.stripe.com/api/subscriptions/create: "mark the subscription as active".
func TestInvoicesAreSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), w.sentParams(w.customer("ada@example.test").ID, 14)))
	price := sub.Items.Data[0].Price
	if sub.Status != "active" || sub.CollectionMethod != "send_invoice" || sub.DaysUntilDue != 14 || price.UnitAmount != 1234 || price.Active {
		t.Errorf("created: %s, %s, due after %d days, %+v", sub.Status, sub.CollectionMethod, sub.DaysUntilDue, price)
	}
	if in := w.latestInvoice(sub.ID); in.Status != "draft" || in.Total != 2468 || in.AutomaticallyFinalizesAt != w.clock.Now().Add(time.Hour).Unix() || in.NextPaymentAttempt != 0 {
		t.Errorf("the first invoice: %s, %d, finalized at %d", in.Status, in.Total, in.AutomaticallyFinalizesAt)
	}
	w.advance(time.Hour)
	in := w.latestInvoice(sub.ID)
	if in.Status != "open" || in.DueDate != w.clock.Now().Add(14*day).Unix() || in.AttemptCount != 0 {
		t.Errorf("an hour later: %s, due at %d, %d attempts", in.Status, in.DueDate, in.AttemptCount)
	}
	w.payOpen(sub.Customer.ID)
	if got := w.latestInvoice(sub.ID); got.Status != "paid" {
		t.Errorf("paid on the page: %s", got.Status)
	}
	w.until(33)
	if next := w.latestInvoice(sub.ID); next.ID == in.ID || next.Status != "open" || next.AmountPaid != 0 {
		t.Errorf("the renewal is charged: %s", next.Status)
	}
}

// https://docs.stripe.com/api/subscriptions/object, status: "If subscription
// collection_method=send_invoice it becomes past_due when its invoice is not paid by the due date".
// https://docs.stripe.com/api/invoices/pay, paid_out_of_band: "This will result in no charge being made."
func TestAnInvoiceIsPaidOutOfBand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, in := w.sent()
	w.until(13)
	if got := w.subscription(sub.ID).Status; got != "active" {
		t.Errorf("before the due date: %s", got)
	}
	w.until(14.1)
	if got := w.subscription(sub.ID).Status; got != "past_due" {
		t.Errorf("after the due date: %s", got)
	}
	paid := must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)}))
	if paid.Status != "paid" || paid.AmountRemaining != 0 || w.subscription(sub.ID).Status != "active" {
		t.Errorf("paid: %s, %d left, %s", paid.Status, paid.AmountRemaining, w.subscription(sub.ID).Status)
	}
	for ch, err := range w.V1Charges.List(t.Context(), nil).All(t.Context()) {
		t.Errorf("a charge: %+v, %v", ch, err)
	}
	_, err := w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)})
	refused(t, err, http.StatusBadRequest, "", "")
}

// An invoice whose charge failed can be paid out of band, and is not charged again.
func TestAFailedInvoiceIsPaidOutOfBand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	in := w.latestInvoice(sub.ID)
	must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaidOutOfBand: api.Bool(true)}))
	if got := w.subscription(sub.ID).Status; got != "active" {
		t.Errorf("the subscription is %s", got)
	}
	before := w.eventTypes()
	w.advance(10 * day)
	if after := w.since(before); len(after) > 0 {
		t.Errorf("and then: %v", after)
	}
}

func TestSentInvoiceErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cu := w.customer("ada@example.test").ID
	for _, c := range []struct {
		name, code, param string
		edit              func(p *api.SubscriptionCreateParams)
	}{
		{"without days", "parameter_missing", "days_until_due", func(p *api.SubscriptionCreateParams) { p.DaysUntilDue = nil }},
		{"charged with days", "", "days_until_due", func(p *api.SubscriptionCreateParams) { p.CollectionMethod = nil }},
		{"unknown method", "", "collection_method", func(p *api.SubscriptionCreateParams) { p.CollectionMethod = api.String("post") }},
		{"negative days", "parameter_invalid_integer", "days_until_due", func(p *api.SubscriptionCreateParams) { p.DaysUntilDue = api.Int64(-1) }},
		{"without a customer's email", "", "", func(p *api.SubscriptionCreateParams) {
			p.Customer = &must[*api.Customer](t)(w.V1Customers.Create(t.Context(), nil)).ID
		}},
		{"price and price_data", "", "items[0][price_data]", func(p *api.SubscriptionCreateParams) { p.Items[0].Price = &w.sold(1, "eur", "month").ID }},
		{"without a product", "parameter_missing", "items[0][price_data][product]", func(p *api.SubscriptionCreateParams) { p.Items[0].PriceData.Product = nil }},
		{"once", "parameter_missing", "items[0][price_data][recurring]", func(p *api.SubscriptionCreateParams) { p.Items[0].PriceData.Recurring = nil }},
	} {
		params := w.sentParams(cu, 14)
		c.edit(params)
		_, err := w.V1Subscriptions.Create(t.Context(), params)
		t.Log(c.name)
		refused(t, err, http.StatusBadRequest, c.code, c.param)
	}
	sub, _ := w.sent()
	// https://docs.stripe.com/billing/subscriptions/pending-updates
	_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		PaymentBehavior: api.String("pending_if_incomplete"), ProrationBehavior: api.String("always_invoice"),
		Items: []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: api.Int64(3)}},
	})
	refused(t, err, http.StatusBadRequest, "", "payment_behavior")
}

// Changing the collection method of a running subscription affects only later invoices.
func TestCollectionMethodChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	got := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		CollectionMethod: api.String("send_invoice"), DaysUntilDue: api.Int64(5),
	}))
	if got.CollectionMethod != "send_invoice" || got.DaysUntilDue != 5 {
		t.Errorf("sent: %s, %d days", got.CollectionMethod, got.DaysUntilDue)
	}
	changed := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		ProrationBehavior: api.String("always_invoice"), PaymentBehavior: api.String("allow_incomplete"),
		Items: []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: api.Int64(3)}},
	}))
	if in := w.latestInvoice(sub.ID); changed.Items.Data[0].Quantity != 3 || in.Status != "draft" || in.BillingReason != "subscription_update" {
		t.Errorf("the change: %d units, its invoice is %s", changed.Items.Data[0].Quantity, in.Status)
	}
	back := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{CollectionMethod: api.String("charge_automatically")}))
	if back.CollectionMethod != "charge_automatically" || back.DaysUntilDue != 0 {
		t.Errorf("charged: %s, %d days", back.CollectionMethod, back.DaysUntilDue)
	}
}
