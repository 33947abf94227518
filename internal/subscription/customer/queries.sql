-- name: CustomerOfTenant :one
SELECT psp_customer_id FROM psp_customers WHERE tenant_id = $1;

-- name: TenantOfCustomer :one
SELECT tenant_id FROM psp_customers WHERE psp_customer_id = $1;

-- name: InsertCustomer :exec
INSERT INTO psp_customers (tenant_id, psp_customer_id, created_at)
VALUES ($1, $2, $3)
ON CONFLICT (tenant_id) DO NOTHING;

-- name: ForgetCustomer :execrows
DELETE FROM psp_customers WHERE tenant_id = $1 AND psp_customer_id = $2;

-- name: DeleteCustomer :exec
DELETE FROM psp_customers WHERE tenant_id = $1;

-- name: KeepFormerCustomer :exec
INSERT INTO former_psp_customers (psp_customer_id, tenant_id, deleted_at) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: CountFormerCustomers :one
SELECT count(*) FROM former_psp_customers WHERE tenant_id = $1;

-- name: DeleteFormerCustomers :exec
DELETE FROM former_psp_customers WHERE tenant_id = $1;
