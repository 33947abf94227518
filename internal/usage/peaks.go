package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// peakDelay is how long after its end a period is left for events that arrive
// late. What comes later is not billed.
const peakDelay = 10 * time.Minute

// ReportPeaks notes what max meters came to in periods that are over, and what
// last_value meters that never reset showed when billing periods began (see carried),
// to be told to the provider by Report. It begins with the first period that ends, or
// begins, after it has seen a meter as billable. A max meter that never resets cannot
// be billable.
//
// Invariant: the figures of a stretch of time and that the stretch is done are
// written in one transaction, and one instance does so at a time, so that every
// period is noted once.
func (r *Reporter) ReportPeaks(ctx context.Context) error {
	if err := r.store.q(ctx).DeleteStalePeaks(ctx); err != nil {
		return fmt.Errorf("usage: delete stale peaks: %w", err)
	}
	rows, err := r.store.q(ctx).BillablePeaks(ctx)
	if err != nil {
		return fmt.Errorf("usage: billable peaks: %w", err)
	}
	until := r.deps.Clock.Now().Add(-peakDelay)
	for _, row := range rows {
		var peaks []reported
		switch {
		case row.ReportedUntil == nil:
		case row.Meter.AggregationType == string(LastValue):
			if until.Sub(*row.ReportedUntil) < carryEvery {
				continue
			}
			if peaks, err = r.carried(ctx, meterOf(row.Meter), *row.ReportedUntil, until); err != nil {
				return err
			}
		case row.ReportedUntil.Before(until):
			if peaks, err = r.peaks(ctx, meterOf(row.Meter), *row.ReportedUntil, until); err != nil {
				return err
			}
		default:
			continue
		}
		err := r.store.db.Tx(ctx, func(ctx context.Context) error {
			for len(peaks) > 0 {
				n := min(len(peaks), maxBatch)
				if err := (bill{r.store}).add(ctx, peaks[:n], r.deps.Clock.Now()); err != nil {
					return err
				}
				peaks = peaks[n:]
			}
			return r.store.q(ctx).PutPeak(ctx, usagesql.PutPeakParams{MeterID: row.Meter.ID, ReportedUntil: until})
		})
		if err != nil {
			return fmt.Errorf("usage: report peaks of %s: %w", row.Meter.Code, err)
		}
	}
	return nil
}

// peaks reads what a meter came to in the periods that ended after one time and
// until another. Counters of periods that a former subscription had, or of a
// tenant without one, are left out.
func (r *Reporter) peaks(ctx context.Context, m Meter, after, until time.Time) ([]reported, error) {
	rows, err := r.store.q(ctx).EndedCounters(ctx, usagesql.EndedCountersParams{MeterID: m.ID, After: after, Until: until})
	if err != nil {
		return nil, fmt.Errorf("usage: ended counters: %w", err)
	}
	var peaks []reported
	payers := map[uuid.UUID]Payer{}
	for _, row := range rows {
		payer, known := payers[row.TenantID]
		if !known {
			if payer, err = r.deps.Payers.Payer(ctx, row.TenantID); err != nil {
				return nil, err
			}
			payers[row.TenantID] = payer
		}
		p := Period{row.PeriodStart, row.PeriodEnd}
		last := p.End.Add(-time.Second) // the provider counts in seconds
		if last.Before(p.Start) {
			last = p.Start
		}
		if payer.Billing == nil || !PeriodOf(m.Reset, payer.Billing, last).equal(p) {
			continue
		}
		peaks = append(peaks, reported{
			id: peakID(row.TenantID, m.ID, p), tenantID: row.TenantID, meterID: m.ID,
			quantity: money.Quantity(row.Value), at: last,
		})
	}
	return peaks, nil
}

// peakID is the same id each time for a tenant, a meter and a period.
func peakID(tenantID, meterID uuid.UUID, p Period) uuid.UUID {
	return uuid.NewSHA1(meterID, fmt.Appendf(nil, "%s %d %d", tenantID, p.Start.UnixMicro(), p.End.UnixMicro()))
}
