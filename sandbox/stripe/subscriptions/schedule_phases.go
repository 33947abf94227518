package subscriptions

import (
	"context"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// nextPhase returns the schedule of a subscription and the phase that begins at the time at. It
// returns nil if no such phase exists.
func nextPhase(ctx context.Context, st *kernel.Step, sub *Subscription, at int64) (*schedule, *phase, error) {
	if sub.Schedule == nil {
		return nil, nil, nil
	}
	sched, err := schedules.Get(ctx, st.Q, *sub.Schedule, "schedule")
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(sched.Phases, func(p phase) bool { return p.StartDate == at })
	if i <= 0 {
		return nil, nil, nil
	}
	return sched, &sched.Phases[i], nil
}

// enterNextPhase changes a subscription to the phase of its schedule that begins at the time at, if
// such a phase exists. It does not store the subscription: a renewal applies the result, a preview
// shows it.
func enterNextPhase(ctx context.Context, st *kernel.Step, sub *Subscription, at int64, names ProductNames) error {
	sched, p, err := nextPhase(ctx, st, sub, at)
	if err != nil || p == nil || sub.isEnding() {
		return err
	}
	d := sched.DefaultSettings
	sub.CollectionMethod, sub.DaysUntilDue = d.CollectionMethod, d.InvoiceSettings.DaysUntilDue
	return p.applyTo(ctx, st, sub, names)
}

// followSchedule stores the phase that a renewed subscription has entered.
func followSchedule(ctx context.Context, st *kernel.Step, was, sub *Subscription) error {
	start, _ := sub.Period()
	sched, p, err := nextPhase(ctx, st, sub, start)
	if err != nil || p == nil {
		return err
	}
	for _, id := range was.Discounts {
		if p.hasDiscount(id) {
			continue
		}
		lost, err := discounts.Load(ctx, st.Q, id)
		if err == nil {
			err = lost.Remove(ctx, st)
		}
		if err != nil {
			return err
		}
	}
	before := *sched
	sched.CurrentPhase = &currentPhase{StartDate: start, EndDate: p.EndDate}
	return st.Change(ctx, "subscription_schedule.updated", before, sched)
}

// hasDiscount reports whether a phase names the discount with the id.
func (p *phase) hasDiscount(id string) bool {
	return slices.ContainsFunc(p.Discounts, func(d phaseDiscount) bool { return d.Discount == id })
}

// applyTo sets the items, the discount and the metadata of a subscription at the start of a phase.
// A discount that the phase does not name is removed. An item keeps its ID if its price stays the
// same. Another interval starts a new billing cycle.
func (p *phase) applyTo(ctx context.Context, st *kernel.Step, sub *Subscription, names ProductNames) error {
	old := sub.Items.Data
	was := old[0].Price
	items := make([]Item, 0, len(p.Items))
	for _, wanted := range p.Items {
		pr, err := catalog.Prices.Get(ctx, st.Q, wanted.Price, "price")
		if err != nil {
			return err
		}
		item := Item{ID: form.NewID(itemKind.Prefix), Object: itemKind.Name, Created: p.StartDate, Metadata: map[string]string{}, Subscription: sub.ID}
		if i := slices.IndexFunc(old, func(o Item) bool {
			return o.Price.IsMetered() == pr.IsMetered() && (o.Price.ID == pr.ID || !pr.IsMetered())
		}); i >= 0 {
			item = old[i]
		}
		item.Price, item.Quantity = *pr, wanted.Quantity
		items = append(items, item)
	}
	sub.Items = form.NewList(sub.Items.URL, items)
	if !items[0].Price.Recurring.SameInterval(*was.Recurring) || isFree(old) != isFree(items) {
		sub.BillingCycleAnchor = p.StartDate
	}
	if len(sub.Discounts) > 0 && !p.hasDiscount(sub.Discounts[0]) {
		sub.off, sub.Discounts = nil, nil
	}
	if sub.Metadata == nil {
		sub.Metadata = map[string]string{}
	}
	for key, value := range p.Metadata {
		if sub.Metadata[key] = value; value == "" {
			delete(sub.Metadata, key)
		}
	}
	return ReadProductNames(ctx, st, items, names)
}

// refuseManaged refuses to change the end of a subscription with a schedule.
func (sub *Subscription) refuseManaged(p *form.Params) error {
	if sub.Schedule == nil {
		return nil
	}
	for _, key := range []string{"cancel_at_period_end", "cancel_at"} {
		if p.Has(key) {
			return form.Refuse(key, "", "The subscription is managed by the subscription schedule `%s`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.", *sub.Schedule)
		}
	}
	return nil
}
