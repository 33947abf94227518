package billing

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/usage"
)

// run is one run of Report. It caches customers and the provider's meters.
type run struct {
	*Reporter
	customers map[uuid.UUID]customer
	meters    map[priceKey]providerMeter
	drafts    map[string][]psp.Invoice // draft invoices by customer
	before    time.Time                // if not zero, figures are reported with times before this time
	queuedAt  time.Time                // when the current row was queued
}

func newRun(r *Reporter) *run {
	return &run{Reporter: r, customers: map[uuid.UUID]customer{}, meters: map[priceKey]providerMeter{}, drafts: map[string][]psp.Invoice{}}
}

// customer is the customer who pays for a tenant's usage. Its id is "" if the tenant has no customer.
type customer struct {
	id, currency string
	billing      *usage.Billing
	metered      *MeteredBilling
	current      map[uuid.UUID]string // provider prices that bill usage, by meter
	former       map[uuid.UUID]string // provider prices of the previous period
	addedAt      map[string]time.Time // Payer.AddedAt
}

// priceKey identifies a price of a meter: a price of the provider or, if pspPriceID is "", the
// currently linked price in a currency.
type priceKey struct {
	meterID    uuid.UUID
	currency   string
	pspPriceID string
}

// key returns the price that bills a figure: the subscription's own price, regardless of the
// currently linked one.
func (c customer) key(f usage.Figure) priceKey {
	own := c.current
	if c.metered != nil && f.At.Before(c.metered.Period.Start) {
		own = c.former
	}
	return priceKey{f.MeterID, c.currency, own[f.MeterID]}
}

// providerMeter is the provider's meter for a linked price. Both strings are "" if no price is
// linked.
type providerMeter struct {
	eventName string
	problem   string // why the linked price has no usable meter
	// maximum is set for a max meter if the provider takes the last figure of a period instead of
	// the sum of its figures; otherwise it is nil.
	maximum *usage.Meter
	last    bool // a last_value meter for which the provider takes the last figure
}

// send reports a few figures to the provider concurrently. It returns the figures that the provider
// permanently rejects.
func (r *run) send(ctx context.Context, figures []usage.Figure) ([]rejection, error) {
	failures := make([]error, len(figures))
	reasons := make([]string, len(figures))
	var sending sync.WaitGroup
	for i, f := range figures {
		var to target
		if to, failures[i] = r.target(ctx, f); failures[i] != nil {
			break
		}
		reasons[i] = to.problem
		if to.customerID != "" && to.eventName != "" {
			sending.Go(func() { reasons[i], failures[i] = r.sendOne(ctx, f, to) })
		}
	}
	sending.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	var rejected []rejection
	for i, reason := range reasons {
		if reason != "" {
			rejected = append(rejected, rejection{Figure: figures[i], reason: reason})
		}
	}
	return rejected, nil
}

// sendOne reports one figure. reason is set if the provider permanently rejects it.
func (r *run) sendOne(ctx context.Context, f usage.Figure, to target) (reason string, err error) {
	if to.maximum != nil {
		if f, err = r.replaceByMaximum(ctx, f, to); err != nil {
			return "", err
		}
	}
	if f, err = r.adjustTime(ctx, f, to); err != nil {
		return "", err
	}
	err = r.deps.Provider.ReportUsage(ctx, psp.UsageReport{
		EventName: to.eventName, CustomerID: to.customerID, Quantity: f.Quantity, Identifier: f.ID.String(), At: f.At,
	})
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		return err.Error(), nil
	}
	return "", err
}

// adjustTime sets the time of a figure to a time at which its price is in effect. If the provider
// takes the last figure of a period, the quantity becomes the value at the end of the figure's
// second.
//
// Invariant: the provider counts in seconds, and keeps the last arriving figure of each second. All
// figures of a second are reported with the same value, so their order does not matter. The figure
// of an event that is recorded later in the same second is sent later.
func (r *run) adjustTime(ctx context.Context, f usage.Figure, to target) (_ usage.Figure, err error) {
	f.At = to.metered.reportTime(f.At)
	if now := r.deps.Clock.Now(); f.At.After(now) && !to.last && to.metered.areInCurrentPeriod(f.At, now) {
		f.At = now // so that usage dated ahead is on the final invoice if the subscription ends before that time
	}
	if to.last {
		second := f.At.Truncate(time.Second)
		f.Quantity, err = r.records.ValueBefore(ctx, f.TenantID, usage.Meter{ID: f.MeterID}, second.Add(time.Second))
	}
	if !r.before.IsZero() && !f.At.Before(r.before) {
		f.At = r.before.Add(-time.Second)
	}
	return f, err
}

