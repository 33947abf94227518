package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/usage"
)

const (
	// settleTime is how long Settle may take.
	settleTime = 20 * time.Second
	// secondWait is how long Settle waits for the end of a second, in real time, and
	// secondPause is the pause between two looks at the clock.
	secondWait  = 1500 * time.Millisecond
	secondPause = 20 * time.Millisecond
)

// Settle reports everything that a tenant has used until now, before its subscription
// is ended at the provider: the final invoice has the usage that the provider knows by then
// (rules: usage#billing). It takes nothing out of the queue. Report reports the same figures
// again, and they count once, because the id is the same.
//
// Invariant: after Settle, every figure is reported with a time before the current second.
// The provider bills whole seconds up to the end, exclusively, so the subscription can end
// in any later second. For that Settle waits until the second of the figures is over, and
// reports figures of the new second with the time of the one before.
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

// Flush reports the usage that a tenant has recorded, so that the provider's preview of an
// invoice has the same usage as the invoice after Settle. Like Settle, it waits until the
// current second is over. It leaves out figures whose prices are not decided yet.
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

// waitForNextSecond waits until a second is over, and returns the second that follows. It waits
// for at most secondWait: the clock of a sandbox may stand still.
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
	isOnHold bool // figures whose prices are not decided are left out
}

// report reports the figures of the tenant that wait.
func (s settlement) report(ctx context.Context) error {
	for after := uuid.Nil; ; {
		rows, err := s.store.reportsAfter(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := s.settleRow(ctx, row); err != nil {
				return err
			}
			after = row.id
		}
	}
}

// settleRow reports the figures of the tenant that a row has. Those that are rejected
// are rejected again when Report comes to them, which lists them.
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
	if err := s.store.beginReport(ctx, row.id, now); err != nil {
		return err
	}
	s.queuedAt = row.createdAt
	for len(mine) > 0 {
		n := min(chunkSize, len(mine))
		if _, err := s.send(ctx, mine[:n]); err != nil {
			return err
		}
		for _, f := range mine[:n] {
			s.sent[f.ID] = true
		}
		mine = mine[n:]
	}
	return nil
}

// queueCarriedNow queues what Carry would queue later for a tenant whose billing period has
// just begun; the ids are the same.
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
