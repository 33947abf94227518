-- +goose Up
-- A deleted meter is kept for the events that refer to it; its code is free.
ALTER TABLE meters ADD COLUMN deleted_at timestamp with time zone;
DROP INDEX meters_code_key;
CREATE UNIQUE INDEX meters_code_key ON meters (code) WHERE deleted_at IS NULL;

-- What one unit of a meter costs. unit_price_cents is an exact decimal of minor
-- units in its shortest form, such as 0.0025: at most 12 decimals, more than any
-- number type of both databases keeps. A meter is billable when one of its prices
-- has a psp_price_id.
CREATE TABLE meter_prices (
    id uuid PRIMARY KEY,
    meter_id uuid NOT NULL REFERENCES meters (id),
    currency text NOT NULL REFERENCES currencies (code),
    unit_price_cents text NOT NULL,
    psp_price_id text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE UNIQUE INDEX meter_prices_meter_id_currency_key ON meter_prices (meter_id, currency);
