-- +goose Up
-- What somebody has sent is read page by page, in its order.
DROP INDEX invitations_inviter_id_idx;
CREATE INDEX invitations_inviter_id_idx ON invitations (inviter_id, created_at, id);
