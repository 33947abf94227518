package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/usage"
)

const (
	// lateness is how long after its end a period waits for events that arrive late.
	// What arrives later is not billed.
	lateness = 10 * time.Minute
	// queuedTogether is how many figures one row of the queue has at most.
	queuedTogether = 256
)

// ReportPeaks queues the figures that follow from whole periods: the maximum of max
// meters once a period is over, and the value of last_value meters that never reset
// when a billing period begins (see carried). Reporting a meter starts with the first
// period that ends, or begins, after ReportPeaks has seen the meter as billable. A max
// meter that never resets cannot be billable.
//
// Invariant: the figures up to a time are queued in the transaction that stores that
// time, and only one instance runs this at a time, so every period is reported once.
func (r *Reporter) ReportPeaks(ctx context.Context) error {
	if err := r.store.deleteStalePeaks(ctx); err != nil {
		return err
	}
	meters, err := r.store.metersByPeriod(ctx)
	if err != nil {
		return err
	}
	until := r.deps.Clock.Now().Add(-lateness)
	for _, m := range meters {
		var figures []usage.Figure
		switch {
		case m.reportedUntil == nil: // seen for the first time
		case m.Aggregation == usage.LastValue:
			if until.Sub(*m.reportedUntil) < carryEvery {
				continue
			}
			if figures, err = r.carried(ctx, m.Meter, *m.reportedUntil, until); err != nil {
				return err
			}
		case m.reportedUntil.Before(until):
			if figures, err = r.peaks(ctx, m.Meter, *m.reportedUntil, until); err != nil {
				return err
			}
		default:
			continue
		}
		if err := r.queuePeaks(ctx, m.Meter, figures, until); err != nil {
			return err
		}
	}
	return nil
}

// queuePeaks queues the figures of a meter and stores until when it is reported.
func (r *Reporter) queuePeaks(ctx context.Context, m usage.Meter, figures []usage.Figure, until time.Time) error {
	now := r.deps.Clock.Now()
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		for rest := figures; len(rest) > 0; {
			n := min(len(rest), queuedTogether)
			if err := r.queue.Add(ctx, rest[:n], now); err != nil {
				return err
			}
			rest = rest[n:]
		}
		return r.store.putReportedUntil(ctx, m.ID, until)
	})
}

// peaks reads the maximum of a meter in the periods that ended after one time and until
// another. It leaves out the counters of periods that a former subscription had, and of
// tenants without a subscription.
func (r *Reporter) peaks(ctx context.Context, m usage.Meter, after, until time.Time) ([]usage.Figure, error) {
	counters, err := r.store.endedCounters(ctx, m.ID, after, until)
	if err != nil {
		return nil, err
	}
	var figures []usage.Figure
	payers := map[uuid.UUID]Payer{}
	for _, c := range counters {
		payer, known := payers[c.tenantID]
		if !known {
			if payer, err = r.deps.Payers.Payer(ctx, c.tenantID); err != nil {
				return nil, err
			}
			payers[c.tenantID] = payer
		}
		last := c.period.End.Add(-time.Second) // the provider counts in seconds
		if last.Before(c.period.Start) {
			last = c.period.Start
		}
		if payer.Billing == nil || !usage.PeriodOf(m.Reset, payer.Billing, last).Equal(c.period) {
			continue
		}
		figures = append(figures, usage.Figure{
			ID: peakID(c.tenantID, m.ID, c.period), TenantID: c.tenantID, MeterID: m.ID, Quantity: c.value, At: last,
		})
	}
	return figures, nil
}

// peakID is the same id each time for a tenant, a meter and a period.
func peakID(tenantID, meterID uuid.UUID, p usage.Period) uuid.UUID {
	return uuid.NewSHA1(meterID, fmt.Appendf(nil, "%s %d %d", tenantID, p.Start.UnixMicro(), p.End.UnixMicro()))
}
