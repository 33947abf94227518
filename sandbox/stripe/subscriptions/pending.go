package subscriptions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerPendingExpires fires when the payment of a pending update is overdue. At the end of a period
// it fires before the renewal, because timers with the same time fire in the order of their names.
const timerPendingExpires = "subscription.pending_update_expires"

// pendingLife is the maximum lifetime of a pending update, in seconds.
const pendingLife = int64(23 * time.Hour / time.Second)

// pendingUpdate is a change that takes effect when the latest invoice of the subscription is paid.
// Until then the subscription continues unchanged.
type pendingUpdate struct {
	BillingCycleAnchor *int64    `json:"billing_cycle_anchor"` // null if unchanged
	ExpiresAt          int64     `json:"expires_at"`
	SubscriptionItems  []Item    `json:"subscription_items"`
	TrialEnd           *int64    `json:"trial_end"` // null if unchanged
	TrialFromPlan      form.Null `json:"trial_from_plan"`

	atOnce bool // no event about it has been sent yet
}

// waitsFor reports whether the pending update of the subscription waits for this invoice.
func (sub *Subscription) waitsFor(in *invoices.Invoice) bool {
	return sub.PendingUpdate != nil && sub.LatestInvoice != nil && *sub.LatestInvoice == in.ID
}

// canWait refuses a change that cannot be a pending update. It accepts only parameters of the
// period and the items, and only subscriptions that are charged automatically and not by bank
// debit.
func canWait(ctx context.Context, st *kernel.Step, p *form.Params, sub *Subscription) error {
	for _, key := range p.Keys() {
		if !slices.Contains([]string{
			"expand", "payment_behavior", "proration_behavior", "proration_date", "billing_cycle_anchor",
			"items", "trial_end", "trial_from_plan", "add_invoice_items",
		}, key) {
			return form.Refuse(key, "", "When `payment_behavior` is set to `pending_if_incomplete`, you can only pass supported params. `%s` is not supported.", key)
		}
	}
	if sub.CollectionMethod != billing.ChargeAutomatically { // https://docs.stripe.com/billing/subscriptions/pending-updates
		return form.Refuse("payment_behavior", "", "`pending_if_incomplete` is only supported for subscriptions with `collection_method` set to `charge_automatically`.")
	}
	pm, err := defaultCard(ctx, st, sub)
	if errors.Is(err, errNoCard) {
		return nil
	}
	if err == nil && pm.IsDelayed() {
		err = form.Refuse("payment_behavior", "", "`pending_if_incomplete` is not supported for subscriptions that are paid by bank debits.")
	}
	return err
}

// collectOrWait collects the invoice of a change. If the payment fails, it restores sub and makes
// the change a pending update.
func collectOrWait(ctx context.Context, st *kernel.Step, before, sub *Subscription, in *invoices.Invoice) error {
	wanted := sub.Clone()
	_, end := before.Period()
	update := &pendingUpdate{ExpiresAt: min(end, st.Now+pendingLife), SubscriptionItems: wanted.Items.Data, atOnce: true}
	if wanted.BillingCycleAnchor != before.BillingCycleAnchor {
		update.BillingCycleAnchor = &wanted.BillingCycleAnchor
	}
	if wanted.TrialEnd != nil && (before.TrialEnd == nil || *before.TrialEnd != *wanted.TrialEnd) {
		update.TrialEnd = wanted.TrialEnd
	}
	*sub = *before.Clone()
	sub.LatestInvoice, sub.PendingUpdate = wanted.LatestInvoice, update
	_, err := settleInvoice(ctx, st, sub, in)
	return err
}

// applyPending applies the pending update after its invoice is paid. The caller stores the
// subscription.
func applyPending(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	update := sub.PendingUpdate
	start, end := update.SubscriptionItems[0].CurrentPeriodStart, update.SubscriptionItems[0].CurrentPeriodEnd
	sub.Items.Data, sub.PendingUpdate = update.SubscriptionItems, nil
	sub.setPeriod(start, end)
	if update.BillingCycleAnchor != nil {
		sub.BillingCycleAnchor = *update.BillingCycleAnchor
	}
	switch trial := update.TrialEnd; {
	case trial == nil:
	case *trial <= st.Now:
		sub.Status, sub.TrialEnd = StatusActive, trial
	default:
		if sub.Status != StatusTrialing {
			sub.TrialStart = &start
		}
		sub.Status, sub.TrialEnd = StatusTrialing, trial
	}
	if err := paymentSucceeded(ctx, st, sub); err != nil || update.atOnce {
		return err
	}
	return st.Emit(ctx, "customer.subscription.pending_update_applied", sub, nil)
}

// dropPending discards the pending update, if there is one, and voids its invoice. The caller
// stores the subscription.
func dropPending(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if sub.PendingUpdate == nil {
		return nil
	}
	in, err := invoices.All.Get(ctx, st.Q, *sub.LatestInvoice, "latest_invoice")
	if err != nil {
		return err
	}
	return dropPendingOf(ctx, st, sub, in)
}

// dropPendingOf discards the pending update that waits for the invoice.
func dropPendingOf(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) error {
	if err := invoices.Close(ctx, st, in, invoices.StatusVoid); err != nil {
		return err
	}
	sub.PendingUpdate = nil
	return st.Emit(ctx, "customer.subscription.pending_update_expired", sub, nil)
}

// pendingExpires discards a pending update whose payment was not made in time.
func pendingExpires(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || sub.PendingUpdate == nil {
		return err
	}
	before := sub.Clone()
	if err := dropPending(ctx, st, sub); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// updatePendingTimer sets or stops the timer of the pending update.
func updatePendingTimer(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if sub.PendingUpdate == nil {
		return st.StopTimer(ctx, timerPendingExpires, sub.ID)
	}
	return st.SetTimer(ctx, timerPendingExpires, sub.ID, sub.PendingUpdate.ExpiresAt)
}
