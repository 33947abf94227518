-- +goose Up
-- Whether one of the meter's prices is linked to the payment provider's: written
-- with the prices, under the meter's lock. It is a column, and not asked of the
-- prices, because who waited for the lock sees the meter as it is then, but other
-- tables as they were when its statement began.
ALTER TABLE meters ADD COLUMN is_billable boolean NOT NULL DEFAULT false;
UPDATE meters SET is_billable = true WHERE id IN (SELECT meter_id FROM meter_prices WHERE psp_price_id IS NOT NULL);

-- What the deleted events of a stream came to, so that what never resets can still
-- be counted, by any rule: added to in the transaction that deletes them. All are
-- null where events were deleted before this was kept, and pruned_last_at too while
-- none was. Quantities are in millionths; the total is in two parts, as the sum of
-- whole units and that of what is left of each event.
ALTER TABLE usage_streams ADD COLUMN pruned_events bigint;
ALTER TABLE usage_streams ADD COLUMN pruned_units bigint;
ALTER TABLE usage_streams ADD COLUMN pruned_millionths bigint;
ALTER TABLE usage_streams ADD COLUMN pruned_highest bigint;
ALTER TABLE usage_streams ADD COLUMN pruned_last bigint;
ALTER TABLE usage_streams ADD COLUMN pruned_last_at timestamp with time zone;
