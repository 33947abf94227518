-- +goose Up
-- The language that a user asked for when the account was made; null where none of the
-- service's was asked for.
ALTER TABLE users ADD COLUMN locale text;
