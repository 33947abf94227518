-- +goose Up
-- What a price of the payment provider is, as it was last read. Its amount and interval
-- never change there; whether it and its product are active does. unit_amount is an
-- exact decimal of minor units, '' for a price that has no single one.
CREATE TABLE psp_price_states (
    psp_price_id text PRIMARY KEY,
    psp_product_id text NOT NULL,
    is_missing boolean NOT NULL,
    is_active boolean NOT NULL,
    currency text NOT NULL,
    unit_amount text NOT NULL,
    interval_unit text NOT NULL,
    interval_count bigint NOT NULL,
    is_metered boolean NOT NULL,
    -- When it was asked for: an answer never replaces that of a later question.
    read_at timestamp with time zone NOT NULL
);
CREATE INDEX psp_price_states_psp_product_id_idx ON psp_price_states (psp_product_id);
CREATE INDEX meter_prices_psp_price_id_idx ON meter_prices (psp_price_id);
