package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// carryEvery is how often is looked for billing periods that have begun.
const carryEvery = time.Hour

// carried reads what a meter that shows the last value and never resets showed when
// billing periods began, after one time and until another. The provider knows of a
// period only what was told in it: without this, what is stored all the time and
// never changes would cost something in the first period and nothing in the next.
//
// The figure is told for the instant at which a period begins, unless an event was
// recorded for the same second, and what is recorded later in the period takes its
// place there as it does here.
func (r *Reporter) carried(ctx context.Context, m Meter, after, until time.Time) ([]reported, error) {
	rows, err := r.store.q(ctx).CountersOfPeriodEnd(ctx, usagesql.CountersOfPeriodEndParams{MeterID: m.ID, PeriodEnd: allTime().End})
	if err != nil {
		return nil, fmt.Errorf("usage: counters of all time: %w", err)
	}
	var figures []reported
	for _, row := range rows {
		payer, err := r.deps.Payers.Payer(ctx, row.TenantID)
		if err != nil {
			return nil, err
		}
		if payer.Billing == nil {
			continue
		}
		// The successor of the period that the provider last told of may have begun.
		for _, start := range []time.Time{payer.Billing.Current.Start, payer.Billing.Current.End} {
			if !start.After(after) || start.After(until) {
				continue
			}
			value, err := r.valueAt(ctx, row.TenantID, m, start)
			if err != nil {
				return nil, err
			}
			if value > 0 {
				figures = append(figures, reported{
					id: carryID(row.TenantID, m.ID, start), tenantID: row.TenantID, meterID: m.ID, quantity: value, at: start,
				})
			}
		}
	}
	return figures, nil
}

// valueAt is what a meter showed right before an instant; 0 when something was
// recorded for the second after it.
func (r *Reporter) valueAt(ctx context.Context, tenantID uuid.UUID, m Meter, at time.Time) (money.Quantity, error) {
	next, err := r.store.newestEvents(ctx, tenantID, m, Period{at, at.Add(time.Second)}, 1)
	if err != nil || len(next) > 0 {
		return 0, err
	}
	value, _, err := r.store.lastValue(ctx, tenantID, m, Period{allTime().Start, at})
	return value, err
}

// carryID is the same id each time for a tenant, a meter and an instant.
func carryID(tenantID, meterID uuid.UUID, at time.Time) uuid.UUID {
	return uuid.NewSHA1(meterID, fmt.Appendf(nil, "%s carried to %d", tenantID, at.UnixMicro()))
}
