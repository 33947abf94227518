-- +goose Up
-- The trace of whoever enqueued a job, in the form of the header traceparent of W3C; empty for
-- none.
ALTER TABLE jobs ADD COLUMN origin text NOT NULL DEFAULT '';
