-- name: InsertOAuthFlow :exec
INSERT INTO oauth_flows (state_hash, browser_hash, provider, verifier, nonce, expires_at, created_at, connection_id, is_test)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- If a state is returned twice, only the first request finds the flow. A state from another browser or
-- provider does not delete the flow.
-- name: TakeOAuthFlow :one
DELETE FROM oauth_flows
WHERE state_hash = $1 AND browser_hash = $2 AND provider = $3 AND expires_at > sqlc.arg(now)
RETURNING verifier, nonce, connection_id, is_test;

-- name: UserByOAuthIdentity :one
SELECT id, user_id FROM oauth_identities WHERE provider = $1 AND subject = $2;

-- name: InsertOAuthIdentity :execrows
INSERT INTO oauth_identities (id, provider, subject, user_id, email, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (provider, subject) DO NOTHING;

-- name: SetIdentityEmail :exec
UPDATE oauth_identities SET email = $2 WHERE id = $1 AND email <> $2;

-- name: ProviderOfIdentity :one
SELECT provider FROM oauth_identities WHERE id = $1;

-- name: InsertOAuthCode :exec
INSERT INTO oauth_codes (code_hash, user_id, is_new_user, browser_hash, expires_at, created_at, identity_id, connection_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: OAuthCode :one
SELECT user_id, is_new_user, browser_hash, identity_id, connection_id FROM oauth_codes WHERE code_hash = $1 AND expires_at > sqlc.arg(now);

-- name: IsConnectionCode :one
SELECT EXISTS (SELECT 1 FROM oauth_codes WHERE code_hash = $1 AND connection_id IS NOT NULL);

-- name: DeleteOAuthCode :execrows
DELETE FROM oauth_codes WHERE code_hash = $1;

-- name: DeleteExpiredOAuthFlows :exec
DELETE FROM oauth_flows WHERE expires_at <= sqlc.arg(now);

-- name: DeleteExpiredOAuthCodes :exec
DELETE FROM oauth_codes WHERE expires_at <= sqlc.arg(now);
