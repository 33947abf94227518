package billing

import (
	"context"
	"math"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// Estimator estimates what usage will cost.
type Estimator struct {
	store   store
	records usage.Records
	payers  Payers
	clock   clock.Clock
}

// NewEstimator makes an estimator.
func NewEstimator(db *sqldb.DB, c clock.Clock, p Payers) *Estimator {
	return &Estimator{store: store{db: db}, records: usage.NewRecords(db), payers: p, clock: c}
}

// Estimate is what the usage of the current billing period costs as it is now.
type Estimate struct {
	TenantID uuid.UUID
	Period   usage.Period // that of a monthly meter
	Total    money.Money
	Lines    []EstimateLine // by meter code; none without a subscription
}

// EstimateLine is what the usage of one billable meter costs.
type EstimateLine struct {
	Meter usage.Meter
	// Quantity is what was used in the period of the estimate, whenever the meter
	// resets; for a last_value meter that never resets it is the current value.
	Quantity  money.Quantity
	UnitPrice money.UnitPrice
	Amount    money.Money // rounded half up, once
}

// Estimate computes what the billable usage of the current billing period costs,
// exactly and without asking the payment provider (rules: usage#cost-estimate).
// Billable are the meters with a linked price in the currency of the subscription;
// inactive ones count if they were used before.
func (s *Estimator) Estimate(ctx context.Context, tenantID uuid.UUID) (Estimate, error) {
	payer, err := s.payers.Payer(ctx, tenantID)
	if err != nil {
		return Estimate{}, err
	}
	now := s.clock.Now()
	e := Estimate{
		TenantID: tenantID, Period: usage.PeriodOf(usage.Monthly, payer.Billing, now), Total: money.Money{Currency: payer.Currency},
	}
	if payer.Billing == nil {
		return e, nil
	}
	priced, err := s.store.pricedMeters(ctx, payer.Currency)
	if err != nil {
		return Estimate{}, err
	}
	wanted := make([]usage.MeterPeriod, len(priced))
	for i, p := range priced {
		wanted[i] = usage.MeterPeriod{Meter: p.Meter, Period: e.Period}
		if p.Aggregation == usage.LastValue && p.Reset == usage.Never {
			wanted[i].Period = usage.AllTime() // a value from before the period is billed in it, too
		}
	}
	used, err := s.records.Used(ctx, tenantID, wanted, now)
	if err != nil {
		return Estimate{}, err
	}
	for i, p := range priced {
		if !p.Active && used[i] == 0 {
			continue
		}
		line := EstimateLine{
			Meter: p.Meter, Quantity: used[i], UnitPrice: p.unitPrice,
			Amount: money.Money{AmountCents: p.unitPrice.Amount(used[i]), Currency: payer.Currency},
		}
		e.Lines = append(e.Lines, line)
		e.Total.AmountCents = addCents(e.Total.AmountCents, line.Amount.AmountCents)
	}
	return e, nil
}

// addCents adds amounts that are not negative and stops at the largest.
func addCents(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
