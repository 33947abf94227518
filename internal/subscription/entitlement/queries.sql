-- name: HasActiveSubscription :one
SELECT EXISTS (SELECT 1 FROM subscriptions WHERE tenant_id = $1 AND status IN ('active', 'trialing'));

-- A priced subscription that began without a trial was paid immediately. Trials and usage are paid
-- with a later invoice.
-- name: HasBoughtSubscription :one
SELECT EXISTS (
    SELECT 1 FROM subscriptions s
    WHERE s.tenant_id = $1 AND s.status NOT IN ('incomplete', 'incomplete_expired') AND s.price_cents > 0 AND s.trial_ends_at IS NULL
    UNION ALL
    SELECT 1 FROM psp_invoices i WHERE i.tenant_id = $1 AND i.status = 'paid' AND i.paid_cents > 0
);

-- The products whose plans would not start a trial for a tenant: the tenant had one, or its paid
-- subscription is to the same product, or its subscription is in a state in which a change starts
-- no trial.
-- name: ProductsWithoutTrial :many
SELECT p.id FROM products p
WHERE EXISTS (SELECT 1 FROM trials t WHERE t.tenant_id = $1 AND t.product_id = p.id)
    OR EXISTS (
        SELECT 1 FROM subscriptions s JOIN plans c ON c.id = s.plan_id
        WHERE s.tenant_id = $1 AND s.status NOT IN ('canceled', 'incomplete_expired') AND s.price_cents > 0
            AND (c.product_id = p.id OR s.status <> 'active' OR s.cancel_at IS NOT NULL OR s.cancel_at_period_end)
    );

-- name: PlanSlug :one
SELECT slug FROM plans WHERE id = $1;

-- name: InsertDigest :exec
INSERT INTO entitlement_digests (tenant_id, digest) VALUES ($1, '') ON CONFLICT DO NOTHING;

-- name: LockDigest :one
SELECT digest FROM entitlement_digests WHERE tenant_id = $1 FOR UPDATE;

-- name: PutDigest :exec
UPDATE entitlement_digests SET digest = $2 WHERE tenant_id = $1;

-- name: Digests :many
SELECT d.* FROM entitlement_digests d
JOIN tenants t ON t.id = d.tenant_id
WHERE d.tenant_id > sqlc.arg(after)::uuid AND t.deleted_at IS NULL
ORDER BY d.tenant_id
LIMIT sqlc.arg(most);

-- name: PutOverride :exec
INSERT INTO limit_overrides (tenant_id, feature_id, type, value, expires_at, reason, by_type, by_id, by_name, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant_id, feature_id) DO UPDATE
SET type = excluded.type, value = excluded.value, expires_at = excluded.expires_at, reason = excluded.reason,
    by_type = excluded.by_type, by_id = excluded.by_id, by_name = excluded.by_name, created_at = excluded.created_at;

-- name: DeleteOverride :exec
DELETE FROM limit_overrides WHERE tenant_id = $1 AND feature_id = $2;

-- name: ListExpired :many
SELECT DISTINCT tenant_id FROM limit_overrides WHERE expires_at <= $1 ORDER BY tenant_id LIMIT $2;

-- name: ListGraceEnded :many
SELECT tenant_id, id, sync_version FROM subscriptions
WHERE status = 'past_due' AND NOT grace_ended AND unpaid_since <= $1
ORDER BY unpaid_since
LIMIT $2;

-- name: MarkGraceEnded :exec
UPDATE subscriptions SET grace_ended = true WHERE tenant_id = $1 AND id = $2 AND sync_version = $3;

-- name: DeleteExpired :exec
DELETE FROM limit_overrides WHERE tenant_id = $1 AND expires_at <= $2;

-- name: FeatureExists :one
SELECT count(*) FROM features WHERE code = $1 AND deleted_at IS NULL;
