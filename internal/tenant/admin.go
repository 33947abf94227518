package tenant

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/search"
)

// AdminEntry is a tenant in the admin API.
type AdminEntry struct {
	Tenant
	Owner       *AdminTenantOwner
	MemberCount int64
	// Subscription is nil for a tenant whose subscriptions have all ended.
	Subscription Overview
	// Roles are the roles that the tenant's members can have: the built-in roles, then the custom
	// roles.
	Roles []RoleName
	// Revenue is the monthly recurring revenue, or nil if no subscription contributes to it.
	Revenue        *money.Money
	TrialEndsAt    *time.Time // the end of a running trial
	LastActivityAt *time.Time
	// Open is the unpaid amount of open invoices, by currency.
	Open []money.Money
}

// RoleName is the ID and name of a role.
type RoleName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// spanish is the locale with its own collation of names. The other locales share a collation.
const spanish = "es"

// nameKey returns the key by which lists in a locale sort a name.
func nameKey(name, locale string) []byte { return i18n.NewCollator(locale).Key(name) }

// noStatus is the filter for tenants without a subscription, or whose subscriptions have ended.
const noStatus = "none"

// statuses returns the values of the status filter.
func statuses() []string {
	return []string{
		"active", "trialing", "past_due", "unpaid", "paused", "incomplete", "canceled", "incomplete_expired", noStatus,
	}
}

// Conditions on the subscriptions of a tenant (t). At most one of them has not ended. The
// subqueries do not refer to t, because Citus would reject that.
const (
	isLive = `s.status NOT IN ('canceled', 'incomplete_expired')`
	// noLive selects tenants whose subscriptions have all ended.
	noLive = `t.id IN (SELECT n.id FROM tenants n EXCEPT SELECT s.tenant_id FROM subscriptions s WHERE ` + isLive + `)`
	// setsNone selects tenants to which the default plan applies, because they lack a subscription
	// that sets limits.
	setsNone = `t.id IN (SELECT n.id FROM tenants n EXCEPT
		SELECT l.tenant_id FROM subscriptions l WHERE l.status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused'))`
	// isLatest selects the latest subscription (e) of each tenant whose subscriptions have all
	// ended.
	isLatest = `NOT EXISTS (SELECT 1 FROM subscriptions s
		WHERE s.tenant_id = e.tenant_id AND (` + isLive + ` OR (s.created_at, s.id) > (e.created_at, e.id)))`
)

// hasStatus is the condition of the status filter: the tenant's subscription has one of the
// statuses. If all subscriptions have ended, the latest one counts.
func hasStatus(value any, arg func(any) string) string {
	var places []string
	either := []string{}
	for _, status := range value.([]string) {
		if status == noStatus {
			either = append(either, noLive)
			continue
		}
		places = append(places, arg(status))
	}
	if len(places) > 0 {
		in := " IN (" + strings.Join(places, ", ") + ")"
		either = append(either,
			`t.id IN (SELECT s.tenant_id FROM subscriptions s WHERE s.status`+in+` AND `+isLive+`)`,
			`t.id IN (SELECT e.tenant_id FROM subscriptions e WHERE e.status`+in+` AND e.status IN ('canceled', 'incomplete_expired') AND `+isLatest+`)`)
	}
	return strings.Join(either, " OR ")
}

// hasPlan is the condition of the plan filter: the plan of the tenant's subscription, or else the
// default plan, has one of the slugs.
func hasPlan(value any, arg func(any) string) string {
	var places []string
	for _, slug := range value.([]string) {
		places = append(places, arg(slug))
	}
	in := " IN (" + strings.Join(places, ", ") + ")"
	return `t.id IN (SELECT s.tenant_id FROM subscriptions s JOIN plans p ON p.id = s.plan_id WHERE p.slug` + in + ` AND ` + isLive + `)
		OR (EXISTS (SELECT 1 FROM plans d WHERE d.is_default AND d.deleted_at IS NULL AND d.slug` + in + `) AND ` + setsNone + `)`
}

// trialEndsBefore is the condition for running trials.
func trialEndsBefore(value any, arg func(any) string) string {
	return `t.id IN (SELECT s.tenant_id FROM subscriptions s WHERE s.status = 'trialing' AND s.trial_ends_at <= ` + arg(value) + `)`
}

// hasOpenAmount is the condition for tenants that owe an amount (true) or owe nothing (false).
func hasOpenAmount(value any, _ func(any) string) string {
	condition := `t.id IN (SELECT i.tenant_id FROM invoice_sums i WHERE i.due_cents > 0)`
	if value == false {
		return "NOT " + condition
	}
	return condition
}

// withRevenue returns the table of tenants with the columns of the sort by monthly recurring revenue. now
// is the placeholder of the current time.
func withRevenue(now string) string {
	return `(WITH r AS MATERIALIZED (
		SELECT s.tenant_id, min(s.currency) AS currency, min(` + revenueAt(now) + `) AS amount
		FROM subscriptions s WHERE s.journaled_active GROUP BY s.tenant_id
	) SELECT n.*, r.currency AS revenue_currency, r.amount AS revenue FROM tenants n LEFT JOIN r ON r.tenant_id = n.id) t`
}

