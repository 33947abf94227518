package operation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// previewLife is how long a change costs what its preview showed.
const previewLife = 15 * time.Minute

// How the figures of a preview were computed (rules: subscription#preview).
const (
	MethodPSP   = "psp_preview" // by the provider, which then charges the same
	MethodDaily = "daily"       // here, where a checkout starts a new subscription
)

// Preview is what a change would cost now. Amounts are in minor units of Currency;
// Credit and Charge are never negative.
type Preview struct {
	Method   string
	Currency string
	Credit   int64 // such as for time that is paid and would not be used
	Charge   int64
	// Pending is what of them waited for the next invoice with or without the change; a
	// negative amount is a credit.
	Pending     int64
	PeriodStart time.Time
	PeriodEnd   time.Time
	// At is the moment from which unused and new time are counted.
	At time.Time
	// Outlook does not bind, and is set only where a preview is shown.
	Outlook
}

// Net is what would have to be paid; a negative amount would be credited.
func (p Preview) Net() int64 { return p.Charge - p.Credit }

// TotalDays returns how many days the period has, by the calendar in UTC.
func (p Preview) TotalDays() int { return days(p.PeriodStart, p.PeriodEnd) }

// DaysRemaining returns how many of the days are left.
func (p Preview) DaysRemaining() int { return max(days(p.At, p.PeriodEnd), 0) }

func days(from, to time.Time) int {
	midnight := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	return int(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
}

// PreviewChange returns what changing to a plan would cost; quantity is as in
// ChangeParams. It refuses what ChangePlan refuses up to the number of seats, with
// two exceptions: without a running subscription it is 404, and a change that the
// provider cannot compute is proration_not_supported. What it returns binds: see bound.
func (s *Service) PreviewChange(ctx context.Context, tenantID, planID uuid.UUID, quantity int64) (Preview, error) {
	for {
		p, err := s.previewChange(ctx, tenantID, planID, quantity)
		if !errors.Is(err, subscription.ErrOvertaken) {
			return p, err
		}
	}
}

// previewChange is PreviewChange for the subscription as it is stored; ErrOvertaken asks
// for another try.
func (s *Service) previewChange(ctx context.Context, tenantID, planID uuid.UUID, quantity int64) (Preview, error) {
	sub, err := s.deps.Subscriptions.Running(ctx, tenantID)
	if err != nil {
		return Preview{}, err
	}
	sel, err := s.selectPlan(ctx, sub, planID, quantity)
	if err != nil {
		return Preview{}, err
	}
	return s.show(ctx, sub, sel, quantity)
}

// price returns a change as it is to be made, counted from a moment, and what it costs.
// Where the change takes a checkout there is no change to be made here.
func (s *Service) price(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, from time.Time) (psp.Change, Preview, error) {
	if paidFromFree(sub, sel) {
		p, err := s.previewCheckout(ctx, sub, sel, from)
		return psp.Change{}, p, err
	}
	change, err := s.providerChange(ctx, sub, sel, from)
	if err != nil {
		return psp.Change{}, Preview{}, err
	}
	return s.figures(ctx, sub, sel, change)
}

// figures asks the provider what a change costs. It returns the change as it is to
// be made, and its preview.
//
// A tenant that has not paid for its period (past_due) gets no credit for the rest
// of it: a change that would come to a credit takes effect without proration, and makes
// no invoice. A paid plan with another interval begins a period, which is invoiced in
// any case; what is owed is paid before that, and the rest of the period is given back.
func (s *Service) figures(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, change psp.Change) (psp.Change, Preview, error) {
	p, err := s.cost(ctx, sub, change)
	begins := sel.Plan.Interval != sub.Interval() && sel.Price.PriceCents > 0
	if err != nil || sub.Status != subscription.PastDue || begins || p.Net() > 0 && p.Net() > p.Pending {
		return change, p, err
	}
	change.Unprorated = true
	p, err = s.cost(ctx, sub, change)
	return change, p, err
}

// cost asks the provider what a change costs, as it is given.
func (s *Service) cost(ctx context.Context, sub subscription.Subscription, change psp.Change) (Preview, error) {
	invoice, err := s.deps.Provider.PreviewChange(ctx, change)
	if sub.Ending() && errors.Is(err, psp.ErrNothingUpcoming) {
		err = nil // in a trial that the subscription ends with, a change costs nothing
	}
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		return Preview{}, errNoProration.Wrap(err)
	}
	if err != nil {
		return Preview{}, err
	}
	p := Preview{
		Method: MethodPSP, Currency: sub.Currency, PeriodStart: sub.CurrentPeriodStart, PeriodEnd: sub.CurrentPeriodEnd,
		At: change.ProrationDate,
	}
	p.count(invoice.Lines, change, sub.Quantity)
	return p, nil
}

// count adds up the invoice that a change makes at once: its own lines, and what waited
// for the next invoice, such as changes of seats, which the provider puts on it too. A
// change without lines of its own makes no invoice: the lines are the next renewal's
// then. quantity is the number of units before the change.
func (p *Preview) count(lines []psp.InvoiceLine, change psp.Change, quantity int64) {
	own := p.own(lines, change, quantity)
	if !slices.Contains(own, true) {
		return
	}
	for i, line := range lines {
		switch {
		case !line.Proration && !line.PeriodStart.Before(p.PeriodEnd):
			continue // the renewal
		case line.Amount < 0:
			p.Credit -= line.Amount
		default:
			p.Charge += line.Amount
		}
		if !own[i] {
			p.Pending += line.Amount
		}
	}
}

// own tells which lines are the change's own: one credit for the rest of the period, and
// the charges at the new price. Of several credits from the same second, seats that
// changed in it made the others; the change's is for as many units as there are.
func (p *Preview) own(lines []psp.InvoiceLine, change psp.Change, quantity int64) []bool {
	own := make([]bool, len(lines))
	credit := -1
	for i, line := range lines {
		now := line.PeriodStart.Equal(change.ProrationDate) && !change.Unprorated
		switch {
		case !line.Proration: // with another interval a new period begins now, and is paid in full
			own[i] = line.PriceID == change.PriceID && line.PeriodStart.Before(p.PeriodEnd)
		case line.Amount >= 0:
			own[i] = now && line.PriceID == change.PriceID
		case now && (credit < 0 || line.Quantity == quantity && lines[credit].Quantity != quantity):
			credit = i
		}
	}
	if credit >= 0 {
		own[credit] = true
	}
	return own
}

// previewCheckout is the preview of a change that takes a checkout: the first
// period of the new subscription in full, or nothing if it begins with a trial.
func (s *Service) previewCheckout(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, date time.Time) (Preview, error) {
	p := Preview{
		Method: MethodDaily, Currency: sub.Currency, Charge: sel.Price.PriceCents * sel.Quantity,
		PeriodStart: date, PeriodEnd: after(date, sel.Plan.Interval), At: date,
	}
	trial, err := s.deps.Subscriptions.TrialDays(ctx, sub.TenantID, sel.Plan)
	if trial > 0 {
		p.Charge = 0
	}
	return p, err
}

// after returns the time one interval later. In a month that is too short it is the
// last day, as the provider counts.
func after(t time.Time, i catalog.Interval) time.Time {
	n := int(i.Count)
	switch i.Unit {
	case psp.IntervalDay:
		return t.AddDate(0, 0, n)
	case psp.IntervalWeek:
		return t.AddDate(0, 0, 7*n)
	case psp.IntervalYear:
		n *= 12
	}
	next := t.AddDate(0, n, 0)
	if next.Day() != t.Day() {
		next = next.AddDate(0, 0, -next.Day())
	}
	return next
}
