package kernel

import (
	"context"
	"fmt"
)

// FindNewest returns up to limit objects that match an SQL condition on the columns of
// stripe_objects, newest first. If before is not empty, it returns only objects older than the
// object with that id. more reports whether there are older objects.
func (k Kind[T]) FindNewest(ctx context.Context, q Querier, limit int, before, condition string, args ...any) (found []*T, more bool, err error) {
	docs, more, err := kind(k).findNewest(ctx, q, limit, before, condition, args...)
	if err != nil {
		return nil, false, err
	}
	found, err = k.decodeAll(docs)
	return found, more, err
}

// Count returns the number of objects that match an SQL condition on the columns of stripe_objects.
func Count(ctx context.Context, q Querier, condition string) (n int, err error) {
	if err = q.QueryRowContext(ctx, `SELECT count(*) FROM stripe_objects WHERE `+condition).Scan(&n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}

// Timer is a scheduled action.
type Timer struct {
	Kind, Object string
	Customer     string // the owner of the object, or ""
	At           int64
}

// NextTimers returns the next timers of the sandbox's clock, soonest first.
func NextTimers(ctx context.Context, q Querier, limit int) ([]Timer, error) {
	rows, err := q.QueryContext(ctx, `
		SELECT t.kind, t.object, coalesce(o.doc ->> '$.customer', ''), t.at FROM stripe_timers t
		LEFT JOIN stripe_objects o ON o.id = t.object AND o.kind IN ('subscription', 'invoice', 'checkout.session', 'payment_intent')
		WHERE t.clock = '' ORDER BY t.at, t.object, t.kind LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read timers: %w", err)
	}
	defer rows.Close()
	var all []Timer
	for rows.Next() {
		var t Timer
		if err := rows.Scan(&t.Kind, &t.Object, &t.Customer, &t.At); err != nil {
			return nil, fmt.Errorf("read timers: %w", err)
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// WaitingDelivery is the queued delivery of an event to an endpoint.
type WaitingDelivery struct {
	URL      string
	Attempts int
}

// WaitingDeliveries returns the deliveries of an event that have not been accepted.
func WaitingDeliveries(ctx context.Context, q Querier, event string) ([]WaitingDelivery, error) {
	rows, err := q.QueryContext(ctx, `
		SELECT o.doc ->> '$.url', d.attempts FROM stripe_deliveries d
		JOIN stripe_objects o ON o.kind = 'webhook_endpoint' AND o.id = d.endpoint WHERE d.event = ? ORDER BY d.seq`, event)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer rows.Close()
	var all []WaitingDelivery
	for rows.Next() {
		var d WaitingDelivery
		if err := rows.Scan(&d.URL, &d.Attempts); err != nil {
			return nil, fmt.Errorf("read deliveries: %w", err)
		}
		all = append(all, d)
	}
	return all, rows.Err()
}
