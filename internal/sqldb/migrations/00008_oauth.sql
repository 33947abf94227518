-- +goose Up
-- Who a user is at an identity provider. subject is the provider's own id of the
-- person, which stays when their email changes.
CREATE TABLE oauth_identities (
    provider text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamp with time zone NOT NULL,
    PRIMARY KEY (provider, subject)
);
CREATE INDEX oauth_identities_user_id_idx ON oauth_identities (user_id);

-- Delegated logins under way. One belongs to the browser that began it, by the
-- hash of its cookie.
CREATE TABLE oauth_flows (
    state_hash text PRIMARY KEY,
    browser_hash text NOT NULL,
    provider text NOT NULL,
    verifier text NOT NULL,
    nonce text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX oauth_flows_expires_at_idx ON oauth_flows (expires_at);

-- One-time codes with which the frontend fetches the outcome.
CREATE TABLE oauth_codes (
    code_hash text PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    is_new_user boolean NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE INDEX oauth_codes_user_id_idx ON oauth_codes (user_id);
CREATE INDEX oauth_codes_expires_at_idx ON oauth_codes (expires_at);
