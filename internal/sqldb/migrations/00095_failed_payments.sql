-- +goose Up
-- How many payments failed in a time, for all tenants together.
CREATE INDEX payment_entries_failed_idx ON payment_entries (happened_at) WHERE type = 'payment.failed';

-- With the number of events, so that a sum reads the index alone.
DROP INDEX quota_refusals_hour_idx;
CREATE INDEX quota_refusals_sums_idx ON quota_refusals (hour, tenant_id, refused);
