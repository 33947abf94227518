-- +goose Up
-- The usage that the preview showed. It is charged on top of charge_cents.
ALTER TABLE change_previews ADD COLUMN usage_cents bigint NOT NULL DEFAULT 0;
