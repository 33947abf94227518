-- name: CustomerOfTenant :one
SELECT psp_customer_id FROM psp_customers WHERE tenant_id = $1;

-- name: TenantOfCustomer :one
SELECT tenant_id FROM psp_customers WHERE psp_customer_id = $1;

-- name: InsertCustomer :exec
INSERT INTO psp_customers (tenant_id, psp_customer_id, created_at, card_checked_at)
VALUES ($1, $2, $3, $3)
ON CONFLICT (tenant_id) DO NOTHING;

-- name: ForgetCustomer :execrows
DELETE FROM psp_customers WHERE tenant_id = $1 AND psp_customer_id = $2;

-- name: DeleteCustomer :exec
DELETE FROM psp_customers WHERE tenant_id = $1;

-- name: InsertFormerCustomer :exec
INSERT INTO former_psp_customers (psp_customer_id, tenant_id, deleted_at) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: CountFormerCustomers :one
SELECT count(*) FROM former_psp_customers WHERE tenant_id = $1;

-- name: DeleteFormerCustomers :exec
DELETE FROM former_psp_customers WHERE tenant_id = $1;

-- name: Registration :one
SELECT psp_customer_id, tax_id_version, tax_id_type, tax_id_value, psp_tax_id, tax_id_answered_at FROM psp_customers WHERE tenant_id = $1;

-- name: TenantOfTaxID :one
SELECT tenant_id FROM psp_customers WHERE psp_tax_id = $1;

-- name: BeginRegistration :execrows
UPDATE psp_customers
SET tax_id_version = sqlc.arg(version)::bigint + 1, tax_id_type = sqlc.narg(type), tax_id_value = sqlc.narg(value), psp_tax_id = NULL,
    tax_id_answered_at = NULL
WHERE tenant_id = $1 AND psp_customer_id = $2 AND tax_id_version = sqlc.arg(version)::bigint;

-- name: SetTaxID :execrows
UPDATE psp_customers SET psp_tax_id = $4
WHERE tenant_id = $1 AND psp_customer_id = $2 AND tax_id_version = $3;

-- name: SetAnswered :exec
UPDATE psp_customers SET tax_id_answered_at = $3 WHERE tenant_id = $1 AND tax_id_version = $2;

-- name: StaleRegistrations :many
-- The subscribed tenants whose number was last checked at or before the given time.
SELECT c.tenant_id FROM psp_customers c JOIN tenants t ON t.id = c.tenant_id
JOIN subscriptions s ON s.tenant_id = c.tenant_id AND s.status NOT IN ('canceled', 'incomplete_expired')
WHERE c.tax_id_answered_at <= sqlc.arg(before)::timestamptz AND t.vat_status IN ('valid', 'unknown') AND t.deleted_at IS NULL
ORDER BY c.tax_id_answered_at, c.tenant_id
LIMIT sqlc.arg(most);
