-- name: MeterByCode :one
SELECT * FROM meters WHERE code = $1 AND deleted_at IS NULL;

-- The sum is split into whole units and millionths, because the sum itself can overflow.
-- name: Totals :one
SELECT
    count(*) AS events,
    coalesce(sum(quantity / 1000000), 0)::bigint AS units,
    coalesce(sum(quantity % 1000000), 0)::bigint AS millionths,
    coalesce(max(quantity), 0)::bigint AS highest,
    coalesce(sum(granted / 1000000), 0)::bigint AS granted_units,
    coalesce(sum(granted % 1000000), 0)::bigint AS granted_millionths
FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= sqlc.arg(period_start) AND recorded_at < sqlc.arg(period_end);

-- Totals of all time, including deleted events. A single statement reads both, so that an event
-- that is being deleted counts exactly once.
-- name: TotalsEver :one
SELECT
    coalesce(max(e.events + s.pruned_events), 0)::bigint AS events,
    coalesce(max(e.units + s.pruned_units), 0)::bigint AS units,
    coalesce(max(e.millionths + s.pruned_millionths), 0)::bigint AS millionths,
    coalesce(max(e.highest), 0)::bigint AS highest,
    coalesce(max(s.pruned_highest), 0)::bigint AS pruned_highest,
    coalesce(max(e.granted_units + s.pruned_granted_units), 0)::bigint AS granted_units,
    coalesce(max(e.granted_millionths + s.pruned_granted_millionths), 0)::bigint AS granted_millionths
FROM usage_streams s
CROSS JOIN (
    SELECT
        count(*) AS events,
        coalesce(sum(quantity / 1000000), 0) AS units,
        coalesce(sum(quantity % 1000000), 0) AS millionths,
        coalesce(max(quantity), 0) AS highest,
        coalesce(sum(granted / 1000000), 0) AS granted_units,
        coalesce(sum(granted % 1000000), 0) AS granted_millionths
    FROM usage_events
    WHERE usage_events.tenant_id = $1 AND usage_events.meter_id = $2
) e
WHERE s.tenant_id = $1 AND s.meter_id = $2;

-- Newest first. IDs are UUIDv7, so of events with the same time, the one stored last comes first.
-- name: NewestEvents :many
SELECT id, quantity, recorded_at, metadata FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= sqlc.arg(period_start) AND recorded_at < sqlc.arg(period_end)
ORDER BY recorded_at DESC, id DESC
LIMIT sqlc.arg(max_events);

-- The caller holds the lock of the stream. If usage passes several thresholds of a limit at once,
-- only the highest is raised, and never one below a threshold raised before. Each limit has its own
-- alerts.
-- name: RaiseAlert :execrows
INSERT INTO usage_alerts (id, tenant_id, meter_id, period_start, period_end, threshold, units, millionths, quota, created_at)
SELECT sqlc.arg(id)::uuid, sqlc.arg(tenant_id)::uuid, sqlc.arg(meter_id)::uuid, sqlc.arg(period_start)::timestamptz,
    sqlc.arg(period_end)::timestamptz, sqlc.arg(threshold)::integer, sqlc.arg(units)::bigint, sqlc.arg(millionths)::bigint, sqlc.arg(quota)::bigint,
    sqlc.arg(created_at)::timestamptz
WHERE NOT EXISTS (
    SELECT 1 FROM usage_alerts a
    WHERE a.tenant_id = sqlc.arg(tenant_id)::uuid AND a.meter_id = sqlc.arg(meter_id)::uuid
        AND a.period_start = sqlc.arg(period_start)::timestamptz AND a.period_end = sqlc.arg(period_end)::timestamptz
        AND a.quota = sqlc.arg(quota)::bigint AND a.threshold >= sqlc.arg(threshold)::integer
);

-- The feature with the code of the meter has the translated names.
-- name: UnsentAlert :one
SELECT sqlc.embed(usage_alerts), sqlc.embed(meters), f.name AS feature_name
FROM usage_alerts
JOIN meters ON meters.id = usage_alerts.meter_id
LEFT JOIN features f ON f.code = meters.code AND f.deleted_at IS NULL
WHERE usage_alerts.tenant_id = $1 AND usage_alerts.id = $2 AND usage_alerts.sent_at IS NULL
FOR UPDATE OF usage_alerts;

