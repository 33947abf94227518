-- +goose Up
-- A figure that somebody has decided about stays for some days, so that a notification
-- which is handled again does not list it again.
ALTER TABLE usage_refusals ADD COLUMN decided_at timestamp with time zone;
