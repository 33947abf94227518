package subscription

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// pricedChange is a change with the conditions under which its price applies.
type pricedChange struct {
	psp.Change
	paid paidTime
	// paysOwed: the owed invoices of the current period are collected before the change.
	paysOwed bool
	metered  []psp.MeteredItem // the items that bill usage before the change
	// shownUsage is the usage that the preview showed; nil where the invoice of the change has
	// no usage, or nothing was shown.
	shownUsage *int64
}

// instruction returns the order to make the change.
func (c pricedChange) instruction(m move) instruction {
	in := instruction{
		Kind: opChange, PlanID: m.plan.ID, Quantity: m.quantity, ItemID: c.ItemID, PriceID: c.PriceID,
		ProrationDate: c.ProrationDate, Unprorated: c.Unprorated, TrialEnd: c.TrialEnd, Departures: m.sub.Departures,
		UnpaidCredit: c.UnpaidCredit, ProductID: c.ProductID, PaysOwed: c.paysOwed, Metered: c.Metered, ShownUsage: c.shownUsage,
	}
	if c.invoicesUsage(m) || c.paysOwed {
		in.Usage = usageSettled
	}
	return in
}

// invoicesUsage reports whether the invoice of the change has the usage so far: because the
// change takes away an item that bills usage, or begins a period.
func (c pricedChange) invoicesUsage(m move) bool {
	return m.sub.Status != Trialing && len(c.metered) > 0 &&
		(removesMetered(c.Metered) || m.beginsPeriod() || !c.TrialEnd.IsZero())
}

// billsUsage reports whether a line of the change's invoice is for usage.
func (c pricedChange) billsUsage(line psp.InvoiceLine) bool {
	return slices.ContainsFunc(c.metered, func(m psp.MeteredItem) bool { return m.PriceID == line.PriceID })
}

// removesMetered reports whether changes take away an item that bills usage, so that the
// usage is invoiced with them.
func removesMetered(changes []psp.MeteredChange) bool {
	return slices.ContainsFunc(changes, func(ch psp.MeteredChange) bool { return ch.ItemID != "" })
}

// beginsPeriod reports whether a change, outside a trial, begins a billing period: one to
// another interval, and one from a paid to a free plan
// (https://docs.stripe.com/billing/subscriptions/billing-cycle).
func (m move) beginsPeriod() bool {
	becomesFree := m.sub.PriceCents > 0 && m.price.PriceCents == 0 && m.plan.PricingType != catalog.PricingUsage
	return m.plan.Interval != m.sub.Interval() || becomesFree
}

// readRemote adds the provider's price and state to a move, which a checkout does not need.
//
// Invariant: a change is priced on the state that the provider has. If that is newer than
// the one that is stored here, it is stored first, and isCurrent is false: the change has to be
// checked on it.
func (s *Service) readRemote(ctx context.Context, m *move) (isCurrent bool, err error) {
	if m.takesCheckout {
		return true, nil
	}
	if !m.isSeatsOnly() {
		if m.priceID, err = s.deps.Prices.Ensure(ctx, m.plan.ID, m.price.ID); err != nil {
			return false, err
		}
	}
	if m.remote, err = s.deps.Provider.GetSubscription(ctx, m.sub.PSPSubscriptionID); err != nil {
		return false, notFoundAs(ErrNotFound, err)
	}
	if m.isSeatsOnly() {
		m.priceID = m.remote.PriceID
	}
	if !m.sub.BillsLike(m.remote) {
		return false, notFoundAs(ErrNotFound, s.ReadBack(ctx, m.remote.ID, nil))
	}
	return true, nil
}

// priceAsShown returns a change as it is to be made; requested is the number of seats that the
// caller requested, 0 for as many as are needed.
//
// Invariant: a change costs to the cent what its last preview within previewLife showed,
// to any user of the tenant, or it does not happen: preview_outdated, with the new
// amounts, which bind in turn. For that it is counted from the moment of the preview,
// and the provider computes it once more, for the subscription as it is now.
// Nothing of ours changes the subscription after that: the operation begins only if no
// other state was stored since the subscription was loaded, and no other operation
// begins before this one has ended. A change by hand at the provider in the moment
// between the two calls is the one that this does not see. Usage is compared later, when
// no more of it can be recorded: see requireShownUsage.
func (s *Service) priceAsShown(ctx context.Context, m move, requested int64) (pricedChange, error) {
	shown, err := s.store.lastPreview(ctx, m, requested, s.deps.Clock.Now())
	if errors.Is(err, errNoPreview) {
		return s.priceUnseen(ctx, m)
	}
	if err != nil {
		return pricedChange{}, err
	}
	change, current, err := s.price(ctx, m, prorationDate(m.sub, shown.at), false)
	if err != nil {
		return change, err
	}
	if current.costsSame(shown) {
		if change.invoicesUsage(m) {
			change.shownUsage = &shown.usage
		}
		return change, nil
	}
	next, err := s.storedPreview(ctx, m, requested)
	if err != nil {
		return pricedChange{}, err
	}
	return pricedChange{}, errOutdated.With("preview", newChangePreview(next))
}

