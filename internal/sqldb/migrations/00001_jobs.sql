-- +goose Up
-- The outbox of internal/jobs. A row waits (lease_id is null), runs (lease_id is
-- set) or is dead (dead_at is set); a row whose work is done is deleted.
-- due_at and dead_at are by the service's clock, leased_until by the machine's.
CREATE TABLE jobs (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    unique_key text,
    payload text NOT NULL,
    periodic boolean NOT NULL DEFAULT false,
    attempt integer NOT NULL DEFAULT 0,
    due_at timestamp with time zone NOT NULL,
    lease_id uuid,
    leased_until timestamp with time zone,
    last_error text,
    dead_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);
-- At most one job of a kind and key waits.
CREATE UNIQUE INDEX jobs_waiting_key ON jobs (kind, unique_key) WHERE lease_id IS NULL AND dead_at IS NULL;
CREATE INDEX jobs_running_key_idx ON jobs (kind, unique_key) WHERE lease_id IS NOT NULL;
CREATE INDEX jobs_due_idx ON jobs (due_at) WHERE lease_id IS NULL AND dead_at IS NULL;
CREATE INDEX jobs_leased_until_idx ON jobs (leased_until) WHERE lease_id IS NOT NULL;
CREATE INDEX jobs_dead_idx ON jobs (dead_at) WHERE dead_at IS NOT NULL;
