-- A change of a meter waits for recordings under its old rules, and later recordings wait for the
-- change.
-- name: MeterForChange :one
SELECT * FROM meters WHERE id = $1 AND deleted_at IS NULL FOR UPDATE;

-- name: MeterByID :one
SELECT * FROM meters WHERE id = $1 AND deleted_at IS NULL;

-- name: Meters :many
SELECT * FROM meters WHERE deleted_at IS NULL;

-- name: InsertMeter :execrows
INSERT INTO meters (id, code, name, aggregation_type, reset_interval, quota_enforcement, unit_label, is_active, is_billable, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
ON CONFLICT (code) WHERE deleted_at IS NULL DO NOTHING;

-- name: UpdateMeter :exec
UPDATE meters
SET code = $2, name = $3, aggregation_type = $4, reset_interval = $5, quota_enforcement = $6, unit_label = $7, is_active = $8, is_billable = $9,
    updated_at = $10
WHERE id = $1;

-- name: DeleteMeter :exec
UPDATE meters SET deleted_at = $2, updated_at = $2 WHERE id = $1;

-- name: MeterPrices :many
SELECT meter_prices.* FROM meter_prices JOIN meters ON meters.id = meter_prices.meter_id WHERE meters.deleted_at IS NULL;

-- name: PricesOfMeter :many
SELECT * FROM meter_prices WHERE meter_id = $1;

-- name: InsertMeterPrice :exec
INSERT INTO meter_prices (id, meter_id, currency, unit_price_cents, psp_price_id, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $6);

-- name: UpdateMeterPrice :exec
UPDATE meter_prices SET unit_price_cents = $2, psp_price_id = $3, updated_at = $4 WHERE id = $1;

-- name: DeleteMeterPrice :exec
DELETE FROM meter_prices WHERE id = $1;

-- name: DeleteCountersOfMeter :exec
DELETE FROM usage_counters WHERE meter_id = $1;

-- The metered prices of a subscription in a currency.
-- name: LinkedPrices :many
SELECT meters.code, meter_prices.psp_price_id, meter_prices.unit_price_cents
FROM meter_prices JOIN meters ON meters.id = meter_prices.meter_id
WHERE meters.deleted_at IS NULL AND meters.is_active AND meter_prices.currency = $1 AND meter_prices.psp_price_id IS NOT NULL
ORDER BY meters.code;

-- A link is kept for the subscriptions that were bought with it.
-- name: KeepLink :exec
INSERT INTO meter_links (psp_price_id, meter_id, currency, unit_price_cents, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (psp_price_id) DO UPDATE SET meter_id = excluded.meter_id, currency = excluded.currency, unit_price_cents = excluded.unit_price_cents;

-- The latest sales of a meter, by currency.
-- name: LastSales :many
SELECT s.currency, s.psp_price_id FROM meter_sales s
WHERE s.meter_id = $1 AND s.since = (SELECT max(t.since) FROM meter_sales t WHERE t.meter_id = s.meter_id AND t.currency = s.currency);

-- name: PutSale :exec
INSERT INTO meter_sales (meter_id, currency, since, psp_price_id) VALUES ($1, $2, $3, $4)
ON CONFLICT (meter_id, currency, since) DO UPDATE SET psp_price_id = excluded.psp_price_id;

-- The metered prices of usage plans in a currency at a time.
-- name: SalesAt :many
SELECT s.meter_id, s.psp_price_id FROM meter_sales s
WHERE s.currency = $1 AND s.psp_price_id IS NOT NULL AND s.since = (
    SELECT max(t.since) FROM meter_sales t
    WHERE t.meter_id = s.meter_id AND t.currency = s.currency AND t.since <= sqlc.arg(at)
)
ORDER BY s.meter_id;

-- name: PriceOfAnotherMeter :one
SELECT EXISTS (
    SELECT 1 FROM meter_prices JOIN meters ON meters.id = meter_prices.meter_id
    WHERE meter_prices.psp_price_id = $1 AND meter_prices.meter_id <> $2 AND meters.deleted_at IS NULL
);

-- name: MeterOfPrice :one
SELECT meter_id FROM meter_links WHERE psp_price_id = $1;

-- name: CodeOfMeter :one
SELECT code FROM meters WHERE id = $1;
