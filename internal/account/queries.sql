-- name: InsertUser :one
INSERT INTO users (name, email, password_hash, is_platform_admin, platform_permissions, email_verified_at, locale, created_at, updated_at, external_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
ON CONFLICT (email) DO NOTHING
RETURNING id;

-- name: UserByEmail :one
SELECT id, name, email, password_hash, is_platform_admin, email_verified_at, locale FROM users WHERE email = $1;

-- name: UserByID :one
SELECT id, name, email, is_platform_admin, email_verified_at, locale FROM users WHERE id = $1;

-- name: UpdatePassword :exec
UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1;

-- name: VerifyEmail :exec
UPDATE users SET email_verified_at = $2 WHERE id = $1 AND email_verified_at IS NULL;

-- name: InsertCredential :exec
INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, idle_seconds, login_at, created_at, ip, user_agent, identity_id, methods, mfa_passed, connection_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

-- Inserts the access and refresh tokens of a login or a refresh.
-- name: InsertPair :exec
INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, idle_seconds, login_at, created_at, ip, user_agent, identity_id, methods, mfa_passed, connection_id)
VALUES
    (sqlc.arg(access_id), $1, 'access', sqlc.arg(access_hash), $2, $3, sqlc.arg(access_expires_at), 0, $4, $5, $6, $7, sqlc.narg(identity_id), sqlc.arg(methods), sqlc.arg(mfa_passed), sqlc.narg(connection_id)),
    (sqlc.arg(refresh_id), $1, 'refresh', sqlc.arg(refresh_hash), $2, $3, sqlc.arg(refresh_expires_at), 0, $4, $5, $6, $7, sqlc.narg(identity_id), sqlc.arg(methods), sqlc.arg(mfa_passed), sqlc.narg(connection_id));

-- name: MarkCredentialUsed :exec
UPDATE credentials SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2);

-- name: CredentialLives :one
SELECT count(*) FROM credentials WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL;

-- name: RevokeOtherLogins :exec
UPDATE credentials SET revoked_at = sqlc.arg(now) WHERE user_id = $1 AND family <> $2 AND revoked_at IS NULL;

-- name: RevokeLogin :execrows
UPDATE credentials SET revoked_at = sqlc.arg(now) WHERE user_id = $1 AND family = $2 AND revoked_at IS NULL;

-- name: RevokeLoginsThrough :exec
UPDATE credentials SET revoked_at = sqlc.arg(now) WHERE user_id = $1 AND identity_id = $2 AND revoked_at IS NULL;

-- name: LoginBegan :one
SELECT login_at FROM credentials WHERE id = $1;

-- name: RevokeConnectionLoginsOfUser :exec
UPDATE credentials SET revoked_at = sqlc.arg(now) WHERE user_id = $1 AND connection_id IS NOT NULL AND revoked_at IS NULL;

-- name: DeleteConnectionIdentitiesOfUser :exec
DELETE FROM sso_identities WHERE user_id = $1;

-- name: UsersOfConnection :many
SELECT user_id FROM sso_identities WHERE connection_id = $1 ORDER BY user_id;

-- name: RevokeConnectionLogins :exec
UPDATE credentials SET revoked_at = sqlc.arg(now) WHERE connection_id = $1 AND revoked_at IS NULL;

-- name: DeleteConnectionCodes :exec
DELETE FROM oauth_codes WHERE connection_id = $1;

-- name: DeleteConnectionChallengesOfUser :exec
DELETE FROM login_challenges WHERE user_id = $1 AND provider = $2;

-- name: DeleteConnectionFlows :exec
DELETE FROM oauth_flows WHERE connection_id = $1;

-- The tenant of a user. is_exempt reports whether the user owns a tenant that requires single
-- sign-on for the user's address.
-- name: LoginTenant :one
SELECT m.tenant_id,
    (c.required AND r.tenant_id IS NULL AND r.name = sqlc.arg(owner) AND EXISTS (
        SELECT 1 FROM tenant_domains d
        WHERE d.tenant_id = m.tenant_id AND d.status = 'verified' AND d.domain = sqlc.arg(domain)
    ))::boolean AS is_exempt
FROM memberships m
JOIN roles r ON r.id = m.role_id
JOIN sso_connections c ON c.tenant_id = m.tenant_id
WHERE m.user_id = $1;

-- name: TenantOf :one
SELECT tenant_id FROM memberships WHERE user_id = $1;

-- name: DeleteIdentities :many
DELETE FROM oauth_identities WHERE user_id = $1 RETURNING id, provider;

-- name: DeleteIdentitiesOfOtherEmails :many
DELETE FROM oauth_identities WHERE user_id = $1 AND email <> $2 RETURNING id, provider;

-- name: PasswordOf :one
SELECT password_hash FROM users WHERE id = $1;

