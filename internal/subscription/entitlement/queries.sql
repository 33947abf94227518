-- name: HasActiveSubscription :one
SELECT EXISTS (SELECT 1 FROM subscriptions WHERE tenant_id = $1 AND status IN ('active', 'trialing'));

-- name: HasBoughtSubscription :one
SELECT EXISTS (
    SELECT 1 FROM subscriptions s JOIN plans p ON p.id = s.plan_id
    WHERE s.tenant_id = $1 AND s.status NOT IN ('incomplete', 'incomplete_expired') AND (s.price_cents > 0 OR p.pricing_type = 'usage')
);

-- name: QuotaOfFeature :one
-- Limits hold for longer than features are granted.
SELECT e.value
FROM subscriptions s
JOIN entitlements e ON e.plan_id = s.plan_id
JOIN features f ON f.id = e.feature_id
WHERE s.tenant_id = $1 AND s.status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused') AND f.code = $2 AND e.type = 'quota';

-- name: ProductsWithoutTrial :many
-- A tenant has one trial of a product, and none of the product that it pays for.
SELECT t.product_id FROM trials t WHERE t.tenant_id = $1
UNION
SELECT p.product_id FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.tenant_id = $1 AND s.status NOT IN ('canceled', 'incomplete', 'incomplete_expired');
