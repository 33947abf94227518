-- name: InsertEvent :execrows
INSERT INTO psp_events (id, type, object_id, received_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO NOTHING;

-- name: MarkEventHandled :exec
UPDATE psp_events SET handled_at = $1 WHERE id = $2;
