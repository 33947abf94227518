package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/webhook/webhooksql"
)

// deliveries returns a page of an endpoint's deliveries.
func (s store) deliveries(ctx context.Context, endpointID uuid.UUID, q page.Query) ([]Delivery, int64, error) {
	sel := page.Select{
		Columns: "d.id, d.event_id, d.type, d.status, d.attempts, d.next_attempt_at, d.created_at",
		From:    "webhook_deliveries d", Where: "d.endpoint_id = $1", Args: []any{endpointID},
	}
	list, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (d Delivery, err error) {
		var attempts string
		if err := row.Scan(&d.ID, &d.EventID, &d.Type, &d.Status, &attempts, &d.NextAttemptAt, &d.CreatedAt); err != nil {
			return d, err
		}
		d.Attempts, err = readAttempts(attempts)
		return d, err
	})
	return list, total, sqldb.Wrap(err, "list webhook deliveries")
}

// delivery returns a delivery of an endpoint, or errNotFound.
func (s store) delivery(ctx context.Context, endpointID, id uuid.UUID) (Delivery, error) {
	row, err := s.q(ctx).Delivery(ctx, webhooksql.DeliveryParams{EndpointID: endpointID, ID: id})
	if err != nil {
		return Delivery{}, sqldb.WrapAbsent(err, "read webhook delivery", errNotFound)
	}
	attempts, err := readAttempts(row.Attempts)
	return Delivery{
		ID: row.ID, EventID: row.EventID, Type: row.Type, Status: row.Status, Attempts: attempts,
		NextAttemptAt: row.NextAttemptAt, CreatedAt: row.CreatedAt,
	}, err
}

func readAttempts(text string) ([]Attempt, error) {
	var list []Attempt
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("decode attempts: %w", err)
	}
	return list, nil
}

func (s store) resend(ctx context.Context, endpointID, id uuid.UUID, now, leaseNow time.Time) error {
	_, err := s.q(ctx).Resend(ctx, webhooksql.ResendParams{EndpointID: endpointID, ID: id, Now: now, LeaseNow: leaseNow})
	return sqldb.Wrap(err, "resend webhook delivery")
}

func (s store) replay(ctx context.Context, endpointID uuid.UUID, since, now time.Time) (int64, error) {
	n, err := s.q(ctx).Replay(ctx, webhooksql.ReplayParams{EndpointID: endpointID, Since: since, Now: now})
	return n, sqldb.Wrap(err, "replay webhook deliveries")
}

// failPending fails the pending deliveries of an endpoint.
func (s store) failPending(ctx context.Context, endpointID uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).FailPending(ctx, endpointID), "fail what waits for a webhook endpoint")
}

// deleteOld deletes events of a time range, oldest first, and returns their times.
func (s store) deleteOld(ctx context.Context, from, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldEvents(ctx, webhooksql.DeleteOldEventsParams{Earliest: from, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old webhook events")
}
