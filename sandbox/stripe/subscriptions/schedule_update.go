package subscriptions

import (
	"context"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// updateSchedule handles POST /v1/subscription_schedules/{id}. The sandbox requires exactly two
// phases, and the first must be the current phase. The current phase can only move the end of a
// trial and set the discount of the subscription.
func updateSchedule(ctx context.Context, c *kernel.Call) (any, error) {
	sched, err := schedules.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *sched
	c.Params.Choice("end_behavior", &sched.EndBehavior, "release")
	c.Params.Choice("proration_behavior", new(string), prorationsNone)
	c.Params.Metadata(&sched.Metadata)
	sched.DefaultSettings.read(c.Params)
	wanted := readPhases(c.Params, c.Now)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if sched.Status != scheduleActive {
		return nil, form.Refuse("", "", "You cannot update a subscription schedule that is currently in the `%s` status.", sched.Status)
	}
	if len(wanted) > 0 {
		if err := sched.setPhases(ctx, c.Step, wanted); err != nil {
			return nil, err
		}
	}
	last := sched.Phases[len(sched.Phases)-1]
	if err := c.SetTimer(ctx, timerScheduleEnds, sched.ID, last.EndDate+1); err != nil {
		return nil, err
	}
	return sched, c.Change(ctx, "subscription_schedule.updated", before, sched)
}

// read reads the parameter default_settings.
func (d *scheduleDefaults) read(p *form.Params) {
	given := p.Hash("default_settings")
	if given == nil {
		return
	}
	given.Choice("collection_method", &d.CollectionMethod, billing.ChargeAutomatically, billing.SendInvoice)
	given.ReadClearable("default_payment_method", &d.DefaultPaymentMethod)
	if settings := given.Hash("invoice_settings"); settings != nil {
		var days int64
		settings.Integer("days_until_due", 0, maxDaysUntilDue, &days)
		d.InvoiceSettings.DaysUntilDue = &days
	}
	if d.CollectionMethod == billing.ChargeAutomatically {
		d.InvoiceSettings.DaysUntilDue = nil
	}
}

// wantedPhase is a requested phase.
type wantedPhase struct {
	params   *form.Params
	phase    phase
	items    []WantedItem
	duration billing.Interval // zero if the phase has an end date
}

func readPhases(p *form.Params, now int64) (all []wantedPhase) {
	for _, g := range p.List("phases") {
		w := wantedPhase{params: g, phase: phase{ProrationBehavior: prorationsPending, Metadata: map[string]string{}, Discounts: []phaseDiscount{}}}
		g.Integer("start_date", 0, 1<<40, &w.phase.StartDate)
		g.Integer("end_date", 0, 1<<40, &w.phase.EndDate)
		w.readDuration(g)
		g.Choice("proration_behavior", &w.phase.ProrationBehavior, prorationsPending, prorationsNow, prorationsNone)
		g.Metadata(&w.phase.Metadata)
		if g.Has("trial_end") {
			w.phase.TrialEnd = new(int64)
			g.Integer("trial_end", 0, 1<<40, w.phase.TrialEnd)
		}
		for _, d := range g.List("discounts") {
			var id string
			d.Require("discount")
			d.Text("discount", &id)
			w.phase.Discounts = append(w.phase.Discounts, phaseDiscount{Discount: id})
		}
		g.Require("items")
		w.items = ReadItems(g, "items", now)
		all = append(all, w)
	}
	return all
}

func (w *wantedPhase) readDuration(g *form.Params) {
	duration := g.Hash("duration")
	if duration == nil {
		return
	}
	w.duration.Count = 1
	duration.Require("interval")
	duration.Choice("interval", &w.duration.Unit, "day", "week", "month", "year")
	duration.Integer("interval_count", 1, 1000, &w.duration.Count)
	if g.Has("end_date") {
		g.Fail("duration", "", "You may only specify one of these parameters: end_date, duration.")
	}
}

// setPhases replaces the phases of an active schedule and updates its subscription to the current
// phase.
func (sched *schedule) setPhases(ctx context.Context, st *kernel.Step, wanted []wantedPhase) error {
	i := slices.IndexFunc(sched.Phases, func(p phase) bool { return p.StartDate == sched.CurrentPhase.StartDate })
	current, first := sched.Phases[max(i, 0)], wanted[0]
	switch {
	case first.phase.StartDate != current.StartDate:
		return form.Refuse(first.params.Name("start_date"), "", "You can not modify the start date of the current phase.")
	case len(wanted) != 2:
		return form.Refuse("phases", "", "The sandbox supports the current phase as it is, and one more.")
	}
	sub, err := All.Get(ctx, st.Q, *sched.Subscription, "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if err := sub.follow(ctx, st, first, current); err != nil {
		return err
	}
	current.Metadata, current.ProrationBehavior = first.phase.Metadata, first.phase.ProrationBehavior
	current.EndDate, current.TrialEnd = first.phase.EndDate, first.phase.TrialEnd
	current.Items, current.Discounts = phaseItems(sub.Items.Data), first.phase.Discounts
	sched.CurrentPhase.EndDate = current.EndDate
	second := wanted[1]
	if second.phase.StartDate != 0 && second.phase.StartDate != current.EndDate {
		return form.Refuse(second.params.Name("start_date"), "", "The start date of a phase must be the end date of the previous phase.")
	}
	second.phase.StartDate = current.EndDate
	lines, err := PriceItems(ctx, st, second.items, false)
	if err != nil {
		return err
	}
	if lines[0].Currency != sub.Currency {
		return catalog.WrongCurrency(second.params.Name("items"), lines[0].Currency, sub.Currency)
	}
	if err := second.phase.setItems(second, lines); err != nil {
		return err
	}
	sched.Phases = []phase{current, second.phase}
	return Save(ctx, st, before, sub)
}

// follow applies the requested current phase to the subscription. It refuses unsupported changes.
func (sub *Subscription) follow(ctx context.Context, st *kernel.Step, w wantedPhase, current phase) error {
	same := len(w.items) == len(sub.Items.Data)
	for i := 0; same && i < len(w.items); i++ {
		same = w.items[i].price == sub.Items.Data[i].Price.ID && w.items[i].quantity == sub.Items.Data[i].Quantity
	}
	moved := !equalTime(w.phase.TrialEnd, current.TrialEnd)
	switch {
	case !same:
		return form.Refuse(w.params.Name("items"), "", "The sandbox supports the current phase as it is, and one more.")
	case w.phase.EndDate != current.EndDate && !moved:
		return form.Refuse(w.params.Name("end_date"), "", "The sandbox moves only the end of a trial.")
	case w.phase.TrialEnd != nil && *w.phase.TrialEnd > w.phase.EndDate:
		return form.Refuse(w.params.Name("trial_end"), "", "The trial end of a phase must not be after its end date.")
	}
	if err := sub.loadDiscount(ctx, st); err != nil {
		return err
	}
	for _, d := range w.phase.Discounts {
		if sub.off == nil || sub.off.Discount.ID != d.Discount {
			return form.NewMissing(discounts.All.Label, d.Discount, w.params.Name("discounts"))
		}
	}
	if sub.off != nil && len(w.phase.Discounts) == 0 {
		if err := sub.endDiscount(ctx, st); err != nil {
			return err
		}
	}
	if !moved {
		return nil
	}
	if sub.Status != StatusTrialing || w.phase.TrialEnd == nil || *w.phase.TrialEnd <= st.Now || *w.phase.TrialEnd != w.phase.EndDate {
		return form.Refuse(w.params.Name("trial_end"), "", "The sandbox moves the end of a running trial together with the end of its phase.")
	}
	if err := makeChange(ctx, st, sub, change{params: w.params, proration: prorationsNone, date: st.Now, trialEnd: *w.phase.TrialEnd}, allowIncomplete); err != nil {
		return err
	}
	return scheduleTrialEndEvent(ctx, st, sub)
}

// setItems sets the items and the end of a later phase.
func (p *phase) setItems(w wantedPhase, lines []LineItem) error {
	p.Currency, p.Items = lines[0].Currency, nil
	for _, line := range lines {
		p.Items = append(p.Items, phaseItem{Metadata: map[string]string{}, Price: line.Price.ID, Quantity: line.Quantity})
	}
	switch {
	case w.duration.Count > 0:
		p.EndDate = billing.Cycle{Anchor: p.StartDate, Every: w.duration}.Boundary(1)
	case p.EndDate <= p.StartDate:
		return form.Refuse(w.params.Name("end_date"), "parameter_missing", "A phase needs an end date after its start date, or a duration.")
	}
	return nil
}

func equalTime(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
