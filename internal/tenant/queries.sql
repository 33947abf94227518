-- name: InsertTenant :one
INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $5)
ON CONFLICT (slug) DO NOTHING
RETURNING id;

-- name: InsertMember :one
INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
SELECT $1, $2, r.id, $3
FROM roles r
WHERE r.tenant_id IS NULL AND r.name = sqlc.arg(role)::text
ON CONFLICT (user_id) DO NOTHING
RETURNING role_id;

-- name: Tenant :one
SELECT * FROM tenants WHERE id = $1;

-- The lock that serializes work on one tenant.
-- name: LockTenant :one
SELECT * FROM tenants WHERE id = $1 FOR UPDATE;

-- name: UpdateBillingDetails :exec
UPDATE tenants
SET legal_name = $2, address = $3, city = $4, postal_code = $5, country = $6,
    vat_number = $7, billing_email = $8, onboarding_completed_at = $9, updated_at = $10
WHERE id = $1;

-- name: Members :many
SELECT u.id, u.name, u.email, r.name AS role_name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1
ORDER BY m.joined_at, u.id;

-- name: CountMembers :one
SELECT count(*) FROM memberships WHERE tenant_id = $1;

-- name: MembershipsOfUser :many
SELECT sqlc.embed(tenants), r.name AS role_name, m.joined_at
FROM memberships m
JOIN tenants ON tenants.id = m.tenant_id
JOIN roles r ON r.id = m.role_id
WHERE m.user_id = $1
ORDER BY m.joined_at;