// replaceByMaximum replaces the increase of a maximum with the sum of the maxima so far, as in the
// estimate, for a provider's meter that takes the last figure. It sets the latest possible time in
// the billing period, so that this figure is the last one. For a price that was added during the
// period, only the increase since then counts.
func (r *run) replaceByMaximum(ctx context.Context, f usage.Figure, to target) (usage.Figure, error) {
	var p usage.Period
	to.billing, p = periodBilled(to.maximum.Reset, to.billing, f.At)
	end := p.End
	if to.addedAt.After(p.Start) {
		p.Start = to.addedAt
	}
	sum, err := r.sumOfMaxima(ctx, f, to, p)
	if err != nil {
		return f, err
	}
	if quantity, fits := sum.Quantity(); fits {
		f.Quantity = quantity
	}
	if r.deps.Clock.Now().Before(end) {
		f.At = r.deps.Clock.Now()
	} else if last := end.Add(-time.Second); last.After(f.At) { // the provider counts in seconds
		f.At = last
	}
	return f, nil
}

// sumOfMaxima returns the sum of the maxima in a period of a target's meter. Without billing terms,
// such as for an unpaid subscription, it is the maximum of the period.
func (r *run) sumOfMaxima(ctx context.Context, f usage.Figure, to target, p usage.Period) (money.Total, error) {
	if to.billing == nil {
		counter, err := r.records.ReadCounter(ctx, f.TenantID, *to.maximum, p, f.At)
		return counter.Value, err
	}
	estimator := Estimator{store: r.store, records: r.records}
	return estimator.billedMaxima(ctx, f.TenantID, *to.maximum, to.billing, p)
}

// periodBilled returns the billing period that contains a time, and the terms that applied in it.
// Without billing terms it is the meter's own period.
func periodBilled(reset usage.ResetInterval, b *usage.Billing, at time.Time) (*usage.Billing, usage.Period) {
	switch {
	case b == nil:
		return b, usage.PeriodOf(reset, nil, at)
	case !at.Before(b.Current.End):
		return b, usage.PeriodOf(usage.ResetMonthly, b, at)
	case !at.Before(b.Current.Start):
		return b, b.Current
	}
	for i := range b.Former { // other terms, replaced at the end of their last period
		if f := &b.Former[i]; at.Before(f.Until) {
			terms := f.Billing
			terms.Current = terms.Current.Intersect(usage.Period{Start: terms.Current.Start, End: f.Until})
			_, p := periodBilled(reset, &terms, at)
			return &f.Billing, p
		}
	}
	former := usage.Period{Start: b.Current.Start}
	for at.Before(former.Start) {
		former.End = former.Start
		switch n := b.IntervalCount; b.IntervalUnit {
		case usage.Day:
			former.Start = former.End.AddDate(0, 0, -n)
		case usage.Week:
			former.Start = former.End.AddDate(0, 0, -7*n)
		case usage.Year:
			n *= 12
			fallthrough
		case usage.Month:
			for range n { // from window to window, because months differ in length
				former.Start = usage.PeriodOf(usage.ResetMonthly, b, former.Start.Add(-time.Microsecond)).Start
			}
		}
		if !former.Start.Before(former.End) { // no interval
			break
		}
	}
	return b, former
}

// target is the destination of a figure. Without a customer or an event name the figure is free,
// unless there is a problem.
type target struct {
	providerMeter
	customerID string
	billing    *usage.Billing
	metered    *MeteredBilling
	addedAt    time.Time // Payer.AddedAt of the price
}

func (r *run) target(ctx context.Context, f usage.Figure) (to target, err error) {
	c, err := r.customer(ctx, f.TenantID)
	if err != nil || c.id == "" {
		return to, err
	}
	key := c.key(f)
	m, known := r.meters[key]
	if !known {
		if m, err = r.providerMeter(ctx, key); err != nil {
			return to, err
		}
		r.meters[key] = m
	}
	if m.eventName != "" {
		closed, err := r.isInvoiceFinal(ctx, f, c)
		if err != nil {
			return to, err
		}
		if closed {
			m = providerMeter{problem: periodClosed}
			settled, err := r.store.isSettled(ctx, f.TenantID, r.queuedAt)
			if err != nil {
				return to, err
			}
			if settled { // the figure is already reported
				m = providerMeter{}
			}
		}
	}
	return target{m, c.id, c.billing, c.metered, c.addedAt[key.pspPriceID]}, nil
}

