-- name: LockSubscription :one
SELECT id, tenant_id, plan_id, status, currency, price_cents, quantity, discount_cents, discount_ends_at, interval_unit, interval_count,
    billing_anchor, current_period_start, current_period_end, trial_ends_at, sync_version, created_at, updated_at, journaled_version, journaled_at,
    journaled_amount, journaled_active, journaled_until, journaled_next, journaled_plan_id, journaled_trial_plan_id
FROM subscriptions WHERE tenant_id = $1 AND id = $2 FOR UPDATE;

-- name: UnnotedSubscriptions :many
-- The subscriptions whose current state is not in the journal.
SELECT tenant_id, id FROM subscriptions WHERE journaled_version <> sync_version ORDER BY id LIMIT sqlc.arg(most);

-- name: LockUnnoted :one
-- Skips rows that another worker has locked or has already noted.
SELECT id, tenant_id, plan_id, status, currency, price_cents, quantity, discount_cents, discount_ends_at, interval_unit, interval_count,
    billing_anchor, current_period_start, current_period_end, trial_ends_at, sync_version, created_at, updated_at, journaled_version, journaled_at,
    journaled_amount, journaled_active, journaled_until, journaled_next, journaled_plan_id, journaled_trial_plan_id
FROM subscriptions WHERE tenant_id = $1 AND id = $2 AND journaled_version <> sync_version FOR UPDATE SKIP LOCKED;

-- name: MarkNoted :exec
UPDATE subscriptions SET journaled_version = $3, journaled_amount = $4, journaled_active = $5, journaled_at = sqlc.narg(journaled_at),
    journaled_until = sqlc.narg(journaled_until), journaled_next = sqlc.arg(journaled_next), journaled_plan_id = sqlc.narg(journaled_plan_id),
    journaled_trial_plan_id = sqlc.narg(journaled_trial_plan_id)
WHERE tenant_id = $1 AND id = $2;

-- name: CustomerOf :one
-- The number of a tenant in the histories.
SELECT customer FROM subscription_histories WHERE tenant_id = sqlc.arg(tenant_id)::uuid LIMIT 1;

-- name: InsertEntry :exec
INSERT INTO subscription_journal (id, tenant_id, subscription_id, at, day, currency, kind, amount_before, amount_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: DeleteScheduled :many
DELETE FROM subscription_journal WHERE subscription_id = $1 AND at = $2 AND (tenant_id = sqlc.arg(tenant_id)::uuid OR tenant_id IS NULL)
RETURNING day, currency, kind, amount_before, amount_after, is_folded;

-- name: AppendHistory :execrows
UPDATE subscription_histories SET events = events || sqlc.arg(added)::text
WHERE subscription_id = $1 AND (tenant_id = sqlc.arg(tenant_id)::uuid OR tenant_id IS NULL);

-- name: InsertHistory :exec
INSERT INTO subscription_histories (subscription_id, tenant_id, customer, currency, events) VALUES ($1, $2, $3, $4, $5);

-- name: EventsOf :one
SELECT events FROM subscription_histories WHERE subscription_id = $1;

-- name: SubscriptionOfPSPID :one
SELECT id, plan_id, currency FROM subscriptions WHERE tenant_id = $1 AND psp_subscription_id = $2;

-- name: TakeUnfolded :many
WITH picked AS MATERIALIZED (
    SELECT j.id FROM subscription_journal j WHERE NOT j.is_folded AND j.at <= sqlc.arg(now)::timestamptz ORDER BY j.id LIMIT sqlc.arg(most) FOR UPDATE SKIP LOCKED
)
UPDATE subscription_journal SET is_folded = true WHERE id IN (SELECT id FROM picked)
RETURNING day, currency, kind, amount_before, amount_after;

-- name: AddToDay :exec
INSERT INTO subscription_days (currency, day, kind, amount, entries) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (currency, day, kind) DO UPDATE
SET amount = subscription_days.amount + excluded.amount, entries = subscription_days.entries + excluded.entries;

-- name: ForgetTenant :exec
UPDATE subscription_journal SET tenant_id = NULL WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: ForgetHistories :exec
UPDATE subscription_histories SET tenant_id = NULL WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: Sums :many
-- One statement sees one snapshot, so each entry counts either as folded or as not folded.
-- Everything before the first day is combined into the day before it.
SELECT e.currency, (CASE WHEN e.day < sqlc.arg(since)::bigint THEN sqlc.arg(since)::bigint - 1 ELSE e.day END)::bigint AS day_or_before, e.kind,
    sum(e.amount)::bigint AS amount, sum(e.entries)::bigint AS entries
FROM (
    SELECT d.currency, d.day, d.kind, d.amount, d.entries FROM subscription_days d WHERE d.day <= sqlc.arg(until)::bigint
    UNION ALL
    SELECT j.currency, j.day, j.kind, j.amount_after - j.amount_before, 1
    FROM subscription_journal j WHERE NOT j.is_folded AND j.day <= sqlc.arg(until)::bigint AND j.at <= sqlc.arg(now)::timestamptz
) e
GROUP BY e.currency, day_or_before, e.kind;
