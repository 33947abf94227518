-- +goose Up
-- A change of a subscription that is asked of the provider, written before the
-- first try: the id is the idempotency key, request is what is sent, so that a
-- try of unknown outcome is repeated as the same write. state is pending, done,
-- failed (the provider refused) or abandoned (nobody repeated it, and its effect
-- was read back). Until leased_until a pending one is being worked on.
CREATE TABLE psp_operations (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid NOT NULL REFERENCES subscriptions (id),
    request jsonb NOT NULL,
    state text NOT NULL,
    leased_until timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE INDEX psp_operations_tenant_id_idx ON psp_operations (tenant_id, created_at);
-- One change of a subscription at a time.
CREATE UNIQUE INDEX psp_operations_pending_key ON psp_operations (subscription_id) WHERE state = 'pending';

-- What a tenant was last shown of changing to a plan: the change that follows
-- soon is counted from the same moment and so costs the same. base tells what it
-- was counted on.
CREATE TABLE change_previews (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    quantity bigint NOT NULL,
    base text NOT NULL,
    proration_date timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, plan_id, quantity)
);

-- The subscription that the checkout's takes the place of once it is paid.
ALTER TABLE checkouts ADD COLUMN replaces_subscription_id uuid REFERENCES subscriptions (id);
