-- +goose Up
-- Terms of billing that were replaced or ended, as a list with the time of each, of
-- the last 31 days; null for none. They tell which windows of quotas were interrupted.
-- They go on with the tenant's next subscription.
ALTER TABLE subscriptions ADD COLUMN former_billing jsonb;
