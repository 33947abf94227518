-- +goose Up
-- Of a plan's prices no two are one price of the payment provider (a rule of the
-- contract).
CREATE UNIQUE INDEX plan_prices_plan_id_psp_price_id_key ON plan_prices (plan_id, psp_price_id);
-- Finds the plans that give a feature.
CREATE INDEX entitlements_feature_id_idx ON entitlements (feature_id);
-- Finds the subscriptions to a plan that are not over.
CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id) WHERE status NOT IN ('canceled', 'incomplete_expired');
