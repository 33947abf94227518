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

-- name: InsertAccessToken :exec
INSERT INTO access_tokens (id, user_id, token_hash, family, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6);

-- name: InsertRefreshToken :exec
INSERT INTO refresh_tokens (id, user_id, token_hash, family, family_expires_at, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7);

-- name: DeleteAccessTokensOfUser :exec
DELETE FROM access_tokens WHERE user_id = $1;

-- name: RevokeRefreshTokensOfUser :exec
UPDATE refresh_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL;

-- name: DeleteExpiredAccessTokens :exec
DELETE FROM access_tokens WHERE expires_at < $1;

-- name: DeleteExpiredRefreshTokens :exec
DELETE FROM refresh_tokens WHERE family_expires_at < $1;

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
FROM access_tokens t
JOIN users u ON u.id = t.user_id
LEFT JOIN memberships m ON m.user_id = u.id
LEFT JOIN tenants tn ON tn.id = m.tenant_id
LEFT JOIN roles r ON r.id = m.role_id
WHERE t.token_hash = $1;
