-- name: PendingNote :one
SELECT * FROM credit_notes WHERE tenant_id = $1 AND status = 'pending';

-- name: Note :one
SELECT * FROM credit_notes WHERE tenant_id = $1 AND id = $2;

-- name: NotesOfInvoice :many
SELECT * FROM credit_notes WHERE tenant_id = $1 AND invoice_id = $2 ORDER BY created_at, id;

-- name: InsertNote :exec
INSERT INTO credit_notes (
    tenant_id, id, invoice_id, psp_invoice_id, psp_credit_note_id, number, year, sequence, status, currency, subtotal_cents, tax_cents, total_cents,
    settlement, reason, memo, issue_date, psp_refund_id, refund_status, psp_pdf_url, request, leased_until, created_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23);

-- name: PrepareNote :exec
UPDATE credit_notes SET subtotal_cents = $3, tax_cents = $4, total_cents = $5, currency = $6 WHERE tenant_id = $1 AND id = $2 AND status = 'pending';

-- name: IssueNote :execrows
UPDATE credit_notes
SET status = 'issued', psp_credit_note_id = $3, number = $4, year = $5, sequence = $6, issue_date = $7, psp_refund_id = $8, refund_status = $9, psp_pdf_url = $10
WHERE tenant_id = $1 AND id = $2 AND status = 'pending';

-- name: LeaseNote :exec
UPDATE credit_notes SET leased_until = $3 WHERE tenant_id = $1 AND id = $2;

-- name: AnswerNote :exec
UPDATE credit_notes SET is_answered = true WHERE tenant_id = $1 AND id = $2;

-- name: DeleteNote :exec
DELETE FROM credit_notes WHERE tenant_id = $1 AND id = $2 AND status = 'pending';

-- name: VoidNote :execrows
UPDATE credit_notes SET status = 'void' WHERE tenant_id = $1 AND id = $2 AND status = 'issued';

-- name: SetRefundStatus :exec
-- A failed refund stays failed, and a refund that succeeded is no longer pending.
UPDATE credit_notes SET refund_status = sqlc.arg(refund_status)
WHERE tenant_id = sqlc.arg(tenant_id) AND psp_refund_id = sqlc.arg(psp_refund_id)
  AND refund_status <> 'failed' AND (refund_status <> 'succeeded' OR sqlc.arg(refund_status) = 'failed');

-- name: SetRetry :exec
UPDATE credit_notes SET retry = $3, leased_until = $4 WHERE tenant_id = $1 AND id = $2;

-- name: CompleteRetry :exec
UPDATE credit_notes SET retry = NULL, psp_refund_id = $3, refund_status = $4 WHERE tenant_id = $1 AND id = $2;

-- name: InsertLine :exec
INSERT INTO credit_note_lines (tenant_id, credit_note_id, position, line_id, description, amount_cents) VALUES ($1, $2, $3, $4, $5, $6);

-- name: CreditedLines :many
-- The credited amounts of the lines of an invoice.
SELECT l.line_id::uuid AS line_id, sum(l.amount_cents)::bigint AS amount_cents
FROM credit_note_lines l JOIN credit_notes n ON n.tenant_id = l.tenant_id AND n.id = l.credit_note_id
WHERE n.tenant_id = $1 AND n.invoice_id = $2 AND n.status = 'issued' AND l.line_id IS NOT NULL
GROUP BY l.line_id;

-- name: StartNumbers :exec
INSERT INTO credit_note_numbers (year, last) VALUES ($1, 0) ON CONFLICT (year) DO NOTHING;

-- name: NextNumber :one
UPDATE credit_note_numbers SET last = last + 1 WHERE year = $1 RETURNING last;

-- name: InsertDocument :exec
INSERT INTO credit_note_documents (tenant_id, credit_note_id, bytes, created_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, credit_note_id) DO NOTHING;

-- name: Document :one
SELECT bytes FROM credit_note_documents WHERE tenant_id = $1 AND credit_note_id = $2;
