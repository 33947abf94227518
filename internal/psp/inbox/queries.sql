-- name: InsertEvent :execrows
INSERT INTO psp_events (id, type, object_id, received_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO NOTHING;

-- name: EventIsKnown :one
SELECT EXISTS (SELECT 1 FROM psp_events WHERE id = $1);

-- name: WaitingEvents :many
SELECT id, type FROM psp_events WHERE object_id = $1 AND handled_at IS NULL ORDER BY received_at, id;

-- name: MarkEventHandled :exec
UPDATE psp_events SET handled_at = $1 WHERE id = $2;

-- name: Cursor :one
SELECT taken_until FROM psp_cursor WHERE id = 1;

-- name: MoveCursor :exec
INSERT INTO psp_cursor (id, taken_until) VALUES (1, $1)
ON CONFLICT (id) DO UPDATE SET taken_until = excluded.taken_until
WHERE psp_cursor.taken_until < excluded.taken_until;

-- name: DeleteHandledEvents :many
DELETE FROM psp_events WHERE id IN (
    SELECT e.id FROM psp_events e
    WHERE e.handled_at IS NOT NULL AND e.received_at >= sqlc.arg(earliest) AND e.received_at < sqlc.arg(before)
    ORDER BY e.received_at
    LIMIT sqlc.arg(most)
) RETURNING received_at;

-- name: LastEventAt :one
SELECT received_at FROM psp_events ORDER BY received_at DESC LIMIT 1;

-- name: CountWaiting :one
SELECT count(*) FROM (
    SELECT e.object_id FROM psp_events e WHERE e.handled_at IS NULL ORDER BY e.object_id LIMIT sqlc.arg(most)
) AS waits;

-- name: OldestWaiting :one
-- The oldest of the counted events, in the order of a partial index on unhandled events.
SELECT waits.received_at FROM (
    SELECT e.received_at FROM psp_events e WHERE e.handled_at IS NULL ORDER BY e.object_id LIMIT sqlc.arg(most)
) AS waits
ORDER BY waits.received_at LIMIT 1;
