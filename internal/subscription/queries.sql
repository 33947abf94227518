-- name: LiveSubscription :one
SELECT * FROM subscriptions
WHERE tenant_id = $1 AND status NOT IN ('canceled', 'incomplete_expired');

-- The tenant is null if it is unknown.
-- name: SubscriptionByPSPID :one
SELECT * FROM subscriptions WHERE tenant_id = $1 AND psp_subscription_id = $2;

-- name: InsertSubscription :exec
INSERT INTO subscriptions (
    id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
    billing_anchor, current_period_start, current_period_end, trial_ends_at, cancel_at_period_end,
    canceled_at, psp_subscription_id, cancel_at, sync_version, created_at, updated_at, former_billing, metered_items,
    psp_price_id, payment_action, payment_url, metered_period, metered_terms, unpaid_psp_invoice_id, unpaid_since, has_payment_method,
    discount_id, psp_discount_id, discount_ends_at, discount_cents, collection, days_until_due, purchase_order, custom_price,
    scheduled_change, psp_schedule_id
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 1, $18, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32,
    sqlc.arg(collection), sqlc.narg(days_until_due), sqlc.narg(purchase_order), sqlc.arg(custom_price),
    sqlc.narg(scheduled_change), sqlc.narg(psp_schedule_id));

-- name: UpdateSubscription :execrows
UPDATE subscriptions
SET plan_id = $3, status = $4, price_cents = $5, quantity = $6, interval_unit = $7, interval_count = $8,
    billing_anchor = $9, current_period_start = $10, current_period_end = $11, trial_ends_at = $12,
    cancel_at_period_end = $13, canceled_at = $14, updated_at = $15, cancel_at = $16, former_billing = $17, metered_items = $18,
    psp_price_id = $19, payment_action = $20, payment_url = $21, pending_plan_id = $22, pending_psp_price_id = $23,
    pending_psp_invoice_id = $24, pending_expires_at = $25, unpaid_psp_invoice_id = $27, unpaid_since = $28, grace_ended = false, has_payment_method = $29,
    discount_id = $30, psp_discount_id = $31, discount_ends_at = $32, discount_cents = $33,
    collection = sqlc.arg(collection), days_until_due = sqlc.narg(days_until_due), purchase_order = sqlc.narg(purchase_order), custom_price = sqlc.arg(custom_price),
    pending_quantity = sqlc.narg(pending_quantity), pending_price_cents = sqlc.narg(pending_price_cents), pending_by = sqlc.narg(pending_by),
    scheduled_change = sqlc.narg(scheduled_change), psp_schedule_id = sqlc.narg(psp_schedule_id),
    sync_version = sync_version + 1
WHERE psp_subscription_id = $1 AND sync_version = $2 AND tenant_id = $26;

-- name: CountDeparture :exec
UPDATE subscriptions SET departures = departures + 1
WHERE tenant_id = $1 AND status NOT IN ('canceled', 'incomplete_expired');

-- name: DeductDepartures :exec
UPDATE subscriptions SET departures = departures - sqlc.arg(followed) WHERE tenant_id = $1 AND id = $2 AND departures >= sqlc.arg(followed);

