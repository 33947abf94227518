package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerUpcoming fires some days before the end of a subscription's period.
const timerUpcoming = "subscription.upcoming"

// upcomingNotice is how long before the end of a period its next invoice is announced, in seconds.
// Shorter periods are not announced.
const upcomingNotice = 7 * 24 * 60 * 60

// scheduleUpcomingEvent sets the timer for a period that ends at end. A change in the last days of a
// period does not announce the invoice again.
func scheduleUpcomingEvent(ctx context.Context, st *kernel.Step, sub *Subscription, end int64) error {
	if at := end - upcomingNotice; at > st.Now {
		return st.SetTimer(ctx, timerUpcoming, sub.ID, at)
	}
	return st.StopTimer(ctx, timerUpcoming, sub.ID)
}

// announceInvoice sends the event about a subscription's next invoice, if there will be one.
func announceInvoice(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || !sub.IsRunning() {
		return err
	}
	b, err := renewalBill(ctx, st, sub)
	if err != nil || !b.isNeeded() {
		return err
	}
	b.reason = invoices.ReasonUpcoming
	return st.Emit(ctx, "invoice.upcoming", b.draft().AsUpcoming(), nil)
}
