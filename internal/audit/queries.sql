-- The trail is append-only: no statement changes or deletes an entry.
-- name: InsertEntry :exec
INSERT INTO audit_logs (actor_id, subject_id, tenant_id, action, resource, resource_id, before, after, ip, user_agent, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
