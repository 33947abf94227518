-- +goose Up
-- The administration's list of tenants, newest first.
CREATE INDEX tenants_created_at_idx ON tenants (created_at, id);
-- How many members of a tenant have a role. The index on role_id alone has every tenant's.
CREATE INDEX memberships_tenant_id_role_id_idx ON memberships (tenant_id, role_id);
-- Those of a tenant that can be accepted, among all that it ever made.
CREATE INDEX invitations_pending_idx ON invitations (tenant_id, created_at) WHERE status = 'pending';
-- The trail of one tenant by one action.
CREATE INDEX audit_logs_tenant_id_action_idx ON audit_logs (tenant_id, action, created_at);

-- How many entries the trail has of each finished day (UTC) and action, so that their
-- number is known without walking through them. Each counted day has a row with an empty
-- action and no entries. The row with an empty day is there for its lock alone.
CREATE TABLE audit_days (
    day text NOT NULL,
    action text NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (day, action)
);
INSERT INTO audit_days (day, action, entries) VALUES ('', '', 0);
