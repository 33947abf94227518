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

-- The lock serializes work on one tenant.
-- name: LockTenant :one
SELECT * FROM tenants WHERE id = $1 FOR UPDATE;

-- name: UpdateTenant :exec
UPDATE tenants
SET name = $2, slug = $3, settings = $4, legal_name = $5, address = $6, city = $7, postal_code = $8, country = $9,
    vat_number = $10, billing_email = $11, onboarding_completed_at = $12, updated_at = $13, preferred_currency = $14
WHERE id = $1;

-- name: Members :many
SELECT u.id, u.name, u.email, u.locale, r.name AS role_name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1
ORDER BY m.joined_at, u.id;

-- name: OwnerLocale :one
SELECT u.locale
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1 AND r.tenant_id IS NULL AND r.name = sqlc.arg(owner)::text
ORDER BY m.joined_at
LIMIT 1;

-- name: SettingsOfUser :one
SELECT t.settings FROM memberships m JOIN tenants t ON t.id = m.tenant_id WHERE m.user_id = $1;

-- name: CountMembers :one
SELECT count(*) FROM memberships WHERE tenant_id = $1;

-- name: MembershipsOfUser :many
SELECT t.id, t.name, t.slug, t.legal_name, t.address, t.city, t.postal_code, t.country, t.onboarding_completed_at, r.name AS role_name
FROM memberships m
JOIN tenants t ON t.id = m.tenant_id
JOIN roles r ON r.id = m.role_id
WHERE m.user_id = $1
ORDER BY m.joined_at;

-- name: DeleteMember :exec
DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2;

-- name: DeleteTenant :exec
DELETE FROM tenants WHERE id = $1;
