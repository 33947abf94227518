-- +goose Up
-- The payment provider's product of a plan. It has the plan's name, which the provider's
-- pages and invoices show. products.psp_product_id is read no more.
ALTER TABLE plans ADD COLUMN psp_product_id text;