-- name: InsertCheckout :exec
INSERT INTO checkouts (id, tenant_id, plan_id, currency, price_cents, quantity, replaces_subscription_id, created_at, updated_at, discount_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
ON CONFLICT DO NOTHING;

-- name: SetCheckoutSession :execrows
UPDATE checkouts SET psp_session_id = $2, updated_at = $3 WHERE tenant_id = $4 AND id = $1 AND psp_session_id IS NULL;

-- name: LastAnsweredCheckout :one
-- The newest checkout of a plan whose session the provider has returned.
SELECT id FROM checkouts
WHERE tenant_id = $1 AND plan_id = $2 AND psp_session_id IS NOT NULL
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: OpenCheckouts :many
-- Omits checkouts older than the current subscription.
SELECT c.id, c.psp_session_id FROM checkouts c
WHERE c.tenant_id = $1 AND c.completed_at IS NULL AND c.expired_at IS NULL AND c.psp_session_id IS NOT NULL
AND c.created_at > sqlc.arg(since) AND NOT EXISTS (
    SELECT 1 FROM subscriptions s
    WHERE s.tenant_id = c.tenant_id AND s.created_at > c.created_at AND s.status NOT IN ('canceled', 'incomplete_expired')
)
ORDER BY c.created_at DESC, c.id DESC
LIMIT 5;

-- name: LookAtCheckout :execrows
UPDATE checkouts SET looked_at = sqlc.arg(now)
WHERE tenant_id = $1 AND id = $2 AND (looked_at IS NULL OR looked_at <= sqlc.arg(not_since));

-- name: DeleteProviderIDs :exec
DELETE FROM psp_tenants WHERE tenant_id = $1;

-- name: DeleteCheckouts :exec
DELETE FROM checkouts WHERE tenant_id = $1;

-- name: ExpireCheckout :many
UPDATE checkouts SET expired_at = $2, updated_at = $2 WHERE tenant_id = $3 AND psp_session_id = $1 AND expired_at IS NULL RETURNING id;

-- name: CompleteCheckout :exec
UPDATE checkouts SET completed_at = $2, updated_at = $2 WHERE tenant_id = $3 AND psp_session_id = $1 AND completed_at IS NULL;

-- name: RefuseCheckout :exec
UPDATE checkouts SET refused_at = $2, updated_at = $2 WHERE tenant_id = $3 AND id = $1 AND refused_at IS NULL;

-- name: InsertContract :exec
INSERT INTO checkouts (id, tenant_id, plan_id, currency, price_cents, quantity, contract, leased_until, created_at, updated_at, replaces_subscription_id, discount_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11);

-- name: UpdateContract :exec
UPDATE checkouts SET contract = $3 WHERE tenant_id = $1 AND id = $2;

-- name: OpenContract :one
-- The subscription of a tenant that the platform is making.
SELECT * FROM checkouts
WHERE tenant_id = $1 AND contract IS NOT NULL AND completed_at IS NULL AND expired_at IS NULL AND refused_at IS NULL;

-- name: LastContracts :many
-- The newest subscriptions that the platform has made for a tenant since a time.
SELECT * FROM checkouts
WHERE tenant_id = $1 AND contract IS NOT NULL AND completed_at IS NOT NULL AND refused_at IS NULL AND created_at > sqlc.arg(since)
ORDER BY created_at DESC
LIMIT 20;

-- name: LeaseContract :exec
UPDATE checkouts SET leased_until = $3 WHERE tenant_id = $1 AND id = $2;

-- name: CompleteContract :exec
UPDATE checkouts SET psp_session_id = $3, completed_at = $4, updated_at = $4 WHERE tenant_id = $1 AND id = $2;

-- name: DropContract :exec
UPDATE checkouts SET expired_at = $3, updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL;

-- name: MarkTrialEndMailed :execrows
UPDATE subscriptions SET trial_end_told = trial_ends_at
WHERE tenant_id = $1 AND id = $2 AND status = 'trialing' AND NOT cancel_at_period_end AND (has_payment_method OR collection = 'invoice')
AND (cancel_at IS NULL OR cancel_at > trial_ends_at)
AND trial_ends_at IS NOT NULL AND (trial_end_told IS NULL OR trial_end_told <> trial_ends_at);

-- name: ListRenewals :many
-- The subscriptions with a cycle of six months or more that renew in a period and whose tenant was
-- not reminded.
SELECT * FROM subscriptions
WHERE status IN ('active', 'past_due') AND cancel_at IS NULL AND NOT cancel_at_period_end
    AND current_period_end > sqlc.arg(now) AND current_period_end <= sqlc.arg(before) AND price_cents > 0
    AND (interval_unit = 'year' OR interval_unit = 'month' AND interval_count >= 6
        OR interval_unit = 'week' AND interval_count >= 26 OR interval_unit = 'day' AND interval_count >= 182)
    AND (renewal_told IS NULL OR renewal_told <> current_period_end)
ORDER BY current_period_end
LIMIT sqlc.arg(most);

-- name: MarkRenewalMailed :execrows
UPDATE subscriptions SET renewal_told = current_period_end
WHERE tenant_id = sqlc.arg(tenant_id) AND id = sqlc.arg(id) AND current_period_end = sqlc.arg(renews)
    AND status IN ('active', 'past_due') AND cancel_at IS NULL AND NOT cancel_at_period_end
    AND (renewal_told IS NULL OR renewal_told <> current_period_end);

-- name: ListUncheckedCards :many
-- The customers whose card was not checked since a time.
SELECT tenant_id, psp_customer_id FROM psp_customers
WHERE card_checked_at < sqlc.arg(since)
ORDER BY card_checked_at
LIMIT sqlc.arg(most);

-- name: MarkCardChecked :exec
UPDATE psp_customers SET card_checked_at = sqlc.arg(now) WHERE tenant_id = sqlc.arg(tenant_id) AND psp_customer_id = sqlc.arg(psp_customer_id);

-- name: MarkCardMailed :execrows
UPDATE psp_customers SET card_told = sqlc.arg(reminder)
WHERE tenant_id = sqlc.arg(tenant_id) AND psp_customer_id = sqlc.arg(psp_customer_id) AND (card_told IS NULL OR card_told < sqlc.arg(reminder));

-- name: MarkCardAsked :execrows
UPDATE subscriptions SET card_asked_for = trial_ends_at
WHERE tenant_id = $1 AND id = $2 AND (card_asked_for IS NULL OR card_asked_for <> trial_ends_at);

-- name: MinorUnits :one
SELECT minor_units FROM currencies WHERE code = $1;

-- name: SubscriptionOfTenant :one
SELECT * FROM subscriptions WHERE tenant_id = $1 AND id = $2;

-- name: SubscriptionsOfTenant :many
SELECT * FROM subscriptions WHERE tenant_id = $1 ORDER BY created_at DESC, id DESC LIMIT sqlc.arg(most) OFFSET sqlc.arg(skipped);

-- The subscriptions that follow the given one in the list.
-- name: OlderSubscriptionsOfTenant :many
SELECT * FROM subscriptions
WHERE tenant_id = $1 AND (created_at, id) < (sqlc.arg(created_at)::timestamptz, sqlc.arg(id)::uuid)
ORDER BY created_at DESC, id DESC
LIMIT sqlc.arg(most);

-- name: CountSubscriptionsOfTenant :one
SELECT count(*) FROM subscriptions WHERE tenant_id = $1;

-- name: SetCancellationReason :exec
UPDATE subscriptions SET cancellation_reason = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2;

-- name: Checkout :one
SELECT * FROM checkouts WHERE tenant_id = $1 AND id = $2;

-- name: PlansOfPSPPrice :many
SELECT plan_id FROM plan_prices WHERE psp_price_id = $1 ORDER BY created_at, id;

-- name: HasSuccessor :one
SELECT EXISTS (SELECT 1 FROM checkouts WHERE tenant_id = $1 AND replaces_subscription_id = sqlc.arg(id));

-- The items that bill the usage of a period are decided once.
-- name: DecideMetered :execrows
UPDATE subscriptions SET metered_period = sqlc.arg(period), metered_terms = $3
WHERE tenant_id = $1 AND id = $2 AND (metered_period IS NULL OR metered_period < sqlc.arg(period));

-- A change of plan changes the items that bill the usage of a period.
-- name: ChangeMeteredTerms :exec
UPDATE subscriptions SET metered_period = sqlc.arg(period), metered_terms = $3 WHERE tenant_id = $1 AND id = $2;

-- Subscriptions of usage plans whose stored period has ended, or whose metered items are not
-- decided for their current period.
-- name: UndecidedMetered :many
SELECT s.id, s.tenant_id FROM subscriptions s JOIN plans p ON p.id = s.plan_id
WHERE s.status IN ('active', 'trialing', 'past_due', 'unpaid') AND p.pricing_type = 'usage' AND s.id > sqlc.arg(after)
AND (s.metered_period IS NULL OR s.metered_period < s.current_period_start OR s.current_period_end <= sqlc.arg(now))
ORDER BY s.id
LIMIT 500;

-- The subscriptions to a plan that are not over.
-- name: LiveOfPlan :many
SELECT * FROM subscriptions
WHERE plan_id = $1 AND status IN ('active', 'trialing', 'past_due', 'unpaid') AND id > sqlc.arg(after)
ORDER BY id
LIMIT 500;

-- The tenants to which a plan applies as the default plan: none of their subscriptions sets limits.
-- name: CountDefaultTenants :one
SELECT count(*) FROM tenants t
WHERE t.deleted_at IS NULL
    AND EXISTS (SELECT 1 FROM plans p WHERE p.id = sqlc.arg(plan_id) AND p.is_default AND p.deleted_at IS NULL)
    AND t.id NOT IN (SELECT s.tenant_id FROM subscriptions s WHERE s.status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused'));

-- name: CustomersOfPlan :many
-- The number of tenants per price of a plan. price_id is null for a price that the plan no longer
-- has. The CTE counts in the order of an index before the prices are joined.
WITH c AS MATERIALIZED (
    SELECT s.plan_id, s.currency, s.price_cents, s.interval_unit, s.interval_count, count(*) AS tenants
    FROM subscriptions s
    WHERE s.plan_id = $1 AND s.status NOT IN ('canceled', 'incomplete_expired')
    GROUP BY s.plan_id, s.currency, s.price_cents, s.interval_unit, s.interval_count
)
SELECT c.currency, c.price_cents, c.interval_unit, c.interval_count, c.tenants, p.id AS price_id
FROM c
JOIN plans l ON l.id = c.plan_id
LEFT JOIN plan_prices p ON p.plan_id = c.plan_id AND p.currency = c.currency AND p.price_cents = c.price_cents
    AND l.interval_unit = c.interval_unit AND l.interval_count = c.interval_count
ORDER BY c.tenants DESC, c.currency, c.price_cents, c.interval_unit, c.interval_count;
-- name: InsertOperation :exec
INSERT INTO psp_operations (id, tenant_id, subscription_id, request, origin, state, leased_until, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $7);

-- name: PendingOperation :one
SELECT * FROM psp_operations WHERE tenant_id = $1 AND subscription_id = $2 AND state = 'pending';

-- name: LastRequestedOperation :one
-- The newest operation that a user requested.
SELECT * FROM psp_operations
WHERE tenant_id = $1 AND subscription_id = $2 AND request ->> 'kind' IN ('cancel', 'cancel_now', 'resume', 'change', 'drop', 'discount', 'schedule', 'unschedule')
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: AcknowledgeOperation :execrows
UPDATE psp_operations SET state = 'done', updated_at = $3 WHERE tenant_id = $1 AND id = $2 AND state = 'abandoned';

-- name: LastChange :one
-- The newest change of plan, or scheduled change, whose effect was recorded.
SELECT request, origin FROM psp_operations
WHERE tenant_id = $1 AND subscription_id = $2 AND recorded_at IS NOT NULL AND request ->> 'kind' = sqlc.arg(kind)::text
ORDER BY created_at DESC, id DESC
LIMIT 1;

-- name: OperationByID :one
SELECT * FROM psp_operations WHERE tenant_id = $1 AND id = $2;

-- name: LeaseOperation :execrows
UPDATE psp_operations SET leased_until = sqlc.arg(until), updated_at = sqlc.arg(now)
WHERE tenant_id = $1 AND id = $2 AND state = 'pending' AND leased_until <= sqlc.arg(free_at);

-- name: ReleaseOperation :exec
UPDATE psp_operations SET leased_until = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'pending';

-- name: CloseOperation :execrows
UPDATE psp_operations SET state = $3, updated_at = $4 WHERE tenant_id = $1 AND id = $2 AND state = 'pending';

-- name: RecordOperation :execrows
UPDATE psp_operations SET recorded_at = $3 WHERE tenant_id = $1 AND id = $2 AND recorded_at IS NULL;

-- name: UpsertPreview :exec
INSERT INTO change_previews (
    tenant_id, plan_id, asked, discount, actor, quantity, proration_date, credit_cents, charge_cents, pending_cents, usage_cents, shown_at, expires_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant_id, plan_id, asked, discount, actor)
DO UPDATE SET quantity = excluded.quantity, proration_date = excluded.proration_date, credit_cents = excluded.credit_cents,
    charge_cents = excluded.charge_cents, pending_cents = excluded.pending_cents, usage_cents = excluded.usage_cents,
    shown_at = excluded.shown_at, expires_at = excluded.expires_at;

-- name: DeleteExpiredPreviews :exec
DELETE FROM change_previews WHERE tenant_id = $1 AND expires_at <= $2;

-- name: DeletePreviews :exec
DELETE FROM change_previews WHERE tenant_id = $1 AND plan_id = $2 AND actor = $3;

-- name: LastPreview :one
-- The newest preview of the same change, found by the requested or by the resulting number of
-- seats. A preview whose requested number now results in another number comes first: it is
-- outdated.
SELECT * FROM change_previews
WHERE tenant_id = $1 AND plan_id = $2 AND (asked = $3 OR quantity = $4) AND discount = $5 AND actor = $6 AND expires_at > sqlc.arg(now)
ORDER BY CASE WHEN asked = $3 AND quantity <> $4 THEN 0 ELSE 1 END, shown_at DESC
LIMIT 1;

-- name: StoreItem :exec
INSERT INTO waiting_items (tenant_id, subscription_id, operation_id, psp_item_id, created_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, subscription_id, psp_item_id) DO UPDATE SET operation_id = excluded.operation_id;

-- name: StoredItems :many
SELECT psp_item_id FROM waiting_items WHERE tenant_id = $1 AND subscription_id = $2 ORDER BY created_at, psp_item_id;

-- name: DeleteItem :exec
-- Keep the item while the operation that stored it is pending, because its invoice may still be
-- created.
DELETE FROM waiting_items
WHERE waiting_items.tenant_id = $1 AND waiting_items.subscription_id = $2 AND waiting_items.psp_item_id = $3 AND NOT EXISTS (
    SELECT 1 FROM psp_operations o
    WHERE o.tenant_id = waiting_items.tenant_id AND o.id = waiting_items.operation_id AND o.state = 'pending'
);

-- name: HadTrial :one
SELECT EXISTS (
    SELECT 1 FROM trials t
    JOIN plans p ON p.product_id = t.product_id
    WHERE t.tenant_id = $1 AND p.id = sqlc.arg(plan_id)
);

-- name: HadTrialAsOwner :one
SELECT EXISTS (
    SELECT 1 FROM trials t
    JOIN plans p ON p.product_id = t.product_id
    WHERE t.owner_id = $1 AND p.id = sqlc.arg(plan_id)
);

-- name: InsertTrial :exec
INSERT INTO trials (tenant_id, product_id, subscription_id, began_at, owner_id)
SELECT $1, p.product_id, $2, $3, $4 FROM plans p WHERE p.id = sqlc.arg(plan_id)
ON CONFLICT (tenant_id, product_id) DO NOTHING;

-- name: OutdateReads :exec
UPDATE subscriptions SET sync_version = sync_version + 1 WHERE tenant_id = $1 AND id = $2;
