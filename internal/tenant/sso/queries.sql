-- name: Connection :one
SELECT sqlc.embed(c), r.name AS role_name FROM sso_connections c
JOIN roles r ON r.id = c.role_id
WHERE c.tenant_id = $1;

-- The connection of a tenant that is not deleted.
-- name: ConnectionByID :one
SELECT sqlc.embed(c), r.name AS role_name FROM sso_connections c
JOIN roles r ON r.id = c.role_id
JOIN tenants t ON t.id = c.tenant_id
WHERE c.id = $1 AND t.deleted_at IS NULL;

-- name: ConnectionOfDomain :one
SELECT c.id FROM sso_connections c
JOIN tenant_domains d ON d.tenant_id = c.tenant_id
JOIN tenants t ON t.id = c.tenant_id
WHERE d.domain = $1 AND d.status = 'verified' AND t.deleted_at IS NULL;

-- name: VerifiedDomains :many
SELECT domain FROM tenant_domains WHERE tenant_id = $1 AND status = 'verified' ORDER BY domain;

-- name: InsertConnection :exec
INSERT INTO sso_connections (
    id, tenant_id, issuer, client_id, client_secret, role_id, provision_members, required, counts_as_mfa, session_hours,
    set_by, set_permissions, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13);

-- name: UpdateConnection :exec
UPDATE sso_connections
SET client_secret = $3, role_id = $4, provision_members = $5, required = $6, counts_as_mfa = $7, session_hours = $8, updated_at = $9
WHERE tenant_id = $1 AND id = $2;

-- name: DeleteConnection :exec
DELETE FROM sso_connections WHERE tenant_id = $1 AND id = $2;

-- name: SetLastError :exec
UPDATE sso_connections SET last_error = sqlc.arg(reason)::text WHERE tenant_id = $1 AND id = $2;

-- name: SetLastTest :exec
UPDATE sso_connections SET last_test_at = sqlc.arg(now)::timestamptz, last_test_result = sqlc.arg(result)::text WHERE tenant_id = $1 AND id = $2;

-- name: CompleteLogin :one
UPDATE sso_connections SET last_login_at = sqlc.arg(now)::timestamptz, last_error = NULL WHERE id = $1
RETURNING session_hours;

-- name: CountsAsMFA :one
SELECT c.counts_as_mfa FROM sso_identities i
JOIN sso_connections c ON c.id = i.connection_id
WHERE i.connection_id = $1 AND i.id = $2;

-- name: Link :one
SELECT id, user_id FROM sso_identities WHERE connection_id = $1 AND subject = $2;

-- name: CountLinksOfUser :one
SELECT count(*) FROM sso_identities WHERE connection_id = $1 AND user_id = $2;

-- name: InsertLink :exec
INSERT INTO sso_identities (connection_id, subject, id, user_id, email, created_at) VALUES ($1, $2, $3, $4, $5, $6);

-- name: SetLinkEmail :exec
UPDATE sso_identities SET email = $2 WHERE id = $1 AND email <> $2;

-- name: MarkLinkUsed :one
UPDATE sso_identities SET last_used_at = sqlc.arg(now)::timestamptz WHERE id = $1 RETURNING connection_id;

-- The membership of a user, with the permissions of the role, separated by commas.
-- name: Membership :one
SELECT m.tenant_id, (r.tenant_id IS NULL AND r.name = sqlc.arg(owner))::boolean AS is_owner,
    COALESCE((SELECT string_agg(p.permission, ',') FROM role_permissions p WHERE p.role_id = m.role_id), '')::text AS permissions
FROM memberships m
JOIN roles r ON r.id = m.role_id
WHERE m.user_id = $1;
