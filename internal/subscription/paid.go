package subscription

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// The provider credits unused time as if every invoice were paid
// (https://docs.stripe.com/billing/subscriptions/prorations).
//
// Invariant: a change, a cancellation or a departure credits only money that was paid
// (rules: subscription#unpaid-time). So each of them first reads the provider's invoices of the
// current period. It then charges the unpaid part of the credit again in the same request, or makes
// the change without proration.

// paidTime describes how much of the current period has been paid.
type paidTime struct {
	// share is the paid part of the credit for unused time, from 0 to 1. collected is the same
	// after the owed invoices are paid. settled additionally assumes that bank debits in progress
	// succeed.
	share, collected, settled *big.Rat
	// draft means that an invoice of the period is about to be collected. owed means that an
	// invoice is open and its payment can be retried.
	draft, owed bool
	// pending is the credit minus the charges that are pending for the next invoice, such as for
	// members who left. recharged is the part of pending that is already charged again because it was
	// never paid.
	pending, recharged int64
	since              time.Time // the earliest start of a pending item
}

var wholePeriod = paidTime{share: big.NewRat(1, 1), collected: big.NewRat(1, 1), settled: big.NewRat(1, 1)}

// isWhole reports whether the period is fully paid.
func (p paidTime) isWhole() bool { return p.share.Cmp(wholePeriod.share) == 0 && !p.draft && !p.owed }

// unpaidCredit returns the part of a credit for unused time, plus the pending credit, that must be
// charged again if only share of it is paid.
func (p paidTime) unpaidCredit(unused int64, share *big.Rat, step int64) int64 {
	return max(unpaidPart(unused+p.pending, share, step)-p.recharged, 0)
}

// unpaidPart returns the unpaid part of a credit, rounded up to a multiple of step. share is the
// paid part.
func unpaidPart(credit int64, share *big.Rat, step int64) int64 {
	if credit <= 0 {
		return 0
	}
	left := new(big.Rat).Sub(big.NewRat(1, 1), share)
	left.Mul(left, big.NewRat(credit, step))
	n := new(big.Int).Add(left.Num(), new(big.Int).Sub(left.Denom(), big.NewInt(1)))
	return min(n.Quo(n, left.Denom()).Int64()*step, credit)
}

// readPaidTime returns how much of a subscription's current period is paid at the given time.
func (s *Service) readPaidTime(ctx context.Context, sub Subscription, remote psp.Subscription, at time.Time) (paidTime, error) {
	if sub.Status == Trialing || remote.UnitAmount == 0 {
		return wholePeriod, nil // there is nothing to credit
	}
	invoices, err := s.periodInvoices(ctx, sub, remote)
	if err != nil {
		return paidTime{}, err
	}
	p := wholePeriod
	paid, collected, settled := new(big.Rat), new(big.Rat), new(big.Rat) // the value of the rest of the period
	unpaid := false
	lines := 0
	for _, in := range invoices {
		received, err := s.paidShare(ctx, in.Invoice)
		if err != nil {
			return paidTime{}, err
		}
		remaining := in.remainingValue(at)
		unpaid = unpaid || received.Cmp(wholePeriod.share) != 0
		paid.Add(paid, new(big.Rat).Mul(remaining, received))
		switch {
		case in.Status == "draft" || in.Status == "open" && !in.InProgress:
			p.draft, p.owed = p.draft || in.Status == "draft", p.owed || in.Status == "open"
			collected.Add(collected, remaining)
		case in.Status == "open":
			settled.Add(settled, remaining)
		}
		lines += len(in.lines)
	}
	if !unpaid {
		return p, nil
	}
	// Changes that are not invoiced yet will be settled together with the credit.
	pending, err := s.deps.Items.ListPending(ctx, remote.CustomerID, remote.ID)
	if err != nil {
		return paidTime{}, err
	}
	waiting := p.addPending(pending, remote)
	charges := slices.Clone(waiting)
	for _, in := range invoices {
		charges = append(charges, in.lines...)
	}
	value := periodValue(remote, charges, at)
	for _, line := range waiting {
		value.Sub(value, remainingValue(line, at))
	}
	lines += len(waiting)
	collected.Add(collected, paid)
	settled.Add(settled, collected)
	p.share, p.collected, p.settled = quotient(paid, value, lines), quotient(collected, value, lines), quotient(settled, value, lines)
	return p, nil
}

