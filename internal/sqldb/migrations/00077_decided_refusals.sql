-- +goose Up
-- Refusals that are kept as marks only, to be deleted after some days.
CREATE INDEX usage_refusals_decided_at_idx ON usage_refusals (decided_at) WHERE decided_at IS NOT NULL;
