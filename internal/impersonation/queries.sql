-- name: LockCredential :one
SELECT user_id, kind, revoked_at, expires_at, own_expires_at, impersonated_user_id, impersonated_tenant_id, impersonation_ended_at,
    impersonation_expires_at, impersonation_reason, impersonation_read_only, mfa_passed
FROM credentials
WHERE id = $1
FOR UPDATE;

-- A user is locked before their credentials (rules: account#lock-order). A locked target cannot
-- become a platform admin.
-- name: LockUser :one
SELECT id, is_platform_admin, platform_permissions, mfa_enabled FROM users WHERE id = $1 FOR UPDATE;

-- name: IsMember :one
SELECT count(*) FROM memberships WHERE user_id = $1 AND tenant_id = $2;

-- name: SetImpersonated :exec
UPDATE credentials SET impersonated_user_id = $2, impersonated_tenant_id = $3, impersonation_reason = $4, impersonation_read_only = $5,
    impersonation_expires_at = $6, expires_at = $7, own_expires_at = $8, impersonation_ended_at = NULL
WHERE id = $1;

-- name: SetImpersonationEnded :exec
UPDATE credentials SET impersonation_ended_at = $2 WHERE id = $1;

-- name: RevokeCredential :exec
UPDATE credentials SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- name: ImpersonatingOfFamily :many
SELECT id FROM credentials
WHERE user_id = $1 AND family = $2 AND impersonated_user_id IS NOT NULL
ORDER BY id;

-- name: ImpersonatingOfUser :many
SELECT id FROM credentials
WHERE user_id = $1 AND impersonated_user_id IS NOT NULL
ORDER BY id;

-- name: ImpersonatorsOf :many
SELECT DISTINCT user_id FROM credentials
WHERE impersonated_user_id = $1
ORDER BY user_id;

-- name: OwnerOfCredential :one
SELECT user_id FROM credentials WHERE id = $1;

-- name: ImpersonatingTarget :many
SELECT id FROM credentials
WHERE impersonated_user_id = $1
ORDER BY id;

-- name: OverdueImpersonating :many
SELECT id FROM credentials
WHERE impersonated_user_id IS NOT NULL AND (
    revoked_at IS NOT NULL OR expires_at <= sqlc.arg(now)::timestamptz
    OR (impersonation_ended_at IS NULL AND impersonation_expires_at <= sqlc.arg(now)::timestamptz)
)
ORDER BY impersonated_user_id, id -- uses the index of impersonating credentials
LIMIT 1000;

-- The log is append-only: no statement updates a record, and only expired records are deleted.
-- name: InsertLog :exec
INSERT INTO impersonation_logs (impersonator_id, impersonated_id, tenant_id, action, reason, read_only, ip_address, user_agent, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: DeleteOldLogs :many
DELETE FROM impersonation_logs WHERE id IN (
    SELECT l.id FROM impersonation_logs l
    WHERE l.created_at >= sqlc.arg(earliest) AND l.created_at < sqlc.arg(before)
    ORDER BY l.created_at, l.id
    LIMIT sqlc.arg(most)
) RETURNING created_at;
