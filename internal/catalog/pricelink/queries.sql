-- name: LinkPrice :exec
UPDATE plan_prices SET psp_price_id = $2, updated_at = $3 WHERE id = $1;

-- name: UnlinkPrice :execrows
UPDATE plan_prices SET psp_price_id = NULL, updated_at = sqlc.arg(now) WHERE id = $1 AND psp_price_id = sqlc.arg(psp_price_id);

-- name: LinkedPrices :many
SELECT * FROM plan_prices WHERE psp_price_id = $1 ORDER BY id;

-- name: ImportPrice :exec
INSERT INTO plan_prices (id, plan_id, currency, price_cents, psp_price_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6);

-- name: LinkOfProduct :one
SELECT psp_product_id FROM products WHERE id = $1 AND deleted_at IS NULL;

-- name: LinkProduct :exec
UPDATE products SET psp_product_id = $2, updated_at = $3 WHERE id = $1 AND psp_product_id IS NULL;

-- name: UnlinkProduct :execrows
UPDATE products SET psp_product_id = NULL, updated_at = sqlc.arg(now) WHERE id = $1 AND psp_product_id = sqlc.arg(psp_product_id);

-- name: Operation :one
SELECT key, request FROM psp_catalog_operations WHERE target_id = $1;

-- name: BeginOperation :exec
INSERT INTO psp_catalog_operations (target_id, key, request, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (target_id) DO UPDATE SET key = excluded.key, request = excluded.request, created_at = excluded.created_at;

-- name: EndOperation :exec
DELETE FROM psp_catalog_operations WHERE target_id = $1 AND key = $2;
