-- The trail is append-only: no statement changes an entry, and only the end of its
-- retention deletes it.
-- name: InsertEntry :exec
INSERT INTO audit_logs (actor_id, subject_id, tenant_id, action, resource, resource_id, before, after, ip, user_agent, created_at, api_key_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: DeleteOldEntries :many
DELETE FROM audit_logs WHERE id IN (
    SELECT a.id FROM audit_logs a
    WHERE a.created_at >= sqlc.arg(earliest) AND a.created_at < sqlc.arg(before)
    ORDER BY a.created_at, a.id
    LIMIT sqlc.arg(most)
) RETURNING created_at;
