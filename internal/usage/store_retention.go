package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// keepKeys stores the keys of events that are about to be deleted.
func (s store) keepKeys(ctx context.Context, keys []spentKey) error {
	if len(keys) == 0 {
		return nil
	}
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 4*len(keys))
	for _, k := range keys {
		args = append(args, k.tenantID, k.meterID, k.key, k.expires)
	}
	err := s.exec(ctx, `INSERT INTO usage_keys (tenant_id, meter_id, idempotency_key, expires_at) VALUES `+
		sqldb.Tuples(1, len(keys), "uuid", "uuid", "text", "timestamptz")+` ON CONFLICT DO NOTHING`, args)
	if err != nil {
		return fmt.Errorf("usage: keep keys: %w", err)
	}
	return nil
}

// deleteEvents deletes events, of which there must be one, by their primary key, and
// returns those that were still there.
func (s store) deleteEvents(ctx context.Context, events []usagesql.UsageEvent) ([]usagesql.UsageEvent, error) {
	events = sqldb.Padded(events)
	args := make([]any, 0, 4*len(events))
	for _, e := range events {
		args = append(args, e.TenantID, e.MeterID, e.RecordedAt, e.ID)
	}
	var deleted []usagesql.UsageEvent
	err := s.each(ctx, `DELETE FROM usage_events WHERE (tenant_id, meter_id, recorded_at, id) IN (VALUES `+
		sqldb.Tuples(1, len(events), "uuid", "uuid", "timestamptz", "uuid")+`) RETURNING tenant_id, meter_id, recorded_at, id, quantity`, args,
		func(scan func(...any) error) error {
			var e usagesql.UsageEvent
			err := scan(&e.TenantID, &e.MeterID, &e.RecordedAt, &e.ID, &e.Quantity)
			deleted = append(deleted, e)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("usage: delete events: %w", err)
	}
	return deleted, nil
}

// pruned is what the deleted events of a stream came to.
type pruned struct {
	before *time.Time // events recorded before it may have been deleted; nil: none was
	// known is false where events were deleted of which this was not kept.
	known                     bool
	events, units, millionths int64
	highest, last             money.Quantity
	lastAt                    *time.Time // when the latest was recorded
}

// has tells whether all that was recorded for a period is there still, or known.
func (p pruned) has(period Period) bool {
	return p.before == nil || !period.Start.Before(*p.before) || p.known && period.Unbounded()
}

// add counts an event that was deleted.
func (p *pruned) add(e usagesql.UsageEvent) {
	p.events++
	p.units += e.Quantity / int64(money.One)
	p.millionths += e.Quantity % int64(money.One)
	p.highest = max(p.highest, money.Quantity(e.Quantity))
	if p.lastAt == nil || !e.RecordedAt.Before(*p.lastAt) {
		p.last, p.lastAt = money.Quantity(e.Quantity), &e.RecordedAt
	}
}

// pruned reads what the deleted events of a stream came to; nothing for a stream
// that nothing was recorded on.
func (s store) pruned(ctx context.Context, k streamKey) (pruned, error) {
	row, err := s.q(ctx).Stream(ctx, usagesql.StreamParams{TenantID: k.tenantID, MeterID: k.meterID})
	if errors.Is(err, sqldb.ErrNoRows) || err == nil && row.PrunedBefore == nil {
		return pruned{known: true}, nil
	}
	if err != nil {
		return pruned{}, fmt.Errorf("usage: stream: %w", err)
	}
	p := pruned{before: row.PrunedBefore, known: row.PrunedEvents != nil}
	if p.known {
		p.events, p.units, p.millionths = *row.PrunedEvents, *row.PrunedUnits, *row.PrunedMillionths
		p.highest, p.last, p.lastAt = money.Quantity(*row.PrunedHighest), money.Quantity(*row.PrunedLast), row.PrunedLastAt
	}
	return p, nil
}

// putPruned stores what the deleted events of a stream came to. The stream must be
// locked.
func (s store) putPruned(ctx context.Context, k streamKey, p pruned) error {
	params := usagesql.MarkPrunedParams{TenantID: k.tenantID, MeterID: k.meterID, PrunedBefore: p.before}
	if p.known {
		highest, last := int64(p.highest), int64(p.last)
		params.PrunedEvents, params.PrunedUnits, params.PrunedMillionths = &p.events, &p.units, &p.millionths
		params.PrunedHighest, params.PrunedLast, params.PrunedLastAt = &highest, &last, p.lastAt
	}
	if err := s.q(ctx).MarkPruned(ctx, params); err != nil {
		return fmt.Errorf("usage: mark pruned: %w", err)
	}
	return nil
}
