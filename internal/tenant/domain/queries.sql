-- name: InsertDomain :exec
INSERT INTO tenant_domains (id, tenant_id, domain, status, token, auto_join, role_id, created_at, updated_at)
SELECT $1, $2, $3, $4, $5, false, r.id, $6, $6 FROM roles r WHERE r.tenant_id IS NULL AND r.name = sqlc.arg(role);

-- name: Domains :many
SELECT sqlc.embed(d), r.name AS role_name FROM tenant_domains d
JOIN roles r ON r.id = d.role_id
WHERE d.tenant_id = $1
ORDER BY d.created_at, d.id;

-- name: Domain :one
SELECT sqlc.embed(d), r.name AS role_name FROM tenant_domains d
JOIN roles r ON r.id = d.role_id
WHERE d.tenant_id = $1 AND d.id = $2;

-- name: UpdateDomain :exec
UPDATE tenant_domains
SET status = $3, auto_join = $4, role_id = $5, verified_at = $6, last_checked_at = $7, failed_checks = $8, updated_at = $9
WHERE tenant_id = $1 AND id = $2;

-- name: DeleteDomain :exec
DELETE FROM tenant_domains WHERE tenant_id = $1 AND id = $2;

-- name: TakenByOther :one
SELECT count(*) FROM tenant_domains d
JOIN tenants t ON t.id = d.tenant_id
WHERE d.domain = $1 AND d.status = 'verified' AND d.tenant_id <> $2 AND t.deleted_at IS NULL;

-- A deleted tenant does not keep other tenants from verifying its domains.
-- name: ReleaseDomain :exec
UPDATE tenant_domains SET status = 'lost', updated_at = $2
WHERE tenant_domains.domain = $1 AND tenant_domains.status = 'verified' AND tenant_domains.tenant_id IN (
    SELECT d.tenant_id FROM tenant_domains d JOIN tenants t ON t.id = d.tenant_id
    WHERE d.domain = $1 AND d.status = 'verified' AND t.deleted_at IS NOT NULL
);

-- name: DueDomains :many
SELECT d.tenant_id, d.id, d.domain, d.token FROM tenant_domains d
JOIN tenants t ON t.id = d.tenant_id
WHERE d.status = 'verified' AND d.last_checked_at <= sqlc.arg(before)::timestamptz AND t.deleted_at IS NULL
ORDER BY d.last_checked_at, d.id
LIMIT sqlc.arg(most);

-- The tenant that users with an address in a domain join, and their role.
-- name: JoinableDomain :one
SELECT d.tenant_id, d.role_id FROM tenant_domains d
JOIN tenants t ON t.id = d.tenant_id
WHERE d.domain = $1 AND d.status = 'verified' AND d.auto_join AND t.deleted_at IS NULL;

-- The email of a user who is in no tenant, if it is verified.
-- name: UnplacedEmail :one
SELECT u.email FROM users u
WHERE u.id = $1 AND u.email_verified_at IS NOT NULL AND u.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id);
