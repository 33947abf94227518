-- +goose Up
-- A tenant is deleted in three steps. From deleted_at on nobody has access, and it can be
-- restored; at purged_at its data began to go for good; at emptied_at all of it was gone.
-- The row stays for the invoices that the law wants kept.
ALTER TABLE tenants ADD COLUMN deleted_at timestamp with time zone;
ALTER TABLE tenants ADD COLUMN purged_at timestamp with time zone;
ALTER TABLE tenants ADD COLUMN emptied_at timestamp with time zone;
CREATE INDEX tenants_deleted_at_idx ON tenants (deleted_at) WHERE deleted_at IS NOT NULL;

-- Who was in a deleted tenant, for a restore. Nothing else looks here: a member of a
-- deleted tenant is in none, and can join another.
CREATE TABLE former_memberships (
    tenant_id uuid NOT NULL REFERENCES tenants (id) ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role_id bigint NOT NULL REFERENCES roles (id),
    joined_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX former_memberships_user_id_idx ON former_memberships (user_id);
CREATE INDEX former_memberships_role_id_idx ON former_memberships (role_id);
