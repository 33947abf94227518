package app

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// allowances provides the quotas and billing periods of subscriptions to the usage domain.
type allowances struct {
	db           *sqldb.DB
	entitlements *entitlement.Service
	clock        clock.Clock
	cache        *querycache.Cache[uuid.UUID, usage.Allowance]
}

// newAllowances returns allowances for the entitlements of a database.
func newAllowances(db *sqldb.DB, c clock.Clock, entitlements *entitlement.Service) allowances {
	a := allowances{db: db, entitlements: entitlements, clock: c}
	a.cache = querycache.New(querycache.Config[uuid.UUID, usage.Allowance]{
		DB: db, Tables: a.AllowanceTables(),
		Load: func(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]usage.Allowance, error) {
			queries, read := a.load(tenantIDs)
			if err := db.QueryAll(ctx, queries...); err != nil {
				return nil, err
			}
			return read(ctx)
		},
	})
	return a
}

// Allowances returns the queries that load the allowances of tenants, and a function that returns
// the allowances once the queries have run. A tenant is left out if neither a plan, an override nor a
// recently ended subscription sets its limits or periods. Callers share the allowances and must not
// change them.
func (a allowances) Allowances(ctx context.Context, tenantIDs []uuid.UUID) ([]sqldb.Query, func(ctx context.Context) (map[uuid.UUID]usage.Allowance, error)) {
	cached, missing, store := a.cache.Lookup(ctx, tenantIDs)
	now := a.clock.Now()
	for id, allowance := range cached {
		if allowance.ChangesAt != nil && !now.Before(*allowance.ChangesAt) {
			missing = append(missing, id)
		}
	}
	queries, read := a.load(missing)
	return queries, func(ctx context.Context) (map[uuid.UUID]usage.Allowance, error) {
		loaded, err := read(ctx)
		if err != nil {
			return nil, err
		}
		store(loaded)
		for id, allowance := range cached {
			if _, again := loaded[id]; !again {
				loaded[id] = allowance
			}
		}
		return loaded, nil
	}
}

// load is Allowances without the cache.
func (a allowances) load(tenantIDs []uuid.UUID) ([]sqldb.Query, func(ctx context.Context) (map[uuid.UUID]usage.Allowance, error)) {
	queries, read := a.entitlements.TermsOf(tenantIDs)
	return queries, func(ctx context.Context) (map[uuid.UUID]usage.Allowance, error) {
		terms, err := read(ctx)
		if err != nil {
			return nil, err
		}
		now := a.clock.Now()
		all := make(map[uuid.UUID]usage.Allowance, len(terms))
		for id, t := range terms {
			allowance := usage.Allowance{Limits: t.Limits(now), ChangesAt: t.ChangesAt(now)}
			if !t.IsDefault() && t.BillsUsage() {
				allowance.BillsUsage, allowance.IsTrial, allowance.Currency = true, t.Status == string(subscription.Trialing), t.Currency
				if allowance.PriceIDs, err = decodePriceIDs(t.MeteredItems); err != nil {
					return nil, err
				}
			}
			allowance.Billing = &usage.Billing{
				ByCalendar: t.Status == "",
				Anchor:     t.BillingAnchor, IntervalUnit: usage.IntervalUnit(t.IntervalUnit), IntervalCount: int(t.IntervalCount),
				Current: usage.Period{Start: t.CurrentPeriodStart, End: t.CurrentPeriodEnd}, Former: formerBilling(t.Former),
			}
			all[id] = allowance
		}
		return all, nil
	}
}

// hadPlan returns a function that reports whether a tenant has ever had a subscription.
// Incomplete subscriptions do not count.
func hadPlan(db *sqldb.DB) func(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return func(ctx context.Context, tenantID uuid.UUID) (had bool, err error) {
		err = db.Conn(ctx).QueryRowContext(ctx, `SELECT EXISTS (
    SELECT 1 FROM subscriptions s WHERE s.tenant_id = $1 AND s.status NOT IN ('incomplete', 'incomplete_expired')
)`, tenantID).Scan(&had)
		return had, sqldb.Wrap(err, "find subscription")
	}
}

// AllowanceTables returns all tables that Allowances reads.
func (a allowances) AllowanceTables() []string {
	return append(entitlement.TermTables(), "meter_links", "meter_prices")
}

func formerBilling(terms []entitlement.FormerTerms) []usage.FormerBilling {
	if len(terms) == 0 {
		return nil
	}
	former := make([]usage.FormerBilling, len(terms))
	for i, t := range terms {
		former[i] = usage.FormerBilling{Until: t.Until, Billing: usage.Billing{
			Anchor: t.BillingAnchor, IntervalUnit: usage.IntervalUnit(t.IntervalUnit), IntervalCount: int(t.IntervalCount),
			Current: usage.Period{Start: t.CurrentPeriodStart, End: t.CurrentPeriodEnd},
		}}
	}
	return former
}

// payers provides a tenant's currency, billing period and metered prices to the usage domain.
type payers struct {
	DB            *sqldb.DB
	Subscriptions *subscription.Service
	Tenants       *tenant.Service
	Catalog       *catalog.Service
}

