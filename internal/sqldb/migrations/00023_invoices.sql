-- +goose Up
-- What the provider's invoices are called here, so that an id leads back. The id
-- is made of the provider's own and never changes. failed_event is the last
-- failed payment that the tenant was told of.
CREATE TABLE psp_invoices (
    psp_invoice_id text PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    id uuid NOT NULL,
    failed_event text,
    created_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX psp_invoices_tenant_id_id_key ON psp_invoices (tenant_id, id);

-- The last number given out in each year. Its row is locked by whoever takes the
-- next one until the invoice is stored with it, so that numbers have no gaps.
CREATE TABLE invoice_numbers (
    year integer PRIMARY KEY,
    last bigint NOT NULL
);

-- Invoices issued here. Amounts are in minor units; total has the tax in it.
CREATE TABLE invoices (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    subscription_id uuid REFERENCES subscriptions (id),
    psp_invoice_id text NOT NULL,
    psp_payment_intent_id text,
    number text NOT NULL,
    year integer NOT NULL,
    sequence bigint NOT NULL,
    status text NOT NULL,
    currency text NOT NULL,
    subtotal_cents bigint NOT NULL,
    tax_cents bigint NOT NULL,
    total_cents bigint NOT NULL,
    -- Millionths: 190000 is 19 percent.
    tax_rate bigint NOT NULL,
    issue_date timestamp with time zone NOT NULL,
    due_date timestamp with time zone,
    paid_at timestamp with time zone,
    -- The tenant's billing details when it was issued.
    billing_info jsonb NOT NULL,
    vat_number text,
    locale text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX invoices_psp_invoice_id_key ON invoices (psp_invoice_id);
CREATE UNIQUE INDEX invoices_number_key ON invoices (number);
CREATE UNIQUE INDEX invoices_year_sequence_key ON invoices (year, sequence);
CREATE INDEX invoices_tenant_id_idx ON invoices (tenant_id, issue_date, id);

CREATE TABLE invoice_lines (
    invoice_id uuid NOT NULL REFERENCES invoices (id),
    position integer NOT NULL,
    id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    description text NOT NULL,
    type text NOT NULL,
    quantity bigint NOT NULL,
    unit_price_cents bigint NOT NULL,
    amount_cents bigint NOT NULL,
    plan_id uuid REFERENCES plans (id),
    meter_id uuid REFERENCES meters (id),
    period_start timestamp with time zone,
    period_end timestamp with time zone,
    PRIMARY KEY (invoice_id, position)
);
CREATE UNIQUE INDEX invoice_lines_id_key ON invoice_lines (id);
CREATE INDEX invoice_lines_tenant_id_idx ON invoice_lines (tenant_id);

-- The document of an invoice, made once.
CREATE TABLE invoice_documents (
    invoice_id uuid PRIMARY KEY REFERENCES invoices (id),
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
