package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/usage"
)

// settleTime is how long Settle may take.
const settleTime = 20 * time.Second

// Settle reports everything that a tenant has used until now, before its subscription
// is ended at the provider: the final invoice has what the provider was told of by then
// (rules: usage#billing). It takes nothing out of the queue. What it reports is reported
// again by Report, and counted once, because the id is the same.
func (r *Reporter) Settle(ctx context.Context, tenantID uuid.UUID) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	if err := r.carryNow(ctx, tenantID); err != nil {
		return err
	}
	run := newRun(r)
	for after := uuid.Nil; ; {
		rows, err := r.store.reportsAfter(ctx, after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := run.settleRow(ctx, row, tenantID); err != nil {
				return err
			}
			after = row.id
		}
	}
}

// settleRow reports the figures of one tenant that a row has. Those that are rejected
// are rejected again when Report comes to them, which lists them.
func (r *run) settleRow(ctx context.Context, row report, tenantID uuid.UUID) error {
	figures, err := decode(row.figures)
	if err != nil {
		return err
	}
	var mine []usage.Figure
	for _, f := range figures[min(row.done, len(figures)):] {
		if f.TenantID == tenantID {
			mine = append(mine, f)
		}
	}
	now := r.deps.Clock.Now()
	if len(mine) == 0 || row.triedAt != nil && now.Sub(*row.triedAt) > resendWithin {
		return nil
	}
	if err := r.store.beginReport(ctx, row.id, now); err != nil {
		return err
	}
	for len(mine) > 0 {
		n := min(chunkSize, len(mine))
		if _, err := r.send(ctx, mine[:n]); err != nil {
			return err
		}
		mine = mine[n:]
	}
	return nil
}

// carryNow queues what Carry would queue later for a tenant whose billing period has
// just begun; the ids are the same.
func (r *Reporter) carryNow(ctx context.Context, tenantID uuid.UUID) error {
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
		some, err := r.carriedOf(ctx, tenantID, m.Meter, *m.reportedUntil, now)
		if err != nil {
			return err
		}
		figures = append(figures, some...)
	}
	return r.queue.Add(ctx, figures, now)
}
