-- Entries before a cursor, newest first. Logins are skipped because they change nothing.
-- name: ChangesBefore :many
SELECT id, actor_id, subject_id, subject_reason, api_key_id, tenant_id, action, resource, resource_id, before, after, created_at FROM audit_logs
WHERE (created_at, id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint) AND action <> 'login.succeeded'
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(most);

-- name: ChangesOfTenantBefore :many
SELECT id, actor_id, subject_id, subject_reason, api_key_id, tenant_id, action, resource, resource_id, before, after, created_at FROM audit_logs
WHERE tenant_id = sqlc.arg(tenant_id)::uuid AND (created_at, id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint) AND action <> 'login.succeeded'
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(most);

-- name: CountTenants :one
SELECT count(*) FROM tenants WHERE id = $1;

-- name: PaymentsBefore :many
-- The page is materialized before its invoices are joined. Otherwise the generic plan of a prepared
-- statement, which assumes a tenant of average size, would read all invoices of the tenant for each
-- entry.
WITH e AS MATERIALIZED (
    SELECT y.id, y.tenant_id, y.invoice_id, y.type, y.currency, y.amount_cents, y.decline_code, y.next_attempt_at, y.happened_at
    FROM payment_entries y
    WHERE (y.happened_at, y.id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint)
    ORDER BY y.happened_at DESC, y.id DESC
    LIMIT sqlc.arg(most)
)
SELECT e.id, e.tenant_id, e.type, e.currency, e.amount_cents, e.decline_code, e.next_attempt_at, e.happened_at,
    p.id AS invoice_id, p.number, i.number AS own_number
FROM e
LEFT JOIN psp_invoices p ON p.tenant_id = e.tenant_id AND p.id = e.invoice_id
LEFT JOIN invoices i ON i.id = e.invoice_id AND i.tenant_id = e.tenant_id
ORDER BY e.happened_at DESC, e.id DESC;

-- name: PaymentsOfTenantBefore :many
-- Every part names the tenant, because Citus does not infer it from a materialized part.
WITH e AS MATERIALIZED (
    SELECT y.id, y.tenant_id, y.invoice_id, y.type, y.currency, y.amount_cents, y.decline_code, y.next_attempt_at, y.happened_at
    FROM payment_entries y
    WHERE y.tenant_id = sqlc.arg(tenant_id)::uuid AND (y.happened_at, y.id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::bigint)
    ORDER BY y.happened_at DESC, y.id DESC
    LIMIT sqlc.arg(most)
)
SELECT e.id, e.tenant_id, e.type, e.currency, e.amount_cents, e.decline_code, e.next_attempt_at, e.happened_at,
    p.id AS invoice_id, p.number, i.number AS own_number
FROM e
LEFT JOIN psp_invoices p ON p.tenant_id = sqlc.arg(tenant_id)::uuid AND p.id = e.invoice_id
LEFT JOIN invoices i ON i.id = e.invoice_id AND i.tenant_id = sqlc.arg(tenant_id)::uuid
ORDER BY e.happened_at DESC, e.id DESC;

-- name: AlertsBefore :many
SELECT a.id, a.tenant_id, a.threshold, a.units, a.millionths, a.quota, a.created_at, m.code, m.name
FROM usage_alerts a JOIN meters m ON m.id = a.meter_id
WHERE (a.created_at, a.id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY a.created_at DESC, a.id DESC
LIMIT sqlc.arg(most);

-- name: AlertsOfTenantBefore :many
SELECT a.id, a.tenant_id, a.threshold, a.units, a.millionths, a.quota, a.created_at, m.code, m.name
FROM usage_alerts a JOIN meters m ON m.id = a.meter_id
WHERE a.tenant_id = sqlc.arg(tenant_id)::uuid AND (a.created_at, a.id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY a.created_at DESC, a.id DESC
LIMIT sqlc.arg(most);

-- name: RefusalsBefore :many
SELECT r.tenant_id, r.hour, r.meter_id, r.refused, m.code, m.name
FROM quota_refusals r JOIN meters m ON m.id = r.meter_id
WHERE (r.hour, r.tenant_id, r.meter_id) < (sqlc.arg(hour)::bigint, sqlc.arg(tenant_id)::uuid, sqlc.arg(meter_id)::uuid)
ORDER BY r.hour DESC, r.tenant_id DESC, r.meter_id DESC
LIMIT sqlc.arg(most);

-- name: RefusalsOfTenantBefore :many
SELECT r.tenant_id, r.hour, r.meter_id, r.refused, m.code, m.name
FROM quota_refusals r JOIN meters m ON m.id = r.meter_id
WHERE r.tenant_id = sqlc.arg(tenant_id)::uuid AND (r.hour, r.meter_id) < (sqlc.arg(hour)::bigint, sqlc.arg(meter_id)::uuid)
ORDER BY r.hour DESC, r.meter_id DESC
LIMIT sqlc.arg(most);

-- name: WebhookFailuresBefore :many
SELECT f.delivery_id, f.tenant_id, f.endpoint_id, f.status, f.attempts, f.failed_at, d.type, e.url
FROM webhook_failures f
JOIN webhook_deliveries d ON d.id = f.delivery_id
JOIN webhook_endpoints e ON e.id = f.endpoint_id
WHERE (f.failed_at, f.delivery_id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY f.failed_at DESC, f.delivery_id DESC
LIMIT sqlc.arg(most);

-- name: WebhookFailuresOfTenantBefore :many
SELECT f.delivery_id, f.tenant_id, f.endpoint_id, f.status, f.attempts, f.failed_at, d.type, e.url
FROM webhook_failures f
JOIN webhook_deliveries d ON d.id = f.delivery_id
JOIN webhook_endpoints e ON e.id = f.endpoint_id
WHERE f.tenant_id = sqlc.arg(tenant_id)::uuid AND (f.failed_at, f.delivery_id) < (sqlc.arg(at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY f.failed_at DESC, f.delivery_id DESC
LIMIT sqlc.arg(most);
