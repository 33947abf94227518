package usage

import (
	"context"
	"fmt"
	"math/bits"
	"strings"

	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// Statements for many rows at once, which sqlc cannot write. They exist for
// powers of two only, so that a connection prepares a handful of texts; any
// other number of rows takes several statements.

// eventKey is an idempotency key in its stream.
type eventKey struct {
	streamKey
	key string
}

// usedKeys tells which of the keys were used before.
func (s store) usedKeys(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	used := map[eventKey]bool{}
	for len(keys) > 0 {
		chunk := keys[:largestPower(len(keys))]
		keys = keys[len(chunk):]
		if err := s.findKeys(ctx, chunk, used); err != nil {
			return nil, fmt.Errorf("usage: idempotency keys: %w", err)
		}
	}
	return used, nil
}

func (s store) findKeys(ctx context.Context, keys []eventKey, used map[eventKey]bool) error {
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		args = append(args, k.tenantID, k.meterID, k.key)
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx,
		`SELECT tenant_id, meter_id, idempotency_key FROM usage_events
WHERE idempotency_key IS NOT NULL AND (tenant_id, meter_id, idempotency_key) IN (VALUES `+
			tuples(len(keys), "uuid", "uuid", "text")+`)`, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k eventKey
		if err := rows.Scan(&k.tenantID, &k.meterID, &k.key); err != nil {
			return err
		}
		used[k] = true
	}
	return rows.Err()
}

// insertEvents stores events that are known to be new.
func (s store) insertEvents(ctx context.Context, events []usagesql.UsageEvent) error {
	for len(events) > 0 {
		chunk := events[:largestPower(len(events))]
		events = events[len(chunk):]
		args := make([]any, 0, 8*len(chunk))
		for _, e := range chunk {
			args = append(args, e.TenantID, e.ID, e.MeterID, e.Quantity, e.IdempotencyKey, e.RecordedAt, e.Metadata, e.CreatedAt)
		}
		_, err := s.db.Conn(ctx).ExecContext(ctx,
			`INSERT INTO usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)
VALUES `+tuples(len(chunk), "uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz"), args...)
		if err != nil {
			return fmt.Errorf("usage: insert events: %w", err)
		}
	}
	return nil
}

// largestPower is the largest power of two up to n.
func largestPower(n int) int { return 1 << (bits.Len(uint(n)) - 1) }

// tuples writes n tuples of placeholders: ($1::uuid,$2::text),($3::uuid,$4::text).
func tuples(n int, types ...string) string {
	var b strings.Builder
	for i := range n * len(types) {
		switch {
		case i == 0:
			b.WriteByte('(')
		case i%len(types) == 0:
			b.WriteString("),(")
		default:
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "$%d::%s", i+1, types[i%len(types)])
	}
	b.WriteByte(')')
	return b.String()
}
