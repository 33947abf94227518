package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

const (
	// carryEvery is the interval at which QueueCarried looks for new billing periods.
	carryEvery = time.Hour
	// lateness is how long a new period waits for late events.
	lateness = 10 * time.Minute
	// maxFiguresPerRow is the maximum number of figures per row of the queue.
	maxFiguresPerRow = 256
)

// QueueCarried queues the figures that are due at the start of billing periods: the values of
// last_value meters that never reset (see carriedFigures). Reporting a meter starts with the first
// period that begins after QueueCarried has seen the meter as billable.
//
// Invariant: the figures up to a time are queued in the transaction that stores that time, and only
// one instance runs this at a time, so every period is reported once.
func (r *Reporter) QueueCarried(ctx context.Context) error {
	if err := r.store.deleteStaleCarryStates(ctx); err != nil {
		return err
	}
	if err := r.store.pruneReported(ctx, r.deps.Clock.Now().Add(-reportedRetention)); err != nil {
		return err
	}
	return r.queueCarriedUntil(ctx, r.deps.Clock.Now().Add(-lateness), carryEvery)
}

// queueCarriedUntil queues the figures of periods that have begun by the time until. It skips a
// meter whose reportedUntil is less than every before until.
func (r *Reporter) queueCarriedUntil(ctx context.Context, until time.Time, every time.Duration) error {
	meters, err := r.store.carriedMeters(ctx)
	if err != nil {
		return err
	}
	for _, m := range meters {
		until, figures := until, []usage.Figure(nil)
		if m.reportedUntil == nil {
			until = r.deps.Clock.Now().Add(-lateness)
		} else {
			if until.Sub(*m.reportedUntil) < every {
				continue
			}
			if figures, err = r.carriedFigures(ctx, m.Meter, *m.reportedUntil, until); err != nil {
				return err
			}
		}
		if err := r.queueCarried(ctx, m.Meter, figures, until); err != nil {
			return err
		}
	}
	return nil
}

// queueCarried queues the figures of a meter and stores the time up to which it is reported.
func (r *Reporter) queueCarried(ctx context.Context, m usage.Meter, figures []usage.Figure, until time.Time) error {
	now := r.deps.Clock.Now()
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		for rest := figures; len(rest) > 0; {
			n := min(len(rest), maxFiguresPerRow)
			if err := r.queue.Add(ctx, rest[:n], now); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return r.store.putReportedUntil(ctx, m.ID, until)
	})
}

// carriedFigures returns the value of a meter at the start of each billing period that starts
// between after (exclusive) and until (inclusive). m is a last_value meter that never resets. The
// provider bills a period by the figures that are reported in it. Without a figure at the start of
// each period, storage that never changes would be billed only in the first period.
//
// The figure is reported for the start of the period, unless an event was recorded in the same
// second. Later events of the period replace the figure, both in the estimate and at the provider.
func (r *Reporter) carriedFigures(ctx context.Context, m usage.Meter, after, until time.Time) ([]usage.Figure, error) {
	counters, err := r.store.countersEnding(ctx, m.ID, usage.AllTime().End)
	if err != nil {
		return nil, err
	}
	var figures []usage.Figure
	for _, c := range counters {
		some, err := r.carriedFiguresOf(ctx, c.tenantID, m, after, until)
		if err != nil {
			return nil, err
		}
		figures = append(figures, some...)
	}
	return figures, nil
}

// carriedFiguresOf implements carriedFigures for one tenant.
func (r *Reporter) carriedFiguresOf(ctx context.Context, tenantID uuid.UUID, m usage.Meter, after, until time.Time) ([]usage.Figure, error) {
	payer, err := r.deps.Payers.Payer(ctx, tenantID)
	if err != nil || payer.Billing == nil {
		return nil, err
	}
	var figures []usage.Figure
	// The next period can have begun before the provider reports it.
	for _, start := range []time.Time{payer.Billing.Current.Start, payer.Billing.Current.End} {
		if !start.After(after) || start.After(until) {
			continue
		}
		value, err := r.valueAt(ctx, tenantID, m, start)
		if err != nil {
			return nil, err
		}
		if value > 0 {
			figures = append(figures, usage.Figure{
				ID: carryID(tenantID, m.ID, start), TenantID: tenantID, MeterID: m.ID, Quantity: value, At: start,
			})
		}
	}
	return figures, nil
}

// valueAt returns the value of a meter just before a time, or 0 if an event was recorded within the
// following second.
func (r *Reporter) valueAt(ctx context.Context, tenantID uuid.UUID, m usage.Meter, at time.Time) (money.Quantity, error) {
	recorded, err := r.records.HasEvents(ctx, tenantID, m, usage.Period{Start: at, End: at.Add(time.Second)})
	if err != nil || recorded {
		return 0, err
	}
	return r.records.ValueBefore(ctx, tenantID, m, at)
}

// carryID returns an ID that is always the same for a tenant, a meter and a time.
func carryID(tenantID, meterID uuid.UUID, at time.Time) uuid.UUID {
	return uuid.NewSHA1(meterID, fmt.Appendf(nil, "%s carried to %d", tenantID, at.UnixMicro()))
}
