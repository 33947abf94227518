-- +goose Up
-- What a counter shows, in two parts: whole units, and millionths of a unit besides
-- them. Millionths alone do not fit a bigint for what a petabyte has in bytes.
ALTER TABLE usage_counters ADD COLUMN units bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_counters ADD COLUMN millionths bigint NOT NULL DEFAULT 0;
UPDATE usage_counters SET units = value / 1000000, millionths = value % 1000000;
ALTER TABLE usage_counters DROP COLUMN value;

-- The same for what an alert was raised at.
ALTER TABLE usage_alerts ADD COLUMN units bigint NOT NULL DEFAULT 0;
ALTER TABLE usage_alerts ADD COLUMN millionths bigint NOT NULL DEFAULT 0;
UPDATE usage_alerts SET units = value / 1000000, millionths = value % 1000000;
ALTER TABLE usage_alerts DROP COLUMN value;
