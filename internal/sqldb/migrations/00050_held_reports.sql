-- +goose Up
-- Until when figures are not reported: those of a period whose prices are not decided.
ALTER TABLE usage_reports ADD COLUMN held_until timestamp with time zone;
