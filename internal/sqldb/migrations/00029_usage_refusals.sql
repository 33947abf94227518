-- +goose Up
-- Since when the provider is being told of the figures that follow the first
-- reported; null before it is. When that is long ago, nobody knows any more which
-- of them it took.
ALTER TABLE usage_reports ADD COLUMN tried_at timestamp with time zone;

-- Figures that the provider was told of in vain, until somebody has them told again
-- or gives them up. quantity is in millionths; id is what the provider knows the
-- figure by.
CREATE TABLE usage_refusals (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    quantity bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    reason text NOT NULL,
    refused_at timestamp with time zone NOT NULL,
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX usage_refusals_refused_at_idx ON usage_refusals (refused_at, id);
