-- +goose Up
-- Events of a stream that were recorded before pruned_before may have been
-- deleted, their idempotency keys are in usage_keys then; null: none was. It is
-- set under the stream's lock, so that who records knows whether to look there.
ALTER TABLE usage_streams ADD COLUMN pruned_before timestamp with time zone;

-- The idempotency keys of deleted events.
CREATE TABLE usage_keys (
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, meter_id, idempotency_key),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE INDEX usage_keys_expires_at_idx ON usage_keys (expires_at);

-- Files that events were written to before they were deleted. A file is being
-- written (state is writing), has its name and every event on the disk (written),
-- or its events are deleted as well (done). day is as in the file's name.
CREATE TABLE usage_archives (
    day text NOT NULL,
    part integer NOT NULL,
    state text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (day, part)
);
CREATE INDEX usage_archives_unfinished_idx ON usage_archives (created_at) WHERE state <> 'done';
