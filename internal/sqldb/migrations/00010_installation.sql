-- +goose Up
-- What this database is: key 'purpose' is claimed by the first start and never
-- changes, so that production and a sandbox cannot be mixed up.
CREATE TABLE installation (
    key text PRIMARY KEY,
    value text NOT NULL
);
