-- Entries before a place in their order, which is the newest first.
-- name: ChangesBefore :many
SELECT id, actor_id, subject_id, api_key_id, tenant_id, action, resource, resource_id, before, after, created_at FROM audit_logs
WHERE (created_at, id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint)
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(most);

-- name: ChangesOfTenantBefore :many
SELECT id, actor_id, subject_id, api_key_id, tenant_id, action, resource, resource_id, before, after, created_at FROM audit_logs
WHERE tenant_id = sqlc.arg(tenant_id)::uuid AND (created_at, id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint)
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(most);

-- name: CountTenants :one
SELECT count(*) FROM tenants WHERE id = $1;
