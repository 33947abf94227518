-- +goose Up
-- Where a tenant, or the platform for a null tenant_id, wants to be told what happens.
-- types are sorted and separated by commas, or a star for all. secrets is a JSON array of
-- what signs, the newest first (rules: webhooks#secrets). failing_since is the first
-- failure since the last success.
CREATE TABLE webhook_endpoints (
    id uuid PRIMARY KEY,
    tenant_id uuid REFERENCES tenants (id) ON DELETE CASCADE,
    url text NOT NULL,
    types text NOT NULL,
    description text,
    is_enabled boolean NOT NULL,
    disabled_reason text,
    secrets text NOT NULL,
    failing_since timestamp with time zone,
    last_delivery_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_endpoints_tenant_id_idx ON webhook_endpoints (tenant_id, created_at);
CREATE INDEX webhook_endpoints_failing_since_idx ON webhook_endpoints (failing_since) WHERE failing_since IS NOT NULL;

-- What happened, as it is sent. An event is stored only where somebody listens, and may
-- outlive its tenant: tenant_id is no reference.
CREATE TABLE webhook_events (
    id uuid PRIMARY KEY,
    tenant_id uuid,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_events_created_at_idx ON webhook_events (created_at);

-- An event for one endpoint; the rows are their own queue. next_attempt_at, by the
-- service's clock, is null once nothing more is tried. attempt counts since the delivery
-- was last begun anew; attempts, a JSON array, has them all. leased_until, by the
-- machine's clock, is how long the instance that sends it has it for itself.
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
    leased_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX webhook_deliveries_event_id_idx ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_status_idx ON webhook_deliveries (endpoint_id, status, created_at);
CREATE INDEX webhook_deliveries_type_idx ON webhook_deliveries (endpoint_id, type, created_at);
CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

INSERT INTO role_permissions (role_id, permission)
SELECT r.id, 'webhooks.manage' FROM roles r WHERE r.tenant_id IS NULL AND r.name IN ('owner', 'admin');

-- One row, which whoever adds an endpoint of the platform locks: there is no tenant to lock.
CREATE TABLE webhook_platform (
    id integer PRIMARY KEY
);
INSERT INTO webhook_platform (id) VALUES (1);
