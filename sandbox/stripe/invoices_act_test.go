package stripe_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

func TestDraftsAreFinalizedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(28)
	draft := w.latestInvoice(sub.ID)
	if res, _ := w.call("GET", "/invoices/"+draft.ID+"/pdf", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("the PDF of a draft returns %d", res.StatusCode)
	}
	_, err := w.V1Invoices.Delete(t.Context(), draft.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	w.advance(10 * time.Minute)
	open := must[*api.Invoice](t)(w.V1Invoices.FinalizeInvoice(t.Context(), draft.ID, nil))
	if open.Status != "open" || open.AttemptCount != 0 || open.NextPaymentAttempt != w.clock.Now().Add(time.Hour).Unix() {
		t.Errorf("finalized: %s, next attempt %d", open.Status, open.NextPaymentAttempt)
	}
	if res, _ := w.call("GET", "/invoices/"+draft.ID+"/pdf", "", nil); res.StatusCode != http.StatusFound {
		t.Errorf("the PDF of an open invoice returns %d", res.StatusCode)
	}
	_, err = w.V1Invoices.Delete(t.Context(), draft.ID, nil)
	refused(t, err, http.StatusBadRequest, "invoice_not_editable", "")
	_, err = w.V1Invoices.FinalizeInvoice(t.Context(), draft.ID, nil)
	refused(t, err, http.StatusBadRequest, "invoice_not_editable", "")
	w.advance(time.Hour)
	if in := w.latestInvoice(sub.ID); in.Status != "paid" || in.AttemptCount != 1 {
		t.Errorf("an hour later: %s after %d attempts", in.Status, in.AttemptCount)
	}
}

func TestADraftIsPaidAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(28)
	draft := w.latestInvoice(sub.ID)
	if in := must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), draft.ID, nil)); in.Status != "paid" || in.AmountPaid != 1000 {
		t.Errorf("paid: %s", in.Status)
	}
	before := w.eventTypes()
	w.until(30)
	if after := w.since(before); len(after) > 0 {
		t.Errorf("and then: %v", after)
	}
}

func TestUncollectibleInvoices(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(*world, string) (*api.Invoice, error){
		"void": func(w *world, id string) (*api.Invoice, error) {
			return w.V1Invoices.VoidInvoice(w.t.Context(), id, nil)
		},
		"uncollectible": func(w *world, id string) (*api.Invoice, error) {
			return w.V1Invoices.MarkUncollectible(w.t.Context(), id, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sub := w.overdue()
			in := w.latestInvoice(sub.ID)
			before := w.eventTypes()
			gone := must[*api.Invoice](t)(giveUp(w, in.ID))
			if string(gone.Status) != name || gone.NextPaymentAttempt != 0 || gone.StatusTransitions.VoidedAt+gone.StatusTransitions.MarkedUncollectibleAt != w.clock.Now().Unix() {
				t.Errorf("given up: %+v", gone)
			}
			if got := w.subscription(sub.ID); got.Status != "active" {
				t.Errorf("the subscription is %s", got.Status)
			}
			want := []string{"invoice.marked_uncollectible", "customer.subscription.updated"}
			if name == "void" {
				want = []string{"payment_intent.canceled", "invoice.voided", "customer.subscription.updated"}
			}
			if diff := cmp.Diff(want, w.since(before)); diff != "" {
				t.Error(diff)
			}
			before = w.eventTypes()
			w.until(50)
			if after := w.since(before); len(after) > 0 {
				t.Errorf("payment is retried: %v", after)
			}
			_, err := w.V1Invoices.MarkUncollectible(t.Context(), in.ID, nil)
			refused(t, err, http.StatusBadRequest, "invoice_not_editable", "")
			card := w.attached(sub.Customer.ID, "pm_card_visa")
			paid, err := w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaymentMethod: &card.ID})
			if name == "void" {
				refused(t, err, http.StatusBadRequest, "invoice_not_editable", "")
			} else if err != nil || paid.Status != "paid" {
				t.Errorf("an invoice that was written off is paid: %+v, %v", paid, err)
			}
		})
	}
	w := newWorld(t)
	session, _ := w.bought(w.sold(1000, "eur", "month"), 1)
	_, err := w.V1Invoices.VoidInvoice(t.Context(), session.Invoice.ID, nil)
	refused(t, err, http.StatusBadRequest, "invoice_not_editable", "")
}

func TestVoidingGivesTheBalanceBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.paid(w.checkoutParams(w.sold(3000, "eur", "month"), 1), "4000000000000341")
	w.changed(sub, w.sold(2900, "eur", "month"), 1, "always_invoice")
	w.until(28)
	w.advance(time.Hour)
	if in := w.latestInvoice(sub.ID); in.AmountDue != 2800 || w.balance(sub.Customer.ID) != 0 {
		t.Fatalf("%d is due, the balance is %d", in.AmountDue, w.balance(sub.Customer.ID))
	}
	must[*api.Invoice](t)(w.V1Invoices.VoidInvoice(t.Context(), w.latestInvoice(sub.ID).ID, nil))
	if got := w.balance(sub.Customer.ID); got != -100 {
		t.Errorf("balance is %d", got)
	}
}

func TestInvoicesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(89)
	var all []string
	for in, err := range w.V1Invoices.List(t.Context(), &api.InvoiceListParams{Subscription: &sub.ID}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in.ID)
	}
	if len(all) != 4 {
		t.Fatalf("%d invoices", len(all))
	}
	page := func(change func(*api.InvoiceListParams)) []string {
		params := &api.InvoiceListParams{Customer: &sub.Customer.ID}
		params.Single = true
		change(params)
		var ids []string
		for in, err := range w.V1Invoices.List(t.Context(), params).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, in.ID)
		}
		return ids
	}
	march := start.Add(59 * day).Unix()
	for name, c := range map[string]struct {
		change func(*api.InvoiceListParams)
		want   []string
	}{
		"all":       {func(*api.InvoiceListParams) {}, all},
		"drafts":    {func(p *api.InvoiceListParams) { p.Status = api.String("draft") }, all[:1]},
		"paid":      {func(p *api.InvoiceListParams) { p.Status = api.String("paid") }, all[1:]},
		"open":      {func(p *api.InvoiceListParams) { p.Status = api.String("open") }, nil},
		"first two": {func(p *api.InvoiceListParams) { p.Limit = api.Int64(2) }, all[:2]},
		"after":     {func(p *api.InvoiceListParams) { p.StartingAfter, p.Limit = &all[1], api.Int64(1) }, all[2:3]},
		"before":    {func(p *api.InvoiceListParams) { p.EndingBefore, p.Limit = &all[3], api.Int64(2) }, all[1:3]},
		"since":     {func(p *api.InvoiceListParams) { p.CreatedRange = &api.RangeQueryParams{GreaterThanOrEqual: march} }, all[:2]},
		"at":        {func(p *api.InvoiceListParams) { p.Created = &march }, all[1:2]},
	} {
		got := page(c.change)
		if name == "before" {
			slices.Reverse(got) // the client reverses such a page
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDeletingACustomerStopsItsRenewals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	before := w.eventTypes()
	must[*api.Customer](t)(w.V1Customers.Delete(t.Context(), sub.Customer.ID, nil))
	if diff := cmp.Diff([]string{"customer.subscription.deleted", "invoice.updated", "customer.deleted"}, w.since(before)); diff != "" {
		t.Error(diff)
	}
	before = w.eventTypes()
	w.until(100)
	if after := w.since(before); len(after) > 0 {
		t.Errorf("and then: %v", after)
	}
}

func TestCreditKeepsItsCurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(3000, "eur", "month"), 1)
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(t.Context(), sub.ID, &api.SubscriptionCancelParams{Prorate: api.Bool(true), InvoiceNow: api.Bool(true)}))
	params := w.checkoutParams(w.sold(1000, "usd", "month"), 1)
	params.Customer = &sub.Customer.ID
	_, err := w.V1CheckoutSessions.Create(t.Context(), params)
	refused(t, err, http.StatusBadRequest, "", "customer")
	params = w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	params.Customer = &sub.Customer.ID
	again := w.paid(params, "4242424242424242")
	if in := w.latestInvoice(again.ID); in.AmountDue != 0 || in.Status != "paid" || w.balance(sub.Customer.ID) != -2000 {
		t.Errorf("due %d, balance %d", in.AmountDue, w.balance(sub.Customer.ID))
	}
}

// TestEventsShowObjectsAsTheyAre triggers all types of events and validates their objects against
// Stripe's schema.
func TestEventsShowObjectsAsTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	must[*api.Invoice](t)(w.V1Invoices.VoidInvoice(t.Context(), w.latestInvoice(sub.ID).ID, nil))
	other := w.trial(w.sold(1000, "eur", "month"), 5, "4242424242424242")
	w.advance(20 * day)
	w.changed(other, w.sold(9000, "eur", "month"), 2, "always_invoice")
	w.changed(other, nil, 1, "create_prorations")
	w.until(120)
	must[*api.Customer](t)(w.V1Customers.Delete(t.Context(), other.Customer.ID, nil))
	seen := map[api.EventType]bool{}
	for e, err := range w.V1Events.List(t.Context(), nil).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		about, _ := e.Data.Object["object"].(string)
		if e.Type == "invoice.upcoming" {
			// The schema requires an id, but this invoice does not exist yet.
			if id, given := e.Data.Object["id"]; given {
				t.Errorf("an announced invoice has the id %v", id)
			}
			e.Data.Raw = append([]byte(`{"id":"upcoming_in_1",`), e.Data.Raw[1:]...)
		}
		if err := checkObject(about, e.Data.Raw); err != nil && !seen[e.Type] {
			t.Errorf("%s against the schema: %v\n%s", e.Type, err, e.Data.Raw)
		}
		seen[e.Type] = true
	}
	for _, want := range []api.EventType{
		"invoiceitem.created", "invoice.voided", "invoice.updated", "invoice.payment_failed", "charge.failed", "payment_intent.payment_failed",
		"payment_intent.canceled", "customer.subscription.trial_will_end", "customer.subscription.deleted", "customer.deleted",
	} {
		if !seen[want] {
			t.Errorf("%s does not happen", want)
		}
	}
}
