-- name: LinkPrice :exec
UPDATE plan_prices SET psp_price_id = $2, updated_at = $3 WHERE id = $1;

-- name: UnlinkPrice :execrows
UPDATE plan_prices SET psp_price_id = NULL, updated_at = sqlc.arg(now) WHERE id = $1 AND psp_price_id = sqlc.arg(psp_price_id);

-- name: ImportPrice :exec
INSERT INTO plan_prices (id, plan_id, currency, price_cents, psp_price_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6);

-- name: LinkOfPlan :one
SELECT psp_product_id FROM plans WHERE id = $1 AND deleted_at IS NULL;

-- name: LinkPlan :exec
UPDATE plans SET psp_product_id = $2, updated_at = $3 WHERE id = $1 AND psp_product_id IS NULL;

-- name: UnlinkPlan :execrows
UPDATE plans SET psp_product_id = NULL, updated_at = sqlc.arg(now) WHERE id = $1 AND psp_product_id = sqlc.arg(psp_product_id);

-- name: Operation :one
SELECT key, request FROM psp_catalog_operations WHERE target_id = $1;

-- name: BeginOperation :exec
INSERT INTO psp_catalog_operations (target_id, key, request, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (target_id) DO UPDATE SET key = excluded.key, request = excluded.request, created_at = excluded.created_at;

-- name: EndOperation :exec
DELETE FROM psp_catalog_operations WHERE target_id = $1 AND key = $2;

-- name: States :many
SELECT * FROM psp_price_states;

-- name: PutState :exec
INSERT INTO psp_price_states (
    psp_price_id, psp_product_id, is_missing, is_active, currency, unit_amount, interval_unit, interval_count, is_metered, read_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (psp_price_id) DO UPDATE SET
    psp_product_id = excluded.psp_product_id, is_missing = excluded.is_missing, is_active = excluded.is_active,
    currency = excluded.currency, unit_amount = excluded.unit_amount, interval_unit = excluded.interval_unit,
    interval_count = excluded.interval_count, is_metered = excluded.is_metered, read_at = excluded.read_at
WHERE psp_price_states.read_at <= excluded.read_at;

-- name: PricesOfPSPProduct :many
SELECT psp_price_id FROM psp_price_states WHERE psp_product_id = $1 ORDER BY psp_price_id;

-- name: LinkedIDs :many
SELECT psp_price_id FROM plan_prices WHERE psp_price_id IS NOT NULL
UNION SELECT psp_price_id FROM meter_prices WHERE psp_price_id IS NOT NULL;

-- name: DeleteUnlinkedStates :exec
DELETE FROM psp_price_states
WHERE NOT EXISTS (SELECT 1 FROM plan_prices WHERE plan_prices.psp_price_id = psp_price_states.psp_price_id)
    AND NOT EXISTS (SELECT 1 FROM meter_prices WHERE meter_prices.psp_price_id = psp_price_states.psp_price_id);
