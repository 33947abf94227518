-- name: MarkSeen :exec
UPDATE subscriptions SET seen_at = $2 WHERE psp_subscription_id = $1;

-- name: AnySeen :one
SELECT EXISTS (SELECT 1 FROM subscriptions WHERE seen_at >= sqlc.arg(since));

-- name: UnseenSubscriptions :many
SELECT id, psp_subscription_id FROM subscriptions
WHERE id > sqlc.arg(after) AND status NOT IN ('canceled', 'incomplete_expired') AND (seen_at IS NULL OR seen_at < sqlc.arg(since))
ORDER BY id
LIMIT sqlc.arg(most);
