package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/webhook/webhooksql"
)

// backlogLimit is the maximum number of deliveries counted and of endpoints scanned.
const backlogLimit = 10_000

// dueEndpoints returns the endpoints with a due delivery. It skips from endpoint to endpoint in the
// index of pending deliveries, so an endpoint with a long queue costs no more than one with a short
// queue.
func (s store) dueEndpoints(ctx context.Context, now time.Time) ([]uuid.UUID, error) {
	ids, err := s.ids(ctx, `
WITH RECURSIVE waiting(id) AS (
	SELECT first.endpoint_id FROM (
		SELECT d.endpoint_id FROM webhook_deliveries d WHERE d.next_attempt_at IS NOT NULL ORDER BY d.endpoint_id LIMIT 1
	) AS first
	UNION ALL
	SELECT (
		SELECT d.endpoint_id FROM webhook_deliveries d
		WHERE d.next_attempt_at IS NOT NULL AND d.endpoint_id > waiting.id ORDER BY d.endpoint_id LIMIT 1
	) FROM waiting WHERE waiting.id IS NOT NULL
)
SELECT waiting.id FROM waiting
WHERE waiting.id IS NOT NULL
	AND EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = waiting.id AND d.next_attempt_at <= $1)`, now)
	return ids, sqldb.Wrap(err, "find webhook endpoints with deliveries due")
}

// backlog counts the pending deliveries and finds the attempt that has been due longest. Like
// dueEndpoints it skips from endpoint to endpoint, and it stops at backlogLimit.
func (s store) backlog(ctx context.Context, now time.Time) (Backlog, error) {
	row, err := s.q(ctx).Backlog(ctx, backlogLimit)
	if err != nil {
		return Backlog{}, sqldb.Wrap(err, "count waiting webhook deliveries")
	}
	b := Backlog{Waiting: row.Waiting, Failing: row.Failing}
	var due time.Time
	err = s.db.Conn(ctx).QueryRowContext(ctx, `
WITH RECURSIVE waiting(id, place) AS (
	SELECT first.endpoint_id, 1 FROM (
		SELECT d.endpoint_id FROM webhook_deliveries d WHERE d.next_attempt_at IS NOT NULL ORDER BY d.endpoint_id LIMIT 1
	) AS first
	UNION ALL
	SELECT (
		SELECT d.endpoint_id FROM webhook_deliveries d
		WHERE d.next_attempt_at IS NOT NULL AND d.endpoint_id > waiting.id ORDER BY d.endpoint_id LIMIT 1
	), waiting.place + 1 FROM waiting WHERE waiting.id IS NOT NULL AND waiting.place < $1
)
SELECT v.next_attempt_at FROM waiting JOIN webhook_deliveries v ON v.id = (
	SELECT d.id FROM webhook_deliveries d
	WHERE d.endpoint_id = waiting.id AND d.next_attempt_at <= $2 ORDER BY d.next_attempt_at LIMIT 1
)
ORDER BY v.next_attempt_at LIMIT 1`, backlogLimit, now).Scan(&due)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return b, nil
	case err != nil:
		return Backlog{}, sqldb.Wrap(err, "find the oldest due webhook delivery")
	}
	b.Lag = now.Sub(due)
	return b, nil
}

