-- +goose Up
-- status is pending, accepted, revoked or expired. An invitation whose expires_at
-- has passed is expired even where pending is stored; it is only stored so once
-- another one for the email needs its place. token_hash is the SHA-256, in hex,
-- of the token that was mailed; each resend replaces it.
CREATE TABLE invitations (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    email text NOT NULL,
    role_id bigint NOT NULL REFERENCES roles (id),
    inviter_id bigint NOT NULL REFERENCES users (id),
    status text NOT NULL,
    token_hash text NOT NULL,
    expires_in_days integer NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX invitations_token_hash_key ON invitations (token_hash);
-- At most one invitation of a tenant waits for an email.
CREATE UNIQUE INDEX invitations_pending_key ON invitations (tenant_id, email) WHERE status = 'pending';
CREATE INDEX invitations_tenant_id_idx ON invitations (tenant_id, created_at);
CREATE INDEX invitations_role_id_idx ON invitations (role_id);
CREATE INDEX invitations_inviter_id_idx ON invitations (inviter_id);

-- Deleting a role looks for who holds it.
CREATE INDEX memberships_role_id_idx ON memberships (role_id);
