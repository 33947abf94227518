-- +goose Up
-- Up to when the provider's own list of events has been taken over; at most one
-- row.
CREATE TABLE psp_cursor (
    id integer PRIMARY KEY CHECK (id = 1),
    taken_until timestamp with time zone NOT NULL
);
