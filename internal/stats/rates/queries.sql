-- name: List :many
SELECT day, currency, rate FROM exchange_rates WHERE base = $1 AND day >= sqlc.arg(since) AND day <= sqlc.arg(until) ORDER BY day DESC, currency;

-- name: OfDay :many
SELECT currency, rate FROM exchange_rates WHERE base = $1 AND day = $2 ORDER BY currency;

-- name: All :many
SELECT currency, day, rate FROM exchange_rates WHERE base = $1 ORDER BY base, day;

-- name: Insert :exec
INSERT INTO exchange_rates (base, day, currency, rate) VALUES ($1, $2, $3, $4);

-- name: DeleteDay :exec
DELETE FROM exchange_rates WHERE base = $1 AND day = $2;

-- name: LockBase :one
-- Serializes changes of rates.
SELECT code FROM currencies WHERE code = $1 FOR UPDATE;

-- name: Currencies :many
SELECT code, minor_units, is_active FROM currencies;

-- name: UsedCurrencies :many
-- The currencies with recurring revenue.
SELECT DISTINCT currency FROM subscriptions WHERE status IN ('active', 'past_due') AND currency <> sqlc.arg(base)::text ORDER BY currency;

-- name: IsUsed :one
-- 1 if a subscription has the currency, else 0.
SELECT count(*) FROM (SELECT s.currency FROM subscriptions s WHERE s.currency = $1 LIMIT 1) AS used;
