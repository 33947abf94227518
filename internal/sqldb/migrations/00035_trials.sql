-- +goose Up
-- The trials that tenants have had: at most one of a product, for ever. A row is
-- written with the subscription that began with the trial, whatever becomes of it.
CREATE TABLE trials (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    product_id uuid NOT NULL REFERENCES products (id),
    subscription_id uuid NOT NULL REFERENCES subscriptions (id),
    began_at timestamp with time zone NOT NULL,
    PRIMARY KEY (tenant_id, product_id)
);

-- A trial is one of the plan that was bought, which the checkout knows; the
-- subscription may have another plan by now.
INSERT INTO trials (tenant_id, product_id, subscription_id, began_at)
SELECT s.tenant_id, p.product_id, s.id, s.created_at
FROM subscriptions s
JOIN checkouts c ON c.tenant_id = s.tenant_id AND c.created_at <= s.created_at AND c.completed_at >= s.created_at
JOIN plans p ON p.id = c.plan_id
WHERE s.trial_ends_at IS NOT NULL
ORDER BY s.created_at, s.id
ON CONFLICT (tenant_id, product_id) DO NOTHING;

-- Of a subscription that no checkout is known for, the plan is all there is.
INSERT INTO trials (tenant_id, product_id, subscription_id, began_at)
SELECT s.tenant_id, p.product_id, s.id, s.created_at
FROM subscriptions s
JOIN plans p ON p.id = s.plan_id
WHERE s.trial_ends_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM checkouts c
    WHERE c.tenant_id = s.tenant_id AND c.created_at <= s.created_at AND c.completed_at >= s.created_at
)
ORDER BY s.created_at, s.id
ON CONFLICT (tenant_id, product_id) DO NOTHING;

-- When a checkout that was paid was refused: its subscription is never the tenant's.
ALTER TABLE checkouts ADD COLUMN refused_at timestamp with time zone;
