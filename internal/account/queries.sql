-- name: InsertUser :one
INSERT INTO users (name, email, password_hash, is_platform_admin, platform_permissions, email_verified_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (email) DO NOTHING
RETURNING id;

-- name: UserByEmail :one
SELECT id, name, email, password_hash, is_platform_admin FROM users WHERE email = $1;

-- name: UserByID :one
SELECT id, name, email, is_platform_admin FROM users WHERE id = $1;

-- name: UpdatePassword :exec
UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1;

-- name: VerifyEmail :exec
UPDATE users SET email_verified_at = $2 WHERE id = $1 AND email_verified_at IS NULL;

-- name: InsertCredential :exec
INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, idle_seconds, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: MoveExpiry :exec
UPDATE credentials SET expires_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- name: RevokeSession :exec
UPDATE credentials SET revoked_at = $2 WHERE token_hash = $1 AND kind = 'session' AND revoked_at IS NULL;

-- name: CredentialsOfUser :many
SELECT id, kind, family, expires_at, created_at
FROM credentials
WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > sqlc.arg(now)
ORDER BY created_at DESC, id DESC;

-- name: RevokeCredentialsOfUser :exec
UPDATE credentials SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL;

-- name: DeleteExpiredCredentials :exec
DELETE FROM credentials
WHERE (family_expires_at < sqlc.arg(before) OR (kind <> 'refresh' AND expires_at < sqlc.arg(before)))
  AND impersonated_user_id IS NULL; -- an impersonation is ended and logged before

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

-- name: DeletePasswordReset :exec
DELETE FROM password_resets WHERE user_id = $1;

-- One statement uses the token up and finds its user, so that of two uses at the
-- same time only one succeeds.
-- name: TakePasswordReset :one
DELETE FROM password_resets
WHERE token_hash = $1 AND expires_at > sqlc.arg(now)
  AND user_id IN (SELECT u.id FROM users u WHERE u.email = sqlc.arg(email))
RETURNING user_id;

-- name: LockUserByEmail :one
SELECT u.id, u.email_verified_at FROM users u WHERE u.email = $1 FOR UPDATE;

-- name: ClaimUnverifiedUser :exec
UPDATE users SET password_hash = NULL, email_verified_at = $2, updated_at = $3 WHERE id = $1;

-- name: LockUserByID :one
SELECT u.id, u.name, u.email, u.is_platform_admin FROM users u WHERE u.id = $1 FOR UPDATE;

-- name: RenameUser :exec
UPDATE users SET name = $2, updated_at = $3 WHERE id = $1;

-- No row for a credential that is not a session.
-- name: RenewSession :one
UPDATE credentials SET token_hash = $2
WHERE id = $1 AND kind = 'session' AND revoked_at IS NULL
RETURNING idle_seconds, family_expires_at;

-- name: PlatformAdmins :many
SELECT id, name, email, platform_permissions FROM users WHERE is_platform_admin ORDER BY id;

-- name: SetPlatformAdmin :exec
UPDATE users SET is_platform_admin = $2, platform_permissions = $3, updated_at = $4 WHERE id = $1;

-- name: LockAdminByEmail :one
SELECT u.id, u.name, u.email, u.is_platform_admin, u.platform_permissions FROM users u WHERE u.email = $1 FOR UPDATE;

-- name: DeleteUser :exec
DELETE FROM users WHERE id = $1;
