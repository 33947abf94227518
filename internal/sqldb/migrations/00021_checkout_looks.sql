-- +goose Up
-- When the provider was last asked about a checkout that no notification has
-- told of yet.
ALTER TABLE checkouts ADD COLUMN looked_at timestamp with time zone;
-- When the provider closed the page because nobody paid.
ALTER TABLE checkouts ADD COLUMN expired_at timestamp with time zone;
