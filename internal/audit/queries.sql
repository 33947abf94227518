-- The audit log is append-only: no statement updates an entry, and only expired entries are
-- deleted.
-- name: InsertEntry :exec
INSERT INTO audit_logs (actor_id, subject_id, subject_reason, tenant_id, action, resource, resource_id, before, after, ip, user_agent, created_at, api_key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: DeleteOldEntries :many
DELETE FROM audit_logs WHERE id IN (
    SELECT a.id FROM audit_logs a
    WHERE a.created_at >= sqlc.arg(earliest) AND a.created_at < sqlc.arg(before)
    ORDER BY a.created_at, a.id
    LIMIT sqlc.arg(most)
) RETURNING created_at, action, tenant_id;

-- Counting and deleting take this lock to exclude each other.
-- name: LockDays :one
SELECT day FROM audit_days WHERE day = '' AND action = '' FOR UPDATE;

-- name: LastCountedDay :one
SELECT COALESCE(max(day), '')::text AS day FROM audit_days;

-- name: OldestEntry :one
SELECT created_at FROM audit_logs ORDER BY created_at, id LIMIT 1;

-- name: CountDay :exec
INSERT INTO audit_days (day, action, entries)
SELECT sqlc.arg(day)::text, a.action, count(*) FROM audit_logs a
WHERE a.created_at >= sqlc.arg(earliest) AND a.created_at < sqlc.arg(before)
GROUP BY a.action;

-- name: MarkDay :exec
INSERT INTO audit_days (day, action, entries) VALUES ($1, '', 0);

-- name: DiscountDay :exec
UPDATE audit_days SET entries = entries - sqlc.arg(deleted) WHERE day = $1 AND action = $2;

-- name: CountedEntries :one
SELECT COALESCE(sum(entries), 0)::bigint FROM audit_days WHERE day <= sqlc.arg(until)::text;

-- name: CountedEntriesOfAction :one
SELECT COALESCE(sum(entries), 0)::bigint FROM audit_days WHERE action = $1 AND day <= sqlc.arg(until)::text;

-- name: CountEntriesSince :one
SELECT count(*) FROM audit_logs WHERE created_at >= $1;

-- name: CountEntriesOfActionSince :one
SELECT count(*) FROM audit_logs WHERE action = $1 AND created_at >= sqlc.arg(since);

-- name: TenantsCountedBefore :one
SELECT counted_before FROM audit_tenants WHERE tenant_id = $1;

-- name: MarkTenants :exec
INSERT INTO audit_tenants (tenant_id, entries, counted_before) VALUES ($1, 0, $2)
ON CONFLICT (tenant_id) DO UPDATE SET counted_before = excluded.counted_before;

-- The subquery selects the day's entries first. Otherwise SQLite would look up the day once per
-- tenant, in the index on tenant and time.
-- name: CountTenants :exec
INSERT INTO audit_tenants (tenant_id, entries, counted_before)
SELECT a.tenant_id, count(*), sqlc.arg(before)::timestamptz FROM audit_logs a
WHERE a.id IN (SELECT d.id FROM audit_logs d WHERE d.created_at >= sqlc.arg(earliest) AND d.created_at < sqlc.arg(before))
    AND a.tenant_id IS NOT NULL
GROUP BY a.tenant_id
ON CONFLICT (tenant_id) DO UPDATE SET entries = audit_tenants.entries + excluded.entries, counted_before = excluded.counted_before;

-- This is a single statement, so that both parts read the same snapshot.
-- name: CountEntriesOfTenant :one
SELECT (COALESCE((SELECT c.entries FROM audit_tenants c WHERE c.tenant_id = $1), 0) + (
    SELECT count(*) FROM audit_logs a
    WHERE a.tenant_id = $1 AND a.created_at >= COALESCE((SELECT s.counted_before FROM audit_tenants s WHERE s.tenant_id = $1), sqlc.arg(beginning)::timestamptz)
))::bigint AS entries;
