package usage

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// spentKeys tells which of the keys belong to deleted events. The locks of their
// streams are held.
func (s store) spentKeys(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	spent := map[eventKey]bool{}
	for chunk := range chunks(keys) {
		args := make([]any, 0, 3*len(chunk))
		for _, k := range chunk {
			args = append(args, k.tenantID, k.meterID, k.key)
		}
		err := s.each(ctx, `SELECT tenant_id, meter_id, idempotency_key FROM usage_keys
WHERE (tenant_id, meter_id, idempotency_key) IN (VALUES `+tuples(len(chunk), "uuid", "uuid", "text")+`)`, args,
			func(scan func(...any) error) error {
				var k eventKey
				err := scan(&k.tenantID, &k.meterID, &k.key)
				spent[k] = true
				return err
			})
		if err != nil {
			return nil, fmt.Errorf("usage: keys of deleted events: %w", err)
		}
	}
	return spent, nil
}

// keepKeys stores the keys of events that are about to be deleted.
func (s store) keepKeys(ctx context.Context, keys []spentKey) error {
	for chunk := range chunks(keys) {
		args := make([]any, 0, 4*len(chunk))
		for _, k := range chunk {
			args = append(args, k.tenantID, k.meterID, k.key, k.expires)
		}
		err := s.exec(ctx, `INSERT INTO usage_keys (tenant_id, meter_id, idempotency_key, expires_at) VALUES `+
			tuples(len(chunk), "uuid", "uuid", "text", "timestamptz")+` ON CONFLICT DO NOTHING`, args)
		if err != nil {
			return fmt.Errorf("usage: keep keys: %w", err)
		}
	}
	return nil
}

// deleteEvents deletes events by their primary key.
func (s store) deleteEvents(ctx context.Context, events []usagesql.UsageEvent) error {
	for chunk := range chunks(events) {
		args := make([]any, 0, 4*len(chunk))
		for _, e := range chunk {
			args = append(args, e.TenantID, e.MeterID, e.RecordedAt, e.ID)
		}
		err := s.exec(ctx, `DELETE FROM usage_events WHERE (tenant_id, meter_id, recorded_at, id) IN (VALUES `+
			tuples(len(chunk), "uuid", "uuid", "timestamptz", "uuid")+`)`, args)
		if err != nil {
			return fmt.Errorf("usage: delete events: %w", err)
		}
	}
	return nil
}
