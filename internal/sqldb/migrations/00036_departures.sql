-- +goose Up
-- Members who left and whose seats the billed quantity has not followed yet. While
-- there are any it is lowered to the members; else seats that were bought stay.
ALTER TABLE subscriptions ADD COLUMN departures bigint NOT NULL DEFAULT 0;
