-- +goose Up
-- How many entries the trail has of one tenant from before a midnight (UTC), so that their
-- number is known without walking through them. A tenant without a row has no counted entries.
-- The row of the tenant whose id is zero, which is none, has up to when days were counted.
CREATE TABLE audit_tenants (
    tenant_id uuid NOT NULL PRIMARY KEY,
    entries bigint NOT NULL,
    counted_before timestamptz NOT NULL
);
