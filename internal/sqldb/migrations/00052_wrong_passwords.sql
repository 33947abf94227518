-- +goose Up
-- Wrong passwords of an account, over all addresses. email_hash is the SHA-256, in hex, of
-- the email that was typed, whether or not it has an account.
CREATE TABLE wrong_passwords (
    email_hash text PRIMARY KEY,
    count bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    closed_until timestamp with time zone NOT NULL
);
CREATE INDEX wrong_passwords_closed_until_idx ON wrong_passwords (closed_until);
