-- +goose Up
-- How many events of a tenant were refused for the quota of a meter, in an hour of UTC.
-- hour counts the hours since 1970.
CREATE TABLE quota_refusals (
    tenant_id uuid NOT NULL,
    hour bigint NOT NULL,
    meter_id uuid NOT NULL,
    refused bigint NOT NULL,
    PRIMARY KEY (tenant_id, hour, meter_id),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX quota_refusals_hour_idx ON quota_refusals (hour, tenant_id);

-- The same for all tenants together, in a day of UTC. A day is in a few parts, each for some
-- tenants, so that those who are refused at one moment seldom wait for each other.
CREATE TABLE quota_refusal_days (
    day bigint NOT NULL,
    part integer NOT NULL,
    refused bigint NOT NULL,
    PRIMARY KEY (day, part)
);

-- How many deliveries of all endpoints came to what end in a time.
CREATE INDEX webhook_deliveries_ended_idx ON webhook_deliveries (status, created_at);
