-- +goose Up
CREATE TABLE psp_customers (
    tenant_id uuid PRIMARY KEY REFERENCES tenants (id),
    psp_customer_id text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX psp_customers_psp_customer_id_key ON psp_customers (psp_customer_id);

-- A hosted checkout, written before the provider is asked for its session: the
-- id is the idempotency key of that request.
CREATE TABLE checkouts (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    quantity bigint NOT NULL,
    psp_session_id text,
    completed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX checkouts_psp_session_id_key ON checkouts (psp_session_id);
CREATE INDEX checkouts_tenant_id_idx ON checkouts (tenant_id, created_at);

CREATE TABLE subscriptions (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    plan_id uuid NOT NULL REFERENCES plans (id),
    status text NOT NULL,
    currency text NOT NULL REFERENCES currencies (code),
    price_cents bigint NOT NULL,
    quantity bigint NOT NULL,
    interval_unit text NOT NULL,
    interval_count integer NOT NULL,
    billing_anchor timestamp with time zone NOT NULL,
    current_period_start timestamp with time zone NOT NULL,
    current_period_end timestamp with time zone NOT NULL,
    trial_ends_at timestamp with time zone,
    cancel_at_period_end boolean NOT NULL DEFAULT false,
    canceled_at timestamp with time zone,
    cancellation_reason text,
    psp_subscription_id text NOT NULL,
    -- Counts the states taken over from the provider, so that a state that was
    -- read before another one was stored is never stored after it.
    sync_version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX subscriptions_psp_subscription_id_key ON subscriptions (psp_subscription_id);
CREATE INDEX subscriptions_tenant_id_idx ON subscriptions (tenant_id, created_at);
-- A tenant has at most one subscription that is not canceled or
-- incomplete_expired (a rule of the contract).
CREATE UNIQUE INDEX subscriptions_one_per_tenant_key ON subscriptions (tenant_id)
    WHERE status NOT IN ('canceled', 'incomplete_expired');

-- The inbox of the provider's notifications: each event id once.
CREATE TABLE psp_events (
    id text PRIMARY KEY,
    type text NOT NULL,
    object_id text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    handled_at timestamp with time zone
);
