-- name: InsertKey :execrows
INSERT INTO idempotency_keys (id, body_hash, lease_id, leased_until, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (id) DO NOTHING;

-- name: Key :one
SELECT * FROM idempotency_keys WHERE id = $1;

-- name: CompleteKey :exec
UPDATE idempotency_keys SET lease_id = NULL, status = $3, response = $4 WHERE id = $1 AND lease_id = $2;

-- name: ReleaseKey :exec
DELETE FROM idempotency_keys WHERE id = $1 AND lease_id = $2;

-- name: RemoveOldKey :exec
DELETE FROM idempotency_keys WHERE id = $1 AND lease_id IS NULL AND created_at = $2;

-- name: EndLeases :exec
UPDATE idempotency_keys SET leased_until = sqlc.arg(past) WHERE lease_id IS NOT NULL;

-- name: DeleteOldKeys :many
DELETE FROM idempotency_keys WHERE id IN (
    SELECT k.id FROM idempotency_keys k
    WHERE k.created_at >= sqlc.arg(earliest) AND k.created_at < sqlc.arg(before)
    ORDER BY k.created_at
    LIMIT sqlc.arg(most)
) RETURNING created_at;
