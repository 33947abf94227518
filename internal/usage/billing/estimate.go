package billing

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp/charge"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// Estimator estimates the cost of usage.
type Estimator struct {
	store    store
	records  usage.Records
	payers   Payers
	decimals charge.Decimals
	clock    clock.Clock
}

// NewEstimator returns an Estimator.
func NewEstimator(db *sqldb.DB, c clock.Clock, p Payers, d charge.Decimals) *Estimator {
	return &Estimator{store: store{db: db}, records: usage.NewRecords(db), payers: p, decimals: d, clock: c}
}

// Estimate is the cost of the usage in the current billing period so far.
type Estimate struct {
	TenantID uuid.UUID
	Period   usage.Period // the whole billing period
	// Total is the sum of the lines less Discount.
	Total    money.Money
	Discount int64 // minor units of the currency of Total
	// Lines are sorted by meter code, and empty without a subscription. Units that were drawn from
	// grants have a separate line with the price 0, after the line of their meter.
	Lines []EstimateLine
}

// EstimateLine is the cost of the usage of one billable meter.
type EstimateLine struct {
	Meter usage.Meter
	// Quantity is the usage in the period of the estimate, regardless of when the meter resets. For
	// a last_value meter that never resets it is the current value.
	Quantity  money.Total
	UnitPrice money.UnitPrice
	Amount    money.Money // rounded half up, once, to a chargeable amount
}

// Estimate computes the cost of the billable usage in the current billing period, exactly and
// without calling the payment provider (rules: usage#cost-estimate). A meter is billable if the
// subscription has a price for it, even if the meter is inactive now.
func (s *Estimator) Estimate(ctx context.Context, tenantID uuid.UUID) (Estimate, error) {
	payer, err := s.payers.Payer(ctx, tenantID)
	if err != nil {
		return Estimate{}, err
	}
	now := s.clock.Now()
	e := Estimate{TenantID: tenantID, Period: billingPeriod(payer.Billing, now), Total: money.Money{Currency: payer.Currency}}
	if payer.Billing == nil || !payer.PaysUsage {
		return e, nil
	}
	priced, err := s.billedMeters(ctx, payer)
	if err != nil {
		return Estimate{}, err
	}
	step, err := s.step(ctx, payer.Currency)
	if err != nil {
		return Estimate{}, err
	}
	used := make([]usage.Counter, len(priced))
	for i, p := range priced {
		billed := e.Period
		if at, added := payer.AddedAt[p.pspPriceID]; added && billed.Contains(at) {
			billed.Start = at
		}
		if used[i], err = s.billableUsage(ctx, tenantID, p.Meter, payer.Billing, billed, now); err != nil {
			return Estimate{}, err
		}
	}
	for i, p := range priced {
		if !p.Active && used[i].Value == (money.Total{}) {
			continue
		}
		reported := reportedOf(used[i])
		line := EstimateLine{
			Meter: p.Meter, Quantity: reported, UnitPrice: p.unitPrice,
			Amount: money.Money{AmountCents: p.unitPrice.Amount(reported, step), Currency: payer.Currency},
		}
		e.Lines = append(e.Lines, line)
		if granted := used[i].Granted; granted != (money.Total{}) {
			e.Lines = append(e.Lines, EstimateLine{Meter: p.Meter, Quantity: granted, Amount: money.Money{Currency: payer.Currency}})
		}
		e.Total.AmountCents = addCents(e.Total.AmountCents, line.Amount.AmountCents)
	}
	if payer.Discount != nil {
		amounts := make([]int64, len(e.Lines))
		for i, line := range e.Lines {
			amounts[i] = line.Amount.AmountCents
		}
		e.Discount = payer.Discount(amounts)
		e.Total.AmountCents -= e.Discount
	}
	return e, nil
}

// step returns the smallest amount that the provider charges in a currency, or 1 if it cannot
// charge in the currency.
func (s *Estimator) step(ctx context.Context, currency string) (int64, error) {
	decimals, known, err := s.decimals(ctx, currency)
	if err != nil || !known {
		return 1, err
	}
	units, err := charge.UnitsOf(currency, decimals)
	if errors.Is(err, charge.ErrMinorUnits) {
		return 1, nil
	}
	return units.Step(), err
}

// billingPeriod returns the whole period whose usage the next invoice bills.
func billingPeriod(b *usage.Billing, now time.Time) usage.Period {
	if b != nil && b.Current.Contains(now) {
		return usage.Period{Start: b.Current.Start.UTC(), End: b.Current.End.UTC()}
	}
	return usage.PeriodOf(usage.ResetMonthly, b, now)
}

