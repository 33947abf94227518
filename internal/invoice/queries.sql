-- name: CustomersOfTenant :many
-- The current customer and the customers that were deleted at the provider, whose invoices still
-- exist there.
SELECT psp_customer_id FROM psp_customers WHERE psp_customers.tenant_id = $1
UNION ALL
SELECT psp_customer_id FROM former_psp_customers WHERE former_psp_customers.tenant_id = $1;

-- name: TenantOfCustomer :one
SELECT tenant_id FROM psp_customers WHERE psp_customers.psp_customer_id = $1
UNION ALL
SELECT tenant_id FROM former_psp_customers WHERE former_psp_customers.psp_customer_id = $1;

-- name: SubscriptionsOfTenant :many
SELECT s.id, s.plan_id, s.psp_subscription_id, p.name AS plan_name, o.name AS product_name
FROM subscriptions s JOIN plans p ON p.id = s.plan_id JOIN products o ON o.id = p.product_id
WHERE s.tenant_id = $1;

-- name: LinkedPlanPrices :many
SELECT l.psp_price_id, l.plan_id, p.name AS plan_name, o.name AS product_name, p.psp_product_id
FROM plan_prices l JOIN plans p ON p.id = l.plan_id JOIN products o ON o.id = p.product_id
WHERE l.psp_price_id IS NOT NULL ORDER BY l.created_at, l.id;

-- name: LinkedMeterPrices :many
-- All prices that a meter was ever linked to, because subscriptions keep their price. The feature
-- with the meter's code has the translated names.
SELECT l.psp_price_id, l.meter_id, m.name, f.name AS feature_name
FROM meter_links l JOIN meters m ON m.id = l.meter_id
LEFT JOIN features f ON f.code = m.code AND f.deleted_at IS NULL;

-- name: LastBilled :one
SELECT plan_id, meter_id, name FROM psp_invoice_lines
WHERE tenant_id = $1 AND psp_price_id = $2 ORDER BY created_at DESC, psp_line_id DESC LIMIT 1;

-- name: RememberLine :exec
INSERT INTO psp_invoice_lines (tenant_id, psp_line_id, psp_price_id, plan_id, meter_id, name, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant_id, psp_line_id) DO NOTHING;

