-- name: NoteState :execrows
-- An older reading does not overwrite a final status or a later attempt. failed_at keeps the time
-- of the first reading of a failure.
UPDATE psp_invoices
SET status = sqlc.arg(status), number = sqlc.narg(number), currency = sqlc.arg(currency), total_cents = sqlc.arg(total_cents),
    paid_cents = sqlc.arg(paid_cents), open_cents = sqlc.arg(open_cents), issued_at = sqlc.arg(issued_at), year = sqlc.arg(year),
    attempts = sqlc.arg(attempts), next_attempt_at = sqlc.narg(next_attempt_at),
    failed_at = CASE WHEN failed_key = sqlc.narg(failed_key) THEN failed_at ELSE sqlc.narg(failed_at) END,
    is_sent = sqlc.arg(is_sent), due_at = sqlc.narg(due_at), failed_key = sqlc.narg(failed_key), decline_code = sqlc.narg(decline_code)
WHERE tenant_id = sqlc.arg(tenant_id) AND psp_invoice_id = sqlc.arg(psp_invoice_id) AND attempts <= sqlc.arg(attempts)
  AND (status IS NULL OR status NOT IN ('paid', 'void', 'uncollectible') OR sqlc.arg(final)::boolean);

-- name: State :one
SELECT status, total_cents, paid_cents, open_cents, attempts, next_attempt_at FROM psp_invoices WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: AddEntry :execrows
INSERT INTO payment_entries (tenant_id, invoice_id, key, type, currency, amount_cents, decline_code, next_attempt_at, happened_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (tenant_id, invoice_id, key) DO NOTHING;

-- name: FailRefund :exec
UPDATE payment_entries SET type = 'refund.failed'
WHERE tenant_id = $1 AND invoice_id = $2 AND key = $3 AND type = 'refund.created';

-- name: SumRefunds :exec
UPDATE psp_invoices SET refunded_cents = (
    SELECT COALESCE(sum(e.amount_cents), 0)::bigint FROM payment_entries e
    WHERE e.tenant_id = sqlc.arg(tenant_id) AND e.invoice_id = sqlc.arg(invoice_id) AND e.type = 'refund.created'
)
WHERE psp_invoices.tenant_id = sqlc.arg(tenant_id) AND psp_invoices.id = sqlc.arg(invoice_id);

-- name: Sums :many
-- Excludes drafts, and invoices that were never read.
SELECT year::integer AS year, currency::text AS currency, count(*) AS count, COALESCE(sum(paid_cents), 0)::bigint AS paid,
    COALESCE(sum(open_cents), 0)::bigint AS open, COALESCE(sum(refunded_cents), 0)::bigint AS refunded
FROM psp_invoices
WHERE tenant_id = $1 AND year IS NOT NULL AND status <> 'draft'
GROUP BY year, currency
ORDER BY year DESC, currency;

-- name: LastFailed :one
SELECT p.id, i.number AS own_number, p.number, p.currency::text AS currency, p.open_cents, p.failed_at, p.attempts, p.decline_code, p.next_attempt_at
FROM psp_invoices p LEFT JOIN invoices i ON i.id = p.id AND i.tenant_id = p.tenant_id
WHERE p.tenant_id = $1 AND p.status = 'open' AND p.failed_at IS NOT NULL
ORDER BY p.failed_at DESC
LIMIT 1;

-- name: Payer :one
SELECT c.psp_customer_id, s.psp_subscription_id
FROM psp_customers c
LEFT JOIN subscriptions s ON s.tenant_id = c.tenant_id AND s.status NOT IN ('canceled', 'incomplete_expired')
WHERE c.tenant_id = $1;

-- name: CountTenants :one
SELECT count(*) FROM tenants WHERE id = $1;
