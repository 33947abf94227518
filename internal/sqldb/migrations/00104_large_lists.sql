-- +goose Up
-- The administration's list of tenants by name.
CREATE INDEX tenants_name_idx ON tenants (lower(name), id);

-- Who pays which price of a plan, read from the index alone.
DROP INDEX subscriptions_plan_id_idx;
CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id, currency, price_cents, interval_unit, interval_count)
    WHERE status NOT IN ('canceled', 'incomplete_expired');
