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
	// paysOwed means that the owed invoices of the current period are collected before the change.
	paysOwed bool
	metered  []psp.MeteredItem // the metered items before the change
	// shownUsage is the usage that the preview showed. It is nil if the invoice of the change bills
	// no usage, or if there was no preview.
	shownUsage *int64
}

// instruction returns the instruction to make the change.
func (c pricedChange) instruction(m move) instruction {
	in := instruction{
		Kind: opChange, PlanID: m.plan.ID, Quantity: m.quantity, ItemID: c.ItemID, PriceID: c.PriceID,
		ProrationDate: c.ProrationDate, Unprorated: c.Unprorated, TrialEnd: c.TrialEnd, Departures: m.sub.Departures,
		UnpaidCredit: c.UnpaidCredit, ProductID: c.ProductID, PaysOwed: c.paysOwed, Metered: c.Metered, ShownUsage: c.shownUsage,
		DropsDiscount: m.drops, PSPCodeID: m.pspCode,
	}
	if m.redeems != nil {
		in.DiscountID = m.redeems.ID
	}
	if c.invoicesUsage(m) || c.paysOwed {
		in.Usage = usageSettled
	}
	return in
}

// invoicesUsage reports whether the invoice of the change includes the usage so far. It does if the
// change removes a metered item or starts a billing period.
func (c pricedChange) invoicesUsage(m move) bool {
	return m.sub.Status != Trialing && len(c.metered) > 0 &&
		(removesMetered(c.Metered) || m.beginsPeriod() || !c.TrialEnd.IsZero())
}

// billsUsage reports whether an invoice line of the change is for usage.
func (c pricedChange) billsUsage(line psp.InvoiceLine) bool {
	return slices.ContainsFunc(c.metered, func(m psp.MeteredItem) bool { return m.PriceID == line.PriceID })
}

// removesMetered reports whether changes remove a metered item. The provider then invoices its usage.
func removesMetered(changes []psp.MeteredChange) bool {
	return slices.ContainsFunc(changes, func(ch psp.MeteredChange) bool { return ch.ItemID != "" })
}

// beginsPeriod reports whether a change, outside a trial, starts a billing period: a change to
// another interval, or from a paid plan to a free one
// (https://docs.stripe.com/billing/subscriptions/billing-cycle).
func (m move) beginsPeriod() bool {
	becomesFree := m.sub.PriceCents > 0 && m.price.PriceCents == 0 && m.plan.PricingType != catalog.PricingUsage
	return m.plan.Interval != m.sub.Interval() || becomesFree
}

// priceAsShown returns the change to make. requested is the number of seats that the caller
// requested, or 0 to keep the current number.
//
// Invariant: a change costs exactly the amounts that its last preview within previewLife showed to the
// same user or API key, or it fails with preview_outdated and a new binding preview. To guarantee this,
// the provider computes the cost again for the current subscription, from the time of the preview.
// After that, the service does not change the subscription: the operation begins only if no other state
// was stored since the subscription was loaded, and no other operation begins before this one has
// ended. Only a manual change at the provider between the two calls is not detected. Usage is compared
// later, once recording has stopped: see requireShownUsage.
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

// priceUnseen is priceAsShown for a change without a preview. The current price applies.
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

// price returns the change to make, calculated from the given time, and its cost. If the move
// requires a checkout, the change is empty. With withUsage, the preview includes all usage so far,
// for which price may wait up to a second.
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

