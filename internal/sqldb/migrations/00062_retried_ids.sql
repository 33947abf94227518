-- +goose Up
-- Every figure that is reported again gets another id, whatever it was rejected for.
ALTER TABLE usage_refusals DROP COLUMN told;
