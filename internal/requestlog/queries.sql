-- name: DeleteOldRequests :many
DELETE FROM request_logs WHERE id IN (
    SELECT r.id FROM request_logs r
    WHERE r.at >= sqlc.arg(earliest)::timestamptz AND r.at < sqlc.arg(before)::timestamptz
    ORDER BY r.at, r.id
    LIMIT sqlc.arg(most)
) RETURNING at;

-- name: DeleteOldGaps :many
DELETE FROM request_log_gaps WHERE id IN (
    SELECT g.id FROM request_log_gaps g
    WHERE g.ended_at >= sqlc.arg(earliest)::timestamptz AND g.ended_at < sqlc.arg(before)::timestamptz
    ORDER BY g.ended_at
    LIMIT sqlc.arg(most)
) RETURNING ended_at;

-- name: PurgeTenant :exec
DELETE FROM request_logs WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: PurgeGaps :exec
DELETE FROM request_log_gaps WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: HasGap :one
-- A gap takes at most a second, so the upper bound of its end lets the index end the search.
SELECT EXISTS (
    SELECT 1 FROM request_log_gaps
    WHERE ended_at >= sqlc.arg(earliest)::timestamptz AND ended_at <= sqlc.arg(bound)::timestamptz AND began_at <= sqlc.arg(latest)::timestamptz
)::boolean AS has_gap;

-- name: HasGapOfTenant :one
SELECT EXISTS (
    SELECT 1 FROM request_log_gaps
    WHERE tenant_id IN (sqlc.arg(tenant_id)::uuid, sqlc.arg(every_tenant)::uuid)
        AND ended_at >= sqlc.arg(earliest)::timestamptz AND ended_at <= sqlc.arg(bound)::timestamptz AND began_at <= sqlc.arg(latest)::timestamptz
)::boolean AS has_gap;
