package stripe_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// day is 24 hours. The first month from the start of the tests has 28 days.
const day = 24 * time.Hour

// item returns a change of a subscription's first item.
func item(sub *api.Subscription, p *api.Price, quantity int64) *api.SubscriptionUpdateItemParams {
	change := &api.SubscriptionUpdateItemParams{ID: &sub.Items.Data[0].ID, Quantity: &quantity}
	if p != nil {
		change.Price = &p.ID
	}
	return change
}

// changed changes the price or quantity of a subscription's first item.
func (w *world) changed(sub *api.Subscription, p *api.Price, quantity int64, proration string) *api.Subscription {
	w.t.Helper()
	return must[*api.Subscription](w.t)(w.V1Subscriptions.Update(w.t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		Items: []*api.SubscriptionUpdateItemParams{item(sub, p, quantity)}, ProrationBehavior: &proration,
	}))
}

// previewed returns the preview of the next invoice with that change.
func (w *world) previewed(sub *api.Subscription, p *api.Price, quantity int64, proration string) *api.Invoice {
	w.t.Helper()
	change := &api.InvoiceCreatePreviewSubscriptionDetailsItemParams{ID: &sub.Items.Data[0].ID, Quantity: &quantity}
	if p != nil {
		change.Price = &p.ID
	}
	return must[*api.Invoice](w.t)(w.V1Invoices.CreatePreview(w.t.Context(), &api.InvoiceCreatePreviewParams{
		Customer: &sub.Customer.ID, Subscription: &sub.ID,
		SubscriptionDetails: &api.InvoiceCreatePreviewSubscriptionDetailsParams{
			Items: []*api.InvoiceCreatePreviewSubscriptionDetailsItemParams{change}, ProrationBehavior: &proration,
		},
	}))
}

func (w *world) subscription(id string) *api.Subscription {
	w.t.Helper()
	return must[*api.Subscription](w.t)(w.V1Subscriptions.Retrieve(w.t.Context(), id, nil))
}

func (w *world) latestInvoice(subscriptionID string) *api.Invoice {
	w.t.Helper()
	return must[*api.Invoice](w.t)(w.V1Invoices.Retrieve(w.t.Context(), w.subscription(subscriptionID).LatestInvoice.ID, nil))
}

func (w *world) balance(customerID string) int64 {
	w.t.Helper()
	return must[*api.Customer](w.t)(w.V1Customers.Retrieve(w.t.Context(), customerID, nil)).Balance
}

// lines formats an invoice's lines as text: description, amount, start and end in days since the
// start, and whether it is a proration.
func lines(in *api.Invoice) []string {
	var all []string
	for _, l := range in.Lines.Data {
		name, _, _ := strings.Cut(l.Description, " (at ")
		from, to := time.Unix(l.Period.Start, 0).Sub(start), time.Unix(l.Period.End, 0).Sub(start)
		text := fmt.Sprintf("%s: %d, day %g to %g", name, l.Amount, from.Hours()/24, to.Hours()/24)
		if l.Parent.SubscriptionItemDetails.Proration {
			text += ", prorated"
		}
		all = append(all, text)
	}
	return all
}

