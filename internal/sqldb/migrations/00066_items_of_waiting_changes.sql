-- +goose Up
-- What waited for a subscription's next invoice when an operation began a change that
-- waits for its payment: items at the provider, which the invoice of the change takes
-- along. If that is void they are made again. A row stays until that is settled.
CREATE TABLE waiting_items (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid NOT NULL REFERENCES subscriptions (id),
    operation_id uuid NOT NULL REFERENCES psp_operations (id),
    psp_item_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, subscription_id, psp_item_id)
);
