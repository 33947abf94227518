-- name: Discount :one
-- Includes deleted discounts, which subscriptions and invoices still refer to.
SELECT * FROM discounts WHERE id = $1;

-- name: DiscountByCode :one
SELECT * FROM discounts WHERE code_key = $1 AND deleted_at IS NULL;

-- name: LockDiscount :one
-- FOR NO KEY UPDATE does not block inserts of rows that refer to the discount.
SELECT * FROM discounts WHERE id = $1 FOR NO KEY UPDATE;

-- name: InsertDiscount :exec
INSERT INTO discounts (
    id, code, code_key, name, percent_off, amounts, duration, months, plan_ids, first_purchase_only, max_redemptions, max_per_tenant,
    starts_at, ends_at, is_active, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16);

-- name: SaveDiscount :exec
UPDATE discounts SET name = $2, is_active = $3, updated_at = $4 WHERE id = $1;

-- name: DeleteDiscount :exec
UPDATE discounts SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: SetPSPCode :exec
UPDATE discounts SET psp_code_id = $2 WHERE id = $1;

-- name: CountHolds :one
-- Counts the other tenants that hold a use. A hold counts until it is redeemed or released, even
-- after held_until.
SELECT count(DISTINCT r.tenant_id) FROM discount_redemptions r
WHERE r.discount_id = $1 AND r.redeemed_at IS NULL AND r.tenant_id <> sqlc.arg(tenant_id);

-- name: ExpiredHolds :many
SELECT r.tenant_id, r.id FROM discount_redemptions r
WHERE r.discount_id = $1 AND r.redeemed_at IS NULL AND r.held_until <= sqlc.arg(now)
ORDER BY r.held_until
LIMIT 20;

-- name: CountOfTenant :one
SELECT count(*) FROM discount_redemptions WHERE tenant_id = $1 AND discount_id = $2 AND redeemed_at IS NOT NULL;

-- name: HasPaidInvoice :one
SELECT EXISTS (SELECT 1 FROM psp_invoices WHERE tenant_id = $1 AND status = 'paid' AND total_cents > 0);

-- name: InsertHold :exec
INSERT INTO discount_redemptions (id, tenant_id, discount_id, held_until, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING;

-- name: DiscountOfHold :one
SELECT discount_id FROM discount_redemptions WHERE tenant_id = $1 AND id = $2 AND redeemed_at IS NULL;

-- name: Redeem :execrows
UPDATE discount_redemptions SET redeemed_at = $3 WHERE tenant_id = $1 AND id = $2 AND redeemed_at IS NULL;

-- name: CountRedemption :exec
UPDATE discounts SET redemptions = redemptions + 1 WHERE id = $1;

-- name: Release :exec
DELETE FROM discount_redemptions WHERE tenant_id = $1 AND id = $2 AND redeemed_at IS NULL;

-- name: ReleaseTenant :exec
DELETE FROM discount_redemptions WHERE tenant_id = $1;
