package tenant

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// adminPage returns a page of tenants, without their subscriptions and roles, and the total number
// of tenants.
func (s store) adminPage(ctx context.Context, q page.Query, only page.Select) ([]AdminEntry, int64, error) {
	only.Columns = `t.id, t.name, t.slug, t.external_id, t.metadata, t.settings, t.preferred_currency, t.legal_name, t.address, t.city, t.postal_code, t.country,
		t.vat_number, t.vat_status, t.vat_name, t.billing_email, t.onboarding_completed_at, t.created_at, t.updated_at, t.deleted_at, t.last_activity_at, o.id, o.name, o.email, o.external_id,
		(SELECT count(*) FROM memberships c WHERE c.tenant_id = t.id)`
	only.From = `tenants t`
	only.Join = `LEFT JOIN users o ON o.id = (
		SELECT m.user_id FROM memberships m JOIN roles r ON r.id = m.role_id
		WHERE m.tenant_id = t.id AND r.tenant_id IS NULL AND r.name = '` + BuiltInOwner + `'
		ORDER BY m.joined_at, m.user_id LIMIT 1)`
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, only, func(row page.Scanner) (AdminEntry, error) {
		var (
			e           AdminEntry
			ownerID     *int64
			name, email *string
			external    *string
			onboarded   *time.Time
			deleted     *time.Time
		)
		b := &e.Billing
		err := row.Scan(&e.ID, &e.Name, &e.Slug, &e.ExternalID, &e.Metadata, &e.Settings, &e.PreferredCurrency, &b.LegalName, &b.Address, &b.City, &b.PostalCode,
			&b.Country, &b.VATNumber, &e.VAT.Status, &e.VAT.Name, &b.BillingEmail, &onboarded, &e.CreatedAt, &e.UpdatedAt, &deleted, &e.LastActivityAt, &ownerID, &name, &email, &external, &e.MemberCount)
		if ownerID != nil {
			e.Owner = &AdminTenantOwner{ID: *ownerID, Name: *name, Email: *email, ExternalID: external}
		}
		e.OnboardingCompletedAt, e.DeletedAt = onboarded, deleted
		return e, err
	})
	return entries, total, sqldb.Wrap(err, "list tenants")
}

// addFigures adds the recurring revenue, the end of the trial and the open amounts.
func (s store) addFigures(ctx context.Context, now time.Time, entries []AdminEntry) error {
	ids, at := make([]uuid.UUID, len(entries)), map[uuid.UUID]*AdminEntry{}
	for i := range entries {
		ids[i], at[entries[i].ID] = entries[i].ID, &entries[i]
	}
	among, args := sqldb.InCondition(s.db, 1, "uuid", ids)
	return s.db.QueryAll(ctx, sqldb.Query{
		Doing: "read revenue of tenants",
		Text: `SELECT s.tenant_id, s.currency, ` + revenueAt("$"+strconv.Itoa(1+len(args))) + `, s.journaled_active, s.status = 'trialing', s.trial_ends_at
FROM subscriptions s WHERE s.tenant_id ` + among + ` AND ` + isLive,
		Args: append(slices.Clone(args), now),
		Row: func(scan func(...any) error) error {
			var (
				id       uuid.UUID
				amount   money.Money
				isActive bool
				onTrial  bool
				trialEnd *time.Time
			)
			err := scan(&id, &amount.Currency, &amount.AmountCents, &isActive, &onTrial, &trialEnd)
			e := at[id]
			if onTrial {
				e.TrialEndsAt = trialEnd
			}
			if isActive {
				e.Revenue = &amount
			}
			return err
		},
	}, sqldb.Query{
		Doing: "read open amounts of tenants",
		Text:  `SELECT i.tenant_id, i.currency, i.due_cents FROM invoice_sums i WHERE i.tenant_id ` + among + ` AND i.due_cents > 0 ORDER BY i.currency`,
		Args:  args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var amount money.Money
			err := scan(&id, &amount.Currency, &amount.AmountCents)
			at[id].Open = append(at[id].Open, amount)
			return err
		},
	})
}

// countLive returns the number of tenants that are not deleted.
func (s store) countLive(ctx context.Context) (int64, error) {
	n, err := s.q(ctx).CountLive(ctx)
	return n, sqldb.Wrap(err, "count tenants")
}

// roles returns the built-in roles and the custom roles of each tenant.
func (s store) roles(ctx context.Context, tenantIDs []uuid.UUID) (builtIn []RoleName, own map[uuid.UUID][]RoleName, err error) {
	places, args := make([]string, len(tenantIDs)), make([]any, len(tenantIDs))
	for i, id := range tenantIDs {
		places[i], args[i] = "$"+strconv.Itoa(i+1), id
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT id, tenant_id, name FROM roles
		WHERE tenant_id IS NULL OR tenant_id IN (`+strings.Join(places, ", ")+`) ORDER BY name_key, id`, args...)
	if err != nil {
		return nil, nil, sqldb.Wrap(err, "list roles of tenants")
	}
	defer func() { _ = rows.Close() }() // rows.Err below returns the error
	own = map[uuid.UUID][]RoleName{}
	for rows.Next() {
		var (
			r      RoleName
			tenant *uuid.UUID
		)
		if err := rows.Scan(&r.ID, &tenant, &r.Name); err != nil {
			return nil, nil, sqldb.Wrap(err, "list roles of tenants")
		}
		if tenant == nil {
			builtIn = append(builtIn, r)
		} else {
			own[*tenant] = append(own[*tenant], r)
		}
	}
	return builtIn, own, sqldb.Wrap(rows.Err(), "list roles of tenants")
}