-- name: DeleteEmailVerifications :exec
DELETE FROM email_verifications WHERE user_id = $1;

-- The logins of a user except the newest, newest first.
-- name: OldLogins :many
SELECT family FROM credentials
WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > sqlc.arg(now)
GROUP BY family
ORDER BY MIN(login_at) DESC, family
LIMIT 1000 OFFSET sqlc.arg(kept);

-- name: MoveExpiry :exec
UPDATE credentials SET expires_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- name: LiveSession :one
SELECT id, expires_at, family_expires_at FROM credentials
WHERE token_hash = $1 AND kind = 'session' AND revoked_at IS NULL AND expires_at > sqlc.arg(now);

-- name: ExtendSession :exec
UPDATE credentials SET expires_at = $2, family_expires_at = $3 WHERE id = $1 AND revoked_at IS NULL;

-- name: RevokeSession :exec
UPDATE credentials SET revoked_at = $2 WHERE token_hash = $1 AND kind = 'session' AND revoked_at IS NULL;

-- name: RevokeCredentialsOfUser :exec
UPDATE credentials SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL;

-- name: UsersWithExpiredCredentials :many
SELECT DISTINCT user_id FROM credentials
WHERE (family_expires_at < sqlc.arg(before) OR (kind <> 'refresh' AND expires_at < sqlc.arg(before)))
  AND impersonated_user_id IS NULL -- an impersonation is ended and logged first
ORDER BY user_id
LIMIT 500;

-- name: DeleteExpiredCredentialsOfUser :exec
DELETE FROM credentials
WHERE user_id = $1
  AND (family_expires_at < sqlc.arg(before) OR (kind <> 'refresh' AND expires_at < sqlc.arg(before)))
  AND impersonated_user_id IS NULL;

-- name: OwnerOfCredential :one
SELECT user_id FROM credentials WHERE token_hash = $1 AND kind = $2;

-- name: RevokeCredential :exec
UPDATE credentials SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- name: RevokeRefreshTokensOfUser :exec
UPDATE credentials SET revoked_at = $2 WHERE user_id = $1 AND kind = 'refresh' AND revoked_at IS NULL;

