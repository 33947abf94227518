-- name: InsertReport :exec
INSERT INTO usage_reports (id, events, created_at) VALUES ($1, $2, $3);

-- name: ReportsAfter :many
SELECT * FROM usage_reports WHERE id > sqlc.arg(after) ORDER BY id LIMIT 100;

-- Reporting of some figures of a row begins now, unless it began before. Changes nothing if the row
-- is gone.
-- name: BeginReport :execrows
UPDATE usage_reports SET tried_at = coalesce(tried_at, sqlc.arg(now)) WHERE id = $1;

-- Like BeginReport, for the next figures of a row. Changes nothing if the row has changed.
-- name: ClaimReport :one
UPDATE usage_reports SET tried_at = coalesce(tried_at, sqlc.arg(now)) WHERE id = $1 AND reported = $2 AND events = $3 RETURNING tried_at;

-- name: OldestReport :one
SELECT * FROM usage_reports ORDER BY id LIMIT 1;

-- The first row that is not on hold.
-- name: NextReport :one
SELECT * FROM usage_reports WHERE held_until IS NULL OR held_until <= sqlc.arg(now) ORDER BY id LIMIT 1;

-- name: HoldReport :exec
UPDATE usage_reports SET held_until = $2 WHERE id = $1;

-- name: InsertHeldReport :exec
INSERT INTO usage_reports (id, events, created_at, tried_at, held_until) VALUES ($1, $2, $3, $4, $5);

-- Changes nothing if the row has changed.
-- name: LeaveFigures :execrows
UPDATE usage_reports SET events = sqlc.arg(free) WHERE id = $1 AND reported = 0 AND events = sqlc.arg(all_figures);

-- Changes nothing if the row has changed.
-- name: AdvanceReport :execrows
UPDATE usage_reports SET reported = sqlc.arg(done), tried_at = $2 WHERE id = $1 AND reported = sqlc.arg(done_before);

-- name: DeleteReport :exec
DELETE FROM usage_reports WHERE id = $1;

-- name: InsertRejection :execrows
INSERT INTO usage_refusals (id, tenant_id, meter_id, quantity, recorded_at, reason, refused_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING;

-- name: RejectAgain :exec
UPDATE usage_refusals SET reason = $3, refused_at = $4 WHERE tenant_id = $1 AND id = $2 AND decided_at IS NULL;

-- name: KeepTold :exec
INSERT INTO usage_told (id, events, created_at)
SELECT r.id, r.events, r.created_at FROM usage_reports r WHERE r.id = $1
ON CONFLICT DO NOTHING;

-- Rows that were reported at least partly.
-- name: ToldBetween :many
SELECT told.events FROM usage_told told WHERE told.id >= sqlc.arg(earliest) AND told.id <= sqlc.arg(latest)
UNION ALL
SELECT waiting.events FROM usage_reports waiting WHERE waiting.id >= sqlc.arg(earliest) AND waiting.id <= sqlc.arg(latest);

-- Rows that were reported at least partly and whose first figure has an ID of one UUID version,
-- according to its seventh byte.
-- name: ToldOfVersion :many
SELECT told.events FROM usage_told told WHERE substr(told.events, 7, 1) >= sqlc.arg(first_byte) AND substr(told.events, 7, 1) <= sqlc.arg(last_byte)
UNION ALL
SELECT waiting.events FROM usage_reports waiting WHERE substr(waiting.events, 7, 1) >= sqlc.arg(first_byte) AND substr(waiting.events, 7, 1) <= sqlc.arg(last_byte);

-- name: PruneTold :exec
DELETE FROM usage_told WHERE created_at < $1;

-- name: PruneDecided :exec
DELETE FROM usage_refusals WHERE decided_at < $1;

-- name: CountRejections :one
SELECT count(*) FROM usage_refusals WHERE decided_at IS NULL;

-- name: Rejections :many
SELECT sqlc.embed(usage_refusals), meters.code
FROM usage_refusals
JOIN meters ON meters.id = usage_refusals.meter_id
WHERE usage_refusals.decided_at IS NULL
    AND (usage_refusals.refused_at > sqlc.arg(after) OR usage_refusals.refused_at = sqlc.arg(after) AND usage_refusals.id > sqlc.arg(after_id))
ORDER BY usage_refusals.refused_at, usage_refusals.id
LIMIT sqlc.arg(max_rejections);

-- name: TakeRejection :one
UPDATE usage_refusals SET decided_at = $2 WHERE id = $1 AND decided_at IS NULL RETURNING *;

-- name: LinkedPrice :one
SELECT sqlc.embed(meters), meter_prices.psp_price_id
FROM meter_prices JOIN meters ON meters.id = meter_prices.meter_id
WHERE meter_prices.meter_id = $1 AND meter_prices.currency = $2 AND meter_prices.psp_price_id IS NOT NULL;

-- Meters whose value is reported at the start of a billing period: last_value meters that never
-- reset.
-- name: CarriedMeters :many
SELECT sqlc.embed(meters), usage_peaks.reported_until
FROM meters
LEFT JOIN usage_peaks ON usage_peaks.meter_id = meters.id
WHERE meters.deleted_at IS NULL AND meters.is_billable AND meters.aggregation_type = 'last_value' AND meters.reset_interval = 'none'
ORDER BY meters.id;

-- A meter whose link is removed and added again is reported from the new link on.
-- name: DeleteStalePeaks :exec
DELETE FROM usage_peaks WHERE NOT EXISTS (
    SELECT 1 FROM meters
    WHERE meters.id = usage_peaks.meter_id AND meters.deleted_at IS NULL AND meters.is_billable
        AND meters.aggregation_type = 'last_value' AND meters.reset_interval = 'none'
);

-- name: CountersOfPeriodEnd :many
SELECT * FROM usage_counters WHERE meter_id = $1 AND period_end = $2 ORDER BY tenant_id;

-- name: PutReportedUntil :exec
INSERT INTO usage_peaks (meter_id, reported_until) VALUES ($1, $2)
ON CONFLICT (meter_id) DO UPDATE SET reported_until = excluded.reported_until;

-- Meters with a price in a currency that is linked to a price of the provider.
-- name: BillableMeters :many
SELECT sqlc.embed(meters), meter_prices.unit_price_cents
FROM meters
JOIN meter_prices ON meter_prices.meter_id = meters.id
WHERE meters.deleted_at IS NULL AND meter_prices.currency = $1 AND meter_prices.psp_price_id IS NOT NULL
ORDER BY meters.code;

-- The meter that is or was linked to a price of the provider, even if it is deleted.
-- name: MeterOfLink :one
SELECT sqlc.embed(meters), meter_links.unit_price_cents
FROM meter_links JOIN meters ON meters.id = meter_links.meter_id
WHERE meter_links.psp_price_id = $1;

-- name: CountersDuring :many
SELECT * FROM usage_counters
WHERE tenant_id = $1 AND meter_id = $2 AND period_end > sqlc.arg(since) AND period_start < sqlc.arg(until)
ORDER BY period_start, period_end;

-- Whether an operation has settled the usage that a tenant recorded up to a time.
-- name: IsSettled :one
SELECT EXISTS (
    SELECT 1 FROM psp_operations
    WHERE tenant_id = $1 AND state = 'done' AND updated_at >= sqlc.arg(queued) AND request ->> 'usage' = 'settled'
);

-- Tenants whose usage is being settled by a running operation on their subscription.
-- name: SettlingTenants :many
SELECT tenant_id FROM psp_operations
WHERE state = 'pending' AND leased_until > sqlc.arg(now) AND request ->> 'usage' = 'settled';
