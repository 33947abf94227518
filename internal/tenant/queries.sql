-- name: InsertTenant :one
INSERT INTO tenants (
    id, name, slug, preferred_currency, created_at, updated_at, legal_name, address, city, postal_code, country, vat_number, vat_status,
    billing_email, name_key, name_key_es, external_id, metadata, onboarding_completed_at,
    owner_assigned
) VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
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

-- name: SlugTaken :one
SELECT EXISTS (SELECT 1 FROM tenants WHERE slug = $1 AND id <> $2);

-- name: ExternalIDTaken :one
SELECT EXISTS (SELECT 1 FROM tenants WHERE external_id = sqlc.arg(external_id)::text AND id <> sqlc.arg(id));

-- The lock serializes changes of one tenant.
-- name: LockTenant :one
SELECT * FROM tenants WHERE id = $1 FOR UPDATE;

-- name: UpdateTenant :exec
UPDATE tenants
SET name = $2, slug = $3, settings = $4, legal_name = $5, address = $6, city = $7, postal_code = $8, country = $9,
    vat_number = $10, billing_email = $11, onboarding_completed_at = $12, updated_at = $13, preferred_currency = $14,
    vat_status = $15, vat_name = $16, vat_valid_at = $17, name_key = $18, name_key_es = $19,
    external_id = $20, metadata = $21, owner_assigned = $22, require_mfa_from = $23
WHERE id = $1;

-- name: MarkActive :exec
UPDATE tenants SET last_activity_at = $2 WHERE id = $1 AND (last_activity_at IS NULL OR last_activity_at < $2);

-- name: Members :many
SELECT u.id, u.name, u.email, u.locale, r.name AS role_name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1
ORDER BY m.joined_at, u.id;

-- Sort and limit the memberships before the other tables are joined.
-- name: FirstMembers :many
SELECT u.id, u.name, u.email, u.locale, r.name AS role_name, m.joined_at
FROM (
    SELECT f.user_id, f.role_id, f.joined_at FROM memberships f
    WHERE f.tenant_id = $1
    ORDER BY f.joined_at, f.user_id
    LIMIT sqlc.arg(most)
) m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
ORDER BY m.joined_at, u.id;

-- The memberships are looked up before the users: with an OR over both, PostgreSQL reads all
-- members of a large tenant, and for them the whole users table. The ORDER BY is needed for the
-- plan as well: for a LIMIT 1 without an order, PostgreSQL scans the table until it finds a match.
-- name: OwnerAndMember :many
SELECT u.id, u.name, u.email, u.locale, r.name AS role_name, m.joined_at
FROM (
    SELECT a.user_id, a.role_id, a.joined_at FROM memberships a WHERE a.tenant_id = $1 AND a.user_id = sqlc.arg(user_id)
    UNION
    SELECT o.user_id, o.role_id, o.joined_at FROM (
        SELECT x.user_id, x.role_id, x.joined_at FROM memberships x
        WHERE x.tenant_id = $1 AND x.role_id = (SELECT b.id FROM roles b WHERE b.tenant_id IS NULL AND b.name = sqlc.arg(owner)::text)
        ORDER BY x.joined_at LIMIT 1
    ) o
) m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id;

-- name: OwnerLocale :one
SELECT u.locale
FROM (
    SELECT x.user_id FROM memberships x
    WHERE x.tenant_id = $1 AND x.role_id = (SELECT b.id FROM roles b WHERE b.tenant_id IS NULL AND b.name = sqlc.arg(owner)::text)
    ORDER BY x.joined_at LIMIT 1
) m
JOIN users u ON u.id = m.user_id;

-- name: SettingsOfUser :one
SELECT t.settings FROM memberships m JOIN tenants t ON t.id = m.tenant_id WHERE m.user_id = $1;

-- name: CountMembers :one
SELECT count(*) FROM memberships WHERE tenant_id = $1;

-- name: DeleteMember :exec
DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2;

-- name: DeleteTenant :exec
DELETE FROM tenants WHERE id = $1;

-- name: IsOwner :one
SELECT count(*) FROM memberships m JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1 AND m.user_id = $2 AND r.tenant_id IS NULL AND r.name = sqlc.arg(owner)::text;

-- name: SetOwner :execrows
UPDATE memberships
SET role_id = (SELECT r.id FROM roles r WHERE r.tenant_id IS NULL AND r.name = sqlc.arg(owner)::text)
WHERE memberships.tenant_id = $1 AND memberships.user_id = $2;

