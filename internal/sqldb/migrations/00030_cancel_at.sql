-- +goose Up
-- When a subscription ends, also where that was not asked for as the end of its
-- period.
ALTER TABLE subscriptions ADD COLUMN cancel_at timestamp with time zone;
UPDATE subscriptions SET cancel_at = current_period_end WHERE cancel_at_period_end;
