package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// previewLife is how long a change costs what its preview showed.
const previewLife = 15 * time.Minute

// The methods by which the amounts of a preview are computed (rules: subscription#preview).
const (
	methodPSP   = "psp_preview" // by the provider, which then charges the same
	methodDaily = "daily"       // here, where a checkout starts a new subscription
)

// preview is the cost of a change now. Amounts are in minor units of the currency; credit and
// charge are never negative.
type preview struct {
	method   string
	currency string
	credit   int64 // such as for time that is paid and would not be used
	charge   int64
	// pending is the part of them that waited for the next invoice with or without the change; a
	// negative amount is a credit.
	pending int64
	// usage is the usage so far that the invoice of the change has as well. It is not part of
	// charge.
	usage       int64
	periodStart time.Time
	periodEnd   time.Time
	// at is the moment from which unused and new time are counted.
	at time.Time
	// owed is the part of charge for open invoices, which the change collects first.
	owed int64
	// unused is the part of credit that the change gives for unused time.
	unused int64
	// outlook does not bind, and is set only where a preview is shown.
	outlook
}

// outlook is the regular bill after a change, and the customer's credit that pays for it.
// Amounts are in minor units of the preview's currency.
type outlook struct {
	// nextBillingAt is the end of the period, or of the trial, that applies after the change;
	// zero if the subscription ends with it.
	nextBillingAt time.Time
	// nextAmount is the regular bill at that time: quantity × price, without usage.
	nextAmount int64
	// balance is the customer's credit before the change, at least 0.
	balance int64
}

// net returns the amount of the change without usage; a negative amount would be credited.
func (p preview) net() int64 { return p.charge - p.credit }

// total returns the amount of the change, with the usage so far and the owed invoices.
func (p preview) total() int64 { return p.net() + p.usage }

// invoiceTotal returns the amount of the invoice of the change. A negative amount is credited.
func (p preview) invoiceTotal() int64 { return p.total() - p.owed }

// balanceApplied returns the part of the change that the customer's credit pays.
func (p preview) balanceApplied() int64 { return min(max(p.invoiceTotal(), 0), p.balance) }

// dueNow returns the amount that is charged now: for the owed invoices, and for the change.
func (p preview) dueNow() int64 { return p.owed + max(p.invoiceTotal(), 0) - p.balanceApplied() }

// nextDue returns the amount that is charged for the next regular bill: a credit of the change
// and the credit that it leaves are taken off.
func (p preview) nextDue() int64 {
	left := p.balance - p.balanceApplied() + max(-p.invoiceTotal(), 0)
	return max(p.nextAmount-left, 0)
}

// costsSame reports whether two previews come to the same amounts, without usage.
func (p preview) costsSame(other preview) bool {
	return p.credit == other.credit && p.charge == other.charge && p.pending == other.pending
}

// totalDays returns how many days the period has, by the calendar in UTC.
func (p preview) totalDays() int { return daysBetween(p.periodStart, p.periodEnd) }

// daysRemaining returns how many of the days are left.
func (p preview) daysRemaining() int { return max(daysBetween(p.at, p.periodEnd), 0) }

func daysBetween(from, to time.Time) int {
	midnight := func(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
	return int(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
}

// previewChange returns the cost of changing to a plan; quantity is as in
// changeParams. It refuses what changePlan refuses up to the number of seats, with
// two exceptions: without a running subscription it is 404, and a change that the
// provider cannot compute is proration_not_supported. The preview binds: see priceAsShown.
func (s *Service) previewChange(ctx context.Context, tenantID, planID uuid.UUID, quantity int64) (preview, error) {
	for {
		sub, err := s.loadRunning(ctx, tenantID)
		if err != nil {
			return preview{}, err
		}
		m, err := s.selectMove(ctx, sub, planID, quantity)
		if err != nil {
			return preview{}, err
		}
		isCurrent, err := s.readRemote(ctx, &m)
		if err != nil {
			return preview{}, err
		}
		if isCurrent {
			return s.storedPreview(ctx, m, quantity)
		}
	}
}

// outdatedPreview returns the refusal of a change whose usage has changed since its preview, with
// a new one.
func (s *Service) outdatedPreview(ctx context.Context, tenantID uuid.UUID, p changeParams) error {
	next, err := s.previewChange(ctx, tenantID, p.planID, p.quantity)
	if err != nil {
		return err
	}
	return errOutdated.With("preview", newChangePreview(next))
}

// storedPreview returns the cost of a change from now on, and stores it as the last one that was
// shown; requested is the number of seats that the caller requested, 0 for as many as are needed.
func (s *Service) storedPreview(ctx context.Context, m move, requested int64) (preview, error) {
	now := s.deps.Clock.Now()
	from := prorationDate(m.sub, now)
	change, p, err := s.price(ctx, m, from, true)
	if err == nil {
		p.outlook, err = s.lookAhead(ctx, m, change.Change, from)
	}
	if err != nil {
		return preview{}, err
	}
	return p, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, m.sub.TenantID); err != nil {
			return err
		}
		return s.store.upsertPreview(ctx, m, requested, p, now)
	})
}

// previewCheckout is the preview of a change that takes a checkout: the first
// period of the new subscription in full, or nothing if it begins with a trial.
func (s *Service) previewCheckout(ctx context.Context, m move, date time.Time) (preview, error) {
	p := preview{
		method: methodDaily, currency: m.sub.Currency, charge: m.price.PriceCents * m.quantity,
		periodStart: date, periodEnd: addInterval(date, m.plan.Interval), at: date,
	}
	trial, err := s.trialDays(ctx, m.sub.TenantID, m.plan)
	if trial > 0 {
		p.charge = 0
	}
	return p, err
}

// lookAhead returns the outlook of a change that is counted from a moment; change is zero where
// a checkout makes it.
func (s *Service) lookAhead(ctx context.Context, m move, change psp.Change, from time.Time) (o outlook, err error) {
	sub := m.sub
	if o.balance, err = s.credit(ctx, sub.TenantID, sub.Currency); err != nil {
		return o, err
	}
	o.nextAmount = m.price.PriceCents * m.quantity
	switch {
	case m.takesCheckout:
		days, err := s.trialDays(ctx, sub.TenantID, m.plan)
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

// addInterval returns the time one interval later. In a month that is too short it is the
// last day, as the provider counts.
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
