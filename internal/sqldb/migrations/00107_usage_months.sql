-- rolling: usage_records and its view are of no release
-- +goose Up
-- Events by the month, and their idempotency keys apart (docs/adr/0036-events-by-the-month.md).
-- Both tables are made anew. A database that has events in usage_records already gets them back
-- into usage_events, from where they are moved as those of earlier versions are.
DROP VIEW usage_stored;
INSERT INTO usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)
SELECT s.tenant_id,
    /* postgres: */ r.id /* sqlite: lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4) || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) */,
    s.meter_id, r.quantity,
    CASE WHEN EXISTS (
        SELECT 1 FROM usage_events e
        WHERE e.tenant_id = s.tenant_id AND e.meter_id = s.meter_id AND e.idempotency_key = r.idempotency_key
    ) THEN NULL ELSE r.idempotency_key END,
    r.recorded_at, r.metadata,
    /* postgres: */ r.recorded_at + r.delay * interval '1 microsecond' /* sqlite: strftime('%Y-%m-%d %H:%M:%f', r.recorded_at, (r.delay / 1000000.0) || ' seconds') || '+00:00' */
FROM usage_streams s
JOIN usage_records r ON r.stream = s.number /* postgres: */ AND r.tenant_id = s.tenant_id /* sqlite:  */;
DROP TABLE usage_records;
UPDATE usage_streams SET number = NULL, moving = false WHERE number IS NOT NULL;

-- The totals of a stream (pruned_events and so on) have all events of usage_records that were
-- recorded before totals_before, also those that are not deleted yet; null: only deleted ones.
ALTER TABLE usage_streams ADD COLUMN totals_before timestamp with time zone;

-- As in migration 00105. On PostgreSQL keys are not unique here, and there is a partition for
-- each month of UTC, usage_records_2026_11, made ahead; usage_records_other has
-- what was recorded for a time without one.
CREATE TABLE usage_records (
    stream bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    quantity bigint NOT NULL,
    delay bigint NOT NULL,
    id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    tenant_id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    idempotency_key text,
    metadata jsonb,
    PRIMARY KEY (stream, recorded_at, id /* postgres: */ , tenant_id /* sqlite:  */)
) /* postgres: */ PARTITION BY RANGE (recorded_at) /* sqlite:  */;
/* postgres: */ CREATE TABLE usage_records_other PARTITION OF usage_records DEFAULT
/* sqlite: CREATE UNIQUE INDEX usage_records_idempotency_key ON usage_records (stream, idempotency_key) WHERE idempotency_key IS NOT NULL */;

-- The events that are deleted one by one: those of no partition that is dropped.
CREATE VIEW usage_single AS
SELECT tenant_id, stream, recorded_at, id, quantity, delay, idempotency_key, metadata
FROM /* postgres: */ usage_records_other /* sqlite: usage_records */;

-- As in migration 00105.
CREATE VIEW usage_stored AS
SELECT usage_streams.tenant_id, usage_streams.meter_id, usage_records.id, usage_records.quantity, usage_records.idempotency_key,
    usage_records.recorded_at, usage_records.metadata, usage_records.recorded_at AS stored_base, usage_records.delay AS stored_delay
FROM usage_streams
JOIN usage_records ON usage_records.stream = usage_streams.number /* postgres: */ AND usage_records.tenant_id = usage_streams.tenant_id /* sqlite:  */
UNION ALL
SELECT tenant_id, meter_id, id, quantity, idempotency_key, recorded_at, metadata, created_at, CAST(0 AS bigint)
FROM usage_unmoved;

-- On PostgreSQL the idempotency keys of events in usage_records, stored with them and kept longer;
-- on SQLite nothing. hash is the
-- beginning of the key's SHA-256, stored_on the day, counted from 1970, on which the event was
-- stored.
CREATE TABLE usage_record_keys (
    stream bigint NOT NULL,
    stored_on integer NOT NULL,
    hash /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    tenant_id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    PRIMARY KEY (stream, hash /* postgres: */ , tenant_id /* sqlite:  */)
);
CREATE INDEX usage_record_keys_stored_on_idx ON usage_record_keys (stored_on);

-- Since when the events recorded before a time are deleted: their keys are kept for a while longer.
CREATE TABLE usage_deletions (
    deleted_before timestamp with time zone NOT NULL PRIMARY KEY,
    reached_at timestamp with time zone NOT NULL
);

-- The month whose partition a file was written from; empty where its events are deleted one by one.
ALTER TABLE usage_archives ADD COLUMN month text NOT NULL DEFAULT '';
CREATE INDEX usage_archives_month_idx ON usage_archives (month);
