-- +goose Up
-- What an open invoice asks of a person: confirm or pay, and the provider's page.
ALTER TABLE invoices ADD COLUMN payment_action text;
ALTER TABLE invoices ADD COLUMN payment_url text;
