-- name: ActiveMeters :many
SELECT * FROM meters WHERE is_active ORDER BY code;

-- name: MeterByCode :one
SELECT * FROM meters WHERE code = $1;

-- The lock keeps a meter's rules as they are until what was decided by them is
-- stored.
-- name: MeterForRecording :one
SELECT * FROM meters WHERE code = $1 FOR KEY SHARE;

-- name: MeterForChange :one
SELECT * FROM meters WHERE code = $1 FOR UPDATE;

-- name: InsertMeter :execrows
INSERT INTO meters (id, code, name, aggregation_type, reset_interval, quota_enforcement, unit_label, is_active, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
ON CONFLICT (code) DO NOTHING;

-- name: UpdateMeter :exec
UPDATE meters
SET name = $2, aggregation_type = $3, reset_interval = $4, quota_enforcement = $5, unit_label = $6, is_active = $7, updated_at = $8
WHERE id = $1;

-- name: DeleteCountersOfMeter :exec
DELETE FROM usage_counters WHERE meter_id = $1;

-- name: CountersAt :many
SELECT * FROM usage_counters
WHERE tenant_id = $1 AND period_end > sqlc.arg(now) AND period_start <= sqlc.arg(now);

-- The sum comes in two parts, whole units and millionths, neither of which can
-- overflow where the sum itself would.
-- name: Totals :one
SELECT
    count(*) AS events,
    coalesce(sum(quantity / 1000000), 0)::bigint AS units,
    coalesce(sum(quantity % 1000000), 0)::bigint AS millionths,
    coalesce(max(quantity), 0)::bigint AS highest
FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= sqlc.arg(period_start) AND recorded_at < sqlc.arg(period_end);

-- Newest first. Ids are of version 7: of events recorded for the same time the
-- one that was stored last comes first.
-- name: NewestEvents :many
SELECT * FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= sqlc.arg(period_start) AND recorded_at < sqlc.arg(period_end)
ORDER BY recorded_at DESC, id DESC
LIMIT sqlc.arg(max_events);
