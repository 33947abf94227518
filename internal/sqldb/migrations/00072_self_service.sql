-- +goose Up
-- Where a credential was issued to, and when it was last used, to the minute.
ALTER TABLE credentials ADD COLUMN ip text NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN user_agent text NOT NULL DEFAULT '';
ALTER TABLE credentials ADD COLUMN last_used_at timestamp with time zone;

-- Links with which a user proves that an email is theirs: the present one, or another
-- that then takes its place.
CREATE TABLE email_verifications (
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    email text NOT NULL,
    token_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (user_id, email)
);
CREATE UNIQUE INDEX email_verifications_token_hash_key ON email_verifications (token_hash);
CREATE INDEX email_verifications_expires_at_idx ON email_verifications (expires_at);
