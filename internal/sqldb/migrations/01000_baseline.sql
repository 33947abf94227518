-- +goose Up
-- The schema, written for PostgreSQL. SQLite runs the same text with other types (see derive.go).
-- Where the databases need different text, it is written as: /* postgres: */ a /* sqlite: b */.
--
-- Conventions: money is in minor units of a currency, quantities of usage are in millionths,
-- times are in UTC. psp is the payment service provider. On PostgreSQL every key of the tables from
-- subscriptions to payments contains the tenant, so that Citus can distribute them (docs/adr/0030).

-- Installation and background work
-- --------------------------------

-- Facts about this database. The first start sets the key 'purpose', which never changes, so that
-- production and a sandbox cannot be mixed up.
CREATE TABLE installation (
    key text PRIMARY KEY,
    value text NOT NULL
);

-- Key pairs that the service generates for itself, by purpose.
CREATE TABLE platform_keys (
    name text PRIMARY KEY,
    public_key text NOT NULL,
    private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- Keys that sign tokens for backends, numbered in the order in which they sign. Of the keys that are
-- not retired, the first one signs and the second one is next. public_key is an uncompressed point of
-- P-256. private_key is encrypted, and null once the key is retired.
CREATE TABLE signing_keys (
    number bigint PRIMARY KEY,
    key_id text NOT NULL,
    public_key bytea NOT NULL,
    private_key text,
    active_at timestamp with time zone,
    retired_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

CREATE INDEX signing_keys_retired_at_idx ON signing_keys (retired_at);

-- The outbox of internal/jobs. A job waits (lease_id is null), runs (lease_id is set) or is dead
-- (dead_at is set); a completed job is deleted.
CREATE TABLE jobs (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    unique_key text,
    payload text NOT NULL,
    -- The tokens were removed from the payload of a dead job; it cannot be retried.
    is_emptied boolean NOT NULL DEFAULT false,
    periodic boolean NOT NULL DEFAULT false,
    -- The traceparent header (W3C) of the request that enqueued the job, or empty.
    origin text NOT NULL DEFAULT '',
    attempt integer NOT NULL DEFAULT 0,
    -- due_at and dead_at are the service's time, leased_until the machine's.
    due_at timestamp with time zone NOT NULL,
    lease_id uuid,
    leased_until timestamp with time zone,
    last_error text,
    dead_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- At most one job of a kind and key waits.
CREATE UNIQUE INDEX jobs_waiting_key ON jobs (kind, unique_key) WHERE lease_id IS NULL AND dead_at IS NULL;
CREATE INDEX jobs_dead_idx ON jobs (dead_at) WHERE dead_at IS NOT NULL;
-- Contains kind, so that the jobs of other lanes are skipped in the index.
CREATE INDEX jobs_due_idx ON jobs (due_at, kind) WHERE lease_id IS NULL AND dead_at IS NULL;
CREATE INDEX jobs_leased_until_idx ON jobs (leased_until) WHERE lease_id IS NOT NULL;
CREATE INDEX jobs_running_key_idx ON jobs (kind, unique_key) WHERE lease_id IS NOT NULL;

-- Rows imported from another system, so that a repeated import recognizes them. Neither hash
-- contains personal data.
CREATE TABLE imported (
    kind text NOT NULL,
    -- The SHA-256 of the ID in the other system.
    key_hash text NOT NULL,
    resource_id text NOT NULL,
    -- The digest of the last imported line.
    digest text NOT NULL,
    -- False if the row existed before the import.
    is_made boolean NOT NULL,
    imported_at timestamp with time zone NOT NULL,
    PRIMARY KEY (kind, key_hash)
);
CREATE INDEX imported_resource_id_idx ON imported (kind, resource_id);

-- Idempotency keys of requests, with the responses of successful requests. Rows are deleted after a
-- day. While lease_id is set, the request runs.
CREATE TABLE idempotency_keys (
    -- The SHA-256, in hex, of the caller, the path and the key.
    id text PRIMARY KEY,
    -- The SHA-256, in hex, of the request's body.
    body_hash text NOT NULL,
    lease_id uuid,
    -- created_at is the service's time, leased_until the machine's.
    leased_until timestamp with time zone NOT NULL,
    status integer NOT NULL DEFAULT 0,
    response bytea,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

-- Tenants and users
-- -----------------

-- An organization that buys. Deletion has three steps: from deleted_at on, access is denied and the
-- tenant can be restored; from purged_at on, its data is deleted; at emptied_at the deletion is
-- complete. The row remains because invoices must be retained by law.
CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    slug text NOT NULL,
    -- The ID and the data that the operator's own backend assigns to the tenant.
    external_id text,
    metadata jsonb NOT NULL DEFAULT '{}',
    -- The platform chose the owner, who therefore keeps the tenant when proving the email.
    owner_assigned boolean NOT NULL DEFAULT false,
    settings jsonb,
    preferred_currency text NOT NULL,
    legal_name text,
    address text,
    city text,
    postal_code text,
    country text,
    vat_number text,
    -- The registry's answer about vat_number (none, pending, valid, invalid or unknown), the name
    -- that it returned, and the time of its latest positive answer. After an unknown answer,
    -- vat_valid_at is kept for 30 days.
    vat_status text NOT NULL DEFAULT 'none',
    vat_name text,
    vat_valid_at timestamp with time zone,
    billing_email text,
    onboarding_completed_at timestamp with time zone,
    -- From this day on, members need a second factor; null means that none is required.
    require_mfa_from timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    purged_at timestamp with time zone,
    emptied_at timestamp with time zone,
    -- The last request of a member or of an API key, exact to five minutes.
    last_activity_at timestamp with time zone,
    -- Sort keys of the name (i18n.Collator) for Spanish and for the other locales.
    name_key bytea NOT NULL DEFAULT '',
    name_key_es bytea NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX tenants_slug_key ON tenants (slug);
CREATE UNIQUE INDEX tenants_external_id_key ON tenants (external_id);
CREATE INDEX tenants_created_at_idx ON tenants (created_at, id);
CREATE INDEX tenants_deleted_at_idx ON tenants (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX tenants_last_activity_at_idx ON tenants (last_activity_at, id);
CREATE INDEX tenants_latest_activity_idx ON tenants (last_activity_at DESC /* postgres: */ NULLS LAST /* sqlite:  */, id DESC);
CREATE INDEX tenants_name_key_idx ON tenants (name_key, id);
CREATE INDEX tenants_name_key_es_idx ON tenants (name_key_es, id);
CREATE INDEX tenants_vat_valid_at_idx ON tenants (vat_valid_at) WHERE vat_status = 'unknown';

-- Pictures of users, each stored once. hash is the SHA-256 of bytes, in hex.
CREATE TABLE avatars (
    hash text PRIMARY KEY,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- A user account. The row of a deleted user remains without personal data, because other rows refer
-- to it. Its email is not an address, so the user cannot log in.
CREATE TABLE users (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    email text NOT NULL,
    -- The ID that the operator's own backend assigns to the user.
    external_id text,
    email_verified_at timestamp with time zone,
    password_hash text,
    -- The language requested at registration; null if it is not supported.
    locale text,
    avatar_hash text REFERENCES avatars (hash),
    -- The user uploaded or deleted the avatar, so an identity provider must not change it.
    avatar_chosen boolean NOT NULL DEFAULT false,
    is_platform_admin boolean NOT NULL DEFAULT false,
    platform_permissions jsonb,
    -- The user has a second factor: a confirmed TOTP or a passkey. Every change of factors updates it.
    mfa_enabled boolean NOT NULL DEFAULT false,
    -- The constant random user handle of WebAuthn, in base64url; null before the first passkey.
    passkey_handle text,
    last_login_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    -- Sort keys of the name, as in tenants.
    name_key bytea NOT NULL DEFAULT '',
    name_key_es bytea NOT NULL DEFAULT ''
);
CREATE INDEX users_created_at_idx ON users (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX users_deleted_at_idx ON users (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX users_email_key ON users (email);
CREATE INDEX users_name_key_idx ON users (name_key, id) WHERE deleted_at IS NULL;
CREATE INDEX users_name_key_es_idx ON users (name_key_es, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX users_external_id_key ON users (external_id);
CREATE INDEX users_avatar_hash_idx ON users (avatar_hash) WHERE avatar_hash IS NOT NULL;

-- Search
-- ------

-- The words of tenants, domains, plans, meters, invoices and API keys, without case and accents.
-- is_whole marks a whole slug, code, number and the like. tenant_id is null for the platform's
-- objects and for tenants. internal/search writes the words in the transaction of the object.
CREATE TABLE search_words (
    kind text NOT NULL,
    id uuid NOT NULL,
    word text /* postgres: */ COLLATE "C" /* sqlite:  */ NOT NULL,
    is_whole boolean NOT NULL,
    tenant_id uuid,
    PRIMARY KEY (kind, id, word)
);
CREATE INDEX search_words_word_idx ON search_words (kind, word, id);
CREATE INDEX search_words_whole_idx ON search_words (kind, word, id) WHERE is_whole;
CREATE INDEX search_words_tenant_idx ON search_words (tenant_id, kind, word, id) WHERE tenant_id IS NOT NULL;

-- The words of the names (field name), emails (email) and IDs (id) of users.
CREATE TABLE user_words (
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    field text NOT NULL,
    word text /* postgres: */ COLLATE "C" /* sqlite:  */ NOT NULL,
    is_whole boolean NOT NULL,
    PRIMARY KEY (user_id, field, word)
);
CREATE INDEX user_words_word_idx ON user_words (word, user_id);
CREATE INDEX user_words_whole_idx ON user_words (word, user_id) WHERE is_whole;
CREATE INDEX user_words_email_idx ON user_words (word, user_id) WHERE field = 'email';

-- Login
-- -----

-- All credentials of users: access tokens, refresh tokens and sessions. They share a table, so that
-- one statement lists or revokes all of them.
CREATE TABLE credentials (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind text NOT NULL,
    token_hash text NOT NULL,
    -- Credentials that descend from one login form a family, which ends at family_expires_at.
    family uuid NOT NULL,
    family_expires_at timestamp with time zone NOT NULL,
    -- When the user logged in, independent of later refreshes.
    login_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    -- How long a session lives without use; 0 for tokens.
    idle_seconds bigint NOT NULL,
    -- The identity at a provider that was used to log in; null for other logins.
    identity_id uuid,
    -- The single sign-on connection of a tenant that was used to log in; null for other logins.
    connection_id uuid,
    -- How the user logged in, separated by spaces: pwd, oauth, email, sso, otp, passkey,
    -- recovery_code. A refresh keeps it.
    methods text NOT NULL DEFAULT '',
    -- The login passed two factors, passed one factor that counts as two, or enrolled a factor.
    mfa_passed boolean NOT NULL DEFAULT false,
    -- Set while a platform admin impersonates a user.
    impersonated_user_id bigint REFERENCES users (id),
    impersonated_tenant_id uuid REFERENCES tenants (id),
    -- Set when the impersonation has ended but the admin has not stopped it yet.
    impersonation_ended_at timestamp with time zone,
    -- When the impersonation ends by itself, why the admin started it, and whether it only reads.
    impersonation_expires_at timestamp with time zone,
    impersonation_reason text,
    impersonation_read_only boolean NOT NULL DEFAULT false,
    -- The expiry of an access token before it impersonated. The token gets it back at the end.
    own_expires_at timestamp with time zone,
    ip text NOT NULL DEFAULT '',
    user_agent text NOT NULL DEFAULT '',
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone
);
CREATE UNIQUE INDEX credentials_token_hash_key ON credentials (token_hash);
CREATE INDEX credentials_connection_id_idx ON credentials (connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX credentials_family_expires_at_idx ON credentials (family_expires_at);
CREATE INDEX credentials_impersonated_tenant_id_idx ON credentials (impersonated_tenant_id) WHERE impersonated_tenant_id IS NOT NULL;
CREATE INDEX credentials_impersonated_user_id_idx ON credentials (impersonated_user_id) WHERE impersonated_user_id IS NOT NULL;
CREATE INDEX credentials_impersonating_idx ON credentials (user_id, family) WHERE impersonated_user_id IS NOT NULL;
-- Only few rows of a user can still authenticate.
CREATE INDEX credentials_live_idx ON credentials (user_id) WHERE revoked_at IS NULL;
CREATE INDEX credentials_user_id_idx ON credentials (user_id);

-- Failed logins of an account from all IP addresses. email_hash is the SHA-256, in hex, of the
-- entered email, whether or not an account uses it.
CREATE TABLE wrong_passwords (
    email_hash text PRIMARY KEY,
    count bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    closed_until timestamp with time zone NOT NULL
);
CREATE INDEX wrong_passwords_closed_until_idx ON wrong_passwords (closed_until);

-- Password reset links. A user has one row, so only the newest token is valid.
CREATE TABLE password_resets (
    user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    token_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- Links that verify an email: the user's current email, or a new one that replaces it.
CREATE TABLE email_verifications (
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email text NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (user_id, email)
);
CREATE UNIQUE INDEX email_verifications_token_hash_key ON email_verifications (token_hash);
CREATE INDEX email_verifications_expires_at_idx ON email_verifications (expires_at);

-- A user's account at an identity provider. subject is the provider's ID, which does not change
-- when the email changes.
CREATE TABLE oauth_identities (
    provider text NOT NULL,
    subject text NOT NULL,
    id uuid NOT NULL,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The latest verified email at the provider.
    email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    PRIMARY KEY (provider, subject)
);
CREATE UNIQUE INDEX oauth_identities_id_key ON oauth_identities (id);
CREATE INDEX oauth_identities_user_id_idx ON oauth_identities (user_id);

-- Delegated logins in progress. browser_hash binds a login to the browser that started it.
CREATE TABLE oauth_flows (
    state_hash text PRIMARY KEY,
    browser_hash text NOT NULL,
    provider text NOT NULL,
    -- The single sign-on connection that is used instead of a provider, and whether the login only
    -- tests it.
    connection_id uuid,
    is_test boolean NOT NULL DEFAULT false,
    verifier text NOT NULL,
    nonce text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX oauth_flows_connection_id_idx ON oauth_flows (connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX oauth_flows_expires_at_idx ON oauth_flows (expires_at);

-- One-time codes with which the frontend fetches the result of a delegated login.
CREATE TABLE oauth_codes (
    code_hash text PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    is_new_user boolean NOT NULL,
    -- The identity that was used to log in.
    identity_id uuid NOT NULL,
    -- The single sign-on connection that the identity belongs to; null for other identities.
    connection_id uuid,
    expires_at timestamp with time zone NOT NULL,
    -- The hash of the key of the browser that started the login.
    browser_hash text NOT NULL DEFAULT '',
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX oauth_codes_connection_id_idx ON oauth_codes (connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX oauth_codes_expires_at_idx ON oauth_codes (expires_at);
CREATE INDEX oauth_codes_user_id_idx ON oauth_codes (user_id);

-- Second factors
-- --------------

-- The authenticator app of a user. It is a factor once confirmed_at is set. secret is encrypted (see
-- internal/secrets). No code of a time step at or before last_step is accepted.
CREATE TABLE user_totp (
    user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret text NOT NULL,
    last_step bigint NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL,
    confirmed_at timestamp with time zone,
    last_used_at timestamp with time zone
);

-- The passkeys of users. record is the complete credential record of the WebAuthn library;
-- credential_id is its ID in base64url.
CREATE TABLE passkeys (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name text NOT NULL,
    credential_id text NOT NULL,
    record jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);
CREATE UNIQUE INDEX passkeys_credential_id_key ON passkeys (credential_id);
CREATE INDEX passkeys_user_id_idx ON passkeys (user_id);

-- The recovery codes of users, as keyed hashes (see internal/secrets).
CREATE TABLE recovery_codes (
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    PRIMARY KEY (user_id, code_hash)
);

-- Logins that wait for a second factor. The columns after attempts describe the login that the
-- factor completes.
CREATE TABLE login_challenges (
    challenge_hash text PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    attempts bigint NOT NULL DEFAULT 0,
    -- The hash of the key of the browser that began the login; '' for a login without cookies.
    browser_hash text NOT NULL,
    remember boolean NOT NULL,
    revoke_previous boolean NOT NULL,
    methods text NOT NULL,
    -- The provider of a delegated login, or ''.
    provider text NOT NULL,
    identity_id uuid,
    is_new_user boolean NOT NULL,
    -- The challenge data of the WebAuthn library while a passkey is asked for.
    passkey_session jsonb,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX login_challenges_expires_at_idx ON login_challenges (expires_at);
CREATE INDEX login_challenges_user_id_idx ON login_challenges (user_id);

-- Requests of login codes by email. An address has one row, so only the newest request is valid.
-- Addresses without an account have rows, too, so that requests for them take the same time.
CREATE TABLE email_codes (
    email_hash text PRIMARY KEY,
    -- The hash of the request's ID; email_hash once the code is used up.
    request_hash text NOT NULL,
    -- The hash of the key of the browser that made the request; '' for a request without cookies.
    browser_hash text NOT NULL,
    -- Null until a code is mailed.
    user_id bigint REFERENCES users (id) ON DELETE CASCADE,
    code_hash text,
    attempts bigint NOT NULL DEFAULT 0,
    -- The times of the requests of the last hour that count as mails.
    mailed_at jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE INDEX email_codes_expires_at_idx ON email_codes (expires_at);
CREATE UNIQUE INDEX email_codes_request_hash_idx ON email_codes (request_hash);
CREATE INDEX email_codes_user_id_idx ON email_codes (user_id);

-- Challenges for the registration of a passkey, for the confirmation of a request, and for a login
-- with a passkey. user_id is null for a login, whose user is not known yet.
CREATE TABLE passkey_challenges (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    user_id bigint REFERENCES users (id) ON DELETE CASCADE,
    session jsonb NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX passkey_challenges_expires_at_idx ON passkey_challenges (expires_at);
CREATE INDEX passkey_challenges_user_id_idx ON passkey_challenges (user_id) WHERE user_id IS NOT NULL;

-- The pairs of browser and network that users logged in with, as a hash.
CREATE TABLE known_devices (
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    device_hash text NOT NULL,
    last_login_at timestamp with time zone NOT NULL,
    previous_login_at timestamp with time zone,
    PRIMARY KEY (user_id, device_hash)
);
CREATE INDEX known_devices_last_login_at_idx ON known_devices (last_login_at);

-- Browsers that receive push messages. p256dh and auth are base64url.
CREATE TABLE push_subscriptions (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX push_subscriptions_endpoint_key ON push_subscriptions (endpoint);
CREATE INDEX push_subscriptions_user_id_idx ON push_subscriptions (user_id);

-- Teams and API keys
-- ------------------

-- A role of a tenant, or a built-in role if tenant_id is null. name_key is the name after case
-- folding.
CREATE TABLE roles (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
    name text NOT NULL,
    name_key text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX roles_tenant_id_name_key ON roles (tenant_id, name_key);

-- The permissions of a role.
CREATE TABLE role_permissions (
    role_id bigint NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    permission text NOT NULL,
    PRIMARY KEY (role_id, permission)
);

INSERT INTO roles (tenant_id, name, name_key, created_at, updated_at) VALUES
    (NULL, 'owner', 'owner', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    (NULL, 'admin', 'admin', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    (NULL, 'member', 'member', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00');
INSERT INTO role_permissions (role_id, permission)
SELECT roles.id, permissions.name FROM roles, (
    SELECT 'tenant.update' AS name UNION ALL SELECT 'billing.manage' UNION ALL SELECT 'team.manage'
    UNION ALL SELECT 'team.invite' UNION ALL SELECT 'roles.manage' UNION ALL SELECT 'api_keys.manage'
    UNION ALL SELECT 'webhooks.manage' UNION ALL SELECT 'audit.view'
    UNION ALL SELECT 'sso.manage'
) AS permissions
WHERE roles.name_key IN ('owner', 'admin');

-- The role of a user in a tenant. A user belongs to at most one tenant (rules: team#members).
CREATE TABLE memberships (
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role_id bigint NOT NULL REFERENCES roles (id),
    joined_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
CREATE UNIQUE INDEX memberships_user_id_key ON memberships (user_id);
CREATE INDEX memberships_role_id_idx ON memberships (role_id);
CREATE INDEX memberships_tenant_id_role_id_idx ON memberships (tenant_id, role_id);

-- The domains of tenants. token is the secret part of the DNS record that proves control of a domain.
-- At most one tenant has verified a domain (rules: tenant#domains).
CREATE TABLE tenant_domains (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    domain text NOT NULL,
    status text NOT NULL,
    token text NOT NULL,
    auto_join boolean NOT NULL DEFAULT false,
    -- The role of users who join through the domain.
    role_id bigint NOT NULL REFERENCES roles (id),
    verified_at timestamp with time zone,
    last_checked_at timestamp with time zone,
    failed_checks bigint NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX tenant_domains_tenant_id_domain_key ON tenant_domains (tenant_id, domain);
CREATE UNIQUE INDEX tenant_domains_verified_key ON tenant_domains (domain) WHERE status = 'verified';
CREATE INDEX tenant_domains_role_id_idx ON tenant_domains (role_id);
CREATE INDEX tenant_domains_last_checked_at_idx ON tenant_domains (last_checked_at) WHERE status = 'verified';

-- The single sign-on connections of tenants. Another issuer or client_id makes another row.
-- client_secret is encrypted (see internal/secrets). set_by is the user who set the issuer and the
-- client_id, and set_permissions are the permissions of that user at the time, separated by commas
-- (rules: tenant#single-sign-on).
CREATE TABLE sso_connections (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    issuer text NOT NULL,
    client_id text NOT NULL,
    client_secret text NOT NULL,
    role_id bigint NOT NULL REFERENCES roles (id),
    provision_members boolean NOT NULL,
    required boolean NOT NULL,
    counts_as_mfa boolean NOT NULL,
    session_hours bigint NOT NULL,
    set_by bigint REFERENCES users (id) ON DELETE SET NULL,
    set_permissions text NOT NULL,
    last_login_at timestamp with time zone,
    last_error text,
    last_test_at timestamp with time zone,
    last_test_result text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX sso_connections_tenant_id_key ON sso_connections (tenant_id);
CREATE INDEX sso_connections_role_id_idx ON sso_connections (role_id);
CREATE INDEX sso_connections_set_by_idx ON sso_connections (set_by);

-- The accounts at the issuer of a connection. subject identifies a person, the email never does.
CREATE TABLE sso_identities (
    connection_id uuid NOT NULL REFERENCES sso_connections (id) ON DELETE CASCADE,
    subject text NOT NULL,
    id uuid NOT NULL,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The email in the latest ID token.
    email text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    PRIMARY KEY (connection_id, subject)
);
CREATE UNIQUE INDEX sso_identities_id_key ON sso_identities (id);
CREATE UNIQUE INDEX sso_identities_connection_id_user_id_key ON sso_identities (connection_id, user_id);
CREATE INDEX sso_identities_user_id_idx ON sso_identities (user_id);

-- The members of a deleted tenant, for a restore. No other code reads them: a member of a deleted
-- tenant can join another tenant.
CREATE TABLE former_memberships (
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role_id bigint NOT NULL REFERENCES roles (id),
    joined_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX former_memberships_role_id_idx ON former_memberships (role_id);
CREATE INDEX former_memberships_user_id_idx ON former_memberships (user_id);

-- Invitations to a tenant. An invitation is expired once expires_at has passed, even if status is
-- still pending.
CREATE TABLE invitations (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    email text NOT NULL,
    role_id bigint NOT NULL REFERENCES roles (id),
    -- Null for an invitation by an API key of the platform.
    inviter_id bigint REFERENCES users (id),
    status text NOT NULL,
    -- The SHA-256, in hex, of the mailed token. Each resend replaces it.
    token_hash text NOT NULL,
    expires_in_days integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
-- A tenant has at most one pending invitation for an email.
CREATE UNIQUE INDEX invitations_pending_key ON invitations (tenant_id, email) WHERE status = 'pending';
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
CREATE INDEX invitations_email_idx ON invitations (email);
CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);
CREATE INDEX invitations_inviter_id_idx ON invitations (inviter_id, created_at, id);
CREATE INDEX invitations_pending_idx ON invitations (tenant_id, created_at) WHERE status = 'pending';
CREATE INDEX invitations_role_id_idx ON invitations (role_id);
CREATE INDEX invitations_tenant_id_idx ON invitations (tenant_id, created_at);

-- Invitation mails sent to an address within the last hour, as a list of {tenant, at}. The row is
-- locked while they are counted.
CREATE TABLE invited_addresses (
    email text PRIMARY KEY,
    mails jsonb NOT NULL,
    last_sent_at timestamp with time zone NOT NULL
);
CREATE INDEX invited_addresses_last_sent_at_idx ON invited_addresses (last_sent_at);

-- Credentials of programs. tenant_id is null for a key of the platform.
CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
    name text NOT NULL,
    prefix text NOT NULL,
    secret_hash text NOT NULL,
    -- Sorted and separated by commas.
    scopes text NOT NULL,
    -- Null for a key that never expires.
    lifetime_days bigint,
    created_by bigint REFERENCES users (id) ON DELETE SET NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    -- When another key replaced this one.
    rotated_at timestamp with time zone,
    revoked_at timestamp with time zone
);
CREATE UNIQUE INDEX api_keys_secret_hash_key ON api_keys (secret_hash);
CREATE INDEX api_keys_created_by_idx ON api_keys (created_by);
CREATE INDEX api_keys_tenant_id_idx ON api_keys (tenant_id, created_at);

-- Catalog
-- -------

-- Currencies that prices can be in.
CREATE TABLE currencies (
    code text PRIMARY KEY,
    name text NOT NULL,
    symbol text NOT NULL,
    minor_units integer NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES
    ('EUR', 'Euro', '€', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    ('USD', 'US Dollar', '$', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00'),
    ('GBP', 'Pound Sterling', '£', 2, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00');

-- A product groups plans. name and description are objects keyed by locale.
CREATE TABLE products (
    id uuid PRIMARY KEY,
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    is_active boolean NOT NULL DEFAULT true,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX products_slug_key ON products (slug) WHERE deleted_at IS NULL;

-- A plan of a product, with a billing interval. name and description are objects keyed by locale.
CREATE TABLE plans (
    id uuid PRIMARY KEY,
    product_id uuid NOT NULL REFERENCES products (id),
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    pricing_type text NOT NULL,
    billing_cycle text NOT NULL,
    interval_unit text NOT NULL,
    interval_count integer NOT NULL,
    trial_days integer NOT NULL DEFAULT 0,
    -- Whether a trial takes a card at its beginning.
    trial_requires_card boolean NOT NULL DEFAULT true,
    sort_order integer NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    -- The plan of tenants without a subscription that sets limits.
    is_default boolean NOT NULL DEFAULT false,
    metadata jsonb,
    -- The provider's product, which has the plan's name.
    psp_product_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX plans_slug_key ON plans (slug) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX plans_is_default_key ON plans (is_default) WHERE is_default AND deleted_at IS NULL;
CREATE INDEX plans_product_id_idx ON plans (product_id);

-- The price of a plan in a currency.
CREATE TABLE plan_prices (
    id uuid PRIMARY KEY,
    plan_id uuid NOT NULL REFERENCES plans (id),
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    psp_price_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX plan_prices_plan_id_currency_key ON plan_prices (plan_id, currency);
-- The prices of a plan are different prices at the provider.
CREATE UNIQUE INDEX plan_prices_plan_id_psp_price_id_key ON plan_prices (plan_id, psp_price_id);
CREATE INDEX plan_prices_psp_price_id_idx ON plan_prices (psp_price_id);

-- A pack of prepaid units of a meter. name and description are objects keyed by locale; amount is in
-- millionths.
CREATE TABLE packs (
    id uuid PRIMARY KEY,
    slug text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    -- The code of a meter that adds up or counts its events.
    feature_code text NOT NULL,
    amount bigint NOT NULL,
    -- Days from the payment until the units expire; null for never.
    expires_after_days integer,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX packs_slug_key ON packs (slug) WHERE deleted_at IS NULL;

-- The price of a pack in a currency.
CREATE TABLE pack_prices (
    id uuid PRIMARY KEY,
    pack_id uuid NOT NULL REFERENCES packs (id),
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX pack_prices_pack_id_currency_key ON pack_prices (pack_id, currency);

-- A promotion code with its discount. name is an object keyed by locale; percent_off is in hundredths of
-- a percent; amounts is a list of amounts by currency, and plan_ids a list of plans, empty for all.
CREATE TABLE discounts (
    id uuid PRIMARY KEY,
    code text NOT NULL,
    -- The code in upper case.
    code_key text NOT NULL,
    name jsonb NOT NULL,
    percent_off bigint,
    amounts jsonb NOT NULL,
    duration text NOT NULL,
    months integer,
    plan_ids jsonb NOT NULL,
    first_purchase_only boolean NOT NULL,
    max_redemptions bigint,
    max_per_tenant bigint,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    is_active boolean NOT NULL,
    redemptions bigint NOT NULL DEFAULT 0,
    -- The provider's promotion code; null before the first use.
    psp_code_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX discounts_code_key ON discounts (code_key) WHERE deleted_at IS NULL;

-- A feature that plans can include. name and description are objects keyed by locale.
CREATE TABLE features (
    id uuid PRIMARY KEY,
    code text NOT NULL,
    name jsonb NOT NULL,
    description jsonb,
    is_active boolean NOT NULL DEFAULT true,
    is_system boolean NOT NULL DEFAULT false,
    sort_order integer NOT NULL DEFAULT 0,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX features_code_key ON features (code) WHERE deleted_at IS NULL;

INSERT INTO features (id, code, name, description, is_active, is_system, created_at, updated_at) VALUES
    ('019b76da-a800-7000-8000-000000000001', 'team-members',
     '{"en":"Team members","fr":"Membres de l’équipe","es":"Miembros del equipo","it":"Membri del team"}',
     NULL, true, true, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00');

-- A feature that a plan includes. value is the quota, null for a boolean feature.
CREATE TABLE entitlements (
    id uuid PRIMARY KEY,
    plan_id uuid NOT NULL REFERENCES plans (id),
    feature_id uuid NOT NULL REFERENCES features (id),
    type text NOT NULL,
    value bigint,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX entitlements_plan_id_feature_id_key ON entitlements (plan_id, feature_id);
CREATE INDEX entitlements_feature_id_idx ON entitlements (feature_id);

-- A meter aggregates usage. The row of a deleted meter remains, because events refer to it; its
-- code can be used again.
CREATE TABLE meters (
    id uuid PRIMARY KEY,
    code text NOT NULL,
    name text NOT NULL,
    aggregation_type text NOT NULL,
    reset_interval text NOT NULL,
    quota_enforcement text NOT NULL,
    unit_label text,
    is_active boolean NOT NULL DEFAULT true,
    -- Whether one of the prices is linked to the provider. It is a column because a transaction
    -- that has waited for the meter's lock sees the current meter, but older rows of other tables.
    is_billable boolean NOT NULL DEFAULT false,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);
CREATE UNIQUE INDEX meters_code_key ON meters (code) WHERE deleted_at IS NULL;

-- The price of one unit of a meter in a currency. unit_price_cents is an exact decimal of minor
-- units, such as 0.0025, with up to 12 decimals.
CREATE TABLE meter_prices (
    id uuid PRIMARY KEY,
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL REFERENCES currencies (code),
    unit_price_cents text NOT NULL,
    psp_price_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX meter_prices_meter_id_currency_key ON meter_prices (meter_id, currency);
CREATE INDEX meter_prices_psp_price_id_idx ON meter_prices (psp_price_id);

-- Every price of the provider that a meter was ever linked to, with the unit price at that time.
-- Subscriptions continue to use the price that they were bought with.
CREATE TABLE meter_links (
    psp_price_id text PRIMARY KEY,
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL,
    unit_price_cents text NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- The provider's price of a meter in a currency from a time on; null if usage is not billed from
-- then on. Written under the meter's lock.
CREATE TABLE meter_sales (
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL,
    since timestamp with time zone NOT NULL,
    psp_price_id text,
    PRIMARY KEY (meter_id, currency, since)
);

-- A price or product that is about to be created at the provider. The row is committed before the
-- request, and key is the idempotency key, so that a retry after a lost response finds the same
-- object.
CREATE TABLE psp_catalog_operations (
    target_id uuid PRIMARY KEY,
    key uuid NOT NULL,
    request jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- The last known state of a price at the provider. unit_amount is an exact decimal of minor units,
-- or empty for a price without a single amount.
CREATE TABLE psp_price_states (
    psp_price_id text PRIMARY KEY,
    psp_product_id text NOT NULL,
    is_missing boolean NOT NULL,
    is_active boolean NOT NULL,
    currency text NOT NULL,
    unit_amount text NOT NULL,
    interval_unit text NOT NULL,
    interval_count bigint NOT NULL,
    is_metered boolean NOT NULL,
    read_at timestamp with time zone NOT NULL
);
CREATE INDEX psp_price_states_psp_product_id_idx ON psp_price_states (psp_product_id);

-- Subscriptions
-- -------------

-- The customer of a tenant at the provider.
CREATE TABLE psp_customers (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
    psp_customer_id text NOT NULL,
    -- The registration of the tenant's VAT number as the customer's tax ID: the type and the value,
    -- or null; the provider's ID, null until the provider has accepted the value; the time of the
    -- registry's latest answer. tax_id_version counts the registrations and is part of the
    -- idempotency key.
    tax_id_version bigint NOT NULL DEFAULT 0,
    tax_id_type text,
    tax_id_value text,
    psp_tax_id text,
    tax_id_answered_at timestamp with time zone,
    -- When the expiry of the card was last checked (initially the time of creation), and the time from
    -- which the last sent reminder was due, which identifies the reminder.
    card_checked_at timestamp with time zone,
    card_told timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- PostgreSQL only: a customer belongs to one tenant. Citus cannot enforce it.
CREATE UNIQUE INDEX psp_customers_psp_customer_id_key ON psp_customers (psp_customer_id);
CREATE INDEX psp_customers_card_checked_at_idx ON psp_customers (card_checked_at);
CREATE INDEX psp_customers_psp_tax_id_idx ON psp_customers (psp_tax_id) WHERE psp_tax_id IS NOT NULL;
CREATE INDEX psp_customers_tax_id_answered_at_idx ON psp_customers (tax_id_answered_at, tenant_id) WHERE tax_id_answered_at IS NOT NULL;

-- Customers that were deleted at the provider. Their invoices still belong to the tenant. The
-- number of these rows is part of the idempotency key of the next customer.
CREATE TABLE former_psp_customers (
    psp_customer_id text PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    deleted_at timestamp with time zone NOT NULL
);
CREATE INDEX former_psp_customers_tenant_id_idx ON former_psp_customers (tenant_id);

-- The tenants of subscriptions, invoices and checkout sessions at the provider, by their IDs.
CREATE TABLE psp_tenants (
    psp_id text PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE
);
CREATE INDEX psp_tenants_tenant_id_idx ON psp_tenants (tenant_id);

-- The subscription of a tenant to a plan, as last read from the provider.
CREATE TABLE subscriptions (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    status text NOT NULL,
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    quantity bigint NOT NULL,
    -- Members who left and whose seats are still billed.
    departures bigint NOT NULL DEFAULT 0,
    interval_unit text NOT NULL,
    interval_count integer NOT NULL,
    billing_anchor timestamp with time zone NOT NULL,
    current_period_start timestamp with time zone NOT NULL,
    current_period_end timestamp with time zone NOT NULL,
    -- Billing terms that ended within the last 31 days, with their end. They define interrupted
    -- quota windows, which continue with the tenant's next subscription.
    former_billing jsonb,
    trial_ends_at timestamp with time zone,
    -- The trial end that the tenant was notified of.
    trial_end_told timestamp with time zone,
    -- The period end that the tenant was reminded of.
    renewal_told timestamp with time zone,
    -- Whether the subscription or its customer has a payment method, as last read.
    has_payment_method boolean NOT NULL DEFAULT true,
    -- The trial end for which the tenant was asked to add a payment method.
    card_asked_for timestamp with time zone,
    -- When the subscription ends, even if that is not the end of a period.
    cancel_at timestamp with time zone,
    cancel_at_period_end boolean NOT NULL DEFAULT false,
    canceled_at timestamp with time zone,
    cancellation_reason text,
    psp_subscription_id text NOT NULL,
    psp_price_id text,
    -- Increases with each state read from the provider.
    sync_version bigint NOT NULL,
    -- When reconciliation last found the subscription in the provider's list.
    seen_at timestamp with time zone,
    -- The action that the latest invoice requires from the customer, and the page for it.
    payment_action text,
    payment_url text,
    -- The oldest invoice whose payment has failed, and the first failed attempt, while the
    -- subscription is past_due. grace_ended means that the end of the grace period was published.
    unpaid_psp_invoice_id text,
    unpaid_since timestamp with time zone,
    grace_ended boolean NOT NULL DEFAULT false,
    -- A change that waits for the payment of an invoice.
    pending_plan_id uuid REFERENCES plans (id),
    pending_psp_price_id text,
    pending_psp_invoice_id text,
    pending_expires_at timestamp with time zone,
    pending_quantity bigint,
    pending_price_cents bigint,
    -- The caller who requested the pending change; null if the provider did.
    pending_by jsonb,
    -- A change at the end of the period, and the provider's schedule that manages the subscription.
    scheduled_change jsonb,
    psp_schedule_id text,
    -- How the customer pays (card, invoice), the days to pay a sent invoice (null for card), the
    -- customer's purchase order, and whether the price was agreed with the customer.
    collection text NOT NULL DEFAULT 'card',
    days_until_due integer,
    purchase_order text,
    custom_price boolean NOT NULL DEFAULT false,
    -- The items that bill usage, with their prices, as last read; null before the first read.
    metered_items jsonb,
    -- The start of the period that the latest decision about metered_items applies to, and the
    -- decision.
    metered_period timestamp with time zone,
    metered_terms jsonb,
    -- The discount, and its ID at the provider: null while it is yet to be applied there.
    discount_id uuid REFERENCES discounts (id),
    psp_discount_id text,
    discount_ends_at timestamp with time zone,
    -- The part of price_cents times quantity that a lasting discount takes off.
    discount_cents bigint NOT NULL DEFAULT 0,
    -- The sync_version in the journal (0 if there is none), since when it applies, its monthly
    -- amount, whether it counts, and the plan that counts or is on trial. At journaled_until, a
    -- discount ends and the amount becomes journaled_next.
    journaled_version bigint NOT NULL DEFAULT 0,
    journaled_at timestamp with time zone,
    journaled_amount bigint NOT NULL DEFAULT 0,
    journaled_active boolean NOT NULL DEFAULT false,
    journaled_until timestamp with time zone,
    journaled_next bigint NOT NULL DEFAULT 0,
    journaled_plan_id uuid,
    journaled_trial_plan_id uuid,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */)
);
-- A tenant has at most one subscription that is not canceled or incomplete_expired.
CREATE UNIQUE INDEX subscriptions_one_per_tenant_key ON subscriptions (tenant_id) WHERE status NOT IN ('canceled', 'incomplete_expired');
CREATE UNIQUE INDEX subscriptions_psp_subscription_id_key ON subscriptions (psp_subscription_id /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX subscriptions_live_status_idx ON subscriptions (status) WHERE status NOT IN ('canceled', 'incomplete_expired');
-- The number of subscriptions per price of a plan, read from the index only.
CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id, currency, price_cents, interval_unit, interval_count)
    WHERE status NOT IN ('canceled', 'incomplete_expired');
CREATE INDEX subscriptions_tenant_id_idx ON subscriptions (tenant_id, created_at);
CREATE INDEX subscriptions_created_at_idx ON subscriptions (created_at, id);
CREATE INDEX subscriptions_current_period_end_idx ON subscriptions (current_period_end, id);
CREATE INDEX subscriptions_trial_ends_at_idx ON subscriptions (trial_ends_at) WHERE status = 'trialing';
-- The monthly amounts of tenants, read from the index only.
CREATE INDEX subscriptions_revenue_idx ON subscriptions (tenant_id, currency, journaled_amount, journaled_until, journaled_next) WHERE journaled_active;
-- The subscriptions whose renewal is announced.
CREATE INDEX subscriptions_renewal_idx ON subscriptions (current_period_end)
    WHERE status IN ('active', 'past_due') AND cancel_at IS NULL AND NOT cancel_at_period_end;
CREATE INDEX subscriptions_grace_idx ON subscriptions (unpaid_since) WHERE status = 'past_due' AND NOT grace_ended;
CREATE INDEX subscriptions_unjournaled_idx ON subscriptions (id) WHERE journaled_version <> sync_version;

-- A hosted checkout, written before its session is requested: id is the idempotency key of that
-- request.
CREATE TABLE checkouts (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    quantity bigint NOT NULL,
    -- The subscription that the checkout replaces once it is paid.
    replaces_subscription_id uuid,
    discount_id uuid REFERENCES discounts (id),
    psp_session_id text,
    -- When the provider was last queried about the checkout.
    looked_at timestamp with time zone,
    completed_at timestamp with time zone,
    -- When the provider expired the session.
    expired_at timestamp with time zone,
    -- When a paid checkout was rejected: its subscription never becomes the tenant's.
    refused_at timestamp with time zone,
    -- The request of the platform that makes a subscription without a checkout, and until when a
    -- caller works on it. Null for a checkout.
    contract jsonb,
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT checkouts_replaces_subscription_id_fkey FOREIGN KEY (replaces_subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES subscriptions (id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE UNIQUE INDEX checkouts_psp_session_id_key ON checkouts (psp_session_id /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX checkouts_tenant_id_idx ON checkouts (tenant_id, created_at);
-- A tenant has at most one subscription without a checkout that is being created.
CREATE UNIQUE INDEX checkouts_contract_key ON checkouts (tenant_id)
    WHERE contract IS NOT NULL AND completed_at IS NULL AND expired_at IS NULL AND refused_at IS NULL;

-- The redemption of a discount. id is the ID of the checkout or operation that redeems it. Until
-- redeemed_at is set, the row reserves a use of the discount: until held_until, or until the provider
-- has closed the session.
CREATE TABLE discount_redemptions (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    discount_id uuid NOT NULL REFERENCES discounts (id),
    held_until timestamp with time zone,
    redeemed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE INDEX discount_redemptions_tenant_id_idx ON discount_redemptions (tenant_id, discount_id);
CREATE INDEX discount_redemptions_held_idx ON discount_redemptions (discount_id) WHERE redeemed_at IS NULL;

-- A checkout of packs. The row copies the terms of the pack, because they can change before the payment.
CREATE TABLE pack_purchases (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    pack_id uuid NOT NULL REFERENCES packs (id),
    pack text NOT NULL,
    feature_code text NOT NULL,
    -- The units of one pack, in millionths.
    amount bigint NOT NULL,
    expires_after_days integer,
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    quantity bigint NOT NULL,
    psp_session_id text,
    -- When the provider was last queried about the session.
    looked_at timestamp with time zone,
    -- When the units had been granted and the invoice of the payment stored.
    completed_at timestamp with time zone,
    -- When the session expired or its payment failed.
    ended_at timestamp with time zone,
    -- When the whole payment was found to be refunded.
    refunded_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE UNIQUE INDEX pack_purchases_psp_session_id_key ON pack_purchases (psp_session_id /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX pack_purchases_tenant_id_idx ON pack_purchases (tenant_id, created_at);
-- The sessions that can still be paid or granted.
CREATE INDEX pack_purchases_open_idx ON pack_purchases (created_at) WHERE completed_at IS NULL AND ended_at IS NULL;

-- The override of a feature for one tenant, which has precedence over the plan. type is boolean,
-- quota or none; value is the limit of a quota, null for unlimited. An override that has expired has
-- no effect, and a job deletes it.
CREATE TABLE limit_overrides (
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    feature_id uuid NOT NULL REFERENCES features (id),
    type text NOT NULL,
    value bigint,
    expires_at timestamp with time zone,
    reason text NOT NULL,
    -- The user or API key that set it, and its name then.
    by_type text NOT NULL,
    by_id text NOT NULL,
    by_name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, feature_id)
);
CREATE INDEX limit_overrides_expires_at_idx ON limit_overrides (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX limit_overrides_feature_id_idx ON limit_overrides (feature_id);

-- An amount of credit that the platform gave to a tenant, or deducted if it is negative. The row is
-- committed before the provider is called, and id is the idempotency key of that request. Until
-- applied_at is set, the row is leased to the request that works on it. leased_until is real time.
CREATE TABLE credit_entries (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id uuid NOT NULL,
    psp_customer_id text NOT NULL,
    amount_cents bigint NOT NULL,
    currency text NOT NULL REFERENCES currencies (code),
    reason text NOT NULL,
    -- The user or API key that changed the credit, and its name then.
    by_type text NOT NULL,
    by_id text NOT NULL,
    by_name text NOT NULL,
    -- The caller and the source of the request, for the audit trail.
    origin jsonb NOT NULL,
    -- Identifies a request with an idempotency key.
    request_id text,
    leased_until timestamp with time zone NOT NULL,
    applied_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- A tenant has at most one amount that is not applied yet.
CREATE UNIQUE INDEX credit_entries_pending_key ON credit_entries (tenant_id) WHERE applied_at IS NULL;
CREATE INDEX credit_entries_request_id_idx ON credit_entries (tenant_id, request_id) WHERE request_id IS NOT NULL;

-- The SHA-256, in hex, of the entitlements that webhooks were last notified of; empty before that.
CREATE TABLE entitlement_digests (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    digest text NOT NULL
);

-- Trials of tenants: at most one per product, permanently. The row is written with the subscription
-- that starts with the trial.
CREATE TABLE trials (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    product_id uuid NOT NULL REFERENCES products (id),
    subscription_id uuid NOT NULL,
    -- The owner of the tenant when the trial began.
    owner_id bigint,
    began_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, product_id),
    CONSTRAINT trials_subscription_id_fkey FOREIGN KEY (subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES subscriptions (id /* postgres: */ , tenant_id /* sqlite:  */)
);

CREATE INDEX trials_owner_id_idx ON trials (owner_id, product_id);

-- The latest preview of a change to a plan. It is binding: a change within 15 minutes costs the
-- same or is rejected. asked is the requested number of seats, or 0 for as many as needed; quantity
-- is the resulting number.
CREATE TABLE change_previews (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    asked bigint NOT NULL,
    discount text NOT NULL, -- the ID of the discount of the change, or empty
    actor text NOT NULL, -- the user or API key that was shown the preview, whose change it binds
    quantity bigint NOT NULL,
    proration_date timestamp with time zone NOT NULL,
    credit_cents bigint NOT NULL,
    charge_cents bigint NOT NULL,
    pending_cents bigint NOT NULL,
    usage_cents bigint NOT NULL, -- in addition to charge_cents
    shown_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, plan_id, asked, discount, actor)
);

-- A change of a subscription at the provider, written before the first request: id is the
-- idempotency key and request the body, so that a retry repeats the same write. state is pending,
-- done, failed (rejected by the provider) or abandoned (its effect was read from the provider
-- instead).
CREATE TABLE psp_operations (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid NOT NULL,
    request jsonb NOT NULL,
    state text NOT NULL,
    -- Another worker processes the operation until then.
    leased_until timestamp with time zone NOT NULL,
    -- For the audit trail: the previous subscription, and the actor.
    origin jsonb,
    -- When the audit entry was written.
    recorded_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT psp_operations_subscription_id_fkey FOREIGN KEY (subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES subscriptions (id /* postgres: */ , tenant_id /* sqlite:  */)
);
-- A subscription has at most one pending change.
CREATE UNIQUE INDEX psp_operations_pending_key ON psp_operations (subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
    WHERE state = 'pending';
CREATE INDEX psp_operations_tenant_id_idx ON psp_operations (tenant_id, created_at);

-- Items at the provider that were waiting for the next invoice when a change began that takes effect
-- once it is paid. The invoice of the change includes these items. If that invoice is voided, the items
-- are created again.
CREATE TABLE waiting_items (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid NOT NULL,
    operation_id uuid NOT NULL,
    psp_item_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, subscription_id, psp_item_id),
    CONSTRAINT waiting_items_operation_id_fkey FOREIGN KEY (operation_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES psp_operations (id /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT waiting_items_subscription_id_fkey FOREIGN KEY (subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES subscriptions (id /* postgres: */ , tenant_id /* sqlite:  */)
);

-- Changes of monthly recurring revenue (MRR). Amounts are in minor units per month; day counts the
-- days (UTC) since 1970. kind is new, expansion, contraction or ended. at is when the change took
-- effect; it is in the future if a discount ends then. tenant_id is null once the tenant is purged.
CREATE TABLE subscription_journal (
    id uuid PRIMARY KEY,
    tenant_id uuid,
    subscription_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    day bigint NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    amount_before bigint NOT NULL,
    amount_after bigint NOT NULL,
    -- subscription_days includes the entry.
    is_folded boolean NOT NULL DEFAULT false
);
CREATE INDEX subscription_journal_tenant_id_idx ON subscription_journal (tenant_id) WHERE tenant_id IS NOT NULL;
CREATE INDEX subscription_journal_subscription_id_idx ON subscription_journal (subscription_id);
CREATE INDEX subscription_journal_unfolded_idx ON subscription_journal (id) WHERE NOT is_folded;

-- The history of each subscription in one row, so that analytics read few rows (rules:
-- stats#analytics). events is the text of the events in the order in which they were stored
-- (package journal). customer is a random number of the tenant; it stays after the purge, when
-- tenant_id is null.
CREATE TABLE subscription_histories (
    subscription_id uuid PRIMARY KEY,
    tenant_id uuid,
    customer bigint NOT NULL,
    currency text NOT NULL,
    events text NOT NULL
);
CREATE INDEX subscription_histories_tenant_id_idx ON subscription_histories (tenant_id, customer) WHERE tenant_id IS NOT NULL;

-- Sums of the folded journal entries of a day, over all tenants.
CREATE TABLE subscription_days (
    currency text NOT NULL,
    day bigint NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (currency, day, kind)
);

-- Exchange rates: units of the currency for one unit of the base, as a decimal. day counts the days
-- since 1970.
CREATE TABLE exchange_rates (
    base text NOT NULL,
    day bigint NOT NULL,
    currency text NOT NULL,
    rate text NOT NULL,
    PRIMARY KEY (base, day, currency)
);

-- Usage
-- -----

-- A stream is the usage of one tenant on one meter. Its row is the lock under which events are
-- stored and counters change.
CREATE TABLE usage_streams (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    meter_id uuid NOT NULL REFERENCES meters (id),
    -- usage_hours contains the events recorded before this time; null without such events.
    summed_before timestamp with time zone,
    -- Events recorded before this time can be deleted, with their keys in usage_keys; null without
    -- deleted events.
    pruned_before timestamp with time zone,
    -- Totals of the deleted events, so that a meter that never resets can be recounted. The sum is
    -- pruned_units + pruned_millionths / 1,000,000.
    pruned_events bigint NOT NULL DEFAULT 0,
    pruned_units bigint NOT NULL DEFAULT 0,
    pruned_millionths bigint NOT NULL DEFAULT 0,
    pruned_highest bigint NOT NULL DEFAULT 0,
    pruned_last bigint NOT NULL DEFAULT 0,
    pruned_last_at timestamp with time zone,
    -- The part of the deleted events that was drawn from grants.
    pruned_granted_units bigint NOT NULL DEFAULT 0,
    pruned_granted_millionths bigint NOT NULL DEFAULT 0,
    -- The tenant's own limit in whole units; null for none.
    cap bigint,
    -- The caller who set the cap.
    cap_by jsonb,
    -- Grants may have remaining units until this time; null without such grants. Later recordings do not
    -- read grants.
    granted_until timestamp with time zone,
    -- Reservations may be open until this time; null if the stream never had a reservation. Later
    -- recordings do not read reservations.
    reserved_until timestamp with time zone,
    PRIMARY KEY (tenant_id, meter_id)
);
CREATE INDEX usage_streams_cap_by_idx ON usage_streams (tenant_id) WHERE cap_by IS NOT NULL;

-- Units that a tenant can use in addition to the limit of a meter. Events draw from valid grants by
-- priority, then by expiry, then by age. The amounts are units + millionths / 1,000,000. A deleted
-- grant stays, so that a purchase is granted once.
CREATE TABLE usage_grants (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    meter_id uuid NOT NULL,
    amount_units bigint NOT NULL,
    amount_millionths bigint NOT NULL,
    -- The remaining units, which can be used until the grant expires.
    units bigint NOT NULL,
    millionths bigint NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    -- Null for never.
    expires_at timestamp with time zone,
    priority integer NOT NULL,
    -- admin or purchase.
    source text NOT NULL,
    reason text,
    -- For a purchase: the slug of the pack, the invoice, and the checkout session at the provider.
    pack text,
    invoice_id uuid,
    psp_session_id text,
    -- The caller who created the grant; null for a purchase.
    author jsonb,
    -- When events used the last unit; null if units remain or were voided.
    used_up_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE UNIQUE INDEX usage_grants_session_key ON usage_grants (tenant_id, psp_session_id) WHERE psp_session_id IS NOT NULL;
-- The grants with remaining units.
CREATE INDEX usage_grants_rest_idx ON usage_grants (tenant_id, meter_id) WHERE units + millionths > 0;
CREATE INDEX usage_grants_expires_at_idx ON usage_grants (expires_at) WHERE expires_at IS NOT NULL AND units + millionths > 0;

-- Units that are held for work in progress. A reservation is open until it is settled, released or
-- expires. A row without an event can be opened again.
CREATE TABLE usage_reservations (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    meter_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    -- In millionths.
    quantity bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone,
    -- The event that settled it.
    event_id uuid,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE UNIQUE INDEX usage_reservations_key ON usage_reservations (tenant_id, meter_id, idempotency_key);
-- Contains the quantity, so that sums only read the index.
CREATE INDEX usage_reservations_open_idx ON usage_reservations (tenant_id, expires_at, meter_id, quantity)
    WHERE event_id IS NULL AND released_at IS NULL;
CREATE INDEX usage_reservations_expires_at_idx ON usage_reservations (expires_at);

-- A usage event. The primary key is the order in which the events of a period are read. There is no
-- foreign key to usage_streams: an event is inserted under the lock of its stream.
CREATE TABLE usage_events (
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    id uuid NOT NULL,
    -- In millionths.
    quantity bigint NOT NULL,
    idempotency_key text,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL,
    -- The part that was drawn from grants, in millionths; null for none.
    granted bigint,
    PRIMARY KEY (tenant_id, meter_id, recorded_at, id)
);
-- At most one event per tenant, meter and key, even under concurrency.
CREATE UNIQUE INDEX usage_events_idempotency_key ON usage_events (tenant_id, meter_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- Idempotency keys of deleted events. They remain used until expires_at.
CREATE TABLE usage_keys (
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, meter_id, idempotency_key),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX usage_keys_expires_at_idx ON usage_keys (expires_at);

-- The aggregate of a stream from period_start (inclusive) to period_end (exclusive), updated in the
-- transaction that stores an event. A row can be deleted at any time; the next event rebuilds it.
-- A meter that never resets counts from the year 1 to the year 9999. The total is
-- units + millionths / 1,000,000. last_recorded_at is null unless the meter shows the last value.
CREATE TABLE usage_counters (
    tenant_id uuid NOT NULL,
    period_end timestamp with time zone NOT NULL,
    meter_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    units bigint NOT NULL DEFAULT 0,
    millionths bigint NOT NULL DEFAULT 0,
    last_recorded_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    -- The part of the events that was drawn from grants.
    granted_units bigint NOT NULL DEFAULT 0,
    granted_millionths bigint NOT NULL DEFAULT 0,
    -- The number of events that a limit rejected. A rebuilt row starts at 0.
    rejected bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, period_end, meter_id, period_start),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
-- Does not start with meter_id, because SQLite would then use it for lookups by tenant.
CREATE INDEX usage_counters_period_end_idx ON usage_counters (period_end, meter_id);

-- Sums of the events of an hour (UTC), for long time series. hour counts the hours since 1970.
CREATE TABLE usage_hours (
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    hour bigint NOT NULL,
    events bigint NOT NULL,
    units bigint NOT NULL,
    millionths bigint NOT NULL,
    highest bigint NOT NULL,
    -- The last recorded quantity, at last_at.
    last bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, meter_id, hour),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);

-- A soft quota reached a threshold (in percent), once per period and threshold. sent_at is null
-- until mails and push messages are queued.
CREATE TABLE usage_alerts (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    period_end timestamp with time zone NOT NULL,
    threshold integer NOT NULL,
    -- The usage and the quota at the time of the alert.
    units bigint NOT NULL DEFAULT 0,
    millionths bigint NOT NULL DEFAULT 0,
    quota bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE UNIQUE INDEX usage_alerts_once_key ON usage_alerts (tenant_id, meter_id, period_start, period_end, quota, threshold);
CREATE INDEX usage_alerts_created_at_idx ON usage_alerts (created_at, id);
CREATE INDEX usage_alerts_tenant_id_idx ON usage_alerts (tenant_id, created_at, id);

-- Events rejected because of a quota, per hour (UTC).
CREATE TABLE quota_refusals (
    tenant_id uuid NOT NULL,
    hour bigint NOT NULL,
    meter_id uuid NOT NULL,
    refused bigint NOT NULL,
    PRIMARY KEY (tenant_id, hour, meter_id),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
-- Contains the count, so that sums only read the index.
CREATE INDEX quota_refusals_sums_idx ON quota_refusals (hour, tenant_id, refused);

-- Events that a tenant without a subscription recorded on its latest day (days since 1970, UTC).
CREATE TABLE usage_days (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
    day bigint NOT NULL,
    events bigint NOT NULL
);

-- Rejected events of all tenants per day (UTC). A day is divided into parts to reduce lock
-- contention between tenants.
CREATE TABLE quota_refusal_days (
    day bigint NOT NULL,
    part integer NOT NULL,
    refused bigint NOT NULL,
    PRIMARY KEY (day, part)
);

-- Files to which events were written before their deletion. state is writing, written (the file is
-- complete) or done (its events are deleted). day is part of the file's name.
CREATE TABLE usage_archives (
    day text NOT NULL,
    part integer NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (day, part)
);
CREATE INDEX usage_archives_unfinished_idx ON usage_archives (created_at) WHERE state <> 'done';

-- The progress of a recount of all usage, so that an interrupted recount resumes. At most one row.
CREATE TABLE usage_recounts (
    id integer PRIMARY KEY,
    after_tenant uuid NOT NULL,
    after_meter uuid NOT NULL,
    streams bigint NOT NULL,
    counters bigint NOT NULL,
    skipped bigint NOT NULL,
    wrong bigint NOT NULL,
    reached_at timestamp with time zone NOT NULL
);

-- Billing of usage
-- ----------------

-- Queue of figures to report to the provider: 64 bytes each, the billable events of one
-- transaction. reported counts the figures that were sent. A completed row is deleted.
CREATE TABLE usage_reports (
    id uuid PRIMARY KEY,
    events bytea NOT NULL,
    reported integer NOT NULL DEFAULT 0,
    -- When the next figures were first sent. After a long time the provider's idempotency has
    -- expired.
    tried_at timestamp with time zone,
    -- The figures are not reported until then, because the prices of their period are not decided.
    held_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

-- Completed rows of usage_reports, kept for some days: the provider can reject a figure later and
-- then only sends its ID.
CREATE TABLE usage_told (
    id uuid PRIMARY KEY,
    events bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX usage_told_created_at_idx ON usage_told (created_at);

-- Figures rejected by the provider, until an operator retries or discards them. id is the ID of the
-- figure at the provider.
CREATE TABLE usage_refusals (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    quantity bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    refused_at timestamp with time zone NOT NULL,
    -- When an operator decided. The row remains for some days, so that a repeated notification does
    -- not list the figure again.
    decided_at timestamp with time zone,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX usage_refusals_decided_at_idx ON usage_refusals (decided_at) WHERE decided_at IS NOT NULL;
CREATE INDEX usage_refusals_refused_at_idx ON usage_refusals (refused_at, id);
CREATE INDEX usage_refusals_tenant_id_idx ON usage_refusals (tenant_id);

-- For billed last_value meters that never reset: usage_reports contains, or contained, the values at
-- the start of the billing periods that began by reported_until.
CREATE TABLE usage_peaks (
    meter_id uuid PRIMARY KEY REFERENCES meters (id),
    reported_until timestamp with time zone NOT NULL
);

-- Invoices and payments
-- ---------------------

-- The provider's invoices, as last read, so that figures need no request. id is derived from the
-- provider's ID and never changes. status is null until the invoice is read.
CREATE TABLE psp_invoices (
    psp_invoice_id text NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id uuid NOT NULL,
    status text,
    number text,
    currency text,
    total_cents bigint NOT NULL DEFAULT 0,
    paid_cents bigint NOT NULL DEFAULT 0,
    open_cents bigint NOT NULL DEFAULT 0,
    refunded_cents bigint NOT NULL DEFAULT 0,
    -- The issue date, and its year (UTC).
    issued_at timestamp with time zone,
    year integer,
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamp with time zone,
    -- The last failed payment, or null. failed_key distinguishes it from the previous one.
    failed_at timestamp with time zone,
    failed_key text,
    decline_code text,
    -- The last failed payment that the tenant was notified of.
    failed_event text,
    -- Whether the tenant was notified of the last attempt to collect the invoice.
    last_attempt_told boolean NOT NULL DEFAULT false,
    -- Whether the invoice is sent to the customer instead of being charged, when it is due, whether
    -- its mail was enqueued, when it was mailed, and when the next reminder is due.
    is_sent boolean NOT NULL DEFAULT false,
    due_at timestamp with time zone,
    mail_queued boolean NOT NULL DEFAULT false,
    mailed_at timestamp with time zone,
    next_reminder_at timestamp with time zone,
    -- The request to mark the invoice as paid, and until when a caller works on it.
    marking jsonb,
    marking_leased_until timestamp with time zone,
    -- Until when a caller voids the invoice.
    void_leased_until timestamp with time zone,
    -- The last webhook event of the invoice: none, the issue, or the end.
    told text NOT NULL DEFAULT '',
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (psp_invoice_id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE UNIQUE INDEX psp_invoices_tenant_id_id_key ON psp_invoices (tenant_id, id);
CREATE INDEX psp_invoices_failed_idx ON psp_invoices (tenant_id, failed_at) WHERE status = 'open' AND failed_at IS NOT NULL;
CREATE INDEX psp_invoices_next_attempt_idx ON psp_invoices (next_attempt_at) WHERE status = 'open' AND NOT last_attempt_told;
CREATE INDEX psp_invoices_next_reminder_idx ON psp_invoices (next_reminder_at) WHERE status = 'open' AND next_reminder_at IS NOT NULL;
CREATE INDEX psp_invoices_sums_idx ON psp_invoices (tenant_id, year, currency, status, paid_cents, open_cents, refunded_cents);

-- The invoices of all tenants as lists across tenants show them, drafts included: issued by this
-- service or by the provider, as last read. body is the whole invoice. number_key is the number in
-- upper case, or empty for a draft.
CREATE TABLE invoice_copies (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    status text NOT NULL,
    number_key text /* postgres: */ COLLATE "C" /* sqlite:  */ NOT NULL,
    currency text NOT NULL,
    total_cents bigint NOT NULL,
    -- The unpaid amount of an open invoice, otherwise 0.
    due_cents bigint NOT NULL,
    issue_date timestamp with time zone NOT NULL,
    due_date timestamp with time zone,
    -- Whether this service has issued the invoice, which must therefore be retained.
    is_issued boolean NOT NULL,
    body jsonb NOT NULL
);
-- Contains what lists filter by and add up, so that sums only read the index.
CREATE INDEX invoice_copies_issue_date_idx ON invoice_copies (issue_date, id, status, currency, total_cents, due_cents, due_date);
CREATE INDEX invoice_copies_tenant_id_idx ON invoice_copies (tenant_id, issue_date, id, currency, total_cents, due_cents);
CREATE INDEX invoice_copies_status_idx ON invoice_copies (status, issue_date, id, currency, total_cents, due_cents);
CREATE INDEX invoice_copies_total_idx ON invoice_copies (currency, total_cents, id, due_cents, status, issue_date, due_date);
CREATE INDEX invoice_copies_largest_total_idx ON invoice_copies (currency, total_cents DESC, id DESC);
CREATE INDEX invoice_copies_due_date_idx ON invoice_copies (due_date, id);
CREATE INDEX invoice_copies_latest_due_date_idx ON invoice_copies (due_date DESC /* postgres: */ NULLS LAST /* sqlite:  */, id DESC);
CREATE INDEX invoice_copies_overdue_idx ON invoice_copies (due_date, currency, total_cents, due_cents) WHERE status = 'open';
CREATE INDEX invoice_copies_number_idx ON invoice_copies (number_key, id);

-- The sums of the invoice copies of each tenant, so that lists know their totals.
CREATE TABLE invoice_sums (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    currency text NOT NULL,
    invoices bigint NOT NULL,
    total_cents bigint NOT NULL,
    due_cents bigint NOT NULL,
    PRIMARY KEY (tenant_id, currency)
);
CREATE INDEX invoice_sums_due_idx ON invoice_sums (tenant_id) WHERE due_cents > 0;

-- The plan or meter that a line of a provider's invoice billed, with its name by locale when the
-- line was first read. Later changes of prices and names do not affect it.
CREATE TABLE psp_invoice_lines (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    psp_line_id text NOT NULL,
    psp_price_id text NOT NULL,
    plan_id uuid,
    meter_id uuid,
    name jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, psp_line_id)
);
CREATE INDEX psp_invoice_lines_psp_price_id_idx ON psp_invoice_lines (tenant_id, psp_price_id, created_at);

-- The last invoice number of each year. The row is locked until the invoice with the next number is
-- stored, so that numbers have no gaps.
CREATE TABLE invoice_numbers (
    year integer PRIMARY KEY,
    last bigint NOT NULL
);

-- Invoices issued by this service. Amounts are in minor units; total includes tax.
CREATE TABLE invoices (
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid,
    psp_invoice_id text NOT NULL,
    psp_payment_intent_id text,
    number text NOT NULL,
    year integer NOT NULL,
    sequence bigint NOT NULL,
    status text NOT NULL,
    -- The action that an open invoice requires from the customer, and the provider's page for it.
    payment_action text,
    payment_url text,
    currency text NOT NULL,
    subtotal_cents bigint NOT NULL,
    tax_cents bigint NOT NULL,
    total_cents bigint NOT NULL,
    -- The part of the total that the customer's credit paid; negative if the invoice increased the
    -- credit.
    balance_applied_cents bigint DEFAULT 0 NOT NULL,
    tax_rate bigint NOT NULL,
    issue_date timestamp with time zone NOT NULL,
    due_date timestamp with time zone,
    paid_at timestamp with time zone,
    billing_info jsonb NOT NULL,
    vat_number text,
    purchase_order text,
    -- Whether the payer owes the tax, decided when the invoice is issued.
    is_reverse_charge boolean NOT NULL DEFAULT false,
    locale text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (id /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT invoices_subscription_id_fkey FOREIGN KEY (subscription_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES subscriptions (id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE UNIQUE INDEX invoices_number_key ON invoices (number /* postgres: */ , tenant_id /* sqlite:  */);
CREATE UNIQUE INDEX invoices_psp_invoice_id_key ON invoices (psp_invoice_id /* postgres: */ , tenant_id /* sqlite:  */);
CREATE UNIQUE INDEX invoices_year_sequence_key ON invoices (year, sequence /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX invoices_tenant_id_idx ON invoices (tenant_id, issue_date, id);

-- The lines of an invoice.
CREATE TABLE invoice_lines (
    invoice_id uuid NOT NULL,
    position integer NOT NULL,
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    description text NOT NULL,
    type text NOT NULL,
    quantity bigint NOT NULL,
    unit_price_cents bigint NOT NULL,
    amount_cents bigint NOT NULL,
    -- The part that a discount takes off.
    discount_cents bigint NOT NULL DEFAULT 0,
    plan_id uuid REFERENCES plans (id),
    meter_id uuid REFERENCES meters (id),
    period_start timestamp with time zone,
    period_end timestamp with time zone,
    PRIMARY KEY (invoice_id, position /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT invoice_lines_invoice_id_fkey FOREIGN KEY (invoice_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES invoices (id /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE UNIQUE INDEX invoice_lines_id_key ON invoice_lines (id /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX invoice_lines_tenant_id_idx ON invoice_lines (tenant_id);

-- The PDF of an invoice, rendered once.
CREATE TABLE invoice_documents (
    invoice_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (invoice_id /* postgres: */ , tenant_id /* sqlite:  */),
    CONSTRAINT invoice_documents_invoice_id_fkey FOREIGN KEY (invoice_id /* postgres: */ , tenant_id /* sqlite:  */)
        REFERENCES invoices (id /* postgres: */ , tenant_id /* sqlite:  */)
);
-- Finds whether a document exists without reading its bytes.
CREATE UNIQUE INDEX invoice_documents_tenant_key ON invoice_documents (tenant_id, invoice_id);

-- The last number of the credit notes of each year, as in invoice_numbers.
CREATE TABLE credit_note_numbers (
    year integer PRIMARY KEY,
    last bigint NOT NULL
);

-- Credit notes of invoices, those made at the provider too. Amounts are in minor units; total includes
-- tax.
CREATE TABLE credit_notes (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id uuid NOT NULL,
    invoice_id uuid NOT NULL,
    psp_invoice_id text NOT NULL,
    -- Null while the request is pending.
    psp_credit_note_id text,
    number text,
    -- The position in the series of this service; null if the provider numbers credit notes.
    year integer,
    sequence bigint,
    -- pending, issued or void.
    status text NOT NULL,
    currency text NOT NULL,
    subtotal_cents bigint NOT NULL DEFAULT 0,
    tax_cents bigint NOT NULL DEFAULT 0,
    total_cents bigint NOT NULL DEFAULT 0,
    settlement text NOT NULL,
    reason text NOT NULL,
    memo text,
    issue_date timestamp with time zone,
    -- The refund at the provider, and its status: pending, succeeded or failed.
    psp_refund_id text,
    refund_status text,
    -- The refund that replaces a failed one, with its caller; null unless its outcome is unknown.
    retry jsonb,
    psp_pdf_url text,
    -- The request, with its caller; null if the credit note was made at the provider.
    request jsonb,
    -- Whether a response has reported the credit note.
    is_answered boolean NOT NULL DEFAULT false,
    leased_until timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- A tenant has at most one request whose outcome is unknown.
CREATE UNIQUE INDEX credit_notes_pending_key ON credit_notes (tenant_id) WHERE status = 'pending';
CREATE UNIQUE INDEX credit_notes_psp_credit_note_id_key ON credit_notes (tenant_id, psp_credit_note_id);
CREATE UNIQUE INDEX credit_notes_number_key ON credit_notes (year, sequence /* postgres: */ , tenant_id /* sqlite:  */);
CREATE INDEX credit_notes_invoice_id_idx ON credit_notes (tenant_id, invoice_id);
CREATE INDEX credit_notes_issue_date_idx ON credit_notes (tenant_id, issue_date, id);
CREATE INDEX credit_notes_latest_idx ON credit_notes (issue_date, id, currency, total_cents) WHERE status <> 'pending';

-- The lines of a credit note. line_id is the line of the invoice, or null.
CREATE TABLE credit_note_lines (
    tenant_id uuid NOT NULL,
    credit_note_id uuid NOT NULL,
    position integer NOT NULL,
    line_id uuid,
    description text NOT NULL,
    amount_cents bigint NOT NULL,
    PRIMARY KEY (tenant_id, credit_note_id, position),
    CONSTRAINT credit_note_lines_credit_note_id_fkey FOREIGN KEY (tenant_id, credit_note_id) REFERENCES credit_notes (tenant_id, id) ON DELETE CASCADE
);

-- The PDF of a credit note, rendered once.
CREATE TABLE credit_note_documents (
    tenant_id uuid NOT NULL,
    credit_note_id uuid NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, credit_note_id),
    CONSTRAINT credit_note_documents_credit_note_id_fkey FOREIGN KEY (tenant_id, credit_note_id) REFERENCES credit_notes (tenant_id, id)
);

-- Events of invoices and payments, for time lines. key identifies the event of an invoice, so that
-- it is stored once. happened_at is the provider's time if known.
CREATE TABLE payment_entries (
    id /* postgres: */ bigint GENERATED BY DEFAULT AS IDENTITY /* sqlite: INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT */,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    invoice_id uuid NOT NULL,
    key text NOT NULL,
    type text NOT NULL,
    currency text NOT NULL,
    amount_cents bigint NOT NULL,
    decline_code text,
    next_attempt_at timestamp with time zone,
    happened_at timestamp with time zone NOT NULL
    /* postgres: */ , PRIMARY KEY (id, tenant_id) /* sqlite:  */
);
CREATE UNIQUE INDEX payment_entries_once_key ON payment_entries (tenant_id, invoice_id, key);
CREATE INDEX payment_entries_failed_idx ON payment_entries (happened_at) WHERE type = 'payment.failed';
CREATE INDEX payment_entries_happened_at_idx ON payment_entries (happened_at, id);
CREATE INDEX payment_entries_tenant_id_idx ON payment_entries (tenant_id, happened_at, id);

-- Notifications of the provider
-- -----------------------------

-- Inbox of the provider's notifications. Each event ID occurs once.
CREATE TABLE psp_events (
    id text PRIMARY KEY,
    type text NOT NULL,
    object_id text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    handled_at timestamp with time zone
);
CREATE INDEX psp_events_received_at_idx ON psp_events (received_at);
-- Notifications about the same object are handled together.
CREATE INDEX psp_events_waiting_idx ON psp_events (object_id) WHERE handled_at IS NULL;

-- The time up to which the provider's event list was read. At most one row.
CREATE TABLE psp_cursor (
    id integer PRIMARY KEY CHECK (id = 1),
    taken_until timestamp with time zone NOT NULL
);

-- Webhooks
-- --------

-- One row, which is locked while a platform endpoint is added.
CREATE TABLE webhook_platform (
    id integer PRIMARY KEY
);

INSERT INTO webhook_platform (id) VALUES (1);

-- A URL that receives events of a tenant, or of the platform if tenant_id is null. types is a
-- sorted, comma-separated list, or * for all. secrets is a JSON array, newest secret first
-- (rules: webhooks#secrets).
CREATE TABLE webhook_endpoints (
    id uuid PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
    url text NOT NULL,
    types text NOT NULL,
    description text,
    is_enabled boolean NOT NULL,
    disabled_reason text,
    secrets text NOT NULL,
    -- The first failure since the last success.
    failing_since timestamp with time zone,
    last_delivery_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_endpoints_failing_since_idx ON webhook_endpoints (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX webhook_endpoints_tenant_id_idx ON webhook_endpoints (tenant_id, created_at);

-- An event as it is sent. It is stored only if an endpoint subscribes to it. It can outlive its
-- tenant, so tenant_id is not a foreign key.
CREATE TABLE webhook_events (
    id uuid PRIMARY KEY,
    tenant_id uuid,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_events_created_at_idx ON webhook_events (created_at);

-- The delivery of an event to an endpoint; also the queue. next_attempt_at is null after the last
-- attempt. attempt counts since the last restart of the delivery; attempts is a JSON array of all.
CREATE TABLE webhook_deliveries (
    id uuid PRIMARY KEY,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    event_id uuid NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
    type text NOT NULL,
    status text NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    attempts text NOT NULL DEFAULT '[]',
    next_attempt_at timestamp with time zone,
    lease_id uuid,
    -- Machine time; next_attempt_at is service time.
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_created_at_idx ON webhook_deliveries (created_at, id);
CREATE INDEX webhook_deliveries_ended_idx ON webhook_deliveries (status, created_at);
CREATE INDEX webhook_deliveries_event_id_idx ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_status_idx ON webhook_deliveries (endpoint_id, status, created_at);
CREATE INDEX webhook_deliveries_type_idx ON webhook_deliveries (endpoint_id, type, created_at);

-- The requests and responses of the last attempts of a delivery, which lists do not read. number
-- counts the attempts from 1. request_headers and response_headers are JSON objects. Without a
-- stored response, the response columns are null.
CREATE TABLE webhook_exchanges (
    delivery_id uuid NOT NULL REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    number integer NOT NULL,
    url text NOT NULL,
    request_headers text NOT NULL,
    response_headers text,
    response_body bytea,
    is_truncated boolean NOT NULL,
    PRIMARY KEY (delivery_id, number)
);

-- Failed deliveries without attempts left, for time lines. status is the status of the last
-- response, or null. tenant_id is null for an endpoint of the platform.
CREATE TABLE webhook_failures (
    delivery_id uuid PRIMARY KEY REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    tenant_id uuid,
    status integer,
    attempts integer NOT NULL,
    failed_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_failures_endpoint_id_idx ON webhook_failures (endpoint_id);
CREATE INDEX webhook_failures_failed_at_idx ON webhook_failures (failed_at, delivery_id);
CREATE INDEX webhook_failures_tenant_id_idx ON webhook_failures (tenant_id, failed_at, delivery_id);

-- Request log
-- -----------

-- Requests to the API in the last days. tenant_id is the tenant that sees the request, or null. During
-- impersonation, user_id is the admin and subject_id the impersonated user. There are no foreign
-- keys: rows outlive the rows they name, and an insert locks nothing.
CREATE TABLE request_logs (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    tenant_id uuid,
    -- Whether only platform admins see the request.
    is_hidden boolean NOT NULL,
    at timestamp with time zone NOT NULL,
    method text NOT NULL,
    -- The template of the path, and the path. Both are null if no route matched.
    route text,
    path text,
    status integer NOT NULL,
    duration_ms bigint NOT NULL,
    code text,
    api_key_id uuid,
    user_id bigint,
    subject_id bigint,
    subject_reason text,
    ip text NOT NULL
);
CREATE INDEX request_logs_at_idx ON request_logs (at, id);
CREATE INDEX request_logs_at_status_idx ON request_logs (at, id) WHERE status >= 400;
CREATE INDEX request_logs_tenant_id_idx ON request_logs (tenant_id, at, id);
CREATE INDEX request_logs_tenant_id_status_idx ON request_logs (tenant_id, at, id) WHERE status >= 400;
CREATE INDEX request_logs_tenant_id_route_idx ON request_logs (tenant_id, route, at, id);
CREATE INDEX request_logs_api_key_id_idx ON request_logs (api_key_id, at, id) WHERE api_key_id IS NOT NULL;
CREATE INDEX request_logs_user_id_idx ON request_logs (user_id, at, id) WHERE user_id IS NOT NULL;

-- Intervals of at most a second whose requests are missing in the log. tenant_id is null for
-- requests without a tenant.
CREATE TABLE request_log_gaps (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    tenant_id uuid,
    began_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL
);
CREATE INDEX request_log_gaps_ended_at_idx ON request_log_gaps (ended_at);
CREATE INDEX request_log_gaps_tenant_id_idx ON request_log_gaps (tenant_id, ended_at);

-- Audit trail
-- -----------

-- The audit trail; rows are only added. actor_id made the change (null: the command line or the
-- service), as subject_id during impersonation. There are no foreign keys: entries outlive the rows
-- they name.
CREATE TABLE audit_logs (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    actor_id bigint,
    -- The impersonated user, and the reason of the impersonation.
    subject_id bigint,
    subject_reason text,
    tenant_id uuid,
    -- The API key that made the change; null for users.
    api_key_id uuid,
    action text NOT NULL,
    resource text NOT NULL,
    resource_id text NOT NULL,
    before jsonb,
    after jsonb,
    ip text NOT NULL,
    user_agent text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX audit_logs_action_idx ON audit_logs (action, created_at);
CREATE INDEX audit_logs_actor_id_idx ON audit_logs (actor_id, created_at);
CREATE INDEX audit_logs_created_at_idx ON audit_logs (created_at, id);
CREATE INDEX audit_logs_tenant_id_action_idx ON audit_logs (tenant_id, action, created_at);
CREATE INDEX audit_logs_tenant_id_idx ON audit_logs (tenant_id, created_at);

-- The number of entries of each past day (UTC) and action, so that lists know their length. A
-- counted day has a row with an empty action. The row with an empty day is a lock.
CREATE TABLE audit_days (
    day text NOT NULL,
    action text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (day, action)
);

INSERT INTO audit_days (day, action, entries) VALUES ('', '', 0);

-- The number of entries of a tenant before a midnight (UTC), so that lists know their length. The
-- row with the zero UUID holds the time until which days were counted.
CREATE TABLE audit_tenants (
    tenant_id uuid PRIMARY KEY,
    entries bigint NOT NULL,
    counted_before timestamp with time zone NOT NULL
);

-- The impersonation log; rows are only added (rules: impersonation#log). There are no foreign keys:
-- entries outlive the rows they name, and an insert locks neither users nor tenants.
CREATE TABLE impersonation_logs (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    impersonator_id bigint NOT NULL,
    impersonated_id bigint NOT NULL,
    tenant_id uuid NOT NULL,
    action text NOT NULL,
    reason text,
    read_only boolean NOT NULL,
    ip_address text NOT NULL,
    user_agent text,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX impersonation_logs_created_at_idx ON impersonation_logs (created_at, id);
CREATE INDEX impersonation_logs_impersonated_id_idx ON impersonation_logs (impersonated_id, created_at);
CREATE INDEX impersonation_logs_impersonator_id_idx ON impersonation_logs (impersonator_id, created_at);