// newChange returns a change, calculated from the given time, with the provider's parameters.
func (s *Service) newChange(ctx context.Context, m move, from time.Time) (_ pricedChange, err error) {
	change := pricedChange{Change: psp.Change{
		SubscriptionID: m.remote.ID, ItemID: m.remote.ItemID, PriceID: m.priceID, KeepsPrice: m.isSeatsOnly(), Quantity: m.quantity,
		ProrationDate: from, Currency: m.sub.Currency, ProductID: m.remote.ProductID, PeriodEnd: m.remote.PeriodEnd,
		IsSent:          m.sub.Terms.IsSent(),
		PromotionCodeID: m.pspCode, RemovesDiscount: m.drops,
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

// settleTerms asks the provider for the cost of a change. It returns the change with its payment
// terms, ready to be made, and its preview.
//
// Time that was not paid for is not credited (see paid.go). The owed invoices of the current period
// are collected first if the change costs something or starts a period with another interval, and
// also if an invoice is a draft that is about to be collected. If a change would result in a credit
// for a period that is not paid, it is made without proration: the tenant receives nothing and owes
// nothing for the rest of the period. If seats are added to the same plan, no paid time is lost, so
// the new seats are charged even while a debit for the other seats is in progress.
func (s *Service) settleTerms(ctx context.Context, m move, change pricedChange) (pricedChange, preview, error) {
	sub := m.sub
	p, err := s.previewCost(ctx, sub, change)
	if err != nil || sub.Status != PastDue && change.paid.isWhole() {
		return change, p, err
	}
	begins := m.plan.Interval != sub.Interval() && m.price.PriceCents > 0
	costs := begins || removesMetered(change.Metered) || p.net() > p.pending
	overdue := sub.Status == PastDue
	change.paysOwed = !sub.Terms.IsSent() && (change.paid.draft || costs && (change.paid.owed || overdue))
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
	// Without proration, the provider would not invoice the usage of the removed items.
	nothing := share.Sign() == 0 && (begins || !costs) && !removesMetered(change.Metered)
	if nothing || !costs && (overdue || p.net()-p.pending+change.UnpaidCredit-waiting > 0) {
		change.Unprorated, change.UnpaidCredit = true, 0
		if begins { // the invoice of the new period includes the pending credit
			change.UnpaidCredit = waiting
		}
		if p, err = s.previewCost(ctx, sub, change); err != nil {
			return change, p, err
		}
	}
	p.deductUnpaid(change.UnpaidCredit, min(waiting, change.UnpaidCredit))
	if change.paysOwed {
		err = s.sumOwed(ctx, sub, &p)
	}
	p.addOwed(change.paid.unpaidCredit(p.unused, change.paid.share, units.Step()) - change.UnpaidCredit)
	return change, p, err
}

// previewCost asks the provider for the cost of exactly this change.
func (s *Service) previewCost(ctx context.Context, sub Subscription, change pricedChange) (preview, error) {
	invoice, err := s.deps.Provider.PreviewChange(ctx, change.Change)
	if sub.IsEnding() && errors.Is(err, psp.ErrNothingUpcoming) {
		err = nil // a change during a trial costs nothing if the subscription ends with the trial
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
	p.addLines(p.addUsage(invoice.Lines, change), change.Change, sub.Quantity)
	return p, nil
}

// addUsage adds up the lines for usage so far and returns the other lines of the change. It drops the
// usage of the renewal, which ends with the period. A proration that ends with the period is not usage:
// it counts, although the provider documents no prorations of metered prices.
func (p *preview) addUsage(lines []psp.InvoiceLine, change pricedChange) []psp.InvoiceLine {
	return slices.DeleteFunc(lines, func(line psp.InvoiceLine) bool {
		isSoFar := line.PeriodEnd.Before(p.periodEnd)
		if !change.billsUsage(line) || line.Proration && !isSoFar {
			return false
		}
		if isSoFar {
			p.usage += line.Amount - line.Discount
		}
		return true
	})
}

// deductUnpaid subtracts the unpaid part of a credit. waiting is the amount of the unpaid part that was
// pending. Pending credits and charges are netted first, so that a preview shows the same credit before
// and after the unpaid part is charged again.
func (p *preview) deductUnpaid(unpaid, waiting int64) {
	credits := p.credit - p.unused
	both := min(credits, p.pending+credits)
	p.credit -= both + unpaid
	p.charge -= both
	p.pending += waiting
}

// addOwed adds the owed invoices to the charge. Credit for time that is not paid yet, because of
// these invoices or a debit in progress, is not shown as a credit: it lowers the charge.
func (p *preview) addOwed(unsettled int64) {
	p.charge += p.owed
	unsettled = max(min(unsettled, p.credit, p.charge), 0)
	p.credit -= unsettled
	p.charge -= unsettled
}

// addLines adds up the invoice that a change creates immediately: the lines of the change, and the
// items that were pending for the next invoice, such as changes of seats. If the change has no
// lines, it creates no invoice, and the other lines belong to the next renewal. quantity is the
// number of units before the change.
func (p *preview) addLines(lines []psp.InvoiceLine, change psp.Change, quantity int64) {
	own := p.ownLines(lines, change, quantity)
	if !slices.Contains(own, true) {
		return
	}
	for i, line := range lines {
		amount := line.Amount - line.Discount
		switch {
		case !line.Proration && !line.PeriodStart.Before(p.periodEnd):
			continue // belongs to the renewal
		case amount < 0:
			p.credit -= amount
		default:
			p.charge += amount
		}
		switch {
		case !own[i]:
			p.pending += amount
		case line.Amount < 0:
			p.unused -= line.Amount
		}
	}
}

// ownLines reports which lines belong to the change: one credit for the rest of the period, and the
// charges at the new price. If seats changed in the same second, there are several credits. The
// change's credit is the one for the current number of units.
func (p *preview) ownLines(lines []psp.InvoiceLine, change psp.Change, quantity int64) []bool {
	own := make([]bool, len(lines))
	credit := -1
	for i, line := range lines {
		now := line.PeriodStart.Equal(change.ProrationDate) && !change.Unprorated
		switch {
		case !line.Proration: // with another interval a new period starts now and is charged in full
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

// trialEnd returns the end of the trial that a change starts, or zero if the change does not start
// one. A change to a paid plan of another product starts a trial if the tenant has not had a trial
// of that product. A running trial keeps its end, and a tenant that has not paid gets no trial
// (rules: subscription#trials).
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

// prorationDate returns the time truncated to seconds, which is the provider's resolution, and
// clamped to the current period.
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
