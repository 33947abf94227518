-- +goose Up
-- What bills the usage of a subscription at the provider: a list of its items and
-- their prices, as last read back; null before.
ALTER TABLE subscriptions ADD COLUMN metered_items jsonb;

-- Every price of the provider that a meter was ever linked to, with what a unit cost
-- then: subscriptions keep the prices that they were bought with.
CREATE TABLE meter_links (
    psp_price_id text PRIMARY KEY,
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL,
    unit_price_cents text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
INSERT INTO meter_links (psp_price_id, meter_id, currency, unit_price_cents, created_at)
SELECT psp_price_id, meter_id, currency, unit_price_cents, updated_at FROM meter_prices WHERE psp_price_id IS NOT NULL
ON CONFLICT DO NOTHING;