// priceUnseen is priceAsShown without a preview: the current price applies.
func (s *Service) priceUnseen(ctx context.Context, m move) (pricedChange, error) {
	if m.takesCheckout {
		return pricedChange{}, nil
	}
	change, err := s.newChange(ctx, m, prorationDate(m.sub, s.deps.Clock.Now()))
	if err != nil {
		return pricedChange{}, err
	}
	if m.sub.Status == PastDue || !change.paid.isWhole() {
		change, _, err = s.settleTerms(ctx, m, change)
	}
	return change, err
}

// price returns a change as it is to be made, counted from a moment, and its cost.
// Where the change takes a checkout there is no change to be made here. withUsage makes
// sure that the preview has all usage so far, for which it may wait for a second.
func (s *Service) price(ctx context.Context, m move, from time.Time, withUsage bool) (pricedChange, preview, error) {
	if m.takesCheckout {
		p, err := s.previewCheckout(ctx, m, from)
		return pricedChange{}, p, err
	}
	change, err := s.newChange(ctx, m, from)
	if err == nil && withUsage && change.invoicesUsage(m) {
		err = s.deps.Usage.Flush(ctx, m.sub.TenantID)
	}
	if err != nil {
		return pricedChange{}, preview{}, err
	}
	return s.settleTerms(ctx, m, change)
}

// newChange returns a change, counted from a moment, in the provider's terms.
func (s *Service) newChange(ctx context.Context, m move, from time.Time) (_ pricedChange, err error) {
	change := pricedChange{Change: psp.Change{
		SubscriptionID: m.remote.ID, ItemID: m.remote.ItemID, PriceID: m.priceID, KeepsPrice: m.isSeatsOnly(), Quantity: m.quantity,
		ProrationDate: from, Currency: m.sub.Currency, ProductID: m.remote.ProductID, PeriodEnd: m.remote.PeriodEnd,
	}}
	if change.Waiting, err = s.settleItems(ctx, m.sub); err != nil {
		return pricedChange{}, err
	}
	if change.paid, err = s.readPaidTime(ctx, m.sub, m.remote, from); err != nil {
		return pricedChange{}, err
	}
	if change.Metered, err = s.meteredOfPlan(ctx, m.sub, m.plan, from); err != nil {
		return pricedChange{}, err
	}
	if change.metered, _, err = m.sub.MeteredItems(); err != nil {
		return pricedChange{}, err
	}
	change.TrialEnd, err = s.trialEnd(ctx, m, from)
	return change, err
}

// settleTerms asks the provider for the cost of a change. It returns the change with its
// terms of payment, as it is to be made, and its preview.
//
// Time that was not paid is not credited (paid.go). A change that costs something, or that
// begins a period because its plan has another interval, collects what is owed for the
// current period first; so does any change while an invoice is a draft that is about to be
// collected. A change that would come to a credit takes effect without a proration where
// the period is not paid: the tenant gets nothing back, and owes nothing for the rest. More
// seats of the same plan give up no time, so they are charged alone while a debit pays for
// the others.
func (s *Service) settleTerms(ctx context.Context, m move, change pricedChange) (pricedChange, preview, error) {
	sub := m.sub
	p, err := s.previewCost(ctx, sub, change)
	if err != nil || sub.Status != PastDue && change.paid.isWhole() {
		return change, p, err
	}
	begins := m.plan.Interval != sub.Interval() && m.price.PriceCents > 0
	costs := begins || removesMetered(change.Metered) || p.net() > p.pending
	overdue := sub.Status == PastDue
	change.paysOwed = change.paid.draft || costs && (change.paid.owed || overdue)
	share := change.paid.share
	switch {
	case change.KeepsPrice && change.Quantity > sub.Quantity:
		share = change.paid.settled
	case change.paysOwed:
		share = change.paid.collected
	}
	units, err := s.deps.Provider.UnitsRead(ctx, sub.Currency)
	if err != nil {
		return change, p, err
	}
	waiting := change.paid.unpaidCredit(0, share, units.Step())
	change.UnpaidCredit = change.paid.unpaidCredit(p.unused, share, units.Step())
	// Without a proration the provider would not invoice the usage of items that it removes.
	nothing := share.Sign() == 0 && (begins || !costs) && !removesMetered(change.Metered)
	if nothing || !costs && (overdue || p.net()-p.pending+change.UnpaidCredit-waiting > 0) {
		change.Unprorated, change.UnpaidCredit = true, 0
		if begins { // its invoice has the pending credit
			change.UnpaidCredit = waiting
		}
		if p, err = s.previewCost(ctx, sub, change); err != nil {
			return change, p, err
		}
	}
	p.deductUnpaid(change.UnpaidCredit, min(waiting, change.UnpaidCredit))
	if change.paysOwed {
		p.owed, err = s.sumOwed(ctx, sub)
	}
	unsettled := change.paid.unpaidCredit(p.unused, change.paid.share, units.Step()) - change.UnpaidCredit
	if change.paid.draft { // the regular bill, which is collected within the hour in any case
		unsettled = 0
	}
	p.addOwed(unsettled)
	return change, p, err
}

