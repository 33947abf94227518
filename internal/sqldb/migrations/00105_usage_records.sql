-- +goose Up
-- Events in fewer bytes. number stands for the stream in each of its rows; null: its events
-- are in usage_events. moving: they are on their way from there, and some are in either table.
ALTER TABLE usage_streams ADD COLUMN number bigint;
ALTER TABLE usage_streams ADD COLUMN moving boolean NOT NULL DEFAULT false;
CREATE UNIQUE INDEX usage_streams_number_key ON usage_streams (number);
CREATE INDEX usage_streams_to_move_idx ON usage_streams (tenant_id, meter_id) WHERE number IS NULL OR moving;

-- quantity is in millionths. delay is how many microseconds after recorded_at the event was
-- stored. The primary key is the order in which a period's events are read. tenant_id is the
-- stream's, for a database that is spread by it. A row is written under the lock of its stream,
-- so it needs no reference that is checked.
CREATE TABLE usage_records (
    stream bigint NOT NULL,
    recorded_at timestamp with time zone NOT NULL,
    quantity bigint NOT NULL,
    delay bigint NOT NULL,
    id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    tenant_id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL,
    idempotency_key text,
    metadata jsonb,
    PRIMARY KEY (stream, recorded_at, id)
);
-- At most one event per tenant, meter and key, even under concurrency.
CREATE UNIQUE INDEX usage_records_idempotency_key ON usage_records (stream, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- Events that are not in usage_records yet, with ids as they are there.
CREATE VIEW usage_unmoved AS
SELECT tenant_id, meter_id, /* postgres: */ id /* sqlite: unhex(replace(id, '-', '')) */ AS id, quantity, idempotency_key, recorded_at, metadata, created_at
FROM usage_events;

-- Every event, once. It was stored stored_delay microseconds after stored_base. PostgreSQL sorts
-- what it finds here, so a query for the first events of many asks the two halves itself.
CREATE VIEW usage_stored AS
SELECT usage_streams.tenant_id, usage_streams.meter_id, usage_records.id, usage_records.quantity, usage_records.idempotency_key,
    usage_records.recorded_at, usage_records.metadata, usage_records.recorded_at AS stored_base, usage_records.delay AS stored_delay
FROM usage_streams
JOIN usage_records ON usage_records.stream = usage_streams.number /* postgres: */ AND usage_records.tenant_id = usage_streams.tenant_id /* sqlite:  */
UNION ALL
SELECT tenant_id, meter_id, id, quantity, idempotency_key, recorded_at, metadata, created_at, CAST(0 AS bigint)
FROM usage_unmoved;

-- From when on streams get numbers. Instances of the version before know usage_events alone:
-- they have a day to end, where anything could be recorded before.
CREATE TABLE usage_layout (
    numbered_from timestamp with time zone NOT NULL PRIMARY KEY
);
INSERT INTO usage_layout (numbered_from)
SELECT CASE WHEN EXISTS (SELECT 1 FROM meters) THEN /* postgres: */ CURRENT_TIMESTAMP + interval '1 day' /* sqlite: CURRENT_TIMESTAMP */ ELSE CURRENT_TIMESTAMP END;
