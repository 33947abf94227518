-- name: InsertOperation :exec
INSERT INTO psp_operations (id, tenant_id, subscription_id, request, origin, state, leased_until, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $7);

-- name: PendingOperation :one
SELECT * FROM psp_operations WHERE tenant_id = $1 AND subscription_id = $2 AND state = 'pending';

-- name: LastAskedOperation :one
-- The newest operation that a caller asked for.
SELECT * FROM psp_operations
WHERE tenant_id = $1 AND subscription_id = $2 AND request ->> 'kind' IN ('cancel', 'cancel_now', 'resume', 'change', 'drop')
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: AcknowledgeOperation :execrows
UPDATE psp_operations SET state = 'done', updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'abandoned';

-- name: LastChange :one
-- The newest change of plan whose effect was recorded.
SELECT request, origin FROM psp_operations
WHERE tenant_id = $1 AND subscription_id = $2 AND recorded_at IS NOT NULL AND request ->> 'kind' = 'change'
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: LeaseOperation :execrows
UPDATE psp_operations SET leased_until = sqlc.arg(until), updated_at = sqlc.arg(now)
WHERE tenant_id = $1 AND id = $2 AND state = 'pending' AND leased_until <= sqlc.arg(free_at);

-- name: ReleaseOperation :exec
UPDATE psp_operations SET leased_until = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'pending';

-- name: CloseOperation :execrows
UPDATE psp_operations SET state = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'pending';

-- name: RecordOperation :execrows
UPDATE psp_operations SET recorded_at = $3 WHERE tenant_id = $1 AND id = $2 AND recorded_at IS NULL;

-- name: KeepPreview :exec
INSERT INTO change_previews (
    tenant_id, plan_id, asked, quantity, proration_date, credit_cents, charge_cents, pending_cents, usage_cents, shown_at, expires_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (tenant_id, plan_id, asked)
DO UPDATE SET quantity = excluded.quantity, proration_date = excluded.proration_date, credit_cents = excluded.credit_cents,
    charge_cents = excluded.charge_cents, pending_cents = excluded.pending_cents, usage_cents = excluded.usage_cents,
    shown_at = excluded.shown_at, expires_at = excluded.expires_at;

-- name: PruneTenantPreviews :exec
DELETE FROM change_previews WHERE tenant_id = $1 AND expires_at <= $2;

-- name: ForgetPreviews :exec
DELETE FROM change_previews WHERE tenant_id = $1 AND plan_id = $2;

-- name: LastPreview :one
-- The newest of the same change, by what was asked for or by what that came to. One
-- that came to another number of seats than it does now goes first: it is outdated.
SELECT * FROM change_previews
WHERE tenant_id = $1 AND plan_id = $2 AND (asked = $3 OR quantity = $4) AND expires_at > sqlc.arg(now)
ORDER BY CASE WHEN asked = $3 AND quantity <> $4 THEN 0 ELSE 1 END, shown_at DESC
LIMIT 1;

-- name: KeepItem :exec
INSERT INTO waiting_items (tenant_id, subscription_id, operation_id, psp_item_id, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, subscription_id, psp_item_id) DO UPDATE SET operation_id = excluded.operation_id;

-- name: KeptItems :many
SELECT psp_item_id FROM waiting_items WHERE tenant_id = $1 AND subscription_id = $2 ORDER BY created_at, psp_item_id;

-- name: ForgetItem :exec
-- Not while the operation that kept it may still have its invoice made.
DELETE FROM waiting_items
WHERE waiting_items.tenant_id = $1 AND waiting_items.subscription_id = $2 AND waiting_items.psp_item_id = $3 AND NOT EXISTS (
    SELECT 1 FROM psp_operations o
    WHERE o.tenant_id = waiting_items.tenant_id AND o.id = waiting_items.operation_id AND o.state = 'pending'
);
