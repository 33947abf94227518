-- +goose Up
-- What the events of an hour of UTC come to, for series over long times. hour counts the
-- hours since 1970. last is the quantity that was recorded last in it, at last_at.
CREATE TABLE usage_hours (
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    hour bigint NOT NULL,
    events bigint NOT NULL,
    units bigint NOT NULL,
    millionths bigint NOT NULL,
    highest bigint NOT NULL,
    last bigint NOT NULL,
    last_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, meter_id, hour),
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);

-- Events of a stream that were recorded before summed_before are in usage_hours; null: none
-- is. It moves on under the stream's lock, so that who records knows whether an event has to
-- be added there.
ALTER TABLE usage_streams ADD COLUMN summed_before timestamp with time zone;
