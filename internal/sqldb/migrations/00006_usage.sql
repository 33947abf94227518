-- +goose Up
CREATE TABLE meters (
    id uuid PRIMARY KEY,
    code text NOT NULL,
    name text NOT NULL,
    aggregation_type text NOT NULL,
    reset_interval text NOT NULL,
    quota_enforcement text NOT NULL,
    unit_label text,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX meters_code_key ON meters (code);

-- What one tenant records on one meter. Its row is the lock under which events
-- are stored and counters change; events refer to it instead of to the tenant,
-- so that storing one touches no row that other work locks.
CREATE TABLE usage_streams (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    meter_id uuid NOT NULL REFERENCES meters (id),
    PRIMARY KEY (tenant_id, meter_id)
);

-- quantity is in millionths. The primary key is the order in which a period's
-- events are read; one index less is one write less on the busiest table.
CREATE TABLE usage_events (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    meter_id uuid NOT NULL,
    quantity bigint NOT NULL,
    idempotency_key text,
    recorded_at timestamp with time zone NOT NULL,
    metadata jsonb,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, meter_id, recorded_at, id),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
-- At most one event per tenant, meter and key, even under concurrency.
CREATE UNIQUE INDEX usage_events_idempotency_key ON usage_events (tenant_id, meter_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- What a meter shows of a tenant's events from period_start (inclusive) to
-- period_end (exclusive): always their aggregate, changed in the transaction that
-- stores the event. It can be deleted at any time; the next event rebuilds it.
-- A meter that never resets counts from the year 1 to the year 9999. value is in
-- millionths, of a count too; last_recorded_at orders last_value and is null for
-- the other aggregations. The key leads to the few current counters of a tenant.
CREATE TABLE usage_counters (
    tenant_id uuid NOT NULL,
    period_end timestamp with time zone NOT NULL,
    meter_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    value bigint NOT NULL,
    last_recorded_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, period_end, meter_id, period_start),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX usage_counters_meter_id_idx ON usage_counters (meter_id);
