-- In every statement, tenant_id is null for the platform's endpoints.
-- name: InsertEndpoint :exec
INSERT INTO webhook_endpoints (id, tenant_id, url, types, description, is_enabled, secrets, created_at)
VALUES ($1, $2, $3, $4, $5, true, $6, $7);

-- name: EndpointsOfTenant :many
SELECT * FROM webhook_endpoints WHERE tenant_id = sqlc.arg(tenant_id)::uuid ORDER BY created_at DESC, id DESC;

-- name: EndpointsOfPlatform :many
SELECT * FROM webhook_endpoints WHERE tenant_id IS NULL ORDER BY created_at DESC, id DESC;

-- name: Endpoint :one
SELECT * FROM webhook_endpoints
WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid;

-- name: LockEndpoint :one
-- FOR NO KEY UPDATE does not block inserts of rows that refer to the endpoint.
SELECT * FROM webhook_endpoints
WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid FOR NO KEY UPDATE;

-- name: CountEndpoints :one
SELECT count(*) FROM webhook_endpoints WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: CountPlatformEndpoints :one
SELECT count(*) FROM webhook_endpoints WHERE tenant_id IS NULL;

-- name: LockPlatform :one
SELECT id FROM webhook_platform FOR UPDATE;

-- name: UpdateEndpoint :exec
UPDATE webhook_endpoints
SET url = $2, types = $3, description = $4, is_enabled = $5, disabled_reason = $6, secrets = $7, failing_since = $8
WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid;

-- name: DeleteEndpoint :execrows
DELETE FROM webhook_endpoints WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid;

-- name: Listening :many
-- Endpoints that can receive an event of a tenant. The lock prevents their deletion, but not other
-- changes, until their deliveries are stored. Endpoints of a deleted tenant are excluded, because
-- they can no longer be disabled.
SELECT id, types, is_enabled FROM (
    SELECT e.* FROM webhook_endpoints e WHERE e.tenant_id = sqlc.narg(tenant_id)::uuid
        AND EXISTS (SELECT 1 FROM tenants t WHERE t.id = e.tenant_id AND t.deleted_at IS NULL)
    FOR KEY SHARE
) AS of_tenant
UNION ALL
SELECT id, types, is_enabled FROM (
    SELECT * FROM webhook_endpoints WHERE tenant_id IS NULL FOR KEY SHARE
) AS of_platform;

-- name: InsertEvent :exec
INSERT INTO webhook_events (id, tenant_id, type, body, created_at) VALUES ($1, $2, $3, $4, $5);

-- name: InsertDelivery :exec
INSERT INTO webhook_deliveries (id, endpoint_id, event_id, type, status, next_attempt_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: Delivery :one
SELECT id, event_id, type, status, attempts, next_attempt_at, created_at FROM webhook_deliveries
WHERE endpoint_id = $1 AND id = $2;

-- name: EndLeases :exec
UPDATE webhook_deliveries SET lease_id = NULL, leased_until = NULL WHERE lease_id IS NOT NULL;

-- name: Resend :execrows
-- Deliveries that are being sent at the moment are skipped.
UPDATE webhook_deliveries SET status = 'pending', attempt = 0, next_attempt_at = sqlc.arg(now)::timestamptz
WHERE endpoint_id = $1 AND id = $2
  AND (next_attempt_at IS NULL OR leased_until IS NULL OR leased_until < sqlc.arg(lease_now)::timestamptz);

-- name: Replay :execrows
UPDATE webhook_deliveries SET status = 'pending', attempt = 0, next_attempt_at = sqlc.arg(now)::timestamptz
WHERE endpoint_id = $1 AND status = 'failed' AND created_at >= sqlc.arg(since)::timestamptz;

-- name: FailPending :exec
UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL
WHERE endpoint_id = $1 AND next_attempt_at IS NOT NULL;

-- name: NoteDelivered :exec
UPDATE webhook_endpoints SET last_delivery_at = $2, failing_since = sqlc.narg(failing_since) WHERE id = $1;

-- name: NoteFailing :exec
UPDATE webhook_endpoints SET failing_since = $2 WHERE id = $1 AND failing_since IS NULL;

-- name: DisableEndpoint :execrows
UPDATE webhook_endpoints SET is_enabled = false, disabled_reason = $2 WHERE id = $1 AND is_enabled;

-- name: GivenUp :many
-- Endpoints that have failed for too long and have no attempt left.
SELECT e.id FROM webhook_endpoints e
WHERE e.failing_since <= sqlc.arg(since)::timestamptz AND e.is_enabled
  AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.next_attempt_at IS NOT NULL)
ORDER BY e.failing_since LIMIT 100;

-- name: DeleteOldEvents :many
DELETE FROM webhook_events WHERE id IN (
    SELECT e.id FROM webhook_events e
    WHERE e.created_at >= sqlc.arg(earliest)::timestamptz AND e.created_at < sqlc.arg(before)::timestamptz
    ORDER BY e.created_at
    LIMIT sqlc.arg(most)
) RETURNING created_at;

-- name: AllEndpoints :many
-- Only for the sandbox.
SELECT * FROM webhook_endpoints ORDER BY id;

-- name: Backlog :one
-- Each subquery reads one index, up to the limit.
SELECT
    (SELECT count(*) FROM (
        SELECT d.id FROM webhook_deliveries d WHERE d.next_attempt_at IS NOT NULL ORDER BY d.endpoint_id LIMIT sqlc.arg(most)
    ) AS waits) AS waiting,
    (SELECT count(*) FROM (
        SELECT e.id FROM webhook_endpoints e WHERE e.failing_since IS NOT NULL ORDER BY e.failing_since LIMIT sqlc.arg(most)
    ) AS fails) AS failing;

-- name: NoteFailure :exec
-- A delivery that was resent and failed again gets the time of the latest failure.
INSERT INTO webhook_failures (delivery_id, endpoint_id, tenant_id, status, attempts, failed_at)
SELECT d.id, d.endpoint_id, e.tenant_id, sqlc.narg(answer)::integer, sqlc.arg(attempts)::integer, sqlc.arg(failed_at)::timestamptz
FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
WHERE d.id = sqlc.arg(id)::uuid AND d.status = 'failed' AND d.next_attempt_at IS NULL
ON CONFLICT (delivery_id) DO UPDATE SET status = excluded.status, attempts = excluded.attempts, failed_at = excluded.failed_at;

-- name: DeliveryOfAny :one
SELECT d.id, d.event_id, d.type, d.status, d.attempts, d.next_attempt_at, d.created_at,
    e.id AS endpoint_id, e.url, e.tenant_id, t.name AS tenant_name
FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id LEFT JOIN tenants t ON t.id = e.tenant_id
WHERE d.id = $1;

-- name: EventBody :one
SELECT body FROM webhook_events WHERE id = $1;

-- name: Exchanges :many
SELECT number, url, request_headers, response_headers, response_body, is_truncated FROM webhook_exchanges
WHERE delivery_id = $1 ORDER BY number;

-- name: DeleteOldExchanges :exec
DELETE FROM webhook_exchanges WHERE delivery_id = $1 AND number <= sqlc.arg(until);