-- name: PutPasswordReset :exec
INSERT INTO password_resets (user_id, token_hash, expires_at, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE
SET token_hash = excluded.token_hash, expires_at = excluded.expires_at, created_at = excluded.created_at;

-- name: DeletePasswordReset :exec
DELETE FROM password_resets WHERE user_id = $1;

-- name: TakePasswordReset :execrows
DELETE FROM password_resets
WHERE user_id = $1 AND token_hash = $2 AND expires_at > sqlc.arg(now);

-- name: DeleteOneTimeCodes :exec
DELETE FROM oauth_codes WHERE user_id = $1;

-- name: RemovePassword :exec
UPDATE users SET password_hash = NULL, updated_at = $2 WHERE id = $1;

-- name: DeletePushSubscriptions :exec
DELETE FROM push_subscriptions WHERE user_id = $1;

-- name: LockUserByID :one
SELECT u.id, u.name, u.email, u.password_hash, u.is_platform_admin, u.platform_permissions, u.email_verified_at, u.locale, u.mfa_enabled
FROM users u
WHERE u.id = $1 AND u.deleted_at IS NULL
FOR UPDATE;

-- name: SetLocaleIfUnset :exec
UPDATE users SET locale = sqlc.arg(locale)::text WHERE id = $1 AND locale IS NULL;

-- name: SetExternalID :exec
UPDATE users SET external_id = $2, updated_at = $3 WHERE id = $1;

-- name: EmailOfExternalID :one
SELECT email FROM users WHERE external_id = sqlc.arg(external_id)::text;

-- name: RenameUser :one
UPDATE users SET name = $2, updated_at = $3 WHERE id = $1 RETURNING email;

-- name: MarkLogin :exec
UPDATE users SET last_login_at = $2 WHERE id = $1;

-- Returns no row if the credential is not an active session.
-- name: RenewSession :one
UPDATE credentials SET token_hash = $2
WHERE id = $1 AND kind = 'session' AND revoked_at IS NULL
RETURNING idle_seconds, family_expires_at;

-- name: PlatformAdmins :many
SELECT id, name, email, platform_permissions FROM users WHERE is_platform_admin ORDER BY id;

-- name: SetPlatformAdmin :exec
UPDATE users SET is_platform_admin = $2, platform_permissions = $3, updated_at = $4 WHERE id = $1;

-- name: DeleteUser :exec
DELETE FROM users WHERE id = $1;

-- One statement inserts or locks the row. Between two statements, another login could delete the row.
-- name: LockWrongPasswords :one
INSERT INTO wrong_passwords (email_hash, count, began_at, closed_until) VALUES ($1, 0, $2, $2)
ON CONFLICT (email_hash) DO UPDATE SET count = wrong_passwords.count
RETURNING count, began_at, closed_until;

-- name: UpdateWrongPasswords :exec
UPDATE wrong_passwords SET count = $2, began_at = $3, closed_until = $4 WHERE email_hash = $1;

-- name: DeleteWrongPasswords :exec
DELETE FROM wrong_passwords WHERE email_hash = $1;

-- name: DeleteOldWrongPasswords :exec
DELETE FROM wrong_passwords WHERE closed_until < sqlc.arg(before);

-- name: MarkIdentityUsed :exec
UPDATE oauth_identities SET last_used_at = $2 WHERE id = $1;

-- Marks the active credentials of a login as having passed the second factor. A login through single
-- sign-on is left out: its mark means that the login itself counts as two factors.
-- name: MarkFactorPassed :exec
UPDATE credentials SET mfa_passed = true WHERE user_id = $1 AND family = $2 AND revoked_at IS NULL AND connection_id IS NULL;

-- name: CountFactors :one
SELECT
    (SELECT count(*) FROM user_totp t WHERE t.user_id = $1 AND t.confirmed_at IS NOT NULL)::bigint AS totp,
    (SELECT count(*) FROM passkeys p WHERE p.user_id = $1)::bigint AS passkeys,
    (SELECT count(*) FROM recovery_codes r WHERE r.user_id = $1 AND r.used_at IS NULL)::bigint AS recovery_codes;

-- name: InsertLoginChallenge :exec
INSERT INTO login_challenges (challenge_hash, user_id, browser_hash, remember, revoke_previous, methods, provider, identity_id, is_new_user, expires_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: LoginChallenge :one
SELECT user_id, remember, revoke_previous, methods, provider, identity_id, is_new_user, passkey_session, expires_at
FROM login_challenges
WHERE challenge_hash = $1 AND browser_hash = $2 AND attempts < sqlc.arg(most) AND expires_at > sqlc.arg(now);

-- name: ReserveAttempt :one
UPDATE login_challenges SET attempts = attempts + 1
WHERE challenge_hash = $1 AND browser_hash = $2 AND attempts < sqlc.arg(most) AND expires_at > sqlc.arg(now)
RETURNING user_id, remember, revoke_previous, methods, provider, identity_id, is_new_user, passkey_session, expires_at;

-- name: SetPasskeySession :execrows
UPDATE login_challenges SET passkey_session = $2 WHERE challenge_hash = $1;

-- name: DeleteLoginChallenge :execrows
DELETE FROM login_challenges WHERE challenge_hash = $1;

-- name: DeleteLoginChallenges :exec
DELETE FROM login_challenges WHERE user_id = $1;

-- name: DeleteOldLoginChallenges :exec
DELETE FROM login_challenges WHERE expires_at <= sqlc.arg(now);

-- Returns the login before this one, or null.
-- name: UseDevice :one
INSERT INTO known_devices (user_id, device_hash, last_login_at) VALUES ($1, $2, $3)
ON CONFLICT (user_id, device_hash) DO UPDATE SET previous_login_at = known_devices.last_login_at, last_login_at = excluded.last_login_at
RETURNING previous_login_at;

-- name: DeleteOldDevices :exec
DELETE FROM known_devices WHERE last_login_at < sqlc.arg(before);

-- Inserts or locks the row of an address (see LockWrongPasswords).
-- name: LockEmailCode :one
INSERT INTO email_codes (email_hash, request_hash, browser_hash, mailed_at, expires_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (email_hash) DO UPDATE SET email_hash = excluded.email_hash
RETURNING user_id, mailed_at;

-- name: ReplaceEmailCode :exec
UPDATE email_codes SET request_hash = $2, browser_hash = $3, mailed_at = $4, expires_at = $5, code_hash = NULL, attempts = 0
WHERE email_hash = $1;

-- name: SetEmailCode :execrows
UPDATE email_codes SET user_id = $2, code_hash = $3
WHERE request_hash = $1 AND code_hash IS NULL AND expires_at > sqlc.arg(now);

-- name: ReserveEmailCode :one
UPDATE email_codes SET attempts = attempts + 1
WHERE request_hash = $1 AND browser_hash = $2 AND attempts < sqlc.arg(most) AND expires_at > sqlc.arg(now)
RETURNING user_id, code_hash;

-- name: UseEmailCode :execrows
UPDATE email_codes SET request_hash = email_hash, code_hash = NULL WHERE request_hash = $1 AND code_hash = $2;

-- Requests whose code is not mailed yet stay valid.
-- name: EndEmailCodes :exec
UPDATE email_codes SET request_hash = email_hash, code_hash = NULL WHERE user_id = $1 AND code_hash IS NOT NULL;

-- name: DeleteOldEmailCodes :exec
DELETE FROM email_codes WHERE expires_at < sqlc.arg(before);
