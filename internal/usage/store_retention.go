package usage

import (
	"context"
	"fmt"

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

// deleteEvents deletes events, of which there must be one, by their primary key.
func (s store) deleteEvents(ctx context.Context, events []usagesql.UsageEvent) error {
	events = sqldb.Padded(events)
	args := make([]any, 0, 4*len(events))
	for _, e := range events {
		args = append(args, e.TenantID, e.MeterID, e.RecordedAt, e.ID)
	}
	err := s.exec(ctx, `DELETE FROM usage_events WHERE (tenant_id, meter_id, recorded_at, id) IN (VALUES `+
		sqldb.Tuples(1, len(events), "uuid", "uuid", "timestamptz", "uuid")+`)`, args)
	if err != nil {
		return fmt.Errorf("usage: delete events: %w", err)
	}
	return nil
}