// Payer returns how a tenant currently pays for usage.
func (p payers) Payer(ctx context.Context, tenantID uuid.UUID) (billing.Payer, error) {
	sub, err := p.Subscriptions.LoadCurrent(ctx, tenantID)
	if errors.Is(err, subscription.ErrNotFound) || err == nil && !sub.Status.IsRunning() && sub.Status != subscription.Unpaid {
		t, err := p.Tenants.Get(ctx, tenantID)
		return billing.Payer{Currency: t.PreferredCurrency}, err
	}
	if err != nil {
		return billing.Payer{}, err
	}
	current := usage.Period{Start: sub.CurrentPeriodStart, End: sub.CurrentPeriodEnd}
	payer := billing.Payer{Currency: sub.Currency}
	if sub.Status.IsRunning() {
		former, err := sub.FormerTerms()
		if err != nil {
			return payer, err
		}
		payer.Billing = &usage.Billing{
			Anchor: sub.BillingAnchor, IntervalUnit: usage.IntervalUnit(sub.IntervalUnit), IntervalCount: int(sub.IntervalCount), Current: current,
			Former: formerBilling(former),
		}
	}
	items, known, err := sub.MeteredItems()
	if known {
		payer.Prices = pricesOf(items)
	}
	if err != nil {
		return payer, err
	}
	terms, decided, err := sub.MeteredTerms()
	if err != nil {
		return payer, err
	}
	pays, err := p.paysUsage(ctx, sub)
	if !pays || err != nil {
		return payer, err
	}
	payer.PaysUsage = sub.Status != subscription.Trialing
	if payer.Discount, err = p.Subscriptions.UsageDiscount(ctx, sub); err != nil {
		return payer, err
	}
	payer.AddedAt = addedAt(items, current.Start, terms.Since)
	payer.Metered = &billing.MeteredBilling{Period: current, Decided: decided, Prices: payer.Prices, Former: pricesOf(terms.Items)}
	if decided {
		payer.Metered.Former = pricesOf(terms.Former)
	}
	if decided && terms.Since != nil {
		payer.Metered.Since = *terms.Since
	}
	return payer, nil
}

// addedAt returns when a change of plan added prices during a period. It omits the prices that the
// period started with.
func addedAt(items []psp.MeteredItem, start time.Time, since *time.Time) map[string]time.Time {
	if since != nil && since.After(start) {
		start = *since
	}
	added := map[string]time.Time{}
	for _, item := range items {
		if item.CreatedAt.After(start) {
			added[item.PriceID] = item.CreatedAt
		}
	}
	return added
}

func pricesOf(items []psp.MeteredItem) []string {
	prices := make([]string, len(items))
	for i, item := range items {
		prices[i] = item.PriceID
	}
	return prices
}

// paysUsage reports whether the plan of a subscription bills usage.
func (p payers) paysUsage(ctx context.Context, sub subscription.Subscription) (bool, error) {
	plan, err := p.Catalog.Plan(ctx, sub.PlanID)
	return plan.PricingType == catalog.PricingUsage, err
}

// IsBilled reports whether the usage at a time was invoiced before usage of that time was queued: the
// time was in a completed billing period of a subscription that bills usage, or a change of plan
// invoiced the usage of the current period.
func (p payers) IsBilled(ctx context.Context, tenantID uuid.UUID, at, queued time.Time) (bool, error) {
	next := p.Subscriptions.ListAll(tenantID)
	for more := true; more; {
		var subs []subscription.Subscription
		var err error
		if subs, more, err = next(ctx); err != nil {
			return false, err
		}
		for _, sub := range subs {
			if !isBillable(sub, at) {
				continue
			}
			plan, known, changedAt, err := journal.PlanAt(ctx, p.DB, sub.ID, at)
			if err != nil {
				return false, err
			}
			if !sub.Status.IsOver() && !at.Before(sub.CurrentPeriodStart) && (changedAt.IsZero() || !changedAt.Before(queued)) {
				continue
			}
			if known {
				sub.PlanID = plan
			}
			if pays, err := p.paysUsage(ctx, sub); pays || err != nil {
				return pays, err
			}
		}
	}
	return false, nil
}

// isBillable reports whether a time was in a billing period of a subscription, before its end and
// outside of its trial.
func isBillable(sub subscription.Subscription, at time.Time) bool {
	end := sub.CurrentPeriodEnd
	if sub.Status.IsOver() && sub.UpdatedAt.Before(end) {
		end = sub.UpdatedAt
	}
	return !at.Before(sub.CreatedAt) && at.Before(end) && (sub.TrialEndsAt == nil || !at.Before(*sub.TrialEndsAt))
}

// consumption provides a tenant's consumption of metered features to the subscription domain, which
// does not offer plans with a lower quota.
type consumption struct{ Usage *usage.Service }

// Current returns the current usage of each meter by code, without the units drawn from grants,
// rounded up.
func (c consumption) Current(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	summary, err := c.Usage.Summary(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	used := make(map[string]int64, len(summary.Readings))
	for _, r := range summary.Readings {
		used[r.Meter.Code] = r.UngrantedUsage().Ceil()
	}
	return used, nil
}