// claim leases due deliveries, earliest first, up to the room of each endpoint. It skips deliveries
// that other instances are claiming concurrently. The inner query is MATERIALIZED because it must
// run only once.
func (s store) claim(ctx context.Context, now, leaseNow time.Time, rooms []capacity) ([]task, error) {
	lease := sqldb.NewID()
	args := []any{now, leaseNow, lease, leaseNow.Add(leaseTime)}
	var picked strings.Builder
	for i, r := range sqldb.PadRows(rooms) {
		if i >= len(rooms) {
			r.room = 0 // padding that claims nothing
		}
		if i > 0 {
			picked.WriteString("\n\tUNION ALL ")
		}
		args = append(args, r.endpoint, r.room)
		n := strconv.Itoa(len(args) - 1)
		picked.WriteString(`SELECT e` + n + `.id FROM (
		SELECT d.id FROM webhook_deliveries d
		WHERE d.endpoint_id = $` + n + `::uuid AND d.next_attempt_at <= $1 AND (d.leased_until IS NULL OR d.leased_until < $2)
		ORDER BY d.next_attempt_at LIMIT $` + strconv.Itoa(len(args)) + ` FOR UPDATE SKIP LOCKED
	) AS e` + n)
	}
	ids, err := s.ids(ctx, `
WITH picked AS MATERIALIZED (
	`+picked.String()+`
)
UPDATE webhook_deliveries SET lease_id = $3, leased_until = $4 WHERE id IN (SELECT picked.id FROM picked)
RETURNING id`, args...)
	if err != nil || len(ids) == 0 {
		return nil, sqldb.Wrap(err, "claim webhook deliveries")
	}
	return s.tasks(ctx, ids, lease)
}

// destinations returns the destination of each endpoint: its tenant and the host of its URL.
func (s store) destinations(ctx context.Context, rooms []capacity) (map[uuid.UUID]string, error) {
	ids := make([]uuid.UUID, len(rooms))
	for i, r := range rooms {
		ids[i] = r.endpoint
	}
	to := make(map[uuid.UUID]string, len(rooms))
	err := page.FetchByIDs(ctx, s.db.Conn(ctx), `SELECT e.id, e.tenant_id, e.url FROM webhook_endpoints e WHERE e.id IN`, ids, func(row page.Scanner) error {
		var id uuid.UUID
		var tenantID *uuid.UUID
		var address string
		if err := row.Scan(&id, &tenantID, &address); err != nil {
			return err
		}
		owner := "platform"
		if tenantID != nil {
			owner = tenantID.String()
		}
		if u, err := url.Parse(address); err == nil {
			address = strings.ToLower(u.Hostname())
		}
		to[id] = owner + " " + address
		return nil
	})
	return to, sqldb.Wrap(err, "read destinations of webhook endpoints")
}

