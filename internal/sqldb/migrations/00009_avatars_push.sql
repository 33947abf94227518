-- +goose Up
-- The pictures of users, each kept once: hash is the SHA-256 of bytes, in hex.
CREATE TABLE avatars (
    hash text PRIMARY KEY,
    content_type text NOT NULL,
    bytes bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

-- avatar_chosen says that the user has uploaded or deleted the avatar: an import
-- from an identity provider then leaves it alone.
ALTER TABLE users ADD COLUMN avatar_hash text REFERENCES avatars (hash);
ALTER TABLE users ADD COLUMN avatar_chosen boolean NOT NULL DEFAULT false;
CREATE INDEX users_avatar_hash_idx ON users (avatar_hash) WHERE avatar_hash IS NOT NULL;

-- The browsers that push messages go to; p256dh and auth are base64url.
CREATE TABLE push_subscriptions (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    endpoint text NOT NULL,
    p256dh text NOT NULL,
    auth text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX push_subscriptions_endpoint_key ON push_subscriptions (endpoint);
CREATE INDEX push_subscriptions_user_id_idx ON push_subscriptions (user_id);

-- The key pairs that the service makes for itself, by what they are for.
CREATE TABLE platform_keys (
    name text PRIMARY KEY,
    public_key text NOT NULL,
    private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
