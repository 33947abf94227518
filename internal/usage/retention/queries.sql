-- Streams from a place in their order on that have events of a time which are deleted one by one.
-- name: StreamsWithEvents :many
SELECT s.tenant_id, s.meter_id FROM usage_streams s
WHERE (s.tenant_id > sqlc.arg(tenant_id) OR s.tenant_id = sqlc.arg(tenant_id) AND s.meter_id >= sqlc.arg(meter_id))
    AND (EXISTS (
        SELECT 1 FROM usage_single r
        WHERE r.stream = s.number AND r.recorded_at >= sqlc.arg(since) AND r.recorded_at < sqlc.arg(until)
    ) OR EXISTS (
        SELECT 1 FROM usage_events e
        WHERE e.tenant_id = s.tenant_id AND e.meter_id = s.meter_id
            AND e.recorded_at >= sqlc.arg(since) AND e.recorded_at < sqlc.arg(until)
    ))
ORDER BY s.tenant_id, s.meter_id
LIMIT sqlc.arg(max_streams);

-- name: OldestEvents :many
SELECT a.id, a.quantity, a.idempotency_key, a.recorded_at, a.metadata, a.stored_base, a.stored_delay FROM (
    SELECT r.id, r.quantity, r.idempotency_key, r.recorded_at, r.metadata, r.recorded_at AS stored_base, r.delay AS stored_delay FROM usage_single r
    WHERE r.tenant_id = sqlc.arg(owner)
        AND r.stream = (SELECT s.number FROM usage_streams s WHERE s.tenant_id = $1 AND s.meter_id = $2)
        AND r.recorded_at >= sqlc.arg(since) AND r.recorded_at < sqlc.arg(until)
    ORDER BY r.recorded_at, r.id
    LIMIT sqlc.arg(max_events)
) a
UNION ALL
SELECT b.id, b.quantity, b.idempotency_key, b.recorded_at, b.metadata, b.stored_base, b.stored_delay FROM (
    SELECT u.id, u.quantity, u.idempotency_key, u.recorded_at, u.metadata, u.created_at AS stored_base, CAST(0 AS bigint) AS stored_delay FROM usage_unmoved u
    WHERE u.tenant_id = $1 AND u.meter_id = $2
        AND u.recorded_at >= sqlc.arg(since) AND u.recorded_at < sqlc.arg(until)
    ORDER BY u.recorded_at, u.id
    LIMIT sqlc.arg(max_events)
) b
ORDER BY recorded_at, id
LIMIT sqlc.arg(max_events);

-- name: Stream :one
SELECT * FROM usage_streams WHERE tenant_id = $1 AND meter_id = $2;

-- name: MarkPruned :exec
UPDATE usage_streams
SET pruned_before = $3, pruned_events = $4, pruned_units = $5, pruned_millionths = $6, pruned_highest = $7, pruned_last = $8,
    pruned_last_at = $9
WHERE tenant_id = $1 AND meter_id = $2;

-- name: ExpireKeys :execrows
DELETE FROM usage_keys WHERE (tenant_id, meter_id, idempotency_key) IN (
    SELECT k.tenant_id, k.meter_id, k.idempotency_key FROM usage_keys k
    WHERE k.expires_at <= sqlc.arg(now)
    ORDER BY k.expires_at
    LIMIT sqlc.arg(max_keys)
);

-- Since when events are deleted.
-- name: PutDeletion :exec
INSERT INTO usage_deletions (deleted_before, reached_at) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: DeletionsBy :many
SELECT deleted_before FROM usage_deletions WHERE reached_at <= $1 ORDER BY deleted_before DESC;

-- name: ForgetDeletions :exec
DELETE FROM usage_deletions WHERE deleted_before < $1;

-- name: ExpireRecordKeys :execrows
DELETE FROM usage_record_keys WHERE (stream, hash) IN (
    SELECT k.stream, k.hash FROM usage_record_keys k
    WHERE k.stored_on < sqlc.arg(stored_before)
    ORDER BY k.stored_on
    LIMIT sqlc.arg(max_keys)
);

-- Streams after a place in their order that have events of a time which their totals have not.
-- name: UncountedStreams :many
SELECT s.tenant_id, s.meter_id FROM usage_streams s
WHERE (s.tenant_id > sqlc.arg(tenant_id) OR s.tenant_id = sqlc.arg(tenant_id) AND s.meter_id > sqlc.arg(meter_id))
    AND NOT s.moving AND (s.totals_before IS NULL OR s.totals_before < sqlc.arg(until))
    AND EXISTS (
        SELECT 1 FROM usage_records r
        WHERE r.stream = s.number AND r.recorded_at >= sqlc.arg(since) AND r.recorded_at < sqlc.arg(until)
    )
ORDER BY s.tenant_id, s.meter_id
LIMIT sqlc.arg(max_streams);

-- name: EventAt :one
SELECT recorded_at FROM usage_records
WHERE tenant_id = $1 AND stream = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
ORDER BY recorded_at, id
LIMIT 1 OFFSET sqlc.arg(place);

-- name: SumOfRecords :one
SELECT count(*)::bigint AS events, COALESCE(sum(quantity / 1000000), 0)::bigint AS units,
    COALESCE(sum(quantity % 1000000), 0)::bigint AS millionths, COALESCE(max(quantity), 0)::bigint AS highest
FROM usage_records
WHERE tenant_id = $1 AND stream = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until);

-- name: LastRecord :one
SELECT quantity, recorded_at FROM usage_records
WHERE tenant_id = $1 AND stream = $2 AND recorded_at >= sqlc.arg(since) AND recorded_at < sqlc.arg(until)
ORDER BY recorded_at DESC, id DESC
LIMIT 1;