// ids runs a query that returns IDs.
func (s store) ids(ctx context.Context, query string, args ...any) ([]uuid.UUID, error) {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// tasks loads the leased deliveries with their events and endpoints.
func (s store) tasks(ctx context.Context, ids []uuid.UUID, lease uuid.UUID) ([]task, error) {
	var list []task
	err := page.FetchByIDs(ctx, s.db.Conn(ctx), `
SELECT d.id, d.event_id, d.attempt, d.attempts, v.body, e.id, e.url, e.is_enabled, e.secrets
FROM webhook_deliveries d JOIN webhook_events v ON v.id = d.event_id JOIN webhook_endpoints e ON e.id = d.endpoint_id
WHERE d.id IN`, ids, func(row page.Scanner) error {
		t := task{lease: lease}
		var attempts, kept string
		err := row.Scan(&t.delivery, &t.event, &t.attempt, &attempts, &t.body, &t.endpoint.ID, &t.endpoint.URL, &t.endpoint.Enabled, &kept)
		if err != nil {
			return err
		}
		if t.attempts, err = readAttempts(attempts); err != nil {
			return err
		}
		t.endpoint.secrets, err = readSecrets(kept)
		list = append(list, t)
		return err
	})
	return list, sqldb.Wrap(err, "read claimed webhook deliveries")
}

// lockAll locks the endpoints of the results in the order of their IDs, and returns the endpoints
// that still exist.
func (s store) lockAll(ctx context.Context, batch []result) (map[uuid.UUID]Endpoint, error) {
	var args []any
	var places []string
	seen := map[uuid.UUID]bool{}
	for _, r := range batch {
		if id := r.endpoint.ID; !seen[id] {
			seen[id] = true
			args = append(args, id)
			places = append(places, "$"+strconv.Itoa(len(args))+"::uuid")
		}
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `
SELECT id, tenant_id, url, types, description, is_enabled, disabled_reason, failing_since FROM webhook_endpoints
WHERE id IN (`+strings.Join(places, ", ")+`) ORDER BY id FOR NO KEY UPDATE`, args...)
	if err != nil {
		return nil, sqldb.Wrap(err, "lock webhook endpoints")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	known := map[uuid.UUID]Endpoint{}
	for rows.Next() {
		var e Endpoint
		var types string
		if err := rows.Scan(&e.ID, &e.TenantID, &e.URL, &types, &e.Description, &e.Enabled, &e.DisabledReason, &e.failingSince); err != nil {
			return nil, sqldb.Wrap(err, "lock webhook endpoints")
		}
		e.Types = strings.Split(types, ",")
		known[e.ID] = e
	}
	return known, sqldb.Wrap(rows.Err(), "lock webhook endpoints")
}

// recordOutcomes stores the outcomes of deliveries that this instance still leases, and releases
// the leases. It returns the IDs of these deliveries.
func (s store) recordOutcomes(ctx context.Context, all []outcome) ([]uuid.UUID, error) {
	rows := make([]any, 0, 6*len(all))
	for _, o := range all {
		attempts, err := json.Marshal(o.attempts)
		if err != nil {
			return nil, fmt.Errorf("encode attempts: %w", err)
		}
		if o.attempts == nil {
			attempts = []byte("[]")
		}
		rows = append(rows, o.delivery, o.lease, o.status, o.attempt, string(attempts), o.nextAttempt)
	}
	outcomes, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "text", "integer", "text", "timestamptz")
	ids, err := s.ids(ctx, `
UPDATE webhook_deliveries
SET status = o.column3, attempt = o.column4, attempts = o.column5, next_attempt_at = o.column6, lease_id = NULL, leased_until = NULL
FROM (`+outcomes+`) AS o
WHERE webhook_deliveries.id = o.column1 AND webhook_deliveries.lease_id = o.column2
RETURNING id`, args...)
	return ids, sqldb.Wrap(err, "record webhook deliveries")
}

// noteFailures stores abandoned deliveries for timelines.
func (s store) noteFailures(ctx context.Context, all []outcome, now time.Time) error {
	for _, o := range all {
		if o.status != failed {
			continue
		}
		n := webhooksql.NoteFailureParams{ID: o.delivery, Attempts: int32(o.attempt), FailedAt: now}
		if len(o.attempts) > 0 {
			if code := o.attempts[len(o.attempts)-1].StatusCode; code != nil {
				answer := int32(*code)
				n.Answer = &answer
			}
		}
		if err := s.q(ctx).NoteFailure(ctx, n); err != nil {
			return sqldb.Wrap(err, "record a failed webhook delivery")
		}
	}
	return nil
}

// noteHealth stores the last success of an endpoint, unless nil, and since when it has been
// failing.
func (s store) noteHealth(ctx context.Context, id uuid.UUID, deliveredAt, failingSince *time.Time) error {
	if deliveredAt == nil {
		return sqldb.Wrap(s.q(ctx).NoteFailing(ctx, webhooksql.NoteFailingParams{ID: id, FailingSince: failingSince}), "note failing webhook endpoint")
	}
	return sqldb.Wrap(s.q(ctx).NoteDelivered(ctx, webhooksql.NoteDeliveredParams{
		ID: id, LastDeliveryAt: deliveredAt, FailingSince: failingSince,
	}), "note working webhook endpoint")
}

// listFailing returns some endpoints that have been failing at least since the given time and have
// no attempt left.
func (s store) listFailing(ctx context.Context, since time.Time) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).GivenUp(ctx, since)
	return ids, sqldb.Wrap(err, "list failing webhook endpoints")
}

// disable disables an endpoint if it is enabled.
func (s store) disable(ctx context.Context, id uuid.UUID, reason string) error {
	_, err := s.q(ctx).DisableEndpoint(ctx, webhooksql.DisableEndpointParams{ID: id, DisabledReason: &reason})
	return sqldb.Wrap(err, "disable webhook endpoint")
}

// endLeases ends the leases of all deliveries.
func (s store) endLeases(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).EndLeases(ctx), "end leases of deliveries")
}
