-- name: LockUser :one
SELECT id FROM users WHERE id = $1 AND deleted_at IS NULL FOR UPDATE;

-- name: CountOtherPushSubscriptions :one
SELECT count(*) FROM push_subscriptions WHERE user_id = $1 AND endpoint <> $2;

-- name: PutPushSubscription :one
INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6)
ON CONFLICT (endpoint) DO UPDATE
SET user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth, updated_at = excluded.updated_at
RETURNING id, created_at;

-- name: PushSubscriptionsOfUser :many
SELECT id, endpoint, created_at FROM push_subscriptions WHERE user_id = $1 ORDER BY created_at, id;

-- name: PushSubscriptionByID :one
SELECT endpoint, p256dh, auth FROM push_subscriptions WHERE id = $1 AND user_id = $2;

-- name: DeletePushSubscriptionOfUser :exec
DELETE FROM push_subscriptions WHERE user_id = $1 AND endpoint = $2;

-- Keeps a subscription that has changed since it was used: the browser may have renewed its
-- keys.
-- name: DeleteLostPushSubscription :exec
DELETE FROM push_subscriptions WHERE id = $1 AND endpoint = $2 AND p256dh = $3 AND auth = $4;

-- name: InsertPlatformKey :exec
INSERT INTO platform_keys (name, public_key, private_key, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO NOTHING;

-- name: PlatformKey :one
SELECT public_key, private_key FROM platform_keys WHERE name = $1;
