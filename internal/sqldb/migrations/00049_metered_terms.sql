-- +goose Up
-- What usage plans sold at any time: the provider's price of a meter in a currency from
-- a moment on, null from when nothing was billed. Written with the meter and its prices,
-- under the meter's lock.
CREATE TABLE meter_sales (
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL,
    since timestamp with time zone NOT NULL,
    psp_price_id text,
    PRIMARY KEY (meter_id, currency, since)
);
INSERT INTO meter_sales (meter_id, currency, since, psp_price_id)
SELECT p.meter_id, p.currency, p.created_at, p.psp_price_id
FROM meter_prices p JOIN meters m ON m.id = p.meter_id
WHERE m.deleted_at IS NULL AND m.is_active AND p.psp_price_id IS NOT NULL;

-- The start of the period that the metered items were last decided for, and what was
-- decided: the items that bill it, those that billed the period before, and since when
-- they bill where they did not from its start.
ALTER TABLE subscriptions ADD COLUMN metered_period timestamp with time zone;
ALTER TABLE subscriptions ADD COLUMN metered_terms jsonb;
UPDATE subscriptions SET metered_period = current_period_start;
