-- name: Members :many
SELECT u.id, u.name, u.email, u.avatar_hash, u.mfa_enabled, r.id AS role_id, r.name AS role_name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1
LIMIT sqlc.arg(most);

-- The fields that determine the position of a member in the list, and the searched ones.
-- name: MemberNames :many
SELECT m.user_id, u.name, u.email, r.name AS role_name
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1;

-- name: HoldersOfRole :many
SELECT user_id FROM memberships WHERE tenant_id = $1 AND role_id = $2 ORDER BY user_id;

-- name: Member :one
SELECT u.id, u.name, u.email, u.avatar_hash, u.mfa_enabled, r.id AS role_id, r.name AS role_name, m.joined_at
FROM memberships m
JOIN users u ON u.id = m.user_id
JOIN roles r ON r.id = m.role_id
WHERE m.tenant_id = $1 AND m.user_id = $2;

-- name: TenantOfEmail :one
SELECT m.tenant_id
FROM memberships m
JOIN users u ON u.id = m.user_id
WHERE u.email = $1;

-- name: InsertMember :execrows
INSERT INTO memberships (tenant_id, user_id, role_id, joined_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO NOTHING;

-- name: SetRoleOfMember :exec
UPDATE memberships SET role_id = $3 WHERE tenant_id = $1 AND user_id = $2;

-- name: DeleteMember :exec
DELETE FROM memberships WHERE tenant_id = $1 AND user_id = $2;

-- name: Seats :one
SELECT
    (SELECT count(*) FROM memberships m WHERE m.tenant_id = sqlc.arg(tenant_id)) AS members,
    (SELECT count(*) FROM invitations i
     WHERE i.tenant_id = sqlc.arg(tenant_id) AND i.status = 'pending' AND i.expires_at > sqlc.arg(now)) AS invitations;

-- The built-in roles and the tenant's custom roles. users_count counts the tenant's members.
-- name: Roles :many
SELECT
    r.id, r.tenant_id, r.name, r.created_at, r.updated_at,
    COALESCE((SELECT string_agg(p.permission, ',') FROM role_permissions p WHERE p.role_id = r.id), '')::text AS permissions,
    (SELECT count(*) FROM memberships m WHERE m.tenant_id = sqlc.arg(tenant_id) AND m.role_id = r.id) AS users_count
FROM roles r
WHERE r.tenant_id IS NULL OR r.tenant_id = sqlc.arg(tenant_id);

-- name: Role :one
SELECT
    r.id, r.tenant_id, r.name, r.created_at, r.updated_at,
    COALESCE((SELECT string_agg(p.permission, ',') FROM role_permissions p WHERE p.role_id = r.id), '')::text AS permissions,
    (SELECT count(*) FROM memberships m WHERE m.tenant_id = sqlc.arg(tenant_id) AND m.role_id = r.id) AS users_count
FROM roles r
WHERE r.id = sqlc.arg(id) AND (r.tenant_id IS NULL OR r.tenant_id = sqlc.arg(tenant_id));

-- name: RoleIDByName :one
SELECT r.id FROM roles r
WHERE r.name = sqlc.arg(name) AND (r.tenant_id IS NULL OR r.tenant_id = sqlc.arg(tenant_id));

-- name: InsertRole :one
INSERT INTO roles (tenant_id, name, name_key, created_at, updated_at)
VALUES ($1, $2, $3, $4, $4)
ON CONFLICT (tenant_id, name_key) DO NOTHING
RETURNING id;

-- Changes nothing if another role of the tenant has the name.
-- name: UpdateRole :execrows
UPDATE roles
SET name = $2, name_key = $3, updated_at = $4
WHERE roles.id = $1 AND roles.tenant_id = sqlc.arg(tenant_id)
  AND NOT EXISTS (SELECT 1 FROM roles o WHERE o.tenant_id = roles.tenant_id AND o.name_key = $3 AND o.id <> $1);

-- name: DeleteRole :exec
DELETE FROM roles WHERE tenant_id = $1 AND id = $2;

-- name: InsertRolePermission :exec
INSERT INTO role_permissions (role_id, permission) VALUES ($1, $2);

-- name: DeleteRolePermissions :exec
DELETE FROM role_permissions WHERE role_id = $1;

-- name: MoveMembers :exec
UPDATE memberships SET role_id = sqlc.arg(new_role_id) WHERE tenant_id = sqlc.arg(tenant_id) AND role_id = sqlc.arg(role_id);

-- name: MoveInvitations :exec
UPDATE invitations SET role_id = sqlc.arg(new_role_id) WHERE tenant_id = sqlc.arg(tenant_id) AND role_id = sqlc.arg(role_id);

-- name: MoveDomains :exec
UPDATE tenant_domains SET role_id = sqlc.arg(new_role_id) WHERE tenant_id = sqlc.arg(tenant_id) AND role_id = sqlc.arg(role_id);

-- name: MoveConnection :exec
UPDATE sso_connections SET role_id = sqlc.arg(new_role_id) WHERE tenant_id = sqlc.arg(tenant_id) AND role_id = sqlc.arg(role_id);

-- name: Invitations :many
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.tenant_id = $1
ORDER BY invitations.created_at DESC, invitations.id DESC
LIMIT sqlc.arg(most) OFFSET sqlc.arg(skipped);

-- The invitations that follow the given one in the list.
-- name: OlderInvitations :many
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.tenant_id = $1 AND (invitations.created_at, invitations.id) < (sqlc.arg(created_at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY invitations.created_at DESC, invitations.id DESC
LIMIT sqlc.arg(most);

-- name: CountInvitations :one
SELECT count(*) FROM invitations WHERE tenant_id = $1;

-- name: PendingInvitations :many
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.tenant_id = $1 AND invitations.status = 'pending' AND invitations.expires_at > sqlc.arg(now)
ORDER BY invitations.created_at DESC, invitations.id DESC
LIMIT sqlc.arg(most) OFFSET sqlc.arg(skipped);

-- name: OlderPendingInvitations :many
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.tenant_id = $1 AND invitations.status = 'pending' AND invitations.expires_at > sqlc.arg(now)
  AND (invitations.created_at, invitations.id) < (sqlc.arg(created_at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY invitations.created_at DESC, invitations.id DESC
LIMIT sqlc.arg(most);

-- name: CountPendingInvitations :one
SELECT count(*) FROM invitations WHERE tenant_id = $1 AND status = 'pending' AND expires_at > sqlc.arg(now);

-- name: Invitation :one
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.tenant_id = $1 AND invitations.id = $2;

-- name: InvitationByToken :one
SELECT sqlc.embed(invitations), r.name AS role_name, t.name AS tenant_name, COALESCE(u.name, '')::text AS inviter_name
FROM invitations
JOIN roles r ON r.id = invitations.role_id
JOIN tenants t ON t.id = invitations.tenant_id
LEFT JOIN users u ON u.id = invitations.inviter_id
WHERE invitations.token_hash = $1 AND t.deleted_at IS NULL;

-- name: InsertInvitation :exec
INSERT INTO invitations (id, tenant_id, email, role_id, inviter_id, status, token_hash, expires_in_days, expires_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10);

-- name: UpdateInvitation :exec
UPDATE invitations SET status = $3, token_hash = $4, expires_at = $5, updated_at = $6 WHERE tenant_id = $1 AND id = $2;

-- An expired invitation no longer counts as pending.
-- name: ExpireInvitations :exec
UPDATE invitations SET status = 'expired'
WHERE tenant_id = $1 AND email = $2 AND status = 'pending' AND expires_at <= sqlc.arg(now);

-- name: PendingInvitationOf :one
SELECT id FROM invitations WHERE tenant_id = $1 AND email = $2 AND status = 'pending';

-- Locks the address, even if it has no row yet.
-- name: LockInvitedAddress :one
INSERT INTO invited_addresses (email, mails, last_sent_at) VALUES ($1, '[]', $2)
ON CONFLICT (email) DO UPDATE SET email = excluded.email
RETURNING mails;

-- name: SetMailsToAddress :exec
UPDATE invited_addresses SET mails = $2, last_sent_at = $3 WHERE email = $1;

-- name: PruneInvitedAddresses :exec
DELETE FROM invited_addresses WHERE last_sent_at <= $1;

-- Invitations that expired long ago, in any status.
-- name: DeleteOldInvitations :many
DELETE FROM invitations WHERE id IN (
    SELECT i.id FROM invitations i
    WHERE i.expires_at >= sqlc.arg(earliest) AND i.expires_at < sqlc.arg(before)
    ORDER BY i.expires_at
    LIMIT sqlc.arg(most)
) RETURNING expires_at;
