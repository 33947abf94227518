-- The user's email and WebAuthn user handle.
-- name: FactorUser :one
SELECT name, email, passkey_handle FROM users WHERE id = $1;

-- name: SetPasskeyHandle :exec
UPDATE users SET passkey_handle = sqlc.arg(handle)::text WHERE id = $1 AND passkey_handle IS NULL;

-- name: ClearPasskeyHandle :exec
UPDATE users SET passkey_handle = NULL WHERE id = $1;

-- name: HasFactor :one
SELECT (EXISTS (SELECT 1 FROM user_totp t WHERE t.user_id = $1 AND t.confirmed_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM passkeys p WHERE p.user_id = $1))::boolean AS has_factor;

-- name: SetFactorEnabled :exec
UPDATE users SET mfa_enabled = $2 WHERE id = $1;

-- name: TOTP :one
SELECT secret, last_step, created_at, confirmed_at, last_used_at FROM user_totp WHERE user_id = $1;

-- name: AllTOTP :many
SELECT t.user_id, u.email, t.secret, t.last_step, t.confirmed_at FROM user_totp t JOIN users u ON u.id = t.user_id ORDER BY u.email;

-- name: PutTOTP :exec
INSERT INTO user_totp (user_id, secret, last_step, created_at) VALUES ($1, $2, 0, $3)
ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0, created_at = excluded.created_at, confirmed_at = NULL, last_used_at = NULL;

-- name: ConfirmTOTP :exec
UPDATE user_totp SET confirmed_at = $2, last_step = $3 WHERE user_id = $1;

-- name: UseTOTP :exec
UPDATE user_totp SET last_step = $2, last_used_at = $3 WHERE user_id = $1;

-- name: DeleteTOTP :exec
DELETE FROM user_totp WHERE user_id = $1;

-- name: CountRecoveryCodes :one
SELECT count(*) AS codes, count(*) FILTER (WHERE used_at IS NULL) AS remaining FROM recovery_codes WHERE user_id = $1;

-- name: InsertRecoveryCode :exec
INSERT INTO recovery_codes (user_id, code_hash, created_at) VALUES ($1, $2, $3);

-- name: UseRecoveryCode :execrows
UPDATE recovery_codes SET used_at = $3 WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL;

-- name: DeleteRecoveryCodes :exec
DELETE FROM recovery_codes WHERE user_id = $1;

-- name: Passkeys :many
SELECT id, name, record, created_at, last_used_at FROM passkeys WHERE user_id = $1 ORDER BY created_at, id;

-- name: OwnerOfPasskey :one
SELECT user_id FROM passkeys WHERE credential_id = $1;

-- name: InsertPasskey :execrows
INSERT INTO passkeys (id, user_id, name, credential_id, record, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (credential_id) DO NOTHING;

-- name: RenamePasskey :execrows
UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2;

-- name: UsePasskey :exec
UPDATE passkeys SET record = $2, last_used_at = $3 WHERE id = $1;

-- name: DeletePasskey :execrows
DELETE FROM passkeys WHERE id = $1 AND user_id = $2;

-- name: DeletePasskeys :exec
DELETE FROM passkeys WHERE user_id = $1;

-- name: InsertPasskeyChallenge :exec
INSERT INTO passkey_challenges (id, kind, user_id, session, expires_at, created_at) VALUES ($1, $2, $3, $4, $5, $6);

-- name: PasskeyChallenge :one
SELECT user_id, session FROM passkey_challenges WHERE id = $1 AND kind = $2 AND expires_at > sqlc.arg(now);

-- name: TakePasskeyChallenge :execrows
DELETE FROM passkey_challenges WHERE id = $1;

-- name: DeletePasskeyChallenges :exec
DELETE FROM passkey_challenges WHERE user_id = sqlc.arg(user_id)::bigint;

-- name: DeleteOldPasskeyChallenges :exec
DELETE FROM passkey_challenges WHERE expires_at <= sqlc.arg(now);