// addPending adds the pending items. It returns the lines that charge or credit the rest of the current
// period.
func (p *paidTime) addPending(pending []subscriptions.Item, remote psp.Subscription) (lines []psp.InvoiceLine) {
	for _, item := range pending {
		line := item.Line()
		switch {
		case item.ChargesUnpaid():
			p.recharged += item.Amount
		case line.PeriodEnd.Equal(remote.PeriodEnd):
			lines = append(lines, line)
			p.pending -= item.Amount
			if p.since.IsZero() || line.PeriodStart.Before(p.since) {
				p.since = line.PeriodStart
			}
		}
	}
	return lines
}

// periodValue returns the value of the rest of a period, which is the provider's credit for it: the
// latest charge for the current price and quantity, net of its discount. Without such a charge, for
// example after a change without proration, it is computed from the price.
func periodValue(remote psp.Subscription, charges []psp.InvoiceLine, at time.Time) *big.Rat {
	latest := psp.InvoiceLine{Amount: remote.UnitAmount * remote.Quantity, PeriodStart: remote.PeriodStart, PeriodEnd: remote.PeriodEnd}
	found := false
	for _, line := range charges {
		isCurrent := line.Amount > 0 && line.PriceID == remote.PriceID && line.Quantity == remote.Quantity
		if isCurrent && (!found || line.PeriodStart.After(latest.PeriodStart)) {
			latest, found = line, true
		}
	}
	return remainingValue(latest, at)
}

// quotient returns paid / value, from 0 to 1. Each line is rounded to a minor unit, so a difference
// of up to one unit per line does not count as unpaid.
func quotient(paid, value *big.Rat, lines int) *big.Rat {
	missing := new(big.Rat).Sub(value, paid)
	switch {
	case value.Sign() <= 0 || missing.Cmp(big.NewRat(int64(lines), 1)) <= 0:
		return big.NewRat(1, 1)
	case paid.Sign() <= 0:
		return new(big.Rat)
	default:
		return new(big.Rat).Quo(paid, value)
	}
}

// periodInvoice is an invoice with its lines for the current period.
type periodInvoice struct {
	psp.Invoice
	lines []psp.InvoiceLine
}

// remainingValue returns the value of the lines from at to the end of the period.
func (in periodInvoice) remainingValue(at time.Time) *big.Rat {
	sum := new(big.Rat)
	for _, line := range in.lines {
		sum.Add(sum, remainingValue(line, at))
	}
	return sum
}

// remainingValue returns the part of a line's amount from at to the end of its period.
func remainingValue(line psp.InvoiceLine, at time.Time) *big.Rat {
	whole, left := line.PeriodEnd.Unix()-line.PeriodStart.Unix(), line.PeriodEnd.Unix()-at.Unix()
	if whole <= 0 || left <= 0 {
		return new(big.Rat)
	}
	r := big.NewRat(min(left, whole), whole)
	return r.Mul(r, big.NewRat(line.Amount-line.Discount, 1))
}