// billedMeters lists the meters that are billed to a subscription. They follow from the prices of
// the subscription at the provider, whatever the current prices of the meters are.
func (s *Estimator) billedMeters(ctx context.Context, payer Payer) ([]pricedMeter, error) {
	if payer.Prices == nil {
		return s.store.pricedMeters(ctx, payer.Currency)
	}
	return s.store.metersOfPrices(ctx, payer.Prices)
}

// reportedOf returns the part of usage that is reported to the provider.
func reportedOf(c usage.Counter) money.Total {
	if c.Value.Compare(c.Granted) <= 0 { // the meter's aggregation was changed
		return money.Total{}
	}
	return c.Value.Sub(c.Granted)
}

// billableUsage returns the usage of a meter in a billing period, or in the part of the period in
// which the meter is billed. The result includes the units that were drawn from grants. The usage
// of a maximum is the sum of the maxima of its periods. For a last value that never resets, a whole
// billing period also includes a value from before the period.
func (s *Estimator) billableUsage(ctx context.Context, tenantID uuid.UUID, m usage.Meter, b *usage.Billing, p usage.Period, now time.Time) (usage.Counter, error) {
	switch {
	case m.Aggregation == usage.Max:
		sum, err := s.billedMaxima(ctx, tenantID, m, b, p)
		return usage.Counter{Value: sum}, err
	case m.Aggregation == usage.LastValue && m.Reset == usage.ResetNever && p.Equal(billingPeriod(b, now)):
		p = usage.AllTime()
	}
	if m.Aggregation == usage.LastValue || m.Reset == usage.ResetNever {
		return s.records.ReadCounter(ctx, tenantID, m, p, now)
	}
	return s.billedSum(ctx, tenantID, m, b, p)
}

// billedSum returns the aggregate of the events of a billing period. It adds the counters within
// the period, and counts the events before, between and after them.
//
// Invariant: the counters of a meter's own periods do not overlap, and each includes the events of
// its period, even deleted ones. Reported usage is therefore complete even if a billing period is
// longer than the retention of events.
func (s *Estimator) billedSum(ctx context.Context, tenantID uuid.UUID, m usage.Meter, b *usage.Billing, p usage.Period) (sum usage.Counter, err error) {
	counters, err := s.ownCounters(ctx, tenantID, m, b, p)
	if err != nil {
		return sum, err
	}
	add := func(value, granted money.Total) {
		sum.Value, _ = sum.Value.Add(value)
		sum.Granted, _ = sum.Granted.Add(granted)
	}
	counted := p.Start
	countTo := func(end time.Time) error {
		if !counted.Before(end) {
			return nil
		}
		c, err := s.records.Count(ctx, tenantID, m, usage.Period{Start: counted, End: end})
		add(c.Value, c.Granted)
		return err
	}
	for _, c := range counters {
		if c.period.Start.Before(counted) || c.period.End.After(p.End) {
			continue
		}
		if err := countTo(c.period.Start); err != nil {
			return sum, err
		}
		add(c.value, c.granted)
		counted = c.period.End
	}
	return sum, countTo(p.End)
}

// billedMaxima returns the sum of the maxima of a meter's periods. If the first of them began
// before the billing period, only the increase of its maximum within the billing period counts.
func (s *Estimator) billedMaxima(ctx context.Context, tenantID uuid.UUID, m usage.Meter, b *usage.Billing, p usage.Period) (sum money.Total, err error) {
	counters, err := s.ownCounters(ctx, tenantID, m, b, p)
	if err != nil {
		return sum, err
	}
	for _, c := range counters {
		if c.period.End.After(p.End) {
			part, err := s.records.Count(ctx, tenantID, m, usage.Period{Start: c.period.Start, End: p.End})
			if err != nil {
				return money.Total{}, err
			}
			c.value = part.Value
		}
		sum, _ = sum.Add(c.value)
		if !c.period.Start.Before(p.Start) {
			continue
		}
		before, err := s.records.Count(ctx, tenantID, m, usage.Period{Start: c.period.Start, End: p.Start})
		if err != nil {
			return money.Total{}, err
		}
		sum = sum.Sub(before.Value)
	}
	return sum, nil
}

// ownCounters lists the counters of a meter's periods that overlap a billing period, earliest
// first, excluding the counters of former subscriptions.
func (s *Estimator) ownCounters(ctx context.Context, tenantID uuid.UUID, m usage.Meter, b *usage.Billing, p usage.Period) ([]tenantCounter, error) {
	counters, err := s.store.countersDuring(ctx, usage.StreamKey{TenantID: tenantID, MeterID: m.ID}, p)
	return slices.DeleteFunc(counters, func(c tenantCounter) bool {
		return !usage.PeriodOf(m.Reset, b, c.period.Start).Equal(c.period)
	}), err
}

// addCents adds non-negative amounts and saturates at the largest amount.
func addCents(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