// periodClosed is the rejection reason of usage recorded too late for the invoice of its billing
// period.
const periodClosed = "period_closed"

// isInvoiceFinal reports whether the invoice of a figure's billing period is final
// (rules: usage#late-usage). The provider updates a draft invoice with new figures, and keeps it as
// a draft for an hour or longer.
func (r *run) isInvoiceFinal(ctx context.Context, f usage.Figure, c customer) (bool, error) {
	if m := c.metered; m != nil && !f.At.Before(m.Period.Start) && !f.At.Before(c.addedAt[c.key(f).pspPriceID]) {
		return false, nil
	}
	billed, err := r.deps.Payers.IsBilled(ctx, f.TenantID, f.At, r.queuedAt)
	if err != nil || !billed {
		return false, err
	}
	drafts, known := r.drafts[c.id]
	if !known {
		page, err := r.deps.Provider.ListInvoices(ctx, psp.InvoiceQuery{CustomerID: c.id, Status: "draft"})
		if err != nil && !errors.Is(err, psp.ErrRefused) && !errors.Is(err, psp.ErrNotFound) {
			return false, err
		} // a customer unknown to the provider has no drafts
		drafts = page.Invoices
		r.drafts[c.id] = drafts
	}
	// Usage is billed for a past period, everything else in advance.
	bills := func(l psp.InvoiceLine) bool {
		return l.PriceID != "" && !l.Proration && !l.PeriodEnd.After(r.deps.Clock.Now()) && !f.At.Before(l.PeriodStart) && f.At.Before(l.PeriodEnd)
	}
	isDraft := slices.ContainsFunc(drafts, func(in psp.Invoice) bool { return slices.ContainsFunc(in.Lines, bills) })
	return !isDraft, nil
}

// customer returns the customer who pays for a tenant's usage.
func (r *run) customer(ctx context.Context, tenantID uuid.UUID) (customer, error) {
	if c, known := r.customers[tenantID]; known {
		return c, nil
	}
	id, err := r.deps.Customers.Customer(ctx, tenantID)
	if err != nil {
		return customer{}, err
	}
	c := customer{id: id}
	if id != "" {
		payer, err := r.deps.Payers.Payer(ctx, tenantID)
		if err != nil {
			return customer{}, err
		}
		c.currency, c.billing, c.metered, c.addedAt = payer.Currency, payer.Billing, payer.Metered, payer.AddedAt
		if m := payer.Metered; m != nil {
			if c.current, err = r.store.metersByPrice(ctx, m.Prices); err == nil {
				c.former, err = r.store.metersByPrice(ctx, m.Former)
			}
			if err != nil {
				return customer{}, err
			}
		}
	}
	r.customers[tenantID] = c
	return c, nil
}

// providerMeter looks up the provider's meter for a linked price.
func (r *run) providerMeter(ctx context.Context, key priceKey) (providerMeter, error) {
	meter, id, err := r.store.linkedPrice(ctx, key)
	if errors.Is(err, errNotLinked) {
		return providerMeter{}, nil
	}
	if err != nil {
		return providerMeter{}, err
	}
	price, err := r.deps.Provider.GetPrice(ctx, id)
	if err == nil && price.MeterID != "" {
		var m psp.Meter
		m, err = r.deps.Provider.GetMeter(ctx, price.MeterID)
		if err == nil && m.Active {
			to := providerMeter{eventName: m.EventName}
			if meter.Aggregation == usage.Max && m.Aggregation == psp.AggregateLast {
				to.maximum = &meter
			}
			to.last = meter.Aggregation == usage.LastValue && m.Aggregation == psp.AggregateLast
			return to, nil
		}
	}
	switch {
	case err == nil:
		return providerMeter{problem: "the linked price " + id + " does not have an active meter at the payment provider"}, nil
	case errors.Is(err, psp.ErrRefused), errors.Is(err, psp.ErrNotFound):
		return providerMeter{problem: "the linked price " + id + " or its meter cannot be read: " + err.Error()}, nil
	default:
		return providerMeter{}, err
	}
}
