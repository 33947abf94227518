-- +goose Up
-- The credentials of a login are found among those of its user that live: one index less to be
-- written with each token.
DROP INDEX credentials_family_idx;
