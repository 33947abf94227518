package subscription

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// previewLife is how long the amounts of a preview are binding.
const previewLife = 15 * time.Minute

// The methods that compute the amounts of a preview (rules: subscription#preview).
const (
	methodPSP   = "psp_preview" // by the provider, which then charges the same amounts
	methodDaily = "daily"       // locally, if a checkout starts a new subscription
)

// preview is the cost of making a change now. Amounts are in minor units of the currency. credit
// and charge are never negative.
type preview struct {
	method   string
	currency string
	credit   int64 // for example, for paid time that would not be used
	charge   int64
	// pending is the part of credit and charge that was pending for the next invoice regardless of
	// the change. A negative amount is a credit.
	pending int64
	// usage is the usage so far that the invoice of the change also bills. It is not part of
	// charge.
	usage       int64
	periodStart time.Time
	periodEnd   time.Time
	// at is the time of the change: the unused and the new part of the period are calculated from
	// it.
	at time.Time
	// owed is the part of charge for the open invoices and the drafts that are collected before the
	// change. drafts is the part for drafts.
	owed, drafts int64
	// freed is the credit that the customer gets before the change is invoiced, from drafts with a
	// negative total.
	freed int64
	// unused is the part of credit that the change gives for unused time.
	unused int64
	// outlook is not binding. It is set only for a preview that is shown.
	outlook
}

// outlook is the regular bill after a change and the customer's credit that reduces it. Amounts are
// in minor units of the preview's currency.
type outlook struct {
	// nextBillingAt is the end of the period or trial that applies after the change. It is zero if
	// the subscription ends then.
	nextBillingAt time.Time
	// nextAmount is the regular bill at that time: quantity × price, without usage.
	nextAmount int64
	// balance is the customer's credit before the change, at least 0.
	balance int64
	// effectiveAt is when a change at the end of the period takes effect; zero for other changes.
	effectiveAt time.Time
}

// net returns the amount of the change without usage. A negative amount is credited.
func (p preview) net() int64 { return p.charge - p.credit }

// total returns the amount of the change including the usage so far and the owed invoices.
func (p preview) total() int64 { return p.net() + p.usage }

// invoiceTotal returns the amount of the invoice of the change. A negative amount is credited.
func (p preview) invoiceTotal() int64 { return p.total() - p.owed }

// balanceApplied returns the part of the drafts and of the invoice of the change that the customer's
// credit pays. The provider applied it to the open invoices when it finalized them.
func (p preview) balanceApplied() int64 { return min(p.drafts+max(p.invoiceTotal(), 0), p.balance) }

// dueNow returns the amount that is charged now for the owed invoices and the change.
func (p preview) dueNow() int64 { return p.owed + max(p.invoiceTotal(), 0) - p.balanceApplied() }

// nextDue returns the amount that the next regular bill charges, after the remaining credit and the
// credit of the change are applied.
func (p preview) nextDue() int64 {
	left := p.balance - p.balanceApplied() + max(-p.invoiceTotal(), 0)
	return max(p.nextAmount-left, 0)
}

// costsSame reports whether two previews have the same amounts, apart from usage.
func (p preview) costsSame(other preview) bool {
	return p.credit == other.credit && p.charge == other.charge && p.pending == other.pending
}

// totalDays returns the number of calendar days of the period, in UTC.
func (p preview) totalDays() int { return daysBetween(p.periodStart, p.periodEnd) }

// daysRemaining returns the number of days left in the period.
func (p preview) daysRemaining() int { return max(daysBetween(p.at, p.periodEnd), 0) }

