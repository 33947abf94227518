package tenant

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
)

// AdminEntry is a tenant in the admin API.
type AdminEntry struct {
	Tenant
	Owner       *AdminTenantOwner
	MemberCount int64
	// Subscription is nil for a tenant whose subscriptions have all ended.
	Subscription Overview
	// Roles are those that its members can have: the built-in ones, then its own.
	Roles []RoleName
}

// RoleName is the ID and name of a role.
type RoleName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// spanish is the locale with its own collation of names. The other locales share one.
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

// The filters by plan and status. A tenant has at most one subscription that has not ended, so min
// selects its value.
const (
	current = `FROM subscriptions s JOIN plans p ON p.id = s.plan_id
		WHERE s.tenant_id = t.id AND s.status NOT IN ('canceled', 'incomplete_expired')`
	subscribedPlan = `SELECT min(p.slug) ` + current
	// defaultPlan applies to tenants without a subscription that sets limits.
	defaultPlan = `SELECT d.slug FROM plans d WHERE d.is_default AND d.deleted_at IS NULL AND NOT EXISTS (
		SELECT 1 FROM subscriptions l
		WHERE l.tenant_id = t.id AND l.status IN ('active', 'trialing', 'past_due', 'unpaid', 'paused'))`
	currentStatus = `COALESCE((SELECT min(s.status) ` + current + `), '` + noStatus + `')`
	// endedStatus is the status of the latest subscription of a tenant whose subscriptions have
	// ended.
	endedStatus = `SELECT e.status FROM subscriptions e
		WHERE e.tenant_id = t.id AND e.status IN ('canceled', 'incomplete_expired') AND NOT EXISTS (
			SELECT 1 FROM subscriptions s WHERE s.tenant_id = t.id AND s.status NOT IN ('canceled', 'incomplete_expired'))
		ORDER BY e.created_at DESC, e.id DESC LIMIT 1`
)

// AdminTenantList returns the filters and the sort orders of the admin list for a locale
// (rules: tenant#administration).
func AdminTenantList(locale string) page.Spec {
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
			"plan":           {Kind: page.ExactMatch, Exprs: []string{subscribedPlan, defaultPlan}},
			"status":         {Kind: page.Enum, Exprs: []string{currentStatus, endedStatus}, Values: statuses()},
		},
		Sorts:       map[string]string{"created_at": "t.created_at", "name": byName},
		DefaultSort: "-created_at",
		Tiebreak:    "t.id",
	}
}

// AdminList returns a page of tenants, either deleted or live ones, and their total number, with a
// fixed number of queries.
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
	q, err := AdminTenantList(i18n.Default).Parse(url.Values{})
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
	overviews, err := s.deps.Overviews.Overview(ctx, ids)
	if err != nil {
		return err
	}
	builtIn, own, err := s.store.roles(ctx, ids)
	if err != nil {
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
