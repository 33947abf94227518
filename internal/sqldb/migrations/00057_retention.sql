-- +goose Up
-- A dead job whose payload held tokens is kept without them and cannot be tried again.
ALTER TABLE jobs ADD COLUMN is_emptied boolean NOT NULL DEFAULT false;
UPDATE jobs SET payload = '{}', is_emptied = true WHERE dead_at IS NOT NULL AND kind = 'mail.send';

-- What is old is found and deleted by these.
CREATE INDEX psp_events_received_at_idx ON psp_events (received_at);
CREATE INDEX impersonation_logs_created_at_idx ON impersonation_logs (created_at, id);
CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);
