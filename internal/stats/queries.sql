-- Each part reads an index of the tenants, with little more than one entry per tenant.
-- name: CountTenants :one
SELECT
    (SELECT count(*) FROM tenants) AS every,
    (SELECT count(*) FROM tenants d WHERE d.deleted_at IS NOT NULL) AS deleted,
    (SELECT count(*) FROM tenants a WHERE a.created_at >= sqlc.arg(since)::timestamptz) AS added,
    (SELECT count(*) FROM tenants g WHERE g.deleted_at IS NOT NULL AND g.created_at >= sqlc.arg(since)::timestamptz) AS added_and_deleted;

-- name: LiveSubscriptions :many
SELECT status, count(*) AS subscriptions FROM subscriptions
WHERE status NOT IN ('canceled', 'incomplete_expired') GROUP BY status;

-- name: QuotaRefusals :one
-- Hours after the middle belong to the last day, others to the previous one.
SELECT COALESCE(sum(CASE WHEN hour > sqlc.arg(middle)::bigint THEN refused ELSE 0 END), 0)::bigint AS last,
    COALESCE(sum(CASE WHEN hour > sqlc.arg(middle)::bigint THEN 0 ELSE refused END), 0)::bigint AS previous
FROM quota_refusals WHERE hour > sqlc.arg(after)::bigint AND hour <= sqlc.arg(until)::bigint;

-- name: RefusedTenants :one
-- Read the hours before grouping by tenant, because SQLite may otherwise look them up for each
-- tenant.
WITH r AS MATERIALIZED (
    SELECT q.tenant_id FROM quota_refusals q WHERE q.hour > sqlc.arg(after)::bigint AND q.hour <= sqlc.arg(until)::bigint
)
SELECT count(DISTINCT r.tenant_id) FROM r;

-- name: QuotaRefusalsByDay :many
SELECT day, sum(refused)::bigint AS refused FROM quota_refusal_days
WHERE day >= sqlc.arg(since)::bigint AND day <= sqlc.arg(until)::bigint GROUP BY day;

-- name: WaitingJobs :one
-- Each part reads a single index, and at most as many rows as it counts.
SELECT
    (SELECT count(*) FROM (
        SELECT w.id FROM jobs w WHERE w.lease_id IS NULL AND w.dead_at IS NULL AND NOT w.periodic ORDER BY w.due_at LIMIT sqlc.arg(most)
    ) AS waits) AS waiting,
    (SELECT count(*) FROM (
        SELECT l.id FROM jobs l WHERE l.lease_id IS NULL AND l.dead_at IS NULL AND NOT l.periodic AND l.due_at < sqlc.arg(late)::timestamptz
        ORDER BY l.due_at LIMIT sqlc.arg(most)
    ) AS lates) AS late,
    (SELECT count(*) FROM (
        SELECT d.id FROM jobs d WHERE d.dead_at IS NOT NULL ORDER BY d.dead_at LIMIT sqlc.arg(most)
    ) AS died) AS dead,
    (SELECT count(*) FROM (
        SELECT m.id FROM jobs m WHERE m.kind = sqlc.arg(mail)::text AND m.lease_id IS NULL AND m.dead_at IS NULL LIMIT sqlc.arg(most)
    ) AS mails) AS mails,
    (SELECT count(*) FROM (
        SELECT f.id FROM jobs f WHERE f.kind = sqlc.arg(mail)::text AND f.lease_id IS NULL AND f.dead_at IS NULL AND f.last_error IS NOT NULL LIMIT sqlc.arg(most)
    ) AS failed) AS failing;

-- name: CountDeliveries :one
SELECT count(*) FROM (
    SELECT d.id FROM webhook_deliveries d
    WHERE d.status = sqlc.arg(status)::text AND d.created_at >= sqlc.arg(since)::timestamptz LIMIT sqlc.arg(most)
) AS deliveries;
