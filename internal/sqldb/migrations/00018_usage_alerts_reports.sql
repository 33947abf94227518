-- +goose Up
-- That a soft quota is used to threshold percent: once per period and threshold,
-- raised in the transaction that stores the event. value is in millionths, quota
-- in whole units, both as they were then. sent_at is null until mail and push
-- messages are handed over.
CREATE TABLE usage_alerts (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL,
    meter_id uuid NOT NULL,
    period_start timestamp with time zone NOT NULL,
    period_end timestamp with time zone NOT NULL,
    threshold integer NOT NULL,
    value bigint NOT NULL,
    quota bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    FOREIGN KEY (tenant_id, meter_id) REFERENCES usage_streams (tenant_id, meter_id)
);
CREATE UNIQUE INDEX usage_alerts_once_key ON usage_alerts (tenant_id, meter_id, period_start, period_end, threshold);

-- Usage that the payment provider is to be told of: the billable events of one
-- transaction, written in it, 64 bytes each. The first of them, as many as
-- reported says, were told; a row whose events were all told is deleted.
CREATE TABLE usage_reports (
    id uuid PRIMARY KEY,
    events bytea NOT NULL,
    reported integer NOT NULL DEFAULT 0,
    created_at timestamp with time zone NOT NULL
);

-- What a max meter came to is told once a period is over. All counters of the
-- meter whose period ended until then are in usage_reports, or were.
CREATE TABLE usage_peaks (
    meter_id uuid PRIMARY KEY REFERENCES meters (id),
    reported_until timestamp with time zone NOT NULL
);
DROP INDEX usage_counters_meter_id_idx;
CREATE INDEX usage_counters_meter_id_idx ON usage_counters (meter_id, period_end);