-- name: SetTotalsBefore :exec
UPDATE usage_streams SET totals_before = $3 WHERE tenant_id = $1 AND meter_id = $2;

-- name: MeterCodes :many
SELECT id, code FROM meters;

-- name: UnfinishedArchives :many
SELECT * FROM usage_archives WHERE state <> 'done' AND month = '' ORDER BY created_at, day, part;

-- name: LastArchivePart :one
SELECT coalesce(max(part), 0)::integer FROM usage_archives WHERE day = $1;

-- name: InsertArchive :exec
INSERT INTO usage_archives (day, part, state, created_at, updated_at, month) VALUES ($1, $2, 'writing', $3, $3, $4);

-- name: SetArchiveState :exec
UPDATE usage_archives SET state = $3, updated_at = $4 WHERE day = $1 AND part = $2;

-- The files that a day of a month's partition was written to.
-- name: ArchivesOfMonth :many
SELECT part, state FROM usage_archives WHERE day = $1 AND month = $2 ORDER BY part;

-- name: ForgetArchivesOfMonth :exec
DELETE FROM usage_archives WHERE month = $1 AND state <> 'done';

-- name: DeleteArchive :exec
DELETE FROM usage_archives WHERE day = $1 AND part = $2;

-- name: StreamsFrom :many
SELECT * FROM usage_streams
WHERE (tenant_id > sqlc.arg(tenant_id) OR tenant_id = sqlc.arg(tenant_id) AND meter_id > sqlc.arg(meter_id))
    AND (tenant_id = sqlc.narg(only_tenant)::uuid OR sqlc.narg(only_tenant)::uuid IS NULL)
ORDER BY tenant_id, meter_id
LIMIT sqlc.arg(max_streams);

-- name: CountersOfStream :many
SELECT * FROM usage_counters WHERE tenant_id = $1 AND meter_id = $2 ORDER BY period_start, period_end;

-- name: CountersBetween :many
SELECT * FROM usage_counters
WHERE tenant_id >= sqlc.arg(first_tenant)::uuid AND tenant_id <= sqlc.arg(last_tenant)::uuid;

-- name: CountStreams :one
SELECT count(*) FROM usage_streams WHERE tenant_id = sqlc.narg(only_tenant)::uuid OR sqlc.narg(only_tenant)::uuid IS NULL;

-- name: RecountPlace :one
SELECT * FROM usage_recounts WHERE id = 1;

-- name: PutRecountPlace :exec
INSERT INTO usage_recounts (id, after_tenant, after_meter, streams, counters, skipped, wrong, reached_at)
VALUES (1, $1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE
SET after_tenant = excluded.after_tenant, after_meter = excluded.after_meter, streams = excluded.streams, counters = excluded.counters,
    skipped = excluded.skipped, wrong = excluded.wrong, reached_at = excluded.reached_at;

-- name: ForgetRecountPlace :exec
DELETE FROM usage_recounts WHERE id = 1;

-- name: DeleteEventsOfTenant :execrows
DELETE FROM usage_events WHERE usage_events.tenant_id = $1 AND (meter_id, recorded_at, id) IN (
    SELECT e.meter_id, e.recorded_at, e.id FROM usage_events e
    WHERE e.tenant_id = $1
    ORDER BY e.meter_id, e.recorded_at, e.id
    LIMIT sqlc.arg(most)
);

-- name: LockStreamsOfTenant :many
SELECT number FROM usage_streams WHERE tenant_id = $1 ORDER BY meter_id FOR UPDATE;

-- name: DeleteRecordsOfStream :execrows
DELETE FROM usage_records WHERE usage_records.tenant_id = $1 AND usage_records.stream = $2 AND (recorded_at, id) IN (
    SELECT r.recorded_at, r.id FROM usage_records r
    WHERE r.tenant_id = $1 AND r.stream = $2
    ORDER BY r.recorded_at, r.id
    LIMIT sqlc.arg(most)
);

-- name: DeleteKeysOfTenant :execrows
DELETE FROM usage_keys WHERE usage_keys.tenant_id = $1 AND (meter_id, idempotency_key) IN (
    SELECT k.meter_id, k.idempotency_key FROM usage_keys k
    WHERE k.tenant_id = $1
    ORDER BY k.meter_id, k.idempotency_key
    LIMIT sqlc.arg(most)
);

-- name: DeleteRecordKeysOfStream :execrows
DELETE FROM usage_record_keys WHERE usage_record_keys.tenant_id = $1 AND usage_record_keys.stream = $2 AND hash IN (
    SELECT k.hash FROM usage_record_keys k
    WHERE k.tenant_id = $1 AND k.stream = $2
    ORDER BY k.hash
    LIMIT sqlc.arg(most)
);

-- name: NumbersOfTenant :many
SELECT number FROM usage_streams WHERE tenant_id = $1 AND number IS NOT NULL ORDER BY meter_id;

-- name: DeleteCountersOfTenant :exec
DELETE FROM usage_counters WHERE tenant_id = $1;

-- name: DeleteHoursOfTenant :exec
DELETE FROM usage_hours WHERE tenant_id = $1;

-- name: DeleteAlertsOfTenant :exec
DELETE FROM usage_alerts WHERE tenant_id = $1;

-- name: DeleteRefusalsOfTenant :exec
DELETE FROM usage_refusals WHERE tenant_id = $1;

-- name: DeleteQuotaRefusalsOfTenant :exec
DELETE FROM quota_refusals WHERE tenant_id = $1;