-- name: KeepMembers :exec
INSERT INTO former_memberships (tenant_id, user_id, role_id, joined_at)
SELECT m.tenant_id, m.user_id, m.role_id, m.joined_at FROM memberships m WHERE m.tenant_id = $1;

-- name: DeleteMembers :exec
DELETE FROM memberships WHERE tenant_id = $1;

-- name: MarkDeleted :exec
UPDATE tenants SET deleted_at = $2, updated_at = sqlc.arg(now) WHERE id = $1;

-- name: FormerMembers :many
SELECT user_id FROM former_memberships WHERE tenant_id = $1 ORDER BY user_id;

-- Skips users who belong to another tenant by now.
-- name: RestoreMembers :execrows
INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
SELECT f.tenant_id, f.user_id, f.role_id, f.joined_at FROM former_memberships f WHERE f.tenant_id = $1
ON CONFLICT (user_id) DO NOTHING;

-- name: DeleteFormerMembers :exec
DELETE FROM former_memberships WHERE tenant_id = $1;

-- If the tenant has no owner, the longest-serving admin becomes the owner, or else the
-- longest-serving member.
-- name: PromoteOwner :execrows
UPDATE memberships
SET role_id = (SELECT r.id FROM roles r WHERE r.tenant_id IS NULL AND r.name = sqlc.arg(owner)::text)
WHERE memberships.tenant_id = $1
    AND NOT EXISTS (
        SELECT 1 FROM memberships o JOIN roles r ON r.id = o.role_id
        WHERE o.tenant_id = $1 AND r.tenant_id IS NULL AND r.name = sqlc.arg(owner)::text
    )
    AND memberships.user_id = (
        SELECT m.user_id FROM memberships m JOIN roles r ON r.id = m.role_id
        WHERE m.tenant_id = $1
        ORDER BY CASE WHEN r.tenant_id IS NULL AND r.name = sqlc.arg(admin)::text THEN 0 ELSE 1 END, m.joined_at, m.user_id
        LIMIT 1
    );

-- name: PurgeableTenants :many
SELECT t.id FROM tenants t
WHERE t.deleted_at IS NOT NULL AND t.deleted_at <= sqlc.arg(before) AND t.emptied_at IS NULL
ORDER BY t.deleted_at
LIMIT sqlc.arg(most);

-- name: EmptyTenant :exec
UPDATE tenants
SET name = '', name_key = '', name_key_es = '', slug = sqlc.arg(slug), external_id = NULL, metadata = '{}', settings = NULL, legal_name = NULL, address = NULL, city = NULL, postal_code = NULL,
    country = NULL, vat_number = NULL, vat_status = 'none', vat_name = NULL, vat_valid_at = NULL, billing_email = NULL, purged_at = $2
WHERE id = $1 AND purged_at IS NULL;

-- name: MarkEmptied :exec
UPDATE tenants SET emptied_at = $2 WHERE id = $1;

-- name: DeleteInvitationsOfTenant :exec
DELETE FROM invitations WHERE tenant_id = $1;

-- name: DeleteKeysOfTenant :exec
DELETE FROM api_keys WHERE tenant_id = $1;

-- name: DeleteDigestOfTenant :exec
DELETE FROM entitlement_digests WHERE tenant_id = $1;

-- name: DeleteOverridesOfTenant :exec
DELETE FROM limit_overrides WHERE tenant_id = $1;

-- name: DeleteDomainsOfTenant :exec
DELETE FROM tenant_domains WHERE tenant_id = $1;

-- name: DeleteConnectionOfTenant :exec
DELETE FROM sso_connections WHERE tenant_id = $1;

-- name: DeleteRolesOfTenant :exec
DELETE FROM roles WHERE tenant_id = $1;

-- name: DeleteEndpointsOfTenant :exec
DELETE FROM webhook_endpoints WHERE tenant_id = $1;

-- Each part reads an index that contains little more than the counted rows. SQLite counts all
-- tenants by the pages of one index.
-- name: CountLive :one
SELECT ((SELECT count(*) FROM tenants) - (SELECT count(*) FROM tenants d WHERE d.deleted_at IS NOT NULL))::bigint AS live;

-- name: LapsedVATNumbers :many
SELECT t.id FROM tenants t
WHERE t.vat_status = 'unknown' AND t.vat_valid_at <= sqlc.arg(before)::timestamptz
ORDER BY t.vat_valid_at
LIMIT sqlc.arg(most);