-- name: TenantOfAlert :one
SELECT tenant_id FROM usage_alerts WHERE id = $1;

-- name: MarkAlertSent :exec
UPDATE usage_alerts SET sent_at = sqlc.arg(now) WHERE tenant_id = $1 AND id = $2;

-- The latest deleted event of a stream.
-- name: LastPruned :one
SELECT pruned_last, pruned_last_at FROM usage_streams WHERE tenant_id = $1 AND meter_id = $2;

-- name: AddRefusedOfDay :exec
INSERT INTO quota_refusal_days (day, part, refused) VALUES ($1, $2, $3)
ON CONFLICT (day, part) DO UPDATE SET refused = quota_refusal_days.refused + excluded.refused;

-- name: SetCap :exec
UPDATE usage_streams SET cap = $3, cap_by = $4 WHERE tenant_id = $1 AND meter_id = $2;

-- name: CapAuthors :many
SELECT meter_id, cap_by FROM usage_streams WHERE tenant_id = $1 AND cap IS NOT NULL AND cap_by IS NOT NULL;

-- The meter of a feature, preferably the live one.
-- name: MeterOfFeature :one
SELECT * FROM meters WHERE code = $1 ORDER BY deleted_at IS NULL DESC, created_at DESC LIMIT 1;

-- name: InsertGrant :exec
INSERT INTO usage_grants (tenant_id, id, meter_id, amount_units, amount_millionths, units, millionths,
    starts_at, expires_at, priority, source, reason, pack, invoice_id, psp_session_id, created_at, author)
VALUES ($1, $2, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15);

-- name: ExtendGrants :exec
UPDATE usage_streams SET granted_until = sqlc.arg(until)::timestamptz
WHERE tenant_id = $1 AND meter_id = $2 AND (granted_until IS NULL OR granted_until < sqlc.arg(until)::timestamptz);

-- name: Grants :many
SELECT sqlc.embed(usage_grants), meters.code, meters.deleted_at
FROM usage_grants JOIN meters ON meters.id = usage_grants.meter_id
WHERE usage_grants.tenant_id = $1 AND usage_grants.deleted_at IS NULL
ORDER BY usage_grants.created_at DESC, usage_grants.id DESC;

-- name: Grant :one
SELECT sqlc.embed(usage_grants), meters.code
FROM usage_grants JOIN meters ON meters.id = usage_grants.meter_id
WHERE usage_grants.tenant_id = $1 AND usage_grants.id = $2 AND usage_grants.deleted_at IS NULL;

-- Also a deleted grant.
-- name: GrantOfSession :one
SELECT sqlc.embed(usage_grants), meters.code
FROM usage_grants JOIN meters ON meters.id = usage_grants.meter_id
WHERE usage_grants.tenant_id = $1 AND usage_grants.psp_session_id = sqlc.arg(session_id)::text;

-- name: VoidGrant :exec
UPDATE usage_grants SET units = 0, millionths = 0 WHERE tenant_id = $1 AND id = $2;

-- name: SetInvoiceOfGrant :exec
UPDATE usage_grants SET invoice_id = $3 WHERE tenant_id = $1 AND id = $2;

-- name: DeleteGrant :execrows
UPDATE usage_grants SET units = 0, millionths = 0, deleted_at = sqlc.arg(now)::timestamptz
WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- name: ExpiredGrants :many
SELECT tenant_id, id, meter_id FROM usage_grants
WHERE expires_at <= sqlc.arg(now)::timestamptz AND units + millionths > 0
ORDER BY expires_at
LIMIT sqlc.arg(most);

-- name: Reservation :one
SELECT sqlc.embed(usage_reservations), meters.code
FROM usage_reservations JOIN meters ON meters.id = usage_reservations.meter_id
WHERE usage_reservations.tenant_id = $1 AND usage_reservations.id = $2;

-- name: ReleaseReservation :exec
UPDATE usage_reservations SET released_at = sqlc.arg(now)::timestamptz WHERE tenant_id = $1 AND id = $2;

-- name: OldReservations :many
SELECT tenant_id, id, expires_at FROM usage_reservations
WHERE expires_at >= sqlc.arg(since)::timestamptz AND expires_at < sqlc.arg(before)::timestamptz
ORDER BY expires_at
LIMIT sqlc.arg(most);
