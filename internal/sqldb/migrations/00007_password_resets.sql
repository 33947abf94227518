-- +goose Up
-- One row a user: only the newest reset token is valid.
CREATE TABLE password_resets (
    user_id bigint PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    token_hash text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
