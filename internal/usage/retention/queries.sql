-- Streams from a position on that have events in a period.
-- name: StreamsWithEvents :many
SELECT s.tenant_id, s.meter_id FROM usage_streams s
WHERE (s.tenant_id > sqlc.arg(tenant_id) OR s.tenant_id = sqlc.arg(tenant_id) AND s.meter_id >= sqlc.arg(meter_id))
    AND EXISTS (
        SELECT 1 FROM usage_events e
        WHERE e.tenant_id = s.tenant_id AND e.meter_id = s.meter_id
            AND e.recorded_at >= sqlc.arg(since) AND e.recorded_at < sqlc.arg(until)
    )
ORDER BY s.tenant_id, s.meter_id
LIMIT sqlc.arg(max_streams);

-- name: OldestEvents :many
SELECT id, quantity, idempotency_key, recorded_at, metadata, created_at, granted FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
ORDER BY recorded_at, id
LIMIT sqlc.arg(max_events);

-- name: Stream :one
SELECT * FROM usage_streams WHERE tenant_id = $1 AND meter_id = $2;

-- name: MarkPruned :exec
UPDATE usage_streams
SET pruned_before = $3, pruned_events = $4, pruned_units = $5, pruned_millionths = $6, pruned_highest = $7, pruned_last = $8,
    pruned_last_at = $9, pruned_granted_units = $10, pruned_granted_millionths = $11
WHERE tenant_id = $1 AND meter_id = $2;

-- name: ExpireKeys :execrows
DELETE FROM usage_keys WHERE (tenant_id, meter_id, idempotency_key) IN (
    SELECT k.tenant_id, k.meter_id, k.idempotency_key FROM usage_keys k
    WHERE k.expires_at <= sqlc.arg(now)
    ORDER BY k.expires_at
    LIMIT sqlc.arg(max_keys)
);

-- name: MeterCodes :many
SELECT id, code FROM meters;

-- name: UnfinishedArchives :many
SELECT * FROM usage_archives WHERE state <> 'done' ORDER BY created_at, day, part;

-- name: LastArchivePart :one
SELECT coalesce(max(part), 0)::integer FROM usage_archives WHERE day = $1;

-- name: InsertArchive :exec
INSERT INTO usage_archives (day, part, state, created_at, updated_at) VALUES ($1, $2, 'writing', $3, $3);

-- name: SetArchiveState :exec
UPDATE usage_archives SET state = $3, updated_at = $4 WHERE day = $1 AND part = $2;

-- name: DeleteArchive :exec
DELETE FROM usage_archives WHERE day = $1 AND part = $2;

-- name: StreamsFrom :many
SELECT * FROM usage_streams
WHERE (tenant_id > sqlc.arg(tenant_id) OR tenant_id = sqlc.arg(tenant_id) AND meter_id > sqlc.arg(meter_id))
    AND (tenant_id = sqlc.narg(only_tenant)::uuid OR sqlc.narg(only_tenant)::uuid IS NULL)
ORDER BY tenant_id, meter_id
LIMIT sqlc.arg(max_streams);

-- name: CountersOfStream :many
SELECT * FROM usage_counters WHERE tenant_id = $1 AND meter_id = $2 ORDER BY period_start, period_end;

-- name: CountersBetween :many
SELECT * FROM usage_counters
WHERE tenant_id >= sqlc.arg(first_tenant)::uuid AND tenant_id <= sqlc.arg(last_tenant)::uuid;

-- name: CountStreams :one
SELECT count(*) FROM usage_streams WHERE tenant_id = sqlc.narg(only_tenant)::uuid OR sqlc.narg(only_tenant)::uuid IS NULL;

-- name: RecountPlace :one
SELECT * FROM usage_recounts WHERE id = 1;

-- name: PutRecountPlace :exec
INSERT INTO usage_recounts (id, after_tenant, after_meter, streams, counters, skipped, wrong, reached_at)
VALUES (1, $1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE
SET after_tenant = excluded.after_tenant, after_meter = excluded.after_meter, streams = excluded.streams, counters = excluded.counters,
    skipped = excluded.skipped, wrong = excluded.wrong, reached_at = excluded.reached_at;

-- name: ForgetRecountPlace :exec
DELETE FROM usage_recounts WHERE id = 1;

-- name: DeleteEventsOfTenant :execrows
DELETE FROM usage_events WHERE usage_events.tenant_id = $1 AND (meter_id, recorded_at, id) IN (
    SELECT e.meter_id, e.recorded_at, e.id FROM usage_events e
    WHERE e.tenant_id = $1
    ORDER BY e.meter_id, e.recorded_at, e.id
    LIMIT sqlc.arg(most)
);

-- name: DeleteKeysOfTenant :execrows
DELETE FROM usage_keys WHERE usage_keys.tenant_id = $1 AND (meter_id, idempotency_key) IN (
    SELECT k.meter_id, k.idempotency_key FROM usage_keys k
    WHERE k.tenant_id = $1
    ORDER BY k.meter_id, k.idempotency_key
    LIMIT sqlc.arg(most)
);

-- name: DeleteCountersOfTenant :exec
DELETE FROM usage_counters WHERE tenant_id = $1;

-- name: DeleteHoursOfTenant :exec
DELETE FROM usage_hours WHERE tenant_id = $1;

-- name: DeleteAlertsOfTenant :exec
DELETE FROM usage_alerts WHERE tenant_id = $1;

-- name: DeleteRefusalsOfTenant :exec
DELETE FROM usage_refusals WHERE tenant_id = $1;

-- name: DeleteGrantsOfTenant :exec
DELETE FROM usage_grants WHERE tenant_id = $1;

-- name: DeleteReservationsOfTenant :exec
DELETE FROM usage_reservations WHERE tenant_id = $1;

-- name: DeleteQuotaRefusalsOfTenant :exec
DELETE FROM quota_refusals WHERE tenant_id = $1;