-- name: RememberPSPInvoice :exec
INSERT INTO psp_invoices (psp_invoice_id, tenant_id, id, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING;

-- name: PSPInvoice :one
SELECT psp_invoice_id FROM psp_invoices WHERE tenant_id = $1 AND id = $2;

-- name: NoteFailedPayment :execrows
UPDATE psp_invoices SET failed_event = sqlc.arg(event)
WHERE tenant_id = $2 AND psp_invoice_id = $1 AND (failed_event IS NULL OR failed_event <> sqlc.arg(event));

-- name: ListLastAttempts :many
-- The open invoices of running subscriptions whose last attempt to collect is between the two given
-- times, and whose tenant was not notified.
SELECT p.tenant_id, p.psp_invoice_id, s.psp_subscription_id
FROM psp_invoices p
JOIN subscriptions s ON s.tenant_id = p.tenant_id AND s.status IN ('active', 'past_due') AND s.cancel_at IS NULL AND NOT s.cancel_at_period_end
WHERE p.status = 'open' AND NOT p.last_attempt_told AND p.attempts = sqlc.arg(attempts)
    AND p.next_attempt_at > sqlc.arg(now) AND p.next_attempt_at <= sqlc.arg(before)
ORDER BY p.next_attempt_at
LIMIT sqlc.arg(most);

-- name: NoteLastAttempt :execrows
UPDATE psp_invoices SET last_attempt_told = true
WHERE psp_invoices.tenant_id = sqlc.arg(tenant_id) AND psp_invoices.psp_invoice_id = sqlc.arg(psp_invoice_id) AND NOT psp_invoices.last_attempt_told
    AND EXISTS (
        SELECT 1 FROM subscriptions s
        WHERE s.tenant_id = sqlc.arg(tenant_id) AND s.psp_subscription_id = sqlc.arg(psp_subscription_id)
            AND s.status IN ('active', 'past_due') AND s.cancel_at IS NULL AND NOT s.cancel_at_period_end
    );

-- name: QueueMail :execrows
-- Records that the mail of an invoice is enqueued. Does nothing if it was enqueued before or if the
-- invoice is not sent by mail.
UPDATE psp_invoices SET mail_queued = true
WHERE tenant_id = $1 AND id = $2 AND is_sent AND NOT mail_queued AND status IN ('open', 'paid') AND total_cents <> 0;

-- name: DueInvoice :one
SELECT due_at FROM psp_invoices WHERE tenant_id = $1 AND id = $2;

-- name: NoteMail :execrows
UPDATE psp_invoices SET mailed_at = sqlc.arg(now), next_reminder_at = sqlc.narg(next_reminder_at)
WHERE tenant_id = $1 AND id = $2 AND mailed_at IS NULL;

-- name: ListReminders :many
SELECT tenant_id, psp_invoice_id, id, due_at, next_reminder_at FROM psp_invoices
WHERE status = 'open' AND next_reminder_at <= sqlc.arg(now)
ORDER BY next_reminder_at
LIMIT sqlc.arg(most);

-- name: NoteReminder :execrows
UPDATE psp_invoices SET next_reminder_at = sqlc.narg(next)
WHERE tenant_id = $1 AND psp_invoice_id = $2 AND next_reminder_at = sqlc.arg(due) AND status = 'open';

-- name: Marking :one
SELECT marking, marking_leased_until FROM psp_invoices WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: SetMarking :exec
UPDATE psp_invoices SET marking = $3, marking_leased_until = $4 WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: VoidLease :one
SELECT void_leased_until FROM psp_invoices WHERE tenant_id = $1 AND id = $2;

-- name: LeaseVoid :exec
UPDATE psp_invoices SET void_leased_until = $3 WHERE tenant_id = $1 AND id = $2;

-- name: IsIncomplete :one
SELECT EXISTS (SELECT 1 FROM subscriptions s WHERE s.tenant_id = $1 AND s.psp_subscription_id = $2 AND s.status = 'incomplete');

-- name: StartNumbers :exec
INSERT INTO invoice_numbers (year, last) VALUES ($1, 0) ON CONFLICT (year) DO NOTHING;

-- name: NextNumber :one
UPDATE invoice_numbers SET last = last + 1 WHERE year = $1 RETURNING last;

-- name: InsertInvoice :exec
INSERT INTO invoices (
    id, tenant_id, subscription_id, psp_invoice_id, psp_payment_intent_id, number, year, sequence, status, currency,
    subtotal_cents, tax_cents, total_cents, tax_rate, issue_date, due_date, paid_at, billing_info, vat_number, is_reverse_charge, locale,
    payment_action, payment_url, created_at, updated_at, balance_applied_cents, purchase_order
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $24, $25, $26);

-- name: InsertLine :exec
INSERT INTO invoice_lines (
    invoice_id, position, id, tenant_id, description, type, quantity, unit_price_cents, amount_cents, plan_id, meter_id,
    period_start, period_end, discount_cents
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: InvoiceByPSPID :one
SELECT id FROM invoices WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: MoveInvoice :execrows
-- A final state never changes (rules: invoices#status).
UPDATE invoices
SET status = sqlc.arg(status), balance_applied_cents = sqlc.arg(balance_applied_cents), paid_at = sqlc.narg(paid_at), psp_payment_intent_id = sqlc.narg(psp_payment_intent_id),
    payment_action = sqlc.narg(payment_action), payment_url = sqlc.narg(payment_url), updated_at = sqlc.arg(updated_at)
WHERE tenant_id = $1 AND id = $2 AND status NOT IN ('paid', 'void', 'uncollectible');

-- name: CountCreditNotes :one
SELECT count(*) FROM credit_notes WHERE tenant_id = $1 AND invoice_id = $2 AND status <> 'void';

-- name: InsertDocument :exec
INSERT INTO invoice_documents (tenant_id, invoice_id, bytes, created_at) VALUES (sqlc.arg(tenant_id)::uuid, $1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: Document :one
SELECT bytes FROM invoice_documents WHERE tenant_id = sqlc.arg(tenant_id)::uuid AND invoice_id = $1;

-- name: MinorUnits :one
SELECT minor_units FROM currencies WHERE code = $1;

-- name: Decimals :many
SELECT code, minor_units FROM currencies;

-- name: DiscountCode :one
SELECT code FROM discounts WHERE id = $1;

-- name: PlanNameOfSubscription :one
SELECT p.name FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.tenant_id = $1 AND s.psp_subscription_id = $2;

-- name: IssuedDetails :one
SELECT tax_rate, vat_number, is_reverse_charge, locale FROM invoices WHERE tenant_id = $1 AND id = $2;

-- name: InvoicedTenants :many
-- Tenants that have a customer or an invoice at the provider.
SELECT c.tenant_id FROM (
    SELECT psp_customers.tenant_id FROM psp_customers
    WHERE psp_customers.tenant_id > sqlc.arg(after) ORDER BY psp_customers.tenant_id LIMIT sqlc.arg(most)
) c
UNION
SELECT p.tenant_id FROM (
    SELECT DISTINCT psp_invoices.tenant_id FROM psp_invoices
    WHERE psp_invoices.tenant_id > sqlc.arg(after) ORDER BY psp_invoices.tenant_id LIMIT sqlc.arg(most)
) p
ORDER BY tenant_id LIMIT sqlc.arg(most);

-- name: StoredInvoices :many
-- The stored provider invoices of a tenant: all of them, or a single one. The status is null if
-- this service did not issue the invoice.
SELECT p.psp_invoice_id, i.status, i.currency, i.total_cents
FROM psp_invoices p LEFT JOIN invoices i ON i.tenant_id = p.tenant_id AND i.psp_invoice_id = p.psp_invoice_id
WHERE p.tenant_id = $1 AND (sqlc.arg(one)::text = '' OR p.psp_invoice_id = sqlc.arg(one)::text)
ORDER BY p.psp_invoice_id;

-- name: ForgetPSPInvoice :exec
-- Keeps issued invoices.
DELETE FROM psp_invoices
WHERE psp_invoices.tenant_id = $1 AND psp_invoices.psp_invoice_id = $2
AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.tenant_id = psp_invoices.tenant_id AND i.psp_invoice_id = psp_invoices.psp_invoice_id);

-- name: FindPSPInvoice :one
SELECT id FROM psp_invoices WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: Told :one
SELECT told FROM psp_invoices WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: SetTold :exec
UPDATE psp_invoices SET told = $3 WHERE tenant_id = $1 AND psp_invoice_id = $2;

-- name: Copy :one
SELECT number_key, currency, total_cents, due_cents FROM invoice_copies WHERE id = $1;

-- name: PutCopy :exec
INSERT INTO invoice_copies (id, tenant_id, status, number_key, currency, total_cents, due_cents, issue_date, due_date, body, is_issued)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (id) DO UPDATE
SET status = excluded.status, number_key = excluded.number_key, currency = excluded.currency, total_cents = excluded.total_cents,
    due_cents = excluded.due_cents, issue_date = excluded.issue_date, due_date = excluded.due_date, body = excluded.body, is_issued = excluded.is_issued;

-- name: VoidCopy :exec
UPDATE invoice_copies SET status = 'void', due_cents = 0 WHERE tenant_id = $1 AND id = $2;

-- name: DeleteCopy :exec
DELETE FROM invoice_copies WHERE tenant_id = $1 AND id = $2;

-- name: AddToSums :exec
INSERT INTO invoice_sums (tenant_id, currency, invoices, total_cents, due_cents) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, currency) DO UPDATE
SET invoices = invoice_sums.invoices + excluded.invoices, total_cents = invoice_sums.total_cents + excluded.total_cents,
    due_cents = invoice_sums.due_cents + excluded.due_cents;

-- name: AllSums :many
SELECT currency, sum(invoices)::bigint AS invoices, sum(total_cents)::bigint AS total_cents, sum(due_cents)::bigint AS due_cents
FROM invoice_sums GROUP BY currency HAVING sum(invoices) > 0 ORDER BY currency;

-- name: ForgetCopies :exec
-- Keeps the copies of issued invoices, which must be retained.
DELETE FROM invoice_copies WHERE tenant_id = $1 AND NOT is_issued;

-- name: DeleteSums :exec
DELETE FROM invoice_sums WHERE tenant_id = $1;

-- name: SumCopies :exec
INSERT INTO invoice_sums (tenant_id, currency, invoices, total_cents, due_cents)
SELECT c.tenant_id, c.currency, count(*), sum(c.total_cents)::bigint, sum(c.due_cents)::bigint
FROM invoice_copies c WHERE c.tenant_id = $1 GROUP BY c.tenant_id, c.currency;
