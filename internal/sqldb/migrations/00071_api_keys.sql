-- +goose Up
-- What programs authenticate with. tenant_id is null for a key of the platform. scopes
-- are sorted and separated by commas. lifetime_days is null for a key that never expires;
-- rotated_at is when another key took its place.
CREATE TABLE api_keys (
    id uuid PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
    name text NOT NULL,
    prefix text NOT NULL,
    secret_hash text NOT NULL,
    scopes text NOT NULL,
    lifetime_days bigint,
    created_by bigint REFERENCES users (id) ON DELETE SET NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    rotated_at timestamp with time zone
);
CREATE UNIQUE INDEX api_keys_secret_hash_key ON api_keys (secret_hash);
CREATE INDEX api_keys_tenant_id_idx ON api_keys (tenant_id, created_at);
CREATE INDEX api_keys_created_by_idx ON api_keys (created_by);

-- The key that made a change; null for people.
ALTER TABLE audit_logs ADD COLUMN api_key_id uuid;

INSERT INTO role_permissions (role_id, permission)
SELECT r.id, 'api_keys.manage' FROM roles r WHERE r.tenant_id IS NULL AND r.name IN ('owner', 'admin');