// periodInvoices lists the invoices that bill the plan in the current period, except the invoice of
// a pending change.
func (s *Service) periodInvoices(ctx context.Context, sub Subscription, remote psp.Subscription) (found []periodInvoice, _ error) {
	query := psp.InvoiceQuery{CustomerID: remote.CustomerID}
	oldest := remote.PeriodStart.Add(-24 * time.Hour) // the invoice of a checkout is older than its subscription
	for more := true; more; {
		page, err := s.deps.Provider.ListInvoices(ctx, query)
		if err != nil {
			return nil, err
		}
		more = page.More
		for _, in := range page.Invoices { // newest first
			query.After = in.ID
			more = more && !in.CreatedAt.Before(oldest)
			if in.SubscriptionID != remote.ID || sub.Pending != nil && sub.Pending.PSPInvoiceID == in.ID {
				continue
			}
			p := periodInvoice{Invoice: in}
			for _, line := range in.Lines {
				if line.Amount != 0 && line.PeriodEnd.Equal(remote.PeriodEnd) {
					p.lines = append(p.lines, line)
				}
			}
			if len(p.lines) > 0 {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// paidShare returns the part of an invoice's total that was paid and not refunded, from 0 to 1.
func (s *Service) paidShare(ctx context.Context, in psp.Invoice) (*big.Rat, error) {
	switch {
	case in.Status != "paid":
		return new(big.Rat), nil
	case in.Total <= 0:
		return big.NewRat(1, 1), nil
	}
	back, err := s.deps.Provider.RefundedAmount(ctx, in)
	return big.NewRat(max(in.Total-back, 0), in.Total), err
}

// pendingUnpaid returns the part of a subscription's pending credit that was never paid and is not
// yet charged again, and the start of the time it covers. An example is the credit for a seat whose
// invoice was refunded since. An invoice in collection counts as paid unless the subscription ends or
// is paid by invoice.
func (s *Service) pendingUnpaid(
	ctx context.Context, sub Subscription, remote psp.Subscription, ends bool,
) (amount int64, since time.Time, _ error) {
	paid, err := s.readPaidTime(ctx, sub, remote, s.deps.Clock.Now())
	if err != nil || paid.pending <= 0 {
		return 0, since, err
	}
	share := paid.settled
	if ends || sub.Terms.IsSent() || sub.Status == PastDue && !paid.draft {
		share = paid.share
	}
	units, err := s.deps.Provider.UnitsRead(ctx, remote.Currency)
	return paid.unpaidCredit(0, share, units.Step()), paid.since, err
}

// chargeUnpaidCredit charges the unpaid part of the credit that is pending for the final invoice.
//
// Invariant: a retry does not charge the credit twice, because it deducts the items that the earlier
// attempt created.
func (s *Service) chargeUnpaidCredit(ctx context.Context, op operation) error {
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	amount, since, err := s.pendingUnpaid(ctx, op.before, remote, true)
	if err != nil || amount == 0 {
		return err
	}
	return s.deps.Items.ChargeUnpaid(ctx, remote, since, amount, op.key()+"-unpaid")
}

// rechargeCredit adds a charge to the next invoice for pending credit whose invoice was refunded,
// voided or never paid.
func (s *Service) rechargeCredit(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.operate(ctx, steps{load: s.runningLoader(tenantID), check: s.checkRecharge, send: s.sendRecharge})
	return err
}

// checkRecharge returns the instruction to charge the unpaid part of the pending credit.
func (s *Service) checkRecharge(ctx context.Context, sub Subscription) (instruction, verdict, error) {
	remote, err := s.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return instruction{}, nothingToDo, notFoundAs(ErrNotFound, err)
	}
	pending, err := s.deps.Items.ListPending(ctx, remote.CustomerID, remote.ID)
	if err != nil || !slices.ContainsFunc(pending, func(i subscriptions.Item) bool { return i.Amount < 0 }) {
		return instruction{}, nothingToDo, err
	}
	amount, since, err := s.pendingUnpaid(ctx, sub, remote, false)
	if err != nil || amount == 0 {
		return instruction{}, nothingToDo, err
	}
	return instruction{Kind: opRecharge, UnpaidCredit: amount, ProrationDate: since}, mustSend, nil
}

func (s *Service) sendRecharge(ctx context.Context, op operation) error {
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	return s.deps.Items.ChargeUnpaid(ctx, remote, op.ProrationDate, op.UnpaidCredit, op.key())
}

// RecordPayment records for analytics that an invoice with a total above 0 was paid. The invoice bills
// the plans and belongs to the provider's subscription pspID. Call it under the tenant's lock.
func (s *Service) RecordPayment(ctx context.Context, tenantID uuid.UUID, pspID string, plans []uuid.UUID, at time.Time) error {
	return journal.Pay(ctx, s.deps.DB, tenantID, pspID, plans, at)
}
