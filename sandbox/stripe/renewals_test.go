package stripe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
)

// until moves the clock to the given number of days after the start.
func (w *world) until(days float64) {
	w.clock.Set(start.Add(time.Duration(days * 24 * float64(time.Hour))))
}

// since returns the types of the events after those in before.
func (w *world) since(before []string) []string { return w.eventTypes()[len(before):] }

func TestASubscriptionRenews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 2)
	preview := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	before := w.eventTypes()
	w.clock.Set(start.AddDate(0, 0, 21).Add(-time.Second))
	if diff := cmp.Diff([]string{}, w.since(before)); diff != "" {
		t.Errorf("more than a week before the end: %s", diff)
	}
	w.clock.Set(start.AddDate(0, 0, 28).Add(-time.Second))
	w.changed(sub, nil, 2, "create_prorations") // changes nothing and is not announced again
	if got := w.subscription(sub.ID); got.Items.Data[0].CurrentPeriodEnd != sub.Items.Data[0].CurrentPeriodEnd {
		t.Error("the period ended a second early")
	}
	if diff := cmp.Diff([]string{"invoice.upcoming"}, w.since(before)); diff != "" {
		t.Errorf("a second before the end: %s", diff)
	}

	w.until(28)
	got := w.subscription(sub.ID)
	march := time.Date(2026, time.March, 31, 10, 0, 0, 0, time.UTC)
	if item := got.Items.Data[0]; got.Status != "active" || item.CurrentPeriodStart != w.clock.Now().Unix() || item.CurrentPeriodEnd != march.Unix() {
		t.Errorf("renewed: %s from %d to %d", got.Status, item.CurrentPeriodStart, item.CurrentPeriodEnd)
	}
	in := w.latestInvoice(sub.ID)
	if in.Status != "draft" || !in.AutoAdvance || in.AutomaticallyFinalizesAt != w.clock.Now().Add(time.Hour).Unix() || in.Number != "" ||
		in.PeriodStart != start.Unix() || in.PeriodEnd != w.clock.Now().Unix() || in.BillingReason != "subscription_cycle" {
		t.Errorf("draft: %+v", in)
	}
	if diff := cmp.Diff([]string{"invoice.upcoming", "invoice.created", "customer.subscription.updated"}, w.since(before)); diff != "" {
		t.Error(diff)
	}

	w.advance(time.Hour)
	in = w.latestInvoice(sub.ID)
	if in.Status != "paid" || in.AmountPaid != 2000 || in.AmountPaid != preview.AmountDue || in.AttemptCount != 1 || in.InvoicePDF == "" {
		t.Errorf("paid: %s, %d", in.Status, in.AmountPaid)
	}
	if diff := cmp.Diff(lines(preview), lines(in)); diff != "" {
		t.Errorf("lines (-preview +invoice):\n%s", diff)
	}
	want := []string{
		"invoice.upcoming", "invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized", "payment_intent.created",
		"charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
}

// TestRenewalsAreAllThere moves the clock by three years and checks that every period was billed at
// its own time.
func TestRenewalsAreAllThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		interval string
		count    int64
		first    time.Time
		periods  int
		ends     []string // of the first periods
	}{
		{"month", 1, start, 37, []string{"02-28", "03-31", "04-30", "05-31"}},
		{"month", 3, time.Date(2025, time.November, 30, 8, 0, 0, 0, time.UTC), 13, []string{"02-28", "05-30", "08-30", "11-30"}},
		{"month", 1, time.Date(2027, time.December, 29, 8, 0, 0, 0, time.UTC), 37, []string{"01-29", "02-29", "03-29"}},
		{"year", 1, time.Date(2024, time.February, 29, 8, 0, 0, 0, time.UTC), 4, []string{"02-28", "02-28", "02-28", "02-29"}},
		{"week", 4, start, 40, []string{"02-28", "03-28"}},
	} {
		t.Run(fmt.Sprintf("%d %s from %s", c.count, c.interval, c.first.Format(time.DateOnly)), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.clock.Set(c.first)
			p := must[*api.Price](t)(w.V1Prices.Create(t.Context(), &api.PriceCreateParams{
				Currency: api.String("eur"), UnitAmount: api.Int64(500), ProductData: &api.PriceCreateProductDataParams{Name: api.String("Starter")},
				Recurring: &api.PriceCreateRecurringParams{Interval: &c.interval, IntervalCount: &c.count},
			}))
			_, sub := w.bought(p, 1)
			w.clock.Set(c.first.AddDate(3, 0, 0).Add(2 * time.Hour))
			end, n := int64(0), 0
			list := w.V1Invoices.List(t.Context(), &api.InvoiceListParams{Subscription: &sub.ID})
			for in, err := range list.All(t.Context()) { // newest first
				if err != nil || in.Status != "paid" || in.Total != 500 || len(in.Lines.Data) != 1 {
					t.Fatalf("invoice: %+v, %v", in, err)
				}
				period := in.Lines.Data[0].Period
				if end != 0 && period.End != end {
					t.Errorf("period ends at %s, next period begins at %s", time.Unix(period.End, 0).UTC(), time.Unix(end, 0).UTC())
				}
				if in.Created != period.Start || in.StatusTransitions.FinalizedAt-in.Created != map[bool]int64{true: 0, false: 3600}[in.BillingReason == "subscription_create"] {
					t.Errorf("invoice for the period from %d: created at %d, finalized at %d", period.Start, in.Created, in.StatusTransitions.FinalizedAt)
				}
				end = period.Start
				n++
				if from := c.periods - n; from < len(c.ends) && time.Unix(period.End, 0).UTC().Format("01-02") != c.ends[from] {
					t.Errorf("period %d ends %s, want %s", from, time.Unix(period.End, 0).UTC(), c.ends[from])
				}
			}
			if n != c.periods || end != c.first.Unix() {
				t.Errorf("%d periods, the first from %d", n, end)
			}
		})
	}
}

func TestPendingProrationsAreBilledWithTheRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(7)
	w.changed(sub, nil, 5, "create_prorations")
	w.until(14)
	w.changed(sub, nil, 3, "create_prorations")
	preview := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	want := []string{
		"Unused time on 5 × Starter after 14 Feb 2026: -2500, day 14 to 28, prorated",
		"Remaining time on 3 × Starter after 14 Feb 2026: 1500, day 14 to 28, prorated",
		"Unused time on Starter after 07 Feb 2026: -750, day 7 to 28, prorated",
		"Remaining time on 5 × Starter after 07 Feb 2026: 3750, day 7 to 28, prorated",
		"3 × Starter: 3000, day 28 to 59",
	}
	w.until(28.5)
	in := w.latestInvoice(sub.ID)
	for _, seen := range []*api.Invoice{preview, in} {
		if diff := cmp.Diff(want, lines(seen)); diff != "" || seen.Total != 5000 {
			t.Errorf("%s over %d (-want +got):\n%s", seen.ID, seen.Total, diff)
		}
	}
	if in.Status != "paid" || in.AmountPaid != preview.AmountDue {
		t.Errorf("%s, %d paid, %d shown before", in.Status, in.AmountPaid, preview.AmountDue)
	}
	w.until(60)
	if diff := cmp.Diff([]string{"3 × Starter: 3000, day 59 to 89"}, lines(w.latestInvoice(sub.ID))); diff != "" {
		t.Errorf("the month after (-want +got):\n%s", diff)
	}
}

func TestCreditIsUsedUpByRenewals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(9000, "eur", "month"), 1)
	w.changed(sub, w.sold(1000, "eur", "month"), 1, "always_invoice")
	for _, left := range []int64{-8000, -7000, -6000} {
		if got := w.balance(sub.Customer.ID); got != left {
			t.Errorf("balance %d, want %d", got, left)
		}
		w.clock.Set(time.Unix(w.subscription(sub.ID).Items.Data[0].CurrentPeriodEnd, 0).Add(time.Hour))
		if in := w.latestInvoice(sub.ID); in.Status != "paid" || in.AmountDue != 0 || in.StartingBalance != left || in.EndingBalance != left+1000 || in.Payments != nil {
			t.Errorf("%s: due %d, balance from %d to %d", in.Status, in.AmountDue, in.StartingBalance, in.EndingBalance)
		}
	}
}

func TestASubscriptionEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(7)
	w.changed(sub, nil, 2, "create_prorations")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)}))
	w.until(14)
	preview := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	before := w.eventTypes()
	w.until(300)
	got := w.subscription(sub.ID)
	if end := start.Add(28 * day).Unix(); got.Status != "canceled" || got.EndedAt != end || got.CanceledAt != start.Add(7*day).Unix() || got.CancellationDetails.Reason != "cancellation_requested" {
		t.Errorf("ended: %s at %d, requested at %d", got.Status, got.EndedAt, got.CanceledAt)
	}
	want := []string{
		"invoice.upcoming", "invoice.created", "customer.updated", "invoice.finalized", "payment_intent.created", "charge.succeeded", "payment_intent.succeeded",
		"invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded", "customer.subscription.deleted",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
	if in := w.latestInvoice(sub.ID); in.AmountPaid != 750 || in.AmountPaid != preview.AmountDue || len(in.Lines.Data) != 2 {
		t.Errorf("last invoice over %d: %v", in.AmountPaid, lines(in))
	}
}

func TestCancelWithCredit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		prorate, invoiceNow bool
		balance             int64
		pending             int
	}{
		{"neither", false, false, 0, 0},
		{"credit later", true, false, 0, 1},
		{"credit now", true, true, -500, 0},
		{"nothing to invoice", false, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
			w.until(14)
			got := must[*api.Subscription](t)(w.V1Subscriptions.Cancel(t.Context(), sub.ID, &api.SubscriptionCancelParams{Prorate: &c.prorate, InvoiceNow: &c.invoiceNow}))
			pending := 0
			for _, err := range w.V1InvoiceItems.List(t.Context(), &api.InvoiceItemListParams{Pending: api.Bool(true), Customer: &sub.Customer.ID}).All(t.Context()) {
				if pending++; err != nil {
					t.Fatal(err)
				}
			}
			if got.Status != "canceled" || w.balance(sub.Customer.ID) != c.balance || pending != c.pending {
				t.Errorf("%s with a balance of %d and %d items pending", got.Status, w.balance(sub.Customer.ID), pending)
			}
			before := w.eventTypes()
			w.until(100)
			if after := w.since(before); len(after) > 0 {
				t.Errorf("after its end: %v", after)
			}
		})
	}
}

func TestARestartLosesNoRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	w.until(28)
	w.subscription(sub.ID)
	w.restart()
	w.until(29)
	w.run()
	testkit.Eventually(t, "the notification", func() bool {
		var n int
		err := w.db.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_objects WHERE kind = 'invoice' AND doc ->> '$.status' = 'paid'`).Scan(&n)
		return err == nil && n == 2
	})
}
