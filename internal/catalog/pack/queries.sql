-- name: Packs :many
SELECT * FROM packs WHERE deleted_at IS NULL ORDER BY created_at, id;

-- name: Pack :one
SELECT * FROM packs WHERE id = $1 AND deleted_at IS NULL;

-- name: PackBySlug :one
SELECT * FROM packs WHERE slug = $1 AND deleted_at IS NULL;

-- name: InsertPack :exec
INSERT INTO packs (id, slug, name, description, feature_code, amount, expires_after_days, is_active, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9);

-- name: SavePack :exec
UPDATE packs
SET slug = $2, name = $3, description = $4, feature_code = $5, amount = $6, expires_after_days = $7, is_active = $8, updated_at = $9
WHERE id = $1;

-- name: DeletePack :exec
UPDATE packs SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: Prices :many
SELECT pack_prices.* FROM pack_prices JOIN packs ON packs.id = pack_prices.pack_id WHERE packs.deleted_at IS NULL;

-- name: PricesOfPack :many
SELECT * FROM pack_prices WHERE pack_id = $1;

-- name: InsertPrice :exec
INSERT INTO pack_prices (id, pack_id, currency, price_cents, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5);

-- name: SavePrice :exec
UPDATE pack_prices SET price_cents = $2, updated_at = $3 WHERE id = $1;

-- name: DeletePrice :exec
DELETE FROM pack_prices WHERE id = $1;

-- name: LockMeter :one
-- A deletion of the meter, or a change of its code or aggregation, waits for the transaction.
SELECT aggregation_type FROM meters WHERE code = $1 AND deleted_at IS NULL FOR SHARE;

-- name: Aggregation :one
SELECT aggregation_type FROM meters WHERE code = $1 AND deleted_at IS NULL;
