-- name: InsertKey :exec
INSERT INTO signing_keys (number, key_id, public_key, private_key, active_at, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (number) DO NOTHING;

-- The keys that verifiers need: those in use, and retired ones whose tokens can still be valid.
-- name: Keys :many
SELECT number, key_id, public_key, private_key, active_at, retired_at FROM signing_keys
WHERE retired_at IS NULL OR retired_at > sqlc.arg(after)
ORDER BY number;

-- A rotation locks the keys in use. Read them again afterwards: a rotation that held the lock before
-- has changed them.
-- name: LockKeysInUse :many
SELECT number FROM signing_keys WHERE retired_at IS NULL ORDER BY number FOR UPDATE;

-- name: ActivateKey :exec
UPDATE signing_keys SET active_at = $2 WHERE number = $1;

-- name: RetireKey :exec
UPDATE signing_keys SET retired_at = $2, private_key = NULL WHERE number = $1;

-- name: DeleteRetiredKeys :exec
DELETE FROM signing_keys WHERE retired_at <= $1;
