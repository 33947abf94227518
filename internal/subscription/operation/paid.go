package operation

import (
	"context"
	"math/big"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// The provider credits unused time as if every invoice were paid
// (https://docs.stripe.com/billing/subscriptions/prorations).
//
// Invariant: a change, a cancellation or a departure credits only money that was paid
// (rules: subscription#unpaid-time). So before each of them the provider's invoices of the
// current period are read, and the part of the credit that was not paid is charged again in
// the same request, or the change is made without a proration.

// paidTime says how much of the current period is paid.
type paidTime struct {
	// share is the paid part of the credit for unused time, from 0 to 1; collected is the
	// same once the owed invoices are paid.
	share, collected *big.Rat
	// draft: an invoice of the period is about to be collected. owed: one is open, and its
	// payment can be tried again.
	draft, owed bool
}

var wholePeriod = paidTime{share: big.NewRat(1, 1), collected: big.NewRat(1, 1)}

// whole reports whether the period is paid.
func (p paidTime) whole() bool { return p.share.Cmp(wholePeriod.share) == 0 && !p.draft && !p.owed }

// unpaidPart returns the part of a credit that a share leaves, rounded up to a multiple of step.
func unpaidPart(credit int64, share *big.Rat, step int64) int64 {
	left := new(big.Rat).Sub(big.NewRat(1, 1), share)
	left.Mul(left, big.NewRat(credit, step))
	n := new(big.Int).Add(left.Num(), new(big.Int).Sub(left.Denom(), big.NewInt(1)))
	return min(n.Quo(n, left.Denom()).Int64()*step, credit)
}

// paidTime reads how much of a subscription's current period is paid at a moment.
func (s *Service) paidTime(ctx context.Context, sub subscription.Subscription, remote psp.Subscription, at time.Time) (paidTime, error) {
	if sub.Status == subscription.Trialing || remote.UnitAmount == 0 {
		return wholePeriod, nil // there is nothing to credit
	}
	invoices, err := s.periodInvoices(ctx, sub, remote)
	if err != nil {
		return paidTime{}, err
	}
	p := wholePeriod
	paid, collected := new(big.Rat), new(big.Rat) // the value of the rest of the period
	unpaid := false
	lines := 0
	for _, in := range invoices {
		received, err := s.received(ctx, in.Invoice)
		if err != nil {
			return paidTime{}, err
		}
		later := received
		switch {
		case in.Status == "draft":
			p.draft, later = true, big.NewRat(1, 1)
		case in.Status == "open" && !in.InProgress:
			p.owed, later = true, big.NewRat(1, 1)
		}
		unpaid = unpaid || received.Cmp(wholePeriod.share) != 0
		paid.Add(paid, new(big.Rat).Mul(in.left(at), received))
		collected.Add(collected, new(big.Rat).Mul(in.left(at), later))
		lines += len(in.lines)
	}
	if !unpaid {
		return p, nil
	}
	// Changes that were not invoiced yet will be settled together with the credit.
	pending, err := s.deps.Items.Pending(ctx, remote.CustomerID, remote.ID)
	if err != nil {
		return paidTime{}, err
	}
	value := leftOf(psp.InvoiceLine{
		Amount: remote.UnitAmount * remote.Quantity, PeriodStart: remote.PeriodStart, PeriodEnd: remote.PeriodEnd,
	}, at)
	for _, item := range pending {
		if line := item.Line(); !item.ChargesUnpaid() && line.PeriodEnd.Equal(remote.PeriodEnd) {
			value.Sub(value, leftOf(line, at))
			lines++
		}
	}
	p.share, p.collected = shareOf(paid, value, lines), shareOf(collected, value, lines)
	return p, nil
}

// shareOf returns paid / value, from 0 to 1. Each line is rounded to a minor unit, so a
// difference of one for each line is not an unpaid amount.
func shareOf(paid, value *big.Rat, lines int) *big.Rat {
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

// left returns the value of the lines for the time from at to the end of the period.
func (in periodInvoice) left(at time.Time) *big.Rat {
	sum := new(big.Rat)
	for _, line := range in.lines {
		sum.Add(sum, leftOf(line, at))
	}
	return sum
}

func leftOf(line psp.InvoiceLine, at time.Time) *big.Rat {
	whole, left := line.PeriodEnd.Unix()-line.PeriodStart.Unix(), line.PeriodEnd.Unix()-at.Unix()
	if whole <= 0 || left <= 0 {
		return new(big.Rat)
	}
	r := big.NewRat(min(left, whole), whole)
	return r.Mul(r, big.NewRat(line.Amount, 1))
}

// periodInvoices lists the invoices that bill the plan in the current period. The invoice of
// a change that waits for its payment is not among them.
func (s *Service) periodInvoices(ctx context.Context, sub subscription.Subscription, remote psp.Subscription) (found []periodInvoice, _ error) {
	query := psp.InvoiceQuery{CustomerID: remote.CustomerID}
	oldest := remote.PeriodStart.Add(-24 * time.Hour) // the invoice of a checkout is older than its subscription
	for more := true; more; {
		page, err := s.deps.Provider.ListInvoices(ctx, query)
		if err != nil {
			return nil, err
		}
		more = page.More
		for _, in := range page.Invoices { // the newest first
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

// received returns the part of an invoice's total that was paid and not given back, from 0 to 1.
func (s *Service) received(ctx context.Context, in psp.Invoice) (*big.Rat, error) {
	switch {
	case in.Status != "paid":
		return new(big.Rat), nil
	case in.Total <= 0:
		return big.NewRat(1, 1), nil
	}
	back, err := s.deps.Provider.GivenBack(ctx, in)
	return big.NewRat(max(in.Total-back, 0), in.Total), err
}

// chargeUnpaidCredit charges the unpaid part of the credit that waits for the final invoice
// of a subscription, such as the credit for a seat whose invoice was refunded since.
//
// Invariant: a repetition charges nothing again, because it counts the items that were made
// before.
func (s *Service) chargeUnpaidCredit(ctx context.Context, op operation) error {
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil {
		return err
	}
	pending, err := s.deps.Items.Pending(ctx, remote.CustomerID, remote.ID)
	if err != nil {
		return err
	}
	var credit, charged int64
	for _, item := range pending {
		if item.ChargesUnpaid() {
			charged += item.Amount
		} else {
			credit -= item.Amount
		}
	}
	if credit <= charged {
		return nil
	}
	paid, err := s.paidTime(ctx, op.before, remote, s.deps.Clock.Now())
	if err != nil {
		return err
	}
	units, err := s.deps.Provider.UnitsRead(ctx, remote.Currency)
	if err != nil {
		return err
	}
	if amount := unpaidPart(credit, paid.share, units.Step()) - charged; amount > 0 {
		return s.deps.Items.ChargeUnpaid(ctx, remote, amount, op.key()+"-unpaid")
	}
	return nil
}
