-- name: LockCurrency :one
-- The lock blocks concurrent inserts of amounts in the currency through their foreign keys.
SELECT * FROM currencies WHERE code = $1 FOR UPDATE;

-- name: InsertCurrency :execrows
INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6)
ON CONFLICT (code) DO NOTHING;

-- name: UpdateCurrency :exec
UPDATE currencies SET name = $2, symbol = $3, minor_units = $4, is_active = $5, updated_at = $6 WHERE code = $1;

-- name: DeleteCurrency :exec
DELETE FROM currencies WHERE code = $1;

-- name: CountAmounts :one
-- 1 if amounts are stored in the currency, else 0.
SELECT count(*) FROM (
    SELECT currency FROM plan_prices WHERE plan_prices.currency = $1
    UNION ALL SELECT currency FROM meter_prices WHERE meter_prices.currency = $1
    UNION ALL SELECT currency FROM pack_prices WHERE pack_prices.currency = $1
    UNION ALL SELECT currency FROM checkouts WHERE checkouts.currency = $1
    UNION ALL SELECT currency FROM pack_purchases WHERE pack_purchases.currency = $1
    UNION ALL SELECT currency FROM subscriptions WHERE subscriptions.currency = $1
    UNION ALL SELECT currency FROM invoices WHERE invoices.currency = $1
    LIMIT 1
) AS amounts;

-- name: CountTenantsPreferring :one
SELECT count(*) FROM tenants WHERE preferred_currency = $1;

-- name: MinorUnits :one
SELECT minor_units FROM currencies WHERE code = $1;