func TestChangesAreProrated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		currency       string
		amount, seats  int64
		amount2        int64 // of the new price; 0 keeps the price
		seats2         int64
		after          time.Duration
		credit, charge string
	}{
		{"upgrade in the middle", "eur", 1000, 1, 3000, 1, 14 * day, "Unused time on Starter after 14 Feb 2026: -500", "Remaining time on Starter after 14 Feb 2026: 1500"},
		{"downgrade in the middle", "eur", 3000, 1, 1000, 1, 14 * day, "Unused time on Starter after 14 Feb 2026: -1500", "Remaining time on Starter after 14 Feb 2026: 500"},
		{"more seats", "usd", 999, 2, 0, 5, 7 * day, "Unused time on 2 × Starter after 07 Feb 2026: -1499", "Remaining time on 5 × Starter after 07 Feb 2026: 3746"},
		{"fewer seats", "usd", 999, 5, 0, 2, 7 * day, "Unused time on 5 × Starter after 07 Feb 2026: -3746", "Remaining time on 2 × Starter after 07 Feb 2026: 1499"},
		{"at once", "eur", 1000, 1, 3000, 1, 0, "Unused time on Starter after 31 Jan 2026: -1000", "Remaining time on Starter after 31 Jan 2026: 3000"},
		{"after a second", "eur", 99_999_999, 1, 3000, 1, time.Second, "Unused time on Starter after 31 Jan 2026: -99999958", "Remaining time on Starter after 31 Jan 2026: 3000"},
		{"without decimals", "jpy", 1000, 1, 2000, 1, 21 * day, "Unused time on Starter after 21 Feb 2026: -250", "Remaining time on Starter after 21 Feb 2026: 500"},
		{"three decimals", "kwd", 10000, 1, 20000, 1, 3 * day, "Unused time on Starter after 03 Feb 2026: -8930", "Remaining time on Starter after 03 Feb 2026: 17860"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, sub := w.bought(w.sold(c.amount, c.currency, "month"), c.seats)
			var p *api.Price
			if c.amount2 > 0 {
				p = w.sold(c.amount2, c.currency, "month")
			}
			w.advance(c.after)
			previews := map[string]*api.Invoice{}
			for _, proration := range []string{"create_prorations", "always_invoice", "none"} {
				previews[proration] = w.previewed(sub, p, c.seats2, proration)
			}
			period := fmt.Sprintf(", day %g to 28, prorated", c.after.Hours()/24)
			want := []string{c.credit + period, c.charge + period}
			if diff := cmp.Diff(want, lines(previews["always_invoice"])); diff != "" {
				t.Errorf("invoiced immediately (-want +got):\n%s", diff)
			}
			next := lines(previews["none"])
			if diff := cmp.Diff(append(want, next...), lines(previews["create_prorations"])); diff != "" || len(next) != 1 {
				t.Errorf("with the next invoice (-want +got):\n%s", diff)
			}

			got := w.changed(sub, p, c.seats2, "create_prorations")
			if got.Items.Data[0].CurrentPeriodEnd != sub.Items.Data[0].CurrentPeriodEnd || got.BillingCycleAnchor != sub.BillingCycleAnchor ||
				got.Items.Data[0].Quantity != c.seats2 || got.LatestInvoice.ID != sub.LatestInvoice.ID {
				t.Errorf("changed: %+v", got.Items.Data[0])
			}
			upcoming := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
			if diff := cmp.Diff(lines(previews["create_prorations"]), lines(upcoming)); diff != "" || upcoming.Total != previews["create_prorations"].Total {
				t.Errorf("preview differs from the pending items (-preview +pending):\n%s", diff)
			}
		})
	}
}

func TestProrationsAreInvoicedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	p := w.sold(3000, "eur", "month")
	w.advance(14 * day)
	preview := w.previewed(sub, p, 1, "always_invoice")
	if !strings.HasPrefix(preview.ID, "upcoming_in_") || preview.Status != "draft" || preview.AmountDue != 1000 {
		t.Errorf("preview %s is %s over %d", preview.ID, preview.Status, preview.AmountDue)
	}
	before := w.eventTypes()
	w.changed(sub, p, 1, "always_invoice")
	in := w.latestInvoice(sub.ID)
	if in.Status != "paid" || in.AmountPaid != preview.AmountDue || in.BillingReason != "subscription_update" {
		t.Errorf("invoice is %s over %d because of %s", in.Status, in.AmountPaid, in.BillingReason)
	}
	if diff := cmp.Diff(lines(preview), lines(in)); diff != "" {
		t.Errorf("lines (-preview +invoice):\n%s", diff)
	}
	for _, l := range in.Lines.Data {
		about := l.Parent.SubscriptionItemDetails
		ii := about.InvoiceItem
		if ii == "" || about.ProrationDetails == nil || about.SubscriptionItem != sub.Items.Data[0].ID {
			t.Errorf("line: %+v", about)
		}
		kept := must[*api.InvoiceItem](t)(w.V1InvoiceItems.Retrieve(t.Context(), ii, nil))
		if kept.Invoice.ID != in.ID || kept.Amount != l.Amount || !kept.Proration {
			t.Errorf("invoice item: %+v", kept)
		}
	}
	want := []string{
		"invoiceitem.created", "invoiceitem.created", "invoice.created", "customer.updated", "invoice.finalized",
		"payment_intent.created", "charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid",
		"invoice.paid", "invoice.payment_succeeded", "customer.subscription.updated",
	}
	if diff := cmp.Diff(want, w.eventTypes()[len(before):]); diff != "" {
		t.Error(diff)
	}
	for ii, err := range w.V1InvoiceItems.List(t.Context(), &api.InvoiceItemListParams{Pending: api.Bool(true)}).All(t.Context()) {
		t.Errorf("still pending: %+v, %v", ii, err)
	}
}

