-- +goose Up
-- What the lines of the provider's invoices were for when they were first seen: a plan
-- or a meter, with its name by locale. Later changes of prices, links and names do not
-- change it.
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
