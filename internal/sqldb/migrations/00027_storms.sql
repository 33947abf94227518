-- +goose Up
-- What is due is read in the order of time, past the kinds of other lanes, which
-- may be thousands: the index alone tells them apart.
DROP INDEX jobs_due_idx;
CREATE INDEX jobs_due_idx ON jobs (due_at, kind) WHERE lease_id IS NULL AND dead_at IS NULL;
-- What is told about one object is handled together.
CREATE INDEX psp_events_waiting_idx ON psp_events (object_id) WHERE handled_at IS NULL;
