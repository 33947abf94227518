-- name: Insert :exec
INSERT INTO jobs (id, kind, payload, due_at, created_at, origin) VALUES ($1, $2, $3, $4, $5, $6);

-- name: InsertKeyed :exec
-- Even though the update changes only the due time, it is required: it locks the waiting job until
-- this transaction commits. Otherwise the job could run on the old state and leave this change
-- without a run. A retry (attempt > 0) is not brought forward, because frequent calls would defeat
-- its backoff and use up its attempts.
INSERT INTO jobs (id, kind, unique_key, payload, due_at, created_at, origin) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (kind, unique_key) WHERE lease_id IS NULL AND dead_at IS NULL
DO UPDATE SET due_at = CASE
    WHEN jobs.attempt = 0 AND excluded.due_at < jobs.due_at THEN excluded.due_at
    ELSE jobs.due_at
END;

-- name: InsertPeriodic :exec
INSERT INTO jobs (id, kind, payload, periodic, due_at, created_at) VALUES ($1, $2, '{}', true, $3, $4)
ON CONFLICT (id) DO NOTHING;

-- name: BringForward :exec
UPDATE jobs SET due_at = sqlc.arg(latest) WHERE id = sqlc.arg(id) AND due_at > sqlc.arg(latest);

-- Makes jobs due whose due time is wrong because the clock has been set back: jobs that were due
-- when they were created, and retries with a due time after the longest possible pause.
-- name: Hasten :exec
UPDATE jobs SET due_at = sqlc.arg(now)
WHERE lease_id IS NULL AND dead_at IS NULL AND NOT periodic AND due_at > sqlc.arg(now)
    AND (attempt = 0 AND due_at <= created_at OR attempt > 0 AND due_at > sqlc.arg(latest)::timestamptz);

-- name: EndLeases :exec
UPDATE jobs SET leased_until = sqlc.arg(past) WHERE lease_id IS NOT NULL;

-- name: Complete :execrows
DELETE FROM jobs WHERE id = $1 AND lease_id = $2;

-- name: DropWaitingTwin :exec
DELETE FROM jobs
WHERE kind = $1 AND unique_key = $2 AND lease_id IS NULL AND dead_at IS NULL;

-- name: LockHeld :one
SELECT id FROM jobs WHERE id = $1 AND lease_id = $2 FOR UPDATE;

-- name: Release :execrows
UPDATE jobs SET lease_id = NULL, leased_until = NULL,
    attempt = sqlc.arg(attempt), due_at = sqlc.arg(due_at), last_error = sqlc.narg(last_error)
WHERE id = sqlc.arg(id) AND lease_id = sqlc.arg(lease_id);

-- name: Bury :execrows
UPDATE jobs SET lease_id = NULL, leased_until = NULL, dead_at = $1, last_error = $2, payload = $3, is_emptied = $4
WHERE id = $5 AND lease_id = $6;

-- name: Dead :many
SELECT * FROM jobs
WHERE dead_at IS NOT NULL AND (sqlc.arg(kind)::text = '' OR kind = sqlc.arg(kind)::text)
ORDER BY dead_at DESC, id DESC LIMIT sqlc.arg(most);

-- name: DeadIDs :many
SELECT id FROM jobs
WHERE dead_at IS NOT NULL AND (sqlc.arg(kind)::text = '' OR kind = sqlc.arg(kind)::text)
ORDER BY dead_at, id;

-- name: DropDead :execrows
DELETE FROM jobs WHERE id = $1 AND dead_at IS NOT NULL;

-- name: IsEmptied :one
SELECT is_emptied FROM jobs WHERE id = $1 AND dead_at IS NOT NULL;

-- name: TakeDead :one
DELETE FROM jobs WHERE id = $1 AND dead_at IS NOT NULL AND NOT is_emptied RETURNING *;

-- name: Count :one
-- Each part reads a single index, and at most as many rows as it counts.
SELECT
    (SELECT count(*) FROM (
        SELECT w.id FROM jobs w WHERE w.lease_id IS NULL AND w.dead_at IS NULL AND NOT w.periodic ORDER BY w.due_at LIMIT sqlc.arg(most)
    ) AS waits) AS waiting,
    (SELECT count(*) FROM (
        SELECT r.id FROM jobs r WHERE r.lease_id IS NOT NULL ORDER BY r.leased_until LIMIT sqlc.arg(most)
    ) AS runs) AS running,
    (SELECT count(*) FROM (
        SELECT d.id FROM jobs d WHERE d.dead_at IS NOT NULL ORDER BY d.dead_at LIMIT sqlc.arg(most)
    ) AS died) AS dead;

-- name: DueByKind :many
SELECT kind, due_at, due FROM (
    SELECT longest.kind, longest.due_at,
        row_number() OVER (PARTITION BY longest.kind ORDER BY longest.due_at) AS place,
        count(*) OVER (PARTITION BY longest.kind) AS due
    FROM (
        SELECT j.kind, j.due_at FROM jobs j
        WHERE j.lease_id IS NULL AND j.dead_at IS NULL AND j.due_at <= sqlc.arg(now)
        ORDER BY j.due_at LIMIT sqlc.arg(most)
    ) AS longest
) AS ranked
WHERE place = 1;

-- name: OldestDue :one
SELECT due_at FROM jobs
WHERE lease_id IS NULL AND dead_at IS NULL AND NOT periodic AND due_at <= $1
ORDER BY due_at LIMIT 1;

-- name: DeleteOldDead :many
DELETE FROM jobs WHERE id IN (
    SELECT j.id FROM jobs j
    WHERE j.dead_at IS NOT NULL AND j.dead_at >= sqlc.arg(earliest)::timestamptz AND j.dead_at < sqlc.arg(before)::timestamptz
    ORDER BY j.dead_at
    LIMIT sqlc.arg(most)
) RETURNING dead_at;
