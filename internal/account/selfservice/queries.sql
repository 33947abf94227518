-- The unrevoked credentials of a user, oldest first. Expired credentials are included, because they
-- determine when their login was last used.
-- name: Credentials :many
SELECT c.family, c.kind, c.ip, c.user_agent, c.login_at, c.created_at, c.last_used_at, c.expires_at
FROM credentials c
WHERE c.user_id = $1 AND c.revoked_at IS NULL AND c.family_expires_at > sqlc.arg(now)
ORDER BY c.created_at, c.id;

-- name: ChangeProfile :exec
UPDATE users SET name = $2, locale = $3, updated_at = $4 WHERE id = $1;

-- name: PutVerification :exec
INSERT INTO email_verifications (user_id, email, token_hash, expires_at, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id, email) DO UPDATE
SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at;

-- name: DeleteOtherVerifications :exec
DELETE FROM email_verifications WHERE user_id = $1 AND email <> sqlc.arg(kept);

-- name: Verification :one
SELECT v.user_id, (v.email <> u.email)::boolean AS is_change FROM email_verifications v
JOIN users u ON u.id = v.user_id
WHERE v.token_hash = $1 AND v.expires_at > sqlc.arg(now);

-- name: TakeVerification :one
DELETE FROM email_verifications WHERE token_hash = $1 AND user_id = $2 AND expires_at > sqlc.arg(now)
RETURNING email;

-- name: DeleteExpiredVerifications :exec
DELETE FROM email_verifications WHERE expires_at <= sqlc.arg(now);

-- name: EmailTaken :one
SELECT count(*) FROM users WHERE email = $1;

-- name: ChangeEmail :one
UPDATE users SET email = sqlc.arg(email), email_verified_at = sqlc.arg(now), updated_at = sqlc.arg(now)
WHERE users.id = $1 AND NOT EXISTS (SELECT 1 FROM users o WHERE o.email = sqlc.arg(email))
RETURNING name;

-- name: DeleteCredentials :exec
DELETE FROM credentials WHERE user_id = $1;

-- name: DeleteIdentities :exec
DELETE FROM oauth_identities WHERE user_id = $1;

-- name: DeletePushes :exec
DELETE FROM push_subscriptions WHERE user_id = $1;

-- name: DeleteFormerPlaces :exec
DELETE FROM former_memberships WHERE user_id = $1;

-- name: ForgetMaker :exec
UPDATE api_keys SET created_by = NULL WHERE created_by = $1;

-- The tenants in which a user has changed something, also while acting as another user.
-- name: ChangedTenants :many
SELECT DISTINCT tenant_id FROM audit_logs WHERE actor_id = sqlc.arg(user_id)::bigint AND tenant_id IS NOT NULL;

-- The tenants with a cap that a user has set, also while acting as another user. A cap can be older than
-- the audit trail.
-- name: CappedTenants :many
SELECT DISTINCT tenant_id FROM usage_streams
WHERE cap_by IS NOT NULL AND (CAST(cap_by ->> 'user_id' AS bigint) = sqlc.arg(user_id)::bigint OR CAST(cap_by ->> 'impersonator_id' AS bigint) = sqlc.arg(user_id)::bigint);

-- Pending invitations remain valid for the next owner of the address.
-- name: DeleteInvitationsTo :exec
DELETE FROM invitations WHERE email = $1 AND status <> 'pending';

-- name: DeleteDevices :exec
DELETE FROM known_devices WHERE user_id = $1;

-- name: DeleteGuesses :exec
DELETE FROM wrong_passwords WHERE email_hash = $1;

-- name: EmptyUser :exec
UPDATE users
SET name = '', name_key = '', name_key_es = '', last_login_at = NULL, email = sqlc.arg(email), password_hash = NULL, email_verified_at = NULL, is_platform_admin = false,
    platform_permissions = NULL, locale = NULL, external_id = NULL, deleted_at = $2, updated_at = sqlc.arg(now)
WHERE id = $1;