func daysBetween(from, to time.Time) int {
	midnight := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	return int(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
}

// previewChange returns the cost of changing to a plan. It rejects the same requests as changePlan, up
// to the check of the seats, with two exceptions: without a running subscription it returns 404, and if
// the provider cannot compute the change it returns proration_not_supported. The preview is binding:
// see priceAsShown.
func (s *Service) previewChange(ctx context.Context, load loader, params changeParams) (preview, error) {
	for {
		sub, err := load(ctx)
		if err != nil {
			return preview{}, err
		}
		choose, show := s.selectMove, s.storedPreview
		if params.atPeriodEnd {
			choose, show = s.selectScheduled, s.storedScheduled
		}
		m, err := choose(ctx, sub, params)
		if err != nil {
			return preview{}, err
		}
		isCurrent, err := s.readRemote(ctx, &m)
		if err != nil {
			return preview{}, err
		}
		if isCurrent {
			return show(ctx, m, params.quantity)
		}
	}
}

// storedPreview returns the cost of making a change now, and stores it as the last preview.
// requested is the number of seats that the caller requested, or 0 to keep the current number.
func (s *Service) storedPreview(ctx context.Context, m move, requested int64) (preview, error) {
	from := prorationDate(m.sub, s.deps.Clock.Now())
	change, p, err := s.price(ctx, m, from, true)
	if err == nil {
		p.outlook, err = s.lookAhead(ctx, m, change.Change, from)
	}
	if err != nil {
		return preview{}, err
	}
	p.balance += p.freed
	return p, s.storePreview(ctx, m, requested, p)
}

// storePreview stores a preview as the caller's last one. For a change at the end of the period, it
// stores the next bill as the charge. It stores nothing during a read-only impersonation.
func (s *Service) storePreview(ctx context.Context, m move, requested int64, p preview) error {
	if c := authz.FromContext(ctx); c != nil && c.Impersonator != nil && c.Impersonator.ReadOnly {
		return nil
	}
	if m.atPeriodEnd {
		p.charge = p.nextAmount
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, m.sub.TenantID); err != nil {
			return err
		}
		return s.store.upsertPreview(ctx, m, requested, p, s.deps.Clock.Now())
	})
}

// previewCheckout returns the preview of a change that requires a checkout: the full price of the
// new subscription's first period, or nothing if it starts with a trial.
func (s *Service) previewCheckout(ctx context.Context, m move, date time.Time) (preview, error) {
	p := preview{
		method: methodDaily, currency: m.sub.Currency, charge: m.price.PriceCents * m.quantity,
		periodStart: date, periodEnd: addInterval(date, m.plan.Interval), at: date,
	}
	off, err := s.offOf(ctx, m.redeems, p.charge, p.currency)
	if err != nil {
		return p, err
	}
	p.charge -= off
	trial, err := s.trialOf(ctx, m)
	if trial > 0 {
		p.charge = 0
	}
	return p, err
}

// trialOf returns the length of the trial of a new subscription that a move starts.
func (s *Service) trialOf(ctx context.Context, m move) (int, error) {
	if m.forCustomer {
		return 0, nil
	}
	return s.trialDays(ctx, m.sub.TenantID, m.plan)
}

// lookAhead returns the outlook of a change that is calculated from the given time. change is zero
// if a checkout makes it.
func (s *Service) lookAhead(ctx context.Context, m move, change psp.Change, from time.Time) (o outlook, err error) {
	sub := m.sub
	if o.balance, err = s.availableCredit(ctx, sub); err != nil {
		return o, err
	}
	o.nextAmount = m.price.PriceCents * m.quantity
	defer func() {
		if err == nil && o.nextAmount > 0 {
			err = s.discountNext(ctx, m, change, from, &o)
		}
	}()
	switch {
	case m.takesCheckout:
		days, err := s.trialOf(ctx, m)
		if o.nextBillingAt = addInterval(from, m.plan.Interval); days > 0 {
			o.nextBillingAt = from.AddDate(0, 0, days)
		}
		return o, err
	case sub.IsEnding():
		o.nextAmount = 0
	case !change.TrialEnd.IsZero():
		o.nextBillingAt = change.TrialEnd
	case sub.Status != Trialing && m.beginsPeriod():
		o.nextBillingAt = addInterval(from, m.plan.Interval)
	default:
		o.nextBillingAt = sub.CurrentPeriodEnd
	}
	return o, nil
}

// availableCredit returns the customer's credit for a change, including the credit that the invoice of
// a pending change holds: the change voids that invoice first.
func (s *Service) availableCredit(ctx context.Context, sub Subscription) (int64, error) {
	balance, err := s.credit(ctx, sub.TenantID, sub.Currency)
	if err != nil || sub.Pending == nil {
		return balance, err
	}
	in, err := s.deps.Provider.GetInvoice(ctx, sub.Pending.PSPInvoiceID)
	if err == nil && in.Status == "open" {
		balance += in.BalanceApplied
	}
	return balance, err
}

// addInterval returns the time one interval later. If the target month is too short, it returns the
// last day of that month, as the provider does.
func addInterval(t time.Time, i catalog.Interval) time.Time {
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
