-- What may authenticate a user, the oldest first, with what has expired: it tells when its
-- login was used.
-- name: Credentials :many
SELECT c.family, c.kind, c.ip, c.user_agent, c.login_at, c.created_at, c.last_used_at, c.expires_at
FROM credentials c
WHERE c.user_id = $1 AND c.revoked_at IS NULL AND c.family_expires_at > sqlc.arg(now)
ORDER BY c.created_at, c.id;

-- name: ChangeProfile :exec
UPDATE users SET name = $2, locale = $3, updated_at = $4 WHERE id = $1;

-- name: PutVerification :exec
INSERT INTO email_verifications (user_id, email, token_hash, expires_at, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id, email) DO UPDATE
SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at;

-- name: DeleteOtherVerifications :exec
DELETE FROM email_verifications WHERE user_id = $1 AND email <> sqlc.arg(kept);

-- name: Verification :one
SELECT user_id FROM email_verifications WHERE token_hash = $1 AND expires_at > sqlc.arg(now);

-- name: TakeVerification :one
DELETE FROM email_verifications WHERE token_hash = $1 AND user_id = $2 AND expires_at > sqlc.arg(now)
RETURNING email;

-- name: DeleteExpiredVerifications :exec
DELETE FROM email_verifications WHERE expires_at <= sqlc.arg(now);

-- name: EmailTaken :one
SELECT count(*) FROM users WHERE email = $1;

-- name: ChangeEmail :execrows
UPDATE users SET email = sqlc.arg(email), email_verified_at = sqlc.arg(now), updated_at = sqlc.arg(now)
WHERE users.id = $1 AND NOT EXISTS (SELECT 1 FROM users o WHERE o.email = sqlc.arg(email));
