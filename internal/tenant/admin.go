package tenant

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminEntry is a tenant as the administration sees it.
type AdminEntry struct {
	Tenant
	Owner       *Person
	MemberCount int64
	// Subscription is nil for a tenant without one that is not over.
	Subscription *Overview
	// Roles are those that its members can have: the built-in ones, then its own.
	Roles []RoleName
}

// RoleName is a role in short.
type RoleName struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// adminList is what the administration's list can be asked for (spec: Admin
// tenant, member and invitation endpoints): newest first.
func adminList() page.Spec {
	return page.Spec{
		Params:      map[string]page.Filter{"search": {Kind: page.Partial, Exprs: []string{"t.name"}}},
		Sorts:       map[string]string{"created_at": "t.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "t.id",
	}
}

// AdminList returns a page of all tenants and how many there are, with a fixed
// number of queries.
func (s *Service) AdminList(ctx context.Context, q page.Query) ([]AdminEntry, int64, error) {
	entries, total, err := s.store.adminPage(ctx, q, page.Select{})
	if err != nil {
		return nil, 0, err
	}
	return entries, total, s.complete(ctx, entries)
}

// AdminGet returns one tenant; sqldb.ErrNoRows when there is none.
func (s *Service) AdminGet(ctx context.Context, id uuid.UUID) (AdminEntry, error) {
	q, err := adminList().Parse(url.Values{})
	if err != nil {
		return AdminEntry{}, err
	}
	entries, _, err := s.store.adminPage(ctx, q, page.Select{Where: "t.id = $1", Args: []any{id}})
	if err != nil {
		return AdminEntry{}, err
	}
	if len(entries) == 0 {
		return AdminEntry{}, sqldb.ErrNoRows
	}
	err = s.complete(ctx, entries)
	return entries[0], err
}

// Exists tells whether there is a tenant of an id.
func (s *Service) Exists(ctx context.Context, id uuid.UUID) (bool, error) {
	_, err := s.store.get(ctx, id)
	if errors.Is(err, sqldb.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// complete adds the subscriptions and roles of tenants: two queries for all.
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
	for i := range entries {
		e := &entries[i]
		if overview, ok := overviews[e.ID]; ok {
			e.Subscription = &overview
		}
		e.Roles = append(append([]RoleName(nil), builtIn...), own[e.ID]...)
	}
	return nil
}

func (s store) adminPage(ctx context.Context, q page.Query, only page.Select) ([]AdminEntry, int64, error) {
	only.Columns = `t.id, t.name, t.slug, t.settings, t.preferred_currency, t.legal_name, t.address, t.city, t.postal_code, t.country,
		t.vat_number, t.billing_email, t.onboarding_completed_at, t.created_at, t.updated_at, o.id, o.name, o.email,
		(SELECT count(*) FROM memberships c WHERE c.tenant_id = t.id)`
	only.From = `tenants t LEFT JOIN users o ON o.id = (
		SELECT m.user_id FROM memberships m JOIN roles r ON r.id = m.role_id
		WHERE m.tenant_id = t.id AND r.tenant_id IS NULL AND r.name = '` + BuiltInOwner + `'
		ORDER BY m.joined_at, m.user_id LIMIT 1)`
	return page.Fetch(ctx, s.db.Conn(ctx), q, only, func(row page.Scanner) (AdminEntry, error) {
		var (
			e           AdminEntry
			ownerID     *int64
			name, email *string
			onboarded   *time.Time
		)
		b := &e.Billing
		err := row.Scan(&e.ID, &e.Name, &e.Slug, &e.Settings, &e.PreferredCurrency, &b.LegalName, &b.Address, &b.City, &b.PostalCode,
			&b.Country, &b.VATNumber, &b.BillingEmail, &onboarded, &e.CreatedAt, &e.UpdatedAt, &ownerID, &name, &email, &e.MemberCount)
		if ownerID != nil {
			e.Owner = &Person{ID: *ownerID, Name: *name, Email: *email}
		}
		e.OnboardingCompletedAt = onboarded
		return e, err
	})
}

// roles reads the built-in roles, and those that tenants have of their own.
func (s store) roles(ctx context.Context, tenantIDs []uuid.UUID) (builtIn []RoleName, own map[uuid.UUID][]RoleName, err error) {
	places, args := make([]string, len(tenantIDs)), make([]any, len(tenantIDs))
	for i, id := range tenantIDs {
		places[i], args[i] = "$"+strconv.Itoa(i+1), id
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT id, tenant_id, name FROM roles
		WHERE tenant_id IS NULL OR tenant_id IN (`+strings.Join(places, ", ")+`) ORDER BY name_key, id`, args...)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err below tells what went wrong
	own = map[uuid.UUID][]RoleName{}
	for rows.Next() {
		var (
			r      RoleName
			tenant *uuid.UUID
		)
		if err := rows.Scan(&r.ID, &tenant, &r.Name); err != nil {
			return nil, nil, err
		}
		if tenant == nil {
			builtIn = append(builtIn, r)
		} else {
			own[*tenant] = append(own[*tenant], r)
		}
	}
	return builtIn, own, rows.Err()
}