// previewCost asks the provider for the cost of a change, as it is given.
func (s *Service) previewCost(ctx context.Context, sub Subscription, change pricedChange) (preview, error) {
	invoice, err := s.deps.Provider.PreviewChange(ctx, change.Change)
	if sub.IsEnding() && errors.Is(err, psp.ErrNothingUpcoming) {
		err = nil // in a trial that the subscription ends with, a change costs nothing
	}
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		return preview{}, errNoProration.Wrap(err)
	}
	if err != nil {
		return preview{}, err
	}
	p := preview{
		method: methodPSP, currency: sub.Currency, periodStart: sub.CurrentPeriodStart, periodEnd: sub.CurrentPeriodEnd,
		at: change.ProrationDate,
	}
	lines := slices.DeleteFunc(invoice.Lines, func(line psp.InvoiceLine) bool {
		if !change.billsUsage(line) {
			return false
		}
		if line.PeriodEnd.Before(p.periodEnd) { // otherwise it is the renewal's
			p.usage += line.Amount
		}
		return true
	})
	p.addLines(lines, change.Change, sub.Quantity)
	return p, nil
}

// deductUnpaid takes the unpaid part of a credit off; waiting is the part of it that was pending.
// Pending amounts count as one, so that the credit is the same once they are recharged.
func (p *preview) deductUnpaid(unpaid, waiting int64) {
	credits := p.credit - p.unused
	both := min(credits, p.pending+credits)
	p.credit -= both + unpaid
	p.charge -= both
	p.pending += waiting
}

// addOwed adds the owed invoices to the charge. Credit for time that they, or a debit in
// progress, have yet to pay is not shown as one: it lowers the charge.
func (p *preview) addOwed(unsettled int64) {
	p.charge += p.owed
	unsettled = max(min(unsettled, p.credit, p.charge), 0)
	p.credit -= unsettled
	p.charge -= unsettled
}

// addLines adds up the invoice that a change makes at once: its own lines, and the items that waited
// for the next invoice, such as changes of seats, which the provider puts on it too. A
// change without lines of its own makes no invoice: the lines are the next renewal's
// then. quantity is the number of units before the change.
func (p *preview) addLines(lines []psp.InvoiceLine, change psp.Change, quantity int64) {
	own := p.ownLines(lines, change, quantity)
	if !slices.Contains(own, true) {
		return
	}
	for i, line := range lines {
		switch {
		case !line.Proration && !line.PeriodStart.Before(p.periodEnd):
			continue // the renewal
		case line.Amount < 0:
			p.credit -= line.Amount
		default:
			p.charge += line.Amount
		}
		switch {
		case !own[i]:
			p.pending += line.Amount
		case line.Amount < 0:
			p.unused -= line.Amount
		}
	}
}

// ownLines reports which lines are the change's own: one credit for the rest of the period, and
// the charges at the new price. Of several credits from the same second, seats that
// changed in it made the others; the change's is for as many units as there are.
func (p *preview) ownLines(lines []psp.InvoiceLine, change psp.Change, quantity int64) []bool {
	own := make([]bool, len(lines))
	credit := -1
	for i, line := range lines {
		now := line.PeriodStart.Equal(change.ProrationDate) && !change.Unprorated
		switch {
		case !line.Proration: // with another interval a new period begins now, and is paid in full
			own[i] = line.PriceID == change.PriceID && line.PeriodStart.Before(p.periodEnd)
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

// trialEnd returns when the trial ends that a change begins: one to a paid plan of
// another product, of which the tenant has had no trial. Zero is for none. A trial that
// runs keeps its end, and a tenant that has not paid gets none (rules: subscription#trials).
func (s *Service) trialEnd(ctx context.Context, m move, from time.Time) (time.Time, error) {
	if m.sub.Status != Active || m.sub.IsEnding() || m.price.PriceCents == 0 || m.plan.TrialDays == 0 {
		return time.Time{}, nil
	}
	current, err := s.deps.Catalog.Plan(ctx, m.sub.PlanID)
	if err != nil || current.Product.ID == m.plan.Product.ID {
		return time.Time{}, err
	}
	days, err := s.trialDays(ctx, m.sub.TenantID, m.plan)
	if err != nil || days == 0 {
		return time.Time{}, err
	}
	return from.AddDate(0, 0, days), nil
}

// prorationDate returns a moment in whole seconds, which the provider counts in, and
// within the current period.
func prorationDate(sub Subscription, at time.Time) time.Time {
	date := at.Truncate(time.Second)
	if date.After(sub.CurrentPeriodEnd) {
		date = sub.CurrentPeriodEnd
	}
	if date.Before(sub.CurrentPeriodStart) {
		date = sub.CurrentPeriodStart
	}
	return date
}
