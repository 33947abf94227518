-- name: InsertUser :one
INSERT INTO users (name, email, password_hash, is_platform_admin, platform_permissions, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6)
ON CONFLICT (email) DO NOTHING
RETURNING id;

-- name: UserByEmail :one
SELECT id, name, email, password_hash, is_platform_admin FROM users WHERE email = $1;

-- name: UserByID :one
SELECT id, name, email, is_platform_admin FROM users WHERE id = $1;

-- name: UpdatePassword :exec
UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1;

-- name: InsertCredential :exec
INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: RevokeCredentialsOfUser :exec
UPDATE credentials SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL;

-- name: DeleteExpiredCredentials :exec
DELETE FROM credentials WHERE family_expires_at < sqlc.arg(now) OR (kind = 'access' AND expires_at < sqlc.arg(now));

-- Everything that a request's guards ask of its caller, in one look-up.
-- name: CallerByToken :one
SELECT
    t.id AS token_id,
    t.family,
    t.expires_at,
    u.id AS user_id,
    u.name,
    u.email,
    u.is_platform_admin,
    u.platform_permissions,
    m.tenant_id,
    tn.name AS tenant_name,
    tn.onboarding_completed_at,
    r.name AS role_name,
    COALESCE((SELECT string_agg(p.permission, ',') FROM role_permissions p WHERE p.role_id = m.role_id), '')::text AS permissions
FROM credentials t
JOIN users u ON u.id = t.user_id
LEFT JOIN memberships m ON m.user_id = u.id
LEFT JOIN tenants tn ON tn.id = m.tenant_id
LEFT JOIN roles r ON r.id = m.role_id
WHERE t.token_hash = $1 AND t.kind = 'access' AND t.revoked_at IS NULL;

-- name: LockRefreshToken :one
SELECT c.id, c.user_id, c.family, c.family_expires_at, c.expires_at, c.revoked_at
FROM credentials c
WHERE c.token_hash = $1 AND c.kind = 'refresh'
FOR UPDATE;

-- name: RevokeCredential :exec
UPDATE credentials SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- name: RevokeFamily :exec
UPDATE credentials SET revoked_at = $2 WHERE family = $1 AND revoked_at IS NULL;

-- name: RevokeRefreshTokensOfUser :exec
UPDATE credentials SET revoked_at = $2 WHERE user_id = $1 AND kind = 'refresh' AND revoked_at IS NULL;

-- name: PutPasswordReset :exec
INSERT INTO password_resets (user_id, token_hash, expires_at, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE
SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at;

-- Using a token up and finding whom it belongs to is one statement, so that of
-- two uses at once one finds nothing.
-- name: TakePasswordReset :one
DELETE FROM password_resets
WHERE token_hash = $1 AND expires_at > sqlc.arg(now)
  AND user_id IN (SELECT u.id FROM users u WHERE u.email = sqlc.arg(email))
RETURNING user_id;
