-- +goose Up
-- Whether one of the meter's prices is linked to the payment provider's: written
-- with the prices, under the meter's lock. It is a column, and not asked of the
-- prices, because who waited for the lock sees the meter as it is then, but other
-- tables as they were when its statement began.
ALTER TABLE meters ADD COLUMN is_billable boolean NOT NULL DEFAULT false;
UPDATE meters SET is_billable = true WHERE id IN (SELECT meter_id FROM meter_prices WHERE psp_price_id IS NOT NULL);
