package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerPendingItems fires when pending items are invoiced before the end of the period.
const timerPendingItems = "subscription.pending_items"

// pendingInterval is how often pending items are invoiced.
type pendingInterval struct {
	Interval      string `json:"interval"`
	IntervalCount int64  `json:"interval_count"`
}

// readPendingInterval reads the parameter pending_invoice_item_interval.
func readPendingInterval(p *form.Params, into **pendingInterval) {
	const key = "pending_invoice_item_interval"
	if p.IsCleared(key) {
		*into = nil
	}
	given := p.Hash(key)
	if given == nil {
		return
	}
	given.Require("interval")
	i := pendingInterval{IntervalCount: 1}
	given.Choice("interval", &i.Interval, "day", "week", "month", "year")
	year := map[string]int64{"day": 365, "week": 52, "month": 12, "year": 1}
	given.Integer("interval_count", 1, max(year[i.Interval], 1), &i.IntervalCount)
	*into = &i
}

// planPending sets when pending items are invoiced next: at the next boundary of their interval,
// counted from the billing cycle anchor.
func (sub *Subscription) planPending(now int64) {
	sub.NextPendingInvoice = nil
	if sub.PendingInterval == nil || !sub.IsRunning() {
		return
	}
	every := billing.Interval{Unit: sub.PendingInterval.Interval, Count: sub.PendingInterval.IntervalCount}
	_, next := billing.Cycle{Anchor: sub.BillingCycleAnchor, Every: every}.Period(now)
	sub.NextPendingInvoice = &next
}

// setPendingTimer sets the timer for pending items. Items that are pending at the end of a period
// go on the invoice of the next period.
func setPendingTimer(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if _, end := sub.duePeriod(); sub.NextPendingInvoice != nil && *sub.NextPendingInvoice < end {
		return st.SetTimer(ctx, timerPendingItems, sub.ID, *sub.NextPendingInvoice)
	}
	return st.StopTimer(ctx, timerPendingItems, sub.ID)
}

// invoicePending invoices the pending items of a subscription, if there are any. It does nothing
// during a pending update.
func invoicePending(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || !sub.IsRunning() || sub.PendingUpdate != nil {
		return err
	}
	before := sub.Clone()
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
		if err != nil {
			return err
		}
		since, _ := sub.Period()
		b := bill{
			sub: sub, cu: cu, reason: invoices.ReasonPending, since: since, at: st.Now,
			wait: draftLife, held: sub.Status == StatusUnpaid, pending: pending, names: ProductNames{},
		}
		if _, err := issueInvoice(ctx, st, b); err != nil {
			return err
		}
	}
	return Save(ctx, st, before, sub)
}
