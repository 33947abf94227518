-- +goose Up
-- The provider's price that a subscription bills; what its latest invoice asks of a
-- person; and a change that waits for that invoice to be paid.
ALTER TABLE subscriptions ADD COLUMN psp_price_id text;
ALTER TABLE subscriptions ADD COLUMN payment_action text;
ALTER TABLE subscriptions ADD COLUMN payment_url text;
ALTER TABLE subscriptions ADD COLUMN pending_plan_id uuid REFERENCES plans (id);
ALTER TABLE subscriptions ADD COLUMN pending_psp_price_id text;
ALTER TABLE subscriptions ADD COLUMN pending_psp_invoice_id text;
ALTER TABLE subscriptions ADD COLUMN pending_expires_at timestamp with time zone;
