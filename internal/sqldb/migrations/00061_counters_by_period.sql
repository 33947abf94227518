-- +goose Up
-- Counters are looked up by tenant everywhere but in one place, which wants those of a
-- meter that end at a time. An index that begins with the meter was chosen for the others
-- as well, and read every tenant's counter.
DROP INDEX usage_counters_meter_id_idx;
CREATE INDEX usage_counters_period_end_idx ON usage_counters (period_end, meter_id);
