-- name: LockSubscription :one
SELECT id, tenant_id, status, currency, price_cents, quantity, discount_cents, interval_unit, interval_count, trial_ends_at, sync_version,
    created_at, updated_at, journaled_version, journaled_amount, journaled_active
FROM subscriptions WHERE tenant_id = $1 AND id = $2 FOR UPDATE;

-- name: UnnotedSubscriptions :many
-- The subscriptions whose current state is not in the journal.
SELECT tenant_id, id FROM subscriptions WHERE journaled_version <> sync_version ORDER BY id LIMIT sqlc.arg(most);

-- name: LockUnnoted :one
-- Skips rows that another worker has locked or has already noted.
SELECT id, tenant_id, status, currency, price_cents, quantity, discount_cents, interval_unit, interval_count, trial_ends_at, sync_version,
    created_at, updated_at, journaled_version, journaled_amount, journaled_active
FROM subscriptions WHERE tenant_id = $1 AND id = $2 AND journaled_version <> sync_version FOR UPDATE SKIP LOCKED;

-- name: MarkNoted :exec
UPDATE subscriptions SET journaled_version = $3, journaled_amount = $4, journaled_active = $5
WHERE tenant_id = $1 AND id = $2;

-- name: InsertEntry :exec
INSERT INTO subscription_journal (id, tenant_id, at, day, currency, kind, amount_before, amount_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: TakeUnfolded :many
WITH picked AS MATERIALIZED (
    SELECT j.id FROM subscription_journal j WHERE NOT j.is_folded ORDER BY j.id LIMIT sqlc.arg(most) FOR UPDATE SKIP LOCKED
)
UPDATE subscription_journal SET is_folded = true WHERE id IN (SELECT id FROM picked)
RETURNING day, currency, kind, amount_before, amount_after;

-- name: AddToDay :exec
INSERT INTO subscription_days (currency, day, kind, amount, entries) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (currency, day, kind) DO UPDATE
SET amount = subscription_days.amount + excluded.amount, entries = subscription_days.entries + excluded.entries;

-- name: ForgetTenant :exec
UPDATE subscription_journal SET tenant_id = NULL WHERE tenant_id = sqlc.arg(tenant_id)::uuid;

-- name: Sums :many
-- One statement sees one snapshot, so each entry counts either as folded or as not folded.
-- Everything before the first day is combined into the day before it.
SELECT e.currency, (CASE WHEN e.day < sqlc.arg(since)::bigint THEN sqlc.arg(since)::bigint - 1 ELSE e.day END)::bigint AS day_or_before, e.kind,
    sum(e.amount)::bigint AS amount, sum(e.entries)::bigint AS entries
FROM (
    SELECT d.currency, d.day, d.kind, d.amount, d.entries FROM subscription_days d WHERE d.day <= sqlc.arg(until)::bigint
    UNION ALL
    SELECT j.currency, j.day, j.kind, j.amount_after - j.amount_before, 1
    FROM subscription_journal j WHERE NOT j.is_folded AND j.day <= sqlc.arg(until)::bigint
) e
GROUP BY e.currency, day_or_before, e.kind;