// revenueAt returns the expression of a subscription's monthly recurring revenue at a time after the last
// journaled change. Its discount can have ended since that change.
func revenueAt(now string) string {
	return "CASE WHEN s.journaled_until <= " + now + " THEN s.journaled_next ELSE s.journaled_amount END"
}

// byRevenue returns the columns of the sort by monthly recurring revenue. With a base currency, it
// sorts by the amount in the base currency; otherwise by currency and amount. factors contains the
// factor from each currency to the base currency, as a decimal; nil without a base currency.
func byRevenue(factors map[string]string) []page.SortColumn {
	if len(factors) == 0 {
		return []page.SortColumn{
			{Expr: "t.revenue_currency", Nullable: true, Ascending: true}, {Expr: "t.revenue", Nullable: true},
		}
	}
	return []page.SortColumn{page.Converted("t.revenue", "t.revenue_currency", factors)}
}

func parseCountry(text string) (code, message string) {
	if len(text) == 2 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return text, ""
	}
	return "", "validation.country"
}

// AdminTenantList returns the filters and the sort orders of the admin list for a locale
// (rules: tenant#administration). The sort by recurring revenue uses the revenue at now.
func AdminTenantList(locale string, factors map[string]string, now time.Time) page.Spec {
	byName := "t.name_key"
	if locale == spanish {
		byName = "t.name_key_es"
	}
	return page.Spec{
		Params: map[string]page.Filter{"search": {Kind: page.PartialMatch, Exprs: []string{"t.name"}}},
		Filters: map[string]page.Filter{
			"created_after":  {Kind: page.DateFrom, Exprs: []string{"t.created_at"}},
			"created_before": {Kind: page.DateTo, Exprs: []string{"t.created_at"}},
			"external_id":    {Kind: page.ExactMatch, Exprs: []string{"t.external_id"}},
			"plan":           {Kind: page.AnyOf, Condition: hasPlan},
			"status":         {Kind: page.AnyOf, Condition: hasStatus, Values: statuses()},

			"search":            search.Tenants(),
			"country":           {Kind: page.ExactMatch, Exprs: []string{"t.country"}, Parse: parseCountry},
			"trial_ends_before": {Kind: page.DateTo, Condition: trialEndsBefore},
			"open_amount":       {Kind: page.Bool, Condition: hasOpenAmount},
		},
		Sorts: map[string]string{"created_at": "t.created_at", "name": byName},
		SortColumns: map[string][]page.SortColumn{
			"mrr": byRevenue(factors), "last_activity_at": {{Expr: "t.last_activity_at", Nullable: true}},
		},
		SortFrom:    map[string]func(func(any) string) string{"mrr": func(arg func(any) string) string { return withRevenue(arg(now)) }},
		DefaultSort: "-created_at",
		Tiebreak:    "t.id",
		CSV:         true,
	}
}

// AdminList returns a page of the live tenants, or of the deleted tenants, and their total number.
// The number of queries is fixed.
func (s *Service) AdminList(ctx context.Context, q page.Query, deleted bool) ([]AdminEntry, int64, error) {
	sel := page.Select{Where: "t.deleted_at IS NULL"}
	switch {
	case deleted:
		sel.Where = "t.deleted_at IS NOT NULL AND t.purged_at IS NULL"
	case !q.HasFilter():
		sel.Count = s.store.countLive
	}
	entries, total, err := s.store.adminPage(ctx, q, sel)
	if err != nil {
		return nil, 0, err
	}
	return entries, total, s.complete(ctx, entries)
}

// AdminGet returns one tenant, or ErrNotFound.
func (s *Service) AdminGet(ctx context.Context, id uuid.UUID) (AdminEntry, error) {
	q, err := AdminTenantList(i18n.Default, nil, time.Time{}).Parse(url.Values{})
	if err != nil {
		return AdminEntry{}, err
	}
	entries, _, err := s.store.adminPage(ctx, q, page.Select{Where: "t.id = $1 AND t.purged_at IS NULL", Args: []any{id}})
	if err != nil {
		return AdminEntry{}, err
	}
	if len(entries) == 0 {
		return AdminEntry{}, ErrNotFound
	}
	err = s.complete(ctx, entries)
	return entries[0], err
}

// Exists reports whether a live tenant with the ID exists.
func (s *Service) Exists(ctx context.Context, id uuid.UUID) (bool, error) {
	_, err := s.GetLive(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// complete adds the subscriptions and roles of all entries with two queries.
func (s *Service) complete(ctx context.Context, entries []AdminEntry) error {
	if len(entries) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	overviews, err := s.deps.Subscriptions.Overview(ctx, ids)
	if err != nil {
		return err
	}
	builtIn, own, err := s.store.roles(ctx, ids)
	if err != nil {
		return err
	}
	if err := s.store.addFigures(ctx, s.deps.Clock.Now(), entries); err != nil {
		return err
	}
	names := i18n.NewCollator(i18n.Locale(ctx))
	for i := range entries {
		e := &entries[i]
		e.Subscription = overviews[e.ID]
		slices.SortFunc(own[e.ID], func(a, b RoleName) int {
			return cmp.Or(bytes.Compare(names.Key(a.Name), names.Key(b.Name)), cmp.Compare(a.ID, b.ID))
		})
		e.Roles = append(append([]RoleName(nil), builtIn...), own[e.ID]...)
	}
	return nil
}
