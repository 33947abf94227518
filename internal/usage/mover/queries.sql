-- Streams after a place in their order that have events to move. The condition is that of an
-- index, in its words.
-- name: StreamsToMove :many
SELECT tenant_id, meter_id FROM usage_streams
WHERE (number IS NULL OR moving)
    AND (tenant_id > sqlc.arg(tenant_id) OR tenant_id = sqlc.arg(tenant_id) AND meter_id > sqlc.arg(meter_id))
    AND EXISTS (SELECT 1 FROM usage_layout WHERE numbered_from <= CURRENT_TIMESTAMP)
ORDER BY tenant_id, meter_id
LIMIT sqlc.arg(most);

-- name: StreamToMove :one
SELECT number, moving FROM usage_streams WHERE tenant_id = $1 AND meter_id = $2;

-- name: SetNumber :exec
UPDATE usage_streams SET number = $3, moving = true WHERE tenant_id = $1 AND meter_id = $2;

-- name: SetMoved :exec
UPDATE usage_streams SET moving = false WHERE tenant_id = $1 AND meter_id = $2;

-- name: OldestEvents :many
SELECT id, quantity, idempotency_key, recorded_at, metadata, created_at FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
ORDER BY recorded_at, id
LIMIT sqlc.arg(most);

-- name: FirstEvent :one
SELECT recorded_at FROM usage_events WHERE tenant_id = $1 AND meter_id = $2 ORDER BY recorded_at LIMIT 1;

-- name: OldKeys :many
SELECT idempotency_key FROM usage_keys WHERE tenant_id = $1 AND meter_id = $2 ORDER BY idempotency_key LIMIT sqlc.arg(most);

-- name: DeleteOldKeys :execrows
DELETE FROM usage_keys WHERE tenant_id = $1 AND meter_id = $2 AND idempotency_key <= sqlc.arg(last);

-- name: DeleteOldest :execrows
DELETE FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at <= sqlc.arg(last_at)
    AND (recorded_at < sqlc.arg(last_at) OR id <= sqlc.arg(last_id));
