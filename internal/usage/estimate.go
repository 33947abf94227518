package usage

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Payer is what the estimate needs to know of who pays.
type Payer struct {
	// Billing is nil for a tenant without a subscription that is active, trialing
	// or past due.
	Billing *Billing
	// Currency is that of the subscription, else the one that the tenant prefers.
	Currency string // ISO 4217
}

// Payers tells how tenants pay.
type Payers interface {
	Payer(ctx context.Context, tenantID uuid.UUID) (Payer, error)
}

// Estimate is what the usage of the current billing period will cost as it is now.
type Estimate struct {
	TenantID uuid.UUID
	Period   Period // that of a monthly meter
	Total    money.Money
	Lines    []EstimateLine // by meter code; none without a subscription
}

// EstimateLine is what the usage of one billable meter costs.
type EstimateLine struct {
	Meter Meter
	// Quantity is what was used in the period of the estimate, whenever the meter
	// resets; of a meter that shows the last value and never resets, what it shows.
	Quantity  money.Quantity
	UnitPrice UnitPrice
	Amount    money.Money // rounded half up, once
}

// Estimate computes what the billable usage of the current billing period costs,
// exactly and without asking the payment provider. Billable are the meters with
// a linked price in the currency of the subscription; those that are inactive
// count if something was used before.
func (s *Service) Estimate(ctx context.Context, tenantID uuid.UUID) (Estimate, error) {
	payer, err := s.payers.Payer(ctx, tenantID)
	if err != nil {
		return Estimate{}, err
	}
	now := s.clock.Now()
	e := Estimate{TenantID: tenantID, Period: PeriodOf(Monthly, payer.Billing, now), Total: money.Money{Currency: payer.Currency}}
	if payer.Billing == nil {
		return e, nil
	}
	priced, err := s.store.billableMeters(ctx, payer.Currency)
	if err != nil {
		return Estimate{}, err
	}
	used, err := s.usedIn(ctx, tenantID, priced, e.Period, now)
	if err != nil {
		return Estimate{}, err
	}
	for i, p := range priced {
		if !p.Active && used[i] == 0 {
			continue
		}
		line := EstimateLine{
			Meter: p.Meter, Quantity: used[i], UnitPrice: p.UnitPrice,
			Amount: money.Money{AmountCents: p.UnitPrice.Amount(used[i]), Currency: payer.Currency},
		}
		e.Lines = append(e.Lines, line)
		e.Total.AmountCents = addCents(e.Total.AmountCents, line.Amount.AmountCents)
	}
	return e, nil
}

// usedIn reads what each meter comes to in a monthly period that contains now:
// the counter of a monthly meter, else the events.
func (s *Service) usedIn(ctx context.Context, tenantID uuid.UUID, meters []pricedMeter, p Period, now time.Time) ([]money.Quantity, error) {
	counters, err := s.store.countersAt(ctx, []uuid.UUID{tenantID}, now)
	if err != nil {
		return nil, err
	}
	used := make([]money.Quantity, len(meters))
	for i, m := range meters {
		in := p
		if m.Aggregation == LastValue && m.Reset == Never {
			in = allTime() // what is there from before the period is billed in it, too
		}
		if used[i], err = s.store.current(ctx, streamKey{tenantID, m.ID}, m.Meter, in, counters); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// addCents adds amounts that are not negative and stops at the largest.
func addCents(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
