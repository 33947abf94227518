-- +goose Up
-- Customers of tenants that were deleted at the provider: their invoices are still
-- the tenant's. How many there were is part of the key that makes the next one.
CREATE TABLE former_psp_customers (
    psp_customer_id text PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    deleted_at timestamp with time zone NOT NULL
);
CREATE INDEX former_psp_customers_tenant_id_idx ON former_psp_customers (tenant_id);

-- The end of a trial that the tenant was told of by mail.
ALTER TABLE subscriptions ADD COLUMN trial_end_told timestamp with time zone;
