package billing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/usage"
)

const (
	// settleTime limits the duration of Settle.
	settleTime = 20 * time.Second
	// secondWait is the maximum real time that Settle waits for the current second to end, and
	// secondPause is the interval between looks at the clock.
	secondWait  = 1500 * time.Millisecond
	secondPause = 20 * time.Millisecond
)

// Settle reports all usage of a tenant up to now, before its subscription ends at the provider: the
// final invoice contains the usage that the provider has by then (rules: usage#billing). It does
// not remove figures from the queue. Report sends the same figures again with the same IDs, so they
// count only once.
//
// Invariant: after Settle, every figure has been reported with a time before the current second.
// The provider bills whole seconds up to the end, exclusive, so the subscription can end in any
// later second. Settle therefore waits until the second of the figures is over, and reports figures
// of the new second with the time of the previous one.
func (r *Reporter) Settle(ctx context.Context, tenantID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := r.queueCarriedNow(ctx, tenantID); err != nil {
		return err
	}
	s := settlement{run: newRun(r), tenantID: tenantID, sent: map[uuid.UUID]bool{}}
	c, err := s.customer(ctx, tenantID)
	if err != nil {
		return err
	}
	if err := s.report(ctx); err != nil || c.metered == nil {
		return err
	}
	last := r.deps.Clock.Now()
	for _, bills := range []time.Time{c.metered.Since, c.metered.Period.Start} {
		if bills.After(last) {
			last = bills
		}
	}
	s.before = r.waitForNextSecond(ctx, last.Truncate(time.Second))
	return s.report(ctx)
}

// Flush reports the recorded usage of a tenant, so that the provider's preview of an invoice
// contains the same usage as the invoice after Settle. Like Settle, it waits until the current
// second is over. It skips figures whose prices are undecided.
func (r *Reporter) Flush(ctx context.Context, tenantID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := r.queueCarriedNow(ctx, tenantID); err != nil {
		return err
	}
	s := settlement{run: newRun(r), tenantID: tenantID, sent: map[uuid.UUID]bool{}, isOnHold: true}
	if err := s.report(ctx); err != nil {
		return err
	}
	r.waitForNextSecond(ctx, r.deps.Clock.Now().Truncate(time.Second))
	return nil
}

// waitForNextSecond waits until the second is over and returns the following second. It waits at
// most secondWait, because the clock of a sandbox can stand still.
func (r *Reporter) waitForNextSecond(ctx context.Context, second time.Time) time.Time {
	next := second.Add(time.Second)
	ctx, cancel := context.WithTimeout(ctx, secondWait)
	defer cancel()
	for r.deps.Clock.Now().Before(next) {
		timer := time.NewTimer(secondPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return next
		case <-timer.C:
		}
	}
	return r.deps.Clock.Now().Truncate(time.Second)
}

// settlement is one call of Settle or Flush.
type settlement struct {
	*run
	tenantID uuid.UUID
	sent     map[uuid.UUID]bool
	isOnHold bool // skip figures whose prices are undecided
}

// report reports the queued figures of the tenant.
func (s settlement) report(ctx context.Context) error {
	for after := uuid.Nil; ; {
		rows, err := s.store.reportsAfter(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := s.settleRow(ctx, row); err != nil && !errors.Is(err, errChanged) {
				return err
			}
			after = row.id
		}
	}
}

// settleRow reports the tenant's figures in a row, or returns errChanged if Report has reported all
// of them. It stores late usage as rejected, because Report cannot distinguish it from settled usage
// once the subscription has ended (see target). Report stores all other rejections.
func (s settlement) settleRow(ctx context.Context, row report) error {
	figures, err := decode(row.figures)
	if err != nil {
		return err
	}
	c, err := s.customer(ctx, s.tenantID)
	if err != nil {
		return err
	}
	var mine []usage.Figure
	for _, f := range figures[min(row.done, len(figures)):] {
		if f.TenantID == s.tenantID && !s.sent[f.ID] && (!s.isOnHold || !c.metered.isOnHold(f.At)) {
			mine = append(mine, f)
		}
	}
	now := s.deps.Clock.Now()
	if len(mine) == 0 || row.triedAt != nil && now.Sub(*row.triedAt) > resendWithin {
		return nil
	}
	if err := s.sending.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.sending.Release(1)
	if err := s.store.beginReport(ctx, row.id, now); err != nil {
		return err
	}
	s.queuedAt = row.createdAt
	for len(mine) > 0 {
		n := min(chunkSize, len(mine))
		rejected, err := s.send(ctx, mine[:n])
		if err != nil {
			return err
		}
		late := slices.DeleteFunc(rejected, func(r rejection) bool { return r.reason != periodClosed })
		if err := s.saveRejections(ctx, late, now); err != nil {
			return err
		}
		for _, f := range mine[:n] {
			s.sent[f.ID] = true
		}
		mine = mine[n:]
	}
	return nil
}

// queueCarriedNow queues the figures of a tenant whose billing period has just begun, before
// QueueCarried does. Both use the same IDs, so the figures count only once.
func (r *Reporter) queueCarriedNow(ctx context.Context, tenantID uuid.UUID) error {
	meters, err := r.store.carriedMeters(ctx)
	if err != nil {
		return err
	}
	now := r.deps.Clock.Now()
	var figures []usage.Figure
	for _, m := range meters {
		if m.reportedUntil == nil {
			continue
		}
		some, err := r.carriedFiguresOf(ctx, tenantID, m.Meter, *m.reportedUntil, now)
		if err != nil {
			return err
		}
		figures = append(figures, some...)
	}
	return r.queue.Add(ctx, figures, now)
}