// TestPreviewAppliesAtItsDate changes a subscription an hour after the preview, with the proration
// date of the preview.
func TestPreviewAppliesAtItsDate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(997, "eur", "month"), 3)
	p := w.sold(2003, "eur", "month")
	w.advance(123456 * time.Second)
	date := w.clock.Now().Unix()
	preview := w.previewed(sub, p, 7, "always_invoice")
	w.advance(time.Hour)
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		Items: []*api.SubscriptionUpdateItemParams{item(sub, p, 7)}, ProrationBehavior: api.String("always_invoice"), ProrationDate: &date,
	}))
	in := w.latestInvoice(sub.ID)
	if diff := cmp.Diff(lines(preview), lines(in)); diff != "" || in.AmountPaid != preview.AmountDue {
		t.Errorf("%d paid, %d shown (-preview +invoice):\n%s", in.AmountPaid, preview.AmountDue, diff)
	}
}

func TestACreditBecomesBalance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(3000, "eur", "month"), 1)
	cheap, dear := w.sold(1000, "eur", "month"), w.sold(2000, "eur", "month")
	w.advance(14 * day)
	if in := w.previewed(sub, cheap, 1, "always_invoice"); in.Total != -1000 || in.AmountDue != 0 || w.balance(sub.Customer.ID) != 0 {
		t.Errorf("preview over %d, due %d", in.Total, in.AmountDue)
	}
	w.changed(sub, cheap, 1, "always_invoice")
	in := w.latestInvoice(sub.ID)
	if in.Status != "paid" || in.Total != -1000 || in.AmountDue != 0 || in.StartingBalance != 0 || in.EndingBalance != -1000 || w.balance(sub.Customer.ID) != -1000 {
		t.Errorf("credit: %s, total %d, due %d, balance from %d to %d", in.Status, in.Total, in.AmountDue, in.StartingBalance, in.EndingBalance)
	}
	w.changed(sub, dear, 1, "always_invoice") // 500 more, from the balance
	in = w.latestInvoice(sub.ID)
	if in.Status != "paid" || in.Total != 500 || in.AmountDue != 0 || in.StartingBalance != -1000 || in.EndingBalance != -500 || w.balance(sub.Customer.ID) != -500 {
		t.Errorf("from the balance: %s, total %d, due %d, balance from %d to %d", in.Status, in.Total, in.AmountDue, in.StartingBalance, in.EndingBalance)
	}
	if next := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Customer: &sub.Customer.ID})); next.Total != 2000 || next.AmountDue != 1500 {
		t.Errorf("next invoice: %d, due %d", next.Total, next.AmountDue)
	}
}

func TestAnotherIntervalStartsAPeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		from, to      int64
		interval      string
		proration     string
		want          []string
		endsAfterDays float64
	}{
		{"month to year", 1000, 12000, "year", "create_prorations", []string{"Unused time on Starter after 14 Feb 2026: -500, day 14 to 28, prorated", "1 × Starter: 12000, day 14 to 379"}, 379},
		{"month to year without credit", 1000, 12000, "year", "none", []string{"1 × Starter: 12000, day 14 to 379"}, 379},
		{"month to week", 1000, 100, "week", "always_invoice", []string{"Unused time on Starter after 14 Feb 2026: -500, day 14 to 28, prorated", "1 × Starter: 100, day 14 to 21"}, 21},
		{"paid to free", 1000, 0, "month", "create_prorations", []string{"Unused time on Starter after 14 Feb 2026: -500, day 14 to 28, prorated", "1 × Starter: 0, day 14 to 42"}, 42},
		{"free to paid", 0, 1000, "month", "create_prorations", []string{"1 × Starter: 1000, day 14 to 42"}, 42},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, sub := w.bought(w.sold(c.from, "eur", "month"), 1)
			p := w.sold(c.to, "eur", c.interval)
			w.advance(14 * day)
			preview := w.previewed(sub, p, 1, c.proration)
			got := w.changed(sub, p, 1, c.proration)
			in := w.latestInvoice(sub.ID)
			for _, seen := range []*api.Invoice{preview, in} {
				if diff := cmp.Diff(c.want, lines(seen)); diff != "" {
					t.Errorf("lines of %s (-want +got):\n%s", seen.ID, diff)
				}
			}
			if in.Status != "paid" || in.AmountPaid != preview.AmountDue || in.PeriodEnd != w.clock.Now().Unix() {
				t.Errorf("invoice is %s, %d paid", in.Status, in.AmountPaid)
			}
			now, ends := w.clock.Now().Unix(), start.Add(time.Duration(c.endsAfterDays*24)*time.Hour).Unix()
			if it := got.Items.Data[0]; got.BillingCycleAnchor != now || it.CurrentPeriodStart != now || it.CurrentPeriodEnd != ends {
				t.Errorf("anchor %d, period from %d to %d, want %d to %d", got.BillingCycleAnchor, it.CurrentPeriodStart, it.CurrentPeriodEnd, now, ends)
			}
		})
	}
}

func TestTheBillingCycleCanBeMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(2800, "eur", "month"), 1)
	w.advance(7 * day)
	got := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		BillingCycleAnchorNow: api.Bool(true), ProrationDate: api.Int64(start.Add(14 * day).Unix()),
	}))
	want := []string{"Unused time on Starter after 14 Feb 2026: -1400, day 14 to 28, prorated", "1 × Starter: 2800, day 7 to 35"}
	if diff := cmp.Diff(want, lines(w.latestInvoice(sub.ID))); diff != "" || got.BillingCycleAnchor != w.clock.Now().Unix() {
		t.Errorf("anchor %d (-want +got):\n%s", got.BillingCycleAnchor, diff)
	}
}

func TestChangesWithinATrialCostNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.trial(w.sold(1000, "eur", "month"), 14, "4242424242424242")
	dear := w.sold(9000, "eur", "month")
	w.advance(7 * day)
	if diff := cmp.Diff([]string{"3 × Starter: 27000, day 14 to 42"}, lines(w.previewed(sub, dear, 3, "always_invoice"))); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
	got := w.changed(sub, dear, 3, "always_invoice")
	if got.Status != "trialing" || got.TrialEnd != sub.TrialEnd || got.LatestInvoice.ID != sub.LatestInvoice.ID {
		t.Errorf("changed: %s until %d", got.Status, got.TrialEnd)
	}
	later := start.Add(21 * day).Unix()
	got = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{TrialEnd: &later}))
	if got.TrialEnd != later || got.BillingCycleAnchor != later || got.Items.Data[0].CurrentPeriodEnd != later || got.LatestInvoice.ID != sub.LatestInvoice.ID {
		t.Errorf("a longer trial: %+v", got)
	}
	got = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{TrialEndNow: api.Bool(true)}))
	if diff := cmp.Diff([]string{"3 × Starter: 27000, day 7 to 35"}, lines(w.latestInvoice(sub.ID))); diff != "" || got.Status != "active" || got.TrialEnd != w.clock.Now().Unix() {
		t.Errorf("the trial's end: %s (-want +got):\n%s", got.Status, diff)
	}
}

func TestATrialCanBeAddedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(2800, "eur", "month"), 1)
	w.advance(7 * day)
	ends := start.Add(20 * day).Unix()
	got := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{TrialEnd: &ends}))
	want := []string{"Unused time on Starter after 07 Feb 2026: -2100, day 7 to 28, prorated", "Trial period for Starter: 0, day 7 to 20"}
	if diff := cmp.Diff(want, lines(w.latestInvoice(sub.ID))); diff != "" || got.Status != "trialing" || got.BillingCycleAnchor != ends || w.balance(sub.Customer.ID) != -2100 {
		t.Errorf("%s (-want +got):\n%s", got.Status, diff)
	}
}

// trial returns a subscription with a trial. It has no card if the number is empty.
func (w *world) trial(p *api.Price, days int64, cardNumber string) *api.Subscription {
	w.t.Helper()
	params := w.checkoutParams(p, 1)
	params.PaymentMethodCollection = api.String("if_required")
	params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: &days}
	return w.paid(params, cardNumber)
}

// paid returns the subscription of a checkout that was paid with a card.
func (w *world) paid(params *api.CheckoutSessionCreateParams, cardNumber string) *api.Subscription {
	w.t.Helper()
	session := must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Create(w.t.Context(), params))
	if got := w.pay(session.ID, cardNumber); got.status != http.StatusSeeOther {
		w.t.Fatalf("paying answered %d: %s", got.status, got.body)
	}
	session = must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Retrieve(w.t.Context(), session.ID, nil))
	return w.subscription(session.Subscription.ID)
}

func TestAChangeThatCannotBePaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.paid(w.checkoutParams(w.sold(1000, "eur", "month"), 1), "4000000000000341")
	dear := w.sold(3000, "eur", "month")
	before := w.eventTypes()
	params := &api.SubscriptionUpdateParams{
		Items: []*api.SubscriptionUpdateItemParams{item(sub, dear, 1)}, ProrationBehavior: api.String("always_invoice"),
		PaymentBehavior: api.String("error_if_incomplete"),
	}
	_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, params)
	refused(t, err, http.StatusPaymentRequired, "card_declined", "")
	if got := w.subscription(sub.ID); got.Status != "active" || got.Items.Data[0].Price.ID != sub.Items.Data[0].Price.ID || len(w.eventTypes()) != len(before) {
		t.Errorf("after a rejected change: %s and %v", got.Status, w.eventTypes()[len(before):])
	}
	params.PaymentBehavior = api.String("allow_incomplete")
	got := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, params))
	if in := w.latestInvoice(sub.ID); got.Status != "past_due" || in.Status != "open" || in.AmountDue != 2000 || in.AttemptCount != 1 {
		t.Errorf("subscription %s, invoice %s over %d after %d attempts", got.Status, in.Status, in.AmountDue, in.AttemptCount)
	}
	want := []string{
		"invoiceitem.created", "invoiceitem.created", "invoice.created", "customer.updated", "invoice.finalized",
		"payment_intent.created", "charge.failed", "payment_intent.payment_failed",
		"invoice.updated", "invoice.payment_failed", "customer.updated", "customer.subscription.updated",
	}
	if diff := cmp.Diff(want, w.eventTypes()[len(before):]); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	dollars, gone := w.sold(1000, "usd", "month"), w.sold(1000, "eur", "month")
	must[*api.Price](t)(w.V1Prices.Update(t.Context(), gone.ID, &api.PriceUpdateParams{Active: api.Bool(false)}))
	id, end := sub.Items.Data[0].ID, sub.Items.Data[0].CurrentPeriodEnd
	for _, c := range []struct{ name, body, code, param string }{
		{"another currency", "items[0][id]=" + id + "&items[0][price]=" + dollars.ID, "", "items[0][price]"},
		{"an inactive price", "items[0][id]=" + id + "&items[0][price]=" + gone.ID, "", "items[0][price]"},
		{"an unknown price", "items[0][id]=" + id + "&items[0][price]=price_x", "resource_missing", "items[0][price]"},
		{"an unknown item", "items[0][id]=si_x&items[0][quantity]=1", "resource_missing", "items[0][id]"},
		{"an item of nothing", "items[0][quantity]=1", "parameter_missing", "items[0][price]"},
		{"quantity 0", "items[0][id]=" + id + "&items[0][quantity]=0", "parameter_invalid_integer", "items[0][quantity]"},
		{"too much", "items[0][id]=" + id + "&items[0][quantity]=999999", "amount_too_large", "items[0][quantity]"},
		{"prorated before the period", fmt.Sprintf("items[0][id]=%s&items[0][quantity]=2&proration_date=%d", id, start.Unix()-1), "", "proration_date"},
		{"prorated after the period", fmt.Sprintf("items[0][id]=%s&items[0][quantity]=2&proration_date=%d", id, end+1), "", "proration_date"},
		{"a trial in the past", fmt.Sprintf("trial_end=%d", start.Unix()), "", "trial_end"},
		{"a trial without end", fmt.Sprintf("trial_end=%d", start.AddDate(3, 0, 0).Unix()), "", "trial_end"},
		{"an unknown behavior", "payment_behavior=wait", "", "payment_behavior"},
		{"paused collection", "pause_collection[behavior]=void", "parameter_unknown", "pause_collection"},
	} {
		for path, body := range map[string]string{
			"/v1/subscriptions/" + sub.ID: c.body,
			"/v1/invoices/create_preview": "subscription=" + sub.ID + "&" + nested(c.body),
		} {
			if path == "/v1/invoices/create_preview" && c.param == "payment_behavior" {
				continue // it has no meaning in a preview
			}
			res, answer := w.call("POST", path, body, nil)
			got := decode[struct{ Error api.Error }](t, answer)
			param := strings.NewReplacer("subscription_details[", "", "][", "[").Replace(got.Error.Param)
			want := strings.ReplaceAll(c.param, "][", "[")
			if strings.HasPrefix(got.Error.Param, "subscription_details[") && !strings.Contains(c.param, "[") {
				want += "]"
			}
			if res.StatusCode != http.StatusBadRequest || string(got.Error.Code) != c.code || param != want {
				t.Errorf("%s: POST %s returns %d %s", c.name, path, res.StatusCode, answer)
			}
		}
	}
	_, err := w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Customer: &w.customer("bob@example.test").ID})
	refused(t, err, http.StatusNotFound, "invoice_upcoming_none", "")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)}))
	_, err = w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &sub.ID})
	refused(t, err, http.StatusNotFound, "invoice_upcoming_none", "")
}

// nested moves parameters into subscription_details.
func nested(body string) string {
	var all []string
	for pair := range strings.SplitSeq(body, "&") {
		key, value, _ := strings.Cut(pair, "=")
		first, rest, inner := strings.Cut(key, "[")
		if inner {
			rest = "[" + rest
		}
		all = append(all, "subscription_details["+first+"]"+rest+"="+value)
	}
	return strings.Join(all, "&")
}
