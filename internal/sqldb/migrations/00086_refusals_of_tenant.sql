-- +goose Up
-- A tenant that is gone takes its refused figures with it.
CREATE INDEX usage_refusals_tenant_id_idx ON usage_refusals (tenant_id);
