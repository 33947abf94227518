-- name: HadTrial :one
SELECT EXISTS (
    SELECT 1 FROM trials t
    JOIN plans p ON p.product_id = t.product_id
    WHERE t.tenant_id = $1 AND p.id = sqlc.arg(plan_id)
);

-- name: BeginTrial :exec
INSERT INTO trials (tenant_id, product_id, subscription_id, began_at)
SELECT $1, p.product_id, $2, $3 FROM plans p WHERE p.id = sqlc.arg(plan_id)
ON CONFLICT (tenant_id, product_id) DO NOTHING;
