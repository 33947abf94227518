-- +goose Up
-- When a comparison with the provider last came by this subscription in its list:
-- one that is not reached is one that the provider may not know.
ALTER TABLE subscriptions ADD COLUMN seen_at timestamp with time zone;