-- name: MembersOf :one
SELECT count(*) FROM memberships WHERE user_id = $1;

-- name: ExportUser :one
SELECT id, name, email, external_id, email_verified_at, is_platform_admin, avatar_hash, locale, (password_hash IS NOT NULL)::boolean AS has_password, last_login_at, created_at, updated_at
FROM users WHERE id = $1;

-- name: ExportMemberships :many
SELECT t.id, t.name, r.name AS role_name, m.joined_at, t.deleted_at FROM memberships m
JOIN tenants t ON t.id = m.tenant_id
JOIN roles r ON r.id = m.role_id
WHERE m.user_id = $1
UNION ALL
SELECT t.id, t.name, r.name AS role_name, f.joined_at, t.deleted_at FROM former_memberships f
JOIN tenants t ON t.id = f.tenant_id
JOIN roles r ON r.id = f.role_id
WHERE f.user_id = $1;

-- name: ExportIdentities :many
SELECT provider, subject, email, created_at, last_used_at FROM oauth_identities WHERE oauth_identities.user_id = $1
UNION ALL
SELECT 'sso' AS provider, subject, email, created_at, last_used_at FROM sso_identities WHERE sso_identities.user_id = $1
ORDER BY created_at, provider, subject;

-- name: Identities :many
SELECT id, provider, email, created_at, last_used_at FROM oauth_identities WHERE oauth_identities.user_id = $1
UNION ALL
SELECT id, 'sso' AS provider, email, created_at, last_used_at FROM sso_identities WHERE sso_identities.user_id = $1
ORDER BY created_at, id;

-- name: DeleteIdentity :exec
DELETE FROM oauth_identities WHERE id = $1;

-- name: ExportPushes :many
SELECT endpoint, created_at FROM push_subscriptions WHERE user_id = $1 ORDER BY created_at, id;

-- name: ExportDevices :many
SELECT device_hash, last_login_at, previous_login_at FROM known_devices WHERE user_id = $1 ORDER BY last_login_at, device_hash;

-- name: ExportVerifications :many
SELECT email, created_at, expires_at FROM email_verifications WHERE user_id = $1 ORDER BY created_at, email;

-- name: ExportInvitations :many
SELECT t.name AS tenant_name, i.status, i.created_at, i.expires_at FROM invitations i
JOIN tenants t ON t.id = i.tenant_id
WHERE i.email = $1
ORDER BY i.created_at, i.id;

-- name: ExportSent :many
-- A page of the invitations that a user has sent, oldest first, after a given invitation.
SELECT id, status, created_at FROM invitations
WHERE inviter_id = $1 AND created_at >= sqlc.arg(since)::timestamptz
    AND (created_at > sqlc.arg(since)::timestamptz OR id > sqlc.arg(after)::uuid)
ORDER BY created_at, id LIMIT sqlc.arg(most);

-- name: ExportKeys :many
SELECT id, name, created_at FROM api_keys WHERE created_by = $1 ORDER BY created_at, id;

-- name: ExportEntries :many
-- A page of the audit entries of a user, oldest first, after a given entry.
SELECT id, action, resource, resource_id, tenant_id, ip, user_agent, created_at FROM audit_logs
WHERE actor_id = $1 AND created_at >= sqlc.arg(since)::timestamptz
    AND (created_at > sqlc.arg(since)::timestamptz OR id > sqlc.arg(after)::bigint)
ORDER BY created_at, id LIMIT sqlc.arg(most);

-- name: ExportImpersonations :many
SELECT action, created_at FROM impersonation_logs WHERE impersonated_id = $1 ORDER BY created_at, id;

-- name: ExportRequests :many
-- A page of the logged requests of a user, oldest first, after a given request.
SELECT id, at, method, route, path, status, code, tenant_id, ip FROM request_logs
WHERE user_id = $1 AND at >= sqlc.arg(since)::timestamptz
    AND (at > sqlc.arg(since)::timestamptz OR id > sqlc.arg(after)::bigint)
ORDER BY at, id LIMIT sqlc.arg(most);
