-- name: ListEntries :many
SELECT * FROM credit_entries
WHERE tenant_id = $1 AND applied_at IS NOT NULL
ORDER BY created_at DESC, id DESC;

-- name: PendingEntry :one
SELECT * FROM credit_entries WHERE tenant_id = $1 AND applied_at IS NULL;

-- name: EntryOfRequest :one
-- The newest entry of requests with one idempotency key.
SELECT * FROM credit_entries
WHERE tenant_id = $1 AND request_id = $2 AND applied_at IS NOT NULL
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: InsertEntry :exec
INSERT INTO credit_entries (tenant_id, id, psp_customer_id, amount_cents, currency, reason, by_type, by_id, by_name, origin, request_id, leased_until, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- name: LeaseEntry :exec
UPDATE credit_entries SET leased_until = $3 WHERE tenant_id = $1 AND id = $2 AND applied_at IS NULL;

-- name: ApplyEntry :execrows
UPDATE credit_entries SET applied_at = $3 WHERE tenant_id = $1 AND id = $2 AND applied_at IS NULL;

-- name: DeleteEntry :exec
DELETE FROM credit_entries WHERE tenant_id = $1 AND id = $2 AND applied_at IS NULL;

-- name: SubscriptionCurrency :one
-- The currency of the subscription that has started and not ended.
SELECT currency FROM subscriptions
WHERE tenant_id = $1 AND status NOT IN ('incomplete', 'incomplete_expired', 'canceled');
