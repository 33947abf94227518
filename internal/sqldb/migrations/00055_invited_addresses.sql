-- +goose Up
-- The mails of invitations that were sent to an address within the last hour: a list of
-- {tenant, at}. The row is the lock that counting them needs.
CREATE TABLE invited_addresses (
    email text PRIMARY KEY,
    mails jsonb NOT NULL,
    last_sent_at timestamp with time zone NOT NULL
);
CREATE INDEX invited_addresses_last_sent_at_idx ON invited_addresses (last_sent_at);
