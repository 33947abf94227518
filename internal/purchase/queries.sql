-- name: InsertPurchase :exec
INSERT INTO pack_purchases (
    id, tenant_id, pack_id, pack, feature_code, amount, expires_after_days, currency, price_cents, quantity, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
ON CONFLICT DO NOTHING;

-- name: Purchase :one
SELECT * FROM pack_purchases WHERE tenant_id = $1 AND id = $2;

-- name: PurchaseOfSession :one
SELECT * FROM pack_purchases WHERE tenant_id = $1 AND psp_session_id = $2;

-- name: LastAnsweredPurchase :one
-- The newest purchase of a pack whose session the provider has returned.
SELECT id FROM pack_purchases
WHERE tenant_id = $1 AND pack_id = $2 AND psp_session_id IS NOT NULL
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: SetSession :execrows
UPDATE pack_purchases SET psp_session_id = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND psp_session_id IS NULL;

-- name: OpenPurchasesOfTenant :many
SELECT id, psp_session_id FROM pack_purchases
WHERE tenant_id = $1 AND completed_at IS NULL AND ended_at IS NULL AND psp_session_id IS NOT NULL AND created_at > sqlc.arg(since)
ORDER BY created_at DESC, id DESC
LIMIT 5;

-- name: OpenPurchases :many
-- Purchases of all tenants that were not read back after not_since.
SELECT id, tenant_id, psp_session_id FROM pack_purchases
WHERE completed_at IS NULL AND ended_at IS NULL AND psp_session_id IS NOT NULL AND created_at > sqlc.arg(since)
AND (looked_at IS NULL OR looked_at <= sqlc.arg(not_since))
ORDER BY created_at, id
LIMIT sqlc.arg(most)::int;

-- name: LookAt :execrows
UPDATE pack_purchases SET looked_at = sqlc.arg(now)
WHERE tenant_id = $1 AND id = $2 AND (looked_at IS NULL OR looked_at <= sqlc.arg(not_since));

-- name: Complete :execrows
UPDATE pack_purchases SET completed_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL;

-- name: End :execrows
UPDATE pack_purchases SET ended_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND ended_at IS NULL AND completed_at IS NULL;

-- name: MarkRefunded :execrows
UPDATE pack_purchases SET refunded_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND refunded_at IS NULL;

-- name: DeletePurchases :exec
DELETE FROM pack_purchases WHERE tenant_id = $1;
