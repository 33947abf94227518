-- name: StreamState :one
SELECT summed_before, pruned_before FROM usage_streams WHERE tenant_id = $1 AND meter_id = $2;

-- The states of a range of streams.
-- name: StatesBetween :many
SELECT tenant_id, meter_id, summed_before, pruned_before FROM usage_streams
WHERE (tenant_id, meter_id) >= (sqlc.arg(first_tenant)::uuid, sqlc.arg(first_meter)::uuid)
    AND (tenant_id, meter_id) <= (sqlc.arg(last_tenant)::uuid, sqlc.arg(last_meter)::uuid);

-- name: SetSummed :exec
UPDATE usage_streams SET summed_before = $3 WHERE tenant_id = $1 AND meter_id = $2;

-- Streams after a position that have unsummed events.
-- name: UnsummedStreams :many
SELECT s.tenant_id, s.meter_id FROM usage_streams s
WHERE (s.tenant_id > sqlc.arg(tenant_id) OR s.tenant_id = sqlc.arg(tenant_id) AND s.meter_id > sqlc.arg(meter_id))
    AND (s.summed_before IS NULL OR s.summed_before < sqlc.arg(until))
    AND EXISTS (
        SELECT 1 FROM usage_events e
        WHERE e.tenant_id = s.tenant_id AND e.meter_id = s.meter_id
            AND e.recorded_at >= COALESCE(s.summed_before, sqlc.arg(earliest)) AND e.recorded_at < sqlc.arg(until)
    )
ORDER BY s.tenant_id, s.meter_id
LIMIT sqlc.arg(most);

-- name: EventsToSum :many
SELECT id, quantity, recorded_at FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
    AND (recorded_at > sqlc.arg(since) OR id > sqlc.arg(after))
ORDER BY recorded_at, id
LIMIT sqlc.arg(most);

-- name: Tally :one
SELECT count(*)::bigint AS events, COALESCE(sum(quantity / 1000000), 0)::bigint AS units,
    COALESCE(sum(quantity % 1000000), 0)::bigint AS millionths, COALESCE(max(quantity), 0)::bigint AS highest
FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until);

-- name: LastEvent :one
SELECT id, quantity, recorded_at FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
ORDER BY recorded_at DESC, id DESC
LIMIT 1;

-- name: NextEvent :one
SELECT recorded_at FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
ORDER BY recorded_at
LIMIT 1;

-- name: Hours :many
SELECT * FROM usage_hours WHERE tenant_id = $1 AND meter_id = $2 AND hour >= sqlc.arg(earliest) ORDER BY hour;

-- name: LastHour :one
SELECT * FROM usage_hours WHERE tenant_id = $1 AND meter_id = $2 AND hour < sqlc.arg(before) ORDER BY hour DESC LIMIT 1;

-- name: DeleteHour :exec
DELETE FROM usage_hours WHERE tenant_id = $1 AND meter_id = $2 AND hour = $3;

-- name: MeterOfHistory :one
SELECT id, code, aggregation_type, unit_label FROM meters WHERE code = $1 AND deleted_at IS NULL;
