-- +goose Up
-- Rows of usage_reports that were told to the provider, kept for some days: it may
-- find later that a figure is wrong, and then says no more than its id.
CREATE TABLE usage_told (
    id uuid PRIMARY KEY,
    events bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX usage_told_created_at_idx ON usage_told (created_at);

-- Whether the provider took the figure first and found it wrong later. It knows the
-- id then, so that the figure is told again under another one.
ALTER TABLE usage_refusals ADD COLUMN told boolean NOT NULL DEFAULT false;
