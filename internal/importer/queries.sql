-- name: Imported :one
SELECT resource_id, digest, is_made FROM imported WHERE kind = $1 AND key_hash = $2;

-- name: CountMade :one
SELECT count(*) FROM imported WHERE kind = $1 AND resource_id = $2 AND is_made;

-- name: PutImported :exec
INSERT INTO imported (kind, key_hash, resource_id, digest, is_made, imported_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (kind, key_hash) DO UPDATE SET digest = excluded.digest, imported_at = excluded.imported_at;

-- name: CountSlug :one
SELECT count(*) FROM tenants WHERE slug = $1;
