-- +goose Up
-- How far a recount of all usage has come, so that one which was interrupted is gone on with:
-- the last stream that it was done with, and what it had found until then. There is at most
-- one row.
CREATE TABLE usage_recounts (
    id integer PRIMARY KEY,
    after_tenant uuid NOT NULL,
    after_meter uuid NOT NULL,
    streams bigint NOT NULL,
    counters bigint NOT NULL,
    skipped bigint NOT NULL,
    wrong bigint NOT NULL,
    reached_at timestamp with time zone NOT NULL
);
