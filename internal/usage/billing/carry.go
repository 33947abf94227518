package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

// carryEvery is how often carried looks for billing periods that have begun.
const carryEvery = time.Hour

// carried reads the value that a last_value meter that never resets had when billing
// periods began, after one time and until another. The provider bills a period by what
// was reported in it. Without this figure, something that is stored all the time and
// never changes would cost something in the first period and nothing in the next.
//
// The figure is reported for the instant at which a period begins, unless an event was
// recorded for the same second. What is recorded later in the period replaces it at the
// provider as it does here.
func (r *Reporter) carried(ctx context.Context, m usage.Meter, after, until time.Time) ([]usage.Figure, error) {
	counters, err := r.store.countersEnding(ctx, m.ID, usage.AllTime().End)
	if err != nil {
		return nil, err
	}
	var figures []usage.Figure
	for _, c := range counters {
		payer, err := r.deps.Payers.Payer(ctx, c.tenantID)
		if err != nil {
			return nil, err
		}
		if payer.Billing == nil {
			continue
		}
		// The period after the one that the provider last reported may have begun too.
		for _, start := range []time.Time{payer.Billing.Current.Start, payer.Billing.Current.End} {
			if !start.After(after) || start.After(until) {
				continue
			}
			value, err := r.valueAt(ctx, c.tenantID, m, start)
			if err != nil {
				return nil, err
			}
			if value > 0 {
				figures = append(figures, usage.Figure{
					ID: carryID(c.tenantID, m.ID, start), TenantID: c.tenantID, MeterID: m.ID, Quantity: value, At: start,
				})
			}
		}
	}
	return figures, nil
}

// valueAt is the value that a meter had right before an instant; 0 when an event was
// recorded for the second after it.
func (r *Reporter) valueAt(ctx context.Context, tenantID uuid.UUID, m usage.Meter, at time.Time) (money.Quantity, error) {
	recorded, err := r.records.HasEvents(ctx, tenantID, m, usage.Period{Start: at, End: at.Add(time.Second)})
	if err != nil || recorded {
		return 0, err
	}
	return r.records.ValueBefore(ctx, tenantID, m, at)
}

// carryID is the same id each time for a tenant, a meter and an instant.
func carryID(tenantID, meterID uuid.UUID, at time.Time) uuid.UUID {
	return uuid.NewSHA1(meterID, fmt.Appendf(nil, "%s carried to %d", tenantID, at.UnixMicro()))
}
