-- +goose Up
-- Whoever dissolves a tenant need not wait until all credentials were read for one that
-- impersonates somebody in it.
CREATE INDEX credentials_impersonated_tenant_id_idx ON credentials (impersonated_tenant_id) WHERE impersonated_tenant_id IS NOT NULL;
