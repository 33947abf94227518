-- +goose Up
-- What the trail of changes needs of an operation whose effect is found later than
-- it was asked for: the subscription as it was, and who asked. recorded_at is when
-- its entry was made.
ALTER TABLE psp_operations ADD COLUMN origin jsonb;
ALTER TABLE psp_operations ADD COLUMN recorded_at timestamp with time zone;
