-- name: InsertLog :exec
INSERT INTO impersonation_logs (impersonator_id, impersonated_id, tenant_id, action, ip_address, user_agent, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7);
