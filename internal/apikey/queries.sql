-- tenant_id is null for the platform's keys in every statement.
-- name: InsertKey :exec
INSERT INTO api_keys (id, tenant_id, name, prefix, secret_hash, scopes, lifetime_days, created_by, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: Key :one
SELECT k.id, k.name, k.prefix, k.scopes, k.lifetime_days, k.created_by, k.created_at, k.last_used_at, k.expires_at, k.revoked_at,
    k.rotated_at, u.name AS creator
FROM api_keys k
LEFT JOIN users u ON u.id = k.created_by
WHERE k.id = $1 AND k.tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid;

-- name: LockKey :exec
SELECT k.id FROM api_keys k WHERE k.id = $1 AND k.tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid FOR UPDATE;

-- name: CountLiveKeys :one
SELECT count(*) AS live, count(rotated_at) AS rotated FROM api_keys
WHERE tenant_id = sqlc.arg(tenant_id)::uuid AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > sqlc.arg(now));

-- name: RenameKey :one
UPDATE api_keys SET name = $2 WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid RETURNING prefix;

-- name: EndKey :exec
UPDATE api_keys SET expires_at = $2, revoked_at = $3, rotated_at = $4
WHERE id = $1 AND tenant_id IS NOT DISTINCT FROM sqlc.narg(tenant_id)::uuid;

-- name: MarkKeyUsed :exec
UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2);
