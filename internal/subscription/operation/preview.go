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
	Pending int64
	// Usage is the usage so far that the invoice of the change has as well. It is not among
	// Charge.
	Usage       int64
	PeriodStart time.Time
	PeriodEnd   time.Time
	// At is the moment from which unused and new time are counted.
	At time.Time
	// Owed is the part of Charge for open invoices, which the change collects first.
	Owed int64
	// unused is the part of Credit that the change gives for unused time.
	unused int64
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
// Where the change takes a checkout there is no change to be made here. withUsage makes
// sure that the preview has all usage so far, for which it may wait for a second.
func (s *Service) price(
	ctx context.Context, sub subscription.Subscription, sel subscription.Selection, from time.Time, withUsage bool,
) (pricedChange, Preview, error) {
	checkout, err := paidFromFree(sub, sel)
	if err != nil {
		return pricedChange{}, Preview{}, err
	}
	if checkout {
		p, err := s.previewCheckout(ctx, sub, sel, from)
		return pricedChange{}, p, err
	}
	change, err := s.providerChange(ctx, sub, sel, from)
	if err == nil && withUsage && change.invoicesUsage(sub, sel) {
		err = s.deps.Usage.Flush(ctx, sub.TenantID)
	}
	if err != nil {
		return pricedChange{}, Preview{}, err
	}
	return s.figures(ctx, sub, sel, change)
}

// figures asks the provider what a change costs. It returns the change as it is to
// be made, and its preview.
//
// Time that was not paid is not credited (paid.go). A change that costs something, or that
// begins a period because its plan has another interval, collects what is owed for the
// current period first; so does any change while an invoice is a draft that is about to be
// collected. A change that would come to a credit takes effect without a proration where
// the period is not paid: the tenant gets nothing back, and owes nothing for the rest. More
// seats of the same plan give up no time, so they are charged alone while a debit pays for
// the others.
func (s *Service) figures(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, change pricedChange) (pricedChange, Preview, error) {
	p, err := s.cost(ctx, sub, change)
	if err != nil || sub.Status != subscription.PastDue && change.paid.whole() {
		return change, p, err
	}
	begins := sel.Plan.Interval != sub.Interval() && sel.Price.PriceCents > 0
	costs := begins || removesMetered(change.Metered) || p.Net() > p.Pending
	overdue := sub.Status == subscription.PastDue
	change.PaysOwed = change.paid.draft || costs && (change.paid.owed || overdue)
	share := change.paid.share
	switch {
	case change.KeepsPrice && change.Quantity > sub.Quantity:
		share = change.paid.settled
	case change.PaysOwed:
		share = change.paid.collected
	}
	units, err := s.deps.Provider.UnitsRead(ctx, sub.Currency)
	if err != nil {
		return change, p, err
	}
	waiting := change.paid.unpaid(0, share, units.Step())
	change.UnpaidCredit = change.paid.unpaid(p.unused, share, units.Step())
	// Without a proration the provider would not invoice the usage of items that it removes.
	nothing := share.Sign() == 0 && (begins || !costs) && !removesMetered(change.Metered)
	if nothing || !costs && (overdue || p.Net()-p.Pending+change.UnpaidCredit-waiting > 0) {
		change.Unprorated, change.UnpaidCredit = true, 0
		if begins { // its invoice has the pending credit
			change.UnpaidCredit = waiting
		}
		if p, err = s.cost(ctx, sub, change); err != nil {
			return change, p, err
		}
	}
	p.recharge(change.UnpaidCredit, min(waiting, change.UnpaidCredit))
	if change.PaysOwed {
		p.Owed, err = s.owed(ctx, sub)
	}
	unsettled := change.paid.unpaid(p.unused, change.paid.share, units.Step()) - change.UnpaidCredit
	if change.paid.draft { // the regular bill, which is collected within the hour in any case
		unsettled = 0
	}
	p.collect(unsettled)
	return change, p, err
}

// recharge takes the unpaid part of a credit off; waiting is the part of it that was pending.
// Pending amounts count as one, so that the credit is the same once they are recharged.
func (p *Preview) recharge(unpaid, waiting int64) {
	credits := p.Credit - p.unused
	both := min(credits, p.Pending+credits)
	p.Credit -= both + unpaid
	p.Charge -= both
	p.Pending += waiting
}

// collect adds the owed invoices to the charge. Credit for time that they, or a debit in
// progress, have yet to pay is not shown as one: it lowers the charge.
func (p *Preview) collect(unsettled int64) {
	p.Charge += p.Owed
	unsettled = max(min(unsettled, p.Credit, p.Charge), 0)
	p.Credit -= unsettled
	p.Charge -= unsettled
}

// cost asks the provider what a change costs, as it is given.
func (s *Service) cost(ctx context.Context, sub subscription.Subscription, change pricedChange) (Preview, error) {
	invoice, err := s.deps.Provider.PreviewChange(ctx, change.Change)
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
	lines := slices.DeleteFunc(invoice.Lines, func(line psp.InvoiceLine) bool {
		if !change.billsUsage(line) {
			return false
		}
		if line.PeriodEnd.Before(p.PeriodEnd) { // otherwise it is the renewal's
			p.Usage += line.Amount
		}
		return true
	})
	p.count(lines, change.Change, sub.Quantity)
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
		switch {
		case !own[i]:
			p.Pending += line.Amount
		case line.Amount < 0:
			p.unused -= line.Amount
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
