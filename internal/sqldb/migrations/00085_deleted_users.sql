-- +goose Up
-- The row of a user who has deleted their account stays, with nothing of them in it, for
-- what refers to it. Its email is no address, so that nobody logs in with it.
ALTER TABLE users ADD COLUMN deleted_at timestamp with time zone;

-- What invited somebody is looked up when they are gone.
CREATE INDEX invitations_email_idx ON invitations (email);
