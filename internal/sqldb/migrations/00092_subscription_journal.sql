-- +goose Up
-- What changes of subscriptions did to the revenue that recurs (MRR). Amounts are in minor
-- units a month; day counts the days of UTC since 1970. kind is new, expansion, contraction
-- or ended. tenant_id is null once the tenant is gone. is_folded says that subscription_days
-- has the entry in its sums.
CREATE TABLE subscription_journal (
    id uuid PRIMARY KEY,
    tenant_id uuid,
    at timestamp with time zone NOT NULL,
    day bigint NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    amount_before bigint NOT NULL,
    amount_after bigint NOT NULL,
    is_folded boolean NOT NULL DEFAULT false
);
CREATE INDEX subscription_journal_unfolded_idx ON subscription_journal (id) WHERE NOT is_folded;
CREATE INDEX subscription_journal_tenant_id_idx ON subscription_journal (tenant_id) WHERE tenant_id IS NOT NULL;

-- The sums of the folded entries of a day, for all tenants together.
CREATE TABLE subscription_days (
    currency text NOT NULL,
    day bigint NOT NULL,
    kind text NOT NULL,
    amount bigint NOT NULL,
    entries bigint NOT NULL,
    PRIMARY KEY (currency, day, kind)
);

-- What the journal says of a subscription: the state that was noted last, by its
-- sync_version (0: none so far), what it counts a month, and whether it counts at all.
ALTER TABLE subscriptions ADD COLUMN journaled_version bigint NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN journaled_amount bigint NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN journaled_active boolean NOT NULL DEFAULT false;
CREATE INDEX subscriptions_unjournaled_idx ON subscriptions (id) WHERE journaled_version <> sync_version;
-- How many subscriptions there are in each state that is not over.
CREATE INDEX subscriptions_live_status_idx ON subscriptions (status) WHERE status NOT IN ('canceled', 'incomplete_expired');
