-- +goose Up
-- A price or product that is about to be made at the payment provider. The row is
-- committed before the provider is asked: key is the idempotency key, so that a
-- repetition after a lost answer or a crash is the same request and finds the
-- same object. It is deleted together with what settles it. A price that is
-- removed meanwhile leaves its row behind, which then means nothing.
CREATE TABLE psp_catalog_operations (
    target_id uuid PRIMARY KEY,
    key uuid NOT NULL,
    request jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- Finds the prices that a notification of the provider is about.
CREATE INDEX plan_prices_psp_price_id_idx ON plan_prices (psp_price_id);
