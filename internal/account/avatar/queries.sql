-- name: LockAvatarOfUser :one
SELECT avatar_hash, avatar_chosen FROM users WHERE id = $1 AND deleted_at IS NULL FOR UPDATE;

-- name: SetAvatarOfUser :exec
UPDATE users SET avatar_hash = $2, avatar_chosen = $3, updated_at = $4 WHERE id = $1;

-- The update changes nothing. It locks an existing picture, so that it is not deleted before the
-- user refers to it.
-- name: PutAvatar :exec
INSERT INTO avatars (hash, content_type, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (hash) DO UPDATE SET content_type = excluded.content_type;

-- name: AvatarByHash :one
SELECT content_type, bytes FROM avatars WHERE hash = $1;

-- name: LockAvatar :one
SELECT hash FROM avatars WHERE hash = $1 FOR UPDATE;

-- name: DeleteUnusedAvatar :exec
DELETE FROM avatars
WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE users.avatar_hash = avatars.hash);
