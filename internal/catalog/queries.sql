-- name: LockCatalog :exec
-- The system feature exists in every database. Its row serves as the catalog lock.
SELECT id FROM features WHERE is_system AND deleted_at IS NULL ORDER BY id FOR UPDATE;

-- name: Currencies :many
SELECT * FROM currencies;

-- name: Currency :one
SELECT * FROM currencies WHERE code = $1;

-- name: Products :many
SELECT * FROM products WHERE deleted_at IS NULL ORDER BY created_at, id;

-- name: Product :one
SELECT * FROM products WHERE id = $1 AND deleted_at IS NULL;

-- name: ProductBySlug :one
SELECT * FROM products WHERE slug = $1 AND deleted_at IS NULL;

-- name: CountPlansOfProduct :one
SELECT count(*) FROM plans WHERE product_id = $1 AND deleted_at IS NULL;

-- name: InsertProduct :exec
INSERT INTO products (id, slug, name, description, is_active, metadata, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7);

-- name: SaveProduct :exec
UPDATE products
SET slug = $2, name = $3, description = $4, is_active = $5, metadata = $6, updated_at = $7
WHERE id = $1;

-- name: DeleteProduct :exec
UPDATE products SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: Features :many
SELECT * FROM features WHERE deleted_at IS NULL;

-- name: FeatureByCode :one
SELECT * FROM features WHERE code = $1 AND deleted_at IS NULL;

-- name: InsertFeature :exec
INSERT INTO features (id, code, name, description, is_active, sort_order, metadata, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8);

-- name: Feature :one
SELECT * FROM features WHERE id = $1 AND deleted_at IS NULL;

-- name: SaveFeature :exec
UPDATE features
SET code = $2, name = $3, description = $4, is_active = $5, sort_order = $6, metadata = $7, updated_at = $8
WHERE id = $1;

-- name: DeleteFeature :exec
UPDATE features SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: Plans :many
SELECT sqlc.embed(plans), sqlc.embed(products)
FROM plans JOIN products ON products.id = plans.product_id
WHERE plans.deleted_at IS NULL
ORDER BY plans.sort_order, plans.created_at, plans.id;

-- name: Plan :one
SELECT sqlc.embed(plans), sqlc.embed(products)
FROM plans JOIN products ON products.id = plans.product_id
WHERE plans.id = $1;

-- name: PlanBySlug :one
SELECT sqlc.embed(plans), sqlc.embed(products)
FROM plans JOIN products ON products.id = plans.product_id
WHERE plans.slug = $1 AND plans.deleted_at IS NULL;

-- name: DefaultPlan :one
SELECT sqlc.embed(plans), sqlc.embed(products)
FROM plans JOIN products ON products.id = plans.product_id
WHERE plans.is_default AND plans.deleted_at IS NULL;

-- name: HasTrialWithoutCard :one
SELECT EXISTS (SELECT 1 FROM plans WHERE NOT trial_requires_card AND deleted_at IS NULL AND id <> $1);

-- name: InsertPlan :exec
INSERT INTO plans (
    id, product_id, slug, name, description, pricing_type, billing_cycle, interval_unit, interval_count,
    trial_days, trial_requires_card, sort_order, is_active, is_default, metadata, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16);

-- name: SavePlan :exec
UPDATE plans
SET product_id = $2, slug = $3, name = $4, description = $5, pricing_type = $6, billing_cycle = $7, interval_unit = $8,
    interval_count = $9, trial_days = $10, trial_requires_card = $11, sort_order = $12, is_active = $13, is_default = $14,
    metadata = $15, updated_at = $16
WHERE id = $1;

-- name: LockPlan :one
SELECT id FROM plans WHERE id = $1 AND deleted_at IS NULL FOR UPDATE;

-- name: LockPlansOfProduct :many
SELECT id FROM plans WHERE product_id = $1 ORDER BY id FOR UPDATE;

-- name: LockPlansOfFeature :many
SELECT id FROM plans WHERE id IN (SELECT plan_id FROM entitlements WHERE feature_id = $1) ORDER BY id FOR UPDATE;

-- name: PlanOfEntitlement :one
SELECT entitlements.plan_id
FROM entitlements
JOIN plans ON plans.id = entitlements.plan_id
JOIN features ON features.id = entitlements.feature_id
WHERE entitlements.id = $1 AND plans.deleted_at IS NULL AND features.deleted_at IS NULL;

-- name: SlugsOfPlans :many
SELECT slug FROM plans WHERE deleted_at IS NULL AND substr(slug, 1, length(sqlc.arg(prefix)::text)) = sqlc.arg(prefix)::text;

-- name: DeletePlan :exec
UPDATE plans SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: DeletePlansOfProduct :exec
UPDATE plans SET deleted_at = $2, updated_at = $2 WHERE product_id = $1 AND deleted_at IS NULL;

-- name: Prices :many
SELECT plan_prices.* FROM plan_prices JOIN plans ON plans.id = plan_prices.plan_id WHERE plans.deleted_at IS NULL;

-- name: PricesOfPlan :many
SELECT * FROM plan_prices WHERE plan_id = $1;

-- name: InsertPrice :exec
INSERT INTO plan_prices (id, plan_id, currency, price_cents, psp_price_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6);

-- name: SavePrice :exec
UPDATE plan_prices SET price_cents = $2, psp_price_id = $3, updated_at = $4 WHERE id = $1;

-- name: DeletePrice :exec
DELETE FROM plan_prices WHERE id = $1;

-- The meters that usage plans bill, with their linked prices (the same as meters.LinkedPrices).
-- name: MeteredPrices :many
SELECT meters.code, meters.name, meters.unit_label, meter_prices.currency, meter_prices.unit_price_cents
FROM meter_prices JOIN meters ON meters.id = meter_prices.meter_id
WHERE meters.deleted_at IS NULL AND meters.is_active AND meter_prices.psp_price_id IS NOT NULL;

-- name: Entitlements :many
SELECT sqlc.embed(entitlements), sqlc.embed(features)
FROM entitlements
JOIN features ON features.id = entitlements.feature_id
JOIN plans ON plans.id = entitlements.plan_id
WHERE plans.deleted_at IS NULL AND features.deleted_at IS NULL;

-- name: EntitlementsOfPlan :many
SELECT sqlc.embed(entitlements), sqlc.embed(features)
FROM entitlements JOIN features ON features.id = entitlements.feature_id
WHERE entitlements.plan_id = $1 AND features.deleted_at IS NULL;

-- name: InsertEntitlement :exec
INSERT INTO entitlements (id, plan_id, feature_id, type, value, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6);

-- name: UpdateEntitlement :exec
UPDATE entitlements SET type = $2, value = $3, updated_at = $4 WHERE id = $1;

-- name: DeleteEntitlement :exec
DELETE FROM entitlements WHERE id = $1;
