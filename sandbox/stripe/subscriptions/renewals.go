package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// TimerPeriodEnds fires at the end of a subscription's current period.
const TimerPeriodEnds = "subscription.period_ends"

// draftLife is how long the invoice of a renewal stays a draft, in seconds.
const draftLife = 60 * 60

// renewal starts the next period of a subscription and returns its bill: the new period, the
// pending items and the metered usage of the previous period. It ends a trial. If the subscription
// ends with the period, the bill contains only the pending items and the usage. renewal stores
// nothing: periodEnds applies the result, a preview shows it.
func (sub *Subscription) renewal(cu *customers.Customer, pending []*invoices.Item, usage []invoices.Line, names ProductNames) bill {
	since, at := sub.duePeriod()
	b := bill{sub: sub, cu: cu, reason: invoices.ReasonCycle, since: since, at: at, pending: pending, usage: usage, names: names}
	if sub.isEnding() {
		return b
	}
	if sub.Status == StatusTrialing {
		sub.Status = StatusActive
	}
	_, end := sub.cycle().Period(at)
	sub.setPeriod(at, end)
	b.period, b.wait, b.held = true, draftLife, sub.Status == StatusUnpaid
	return b
}

// periodEnds renews a subscription, or ends it if a cancellation is scheduled.
func periodEnds(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || !sub.IsRunning() {
		return err
	}
	before := sub.Clone()
	ending := sub.isEnding()
	if sub.Status == StatusTrialing && !ending {
		if over, err := endTrialWithoutCard(ctx, st, sub); err != nil || over {
			if err != nil {
				return err
			}
			return Save(ctx, st, before, sub)
		}
	}
	b, err := renewalBill(ctx, st, sub)
	if err != nil {
		return err
	}
	if b.isNeeded() {
		in, err := issueInvoice(ctx, st, b)
		if err != nil {
			return err
		}
		if !b.period { // collect the last invoice now, because no timer will
			if _, err := settleInvoice(ctx, st, sub, in); err != nil {
				return err
			}
		}
	}
	if err := followSchedule(ctx, st, before, sub); err != nil {
		return err
	}
	if ending && !sub.IsEnded() {
		now := st.Now
		sub.Status, sub.EndedAt = StatusCanceled, &now
	}
	return Save(ctx, st, before, sub)
}

// renewalBill starts the next period of a subscription and returns its bill.
func renewalBill(ctx context.Context, st *kernel.Step, sub *Subscription) (bill, error) {
	cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
	if err != nil {
		return bill{}, err
	}
	pending, err := pendingItems(ctx, st, sub)
	if err != nil {
		return bill{}, err
	}
	names := ProductNames{}
	if err := ReadProductNames(ctx, st, sub.Items.Data, names); err != nil {
		return bill{}, err
	}
	if err := sub.loadDiscount(ctx, st); err != nil {
		return bill{}, err
	}
	start, end := sub.duePeriod()
	usage, err := meteredLines(ctx, st, sub, start, end, names)
	if err != nil {
		return bill{}, err
	}
	if err := enterNextPhase(ctx, st, sub, end, names); err != nil {
		return bill{}, err
	}
	return sub.renewal(cu, pending, usage, names), nil
}
