//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// The contents of the database.
const (
	users    = 64 // each owns a tenant with an active subscription
	password = "correct horse battery staple"
	plenty   = int64(1_000_000_000_000) // a quota that is checked but never reached
	// grantedMeter is a meter with a limit of 0 and plenty of granted units.
	grantedMeter = "granted"
)

// user is a seeded account.
type user struct {
	email   string
	tenant  uuid.UUID
	access  string
	refresh string // the newest token
	key     string // an API key of the tenant for recording usage
}

// world contains the seeded accounts.
type world struct {
	users []*user
	// series is the number of the last series of idempotency keys. Each connection uses its own
	// series.
	series int
}

// seed migrates a database and fills it with the service's own code.
func seed(ctx context.Context, url string) (_ *world, err error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	s, err := newSeeder(ctx, db)
	if err != nil {
		return nil, err
	}
	w := &world{}
	for i := range users {
		u, err := s.user(ctx, fmt.Sprintf("user-%d@bench.test", i))
		if err != nil {
			return nil, err
		}
		w.users = append(w.users, u)
	}
	return w, nil
}

type seeder struct {
	db       *sqldb.DB
	tenants  *tenant.Service
	accounts *account.Service
	keys     *apikey.Service
	plan     catalog.Plan
	auditLog *audit.Log
}

func newSeeder(ctx context.Context, db *sqldb.DB) (*seeder, error) {
	system := clock.System()
	passwords := account.NewPasswords(account.HashCost{})
	trail := audit.New(audit.Deps{DB: db, Clock: system})
	subscribers := entitlement.NewRegister(db, clock.System(), 0)
	s := &seeder{db: db, auditLog: trail}
	s.tenants = tenant.NewService(tenant.Deps{
		DB: db, Clock: system, Subscriptions: subscribers, Audit: trail,
	})
	lifetimes := account.DefaultLifetimes()
	lifetimes.Access = 24 * time.Hour // longer than any run
	s.accounts = account.NewService(account.Deps{
		DB: db, Clock: system, Passwords: passwords, Tenants: s.tenants, Lifetimes: lifetimes,
	})
	demo, err := pricelist.Demo()
	if err != nil {
		return nil, err
	}
	for _, product := range demo.Products {
		for _, plan := range product.Plans {
			for code, grant := range plan.Entitlements {
				if quota := plenty; grant.Quota != nil {
					plan.Entitlements[code] = pricelist.Grant{Quota: &quota}
				}
			}
		}
	}
	addGranted(&demo)
	plans := catalog.New(catalog.Deps{DB: db, Clock: system, Audit: trail})
	list := pricelist.New(pricelist.Deps{
		DB: db, Catalog: plans, Meters: meters.NewService(meters.Deps{DB: db, Clock: system, Audit: trail, Currencies: plans}),
		Packs:      pack.New(db, plans),
		Currencies: currency.New(currency.Deps{DB: db, Clock: system, Catalog: plans, Audit: trail}),
	})
	if _, err := list.Apply(ctx, demo, false); err != nil {
		return nil, err
	}
	s.keys = apikey.NewService(apikey.Deps{DB: db, Clock: clock.System(), Tenants: s.tenants})
	s.plan, err = plans.PlanBySlug(ctx, "team")
	return s, err
}

// addGranted adds the meter whose events draw from grants to the catalog.
func addGranted(demo *pricelist.Catalog) {
	demo.Features = append(demo.Features, pricelist.FeatureData{Code: grantedMeter, Name: pricelist.Text{"en": "Granted"}})
	demo.Meters = append(demo.Meters, pricelist.MeterData{
		Code: grantedMeter, Name: "Granted", AggregationType: "sum", ResetInterval: "monthly", QuotaEnforcement: "hard",
	})
	for _, product := range demo.Products {
		for _, plan := range product.Plans {
			plan.Entitlements[grantedMeter] = pricelist.Grant{Quota: new(int64)}
		}
	}
}

// grant gives a tenant plenty of units of the meter whose events draw from grants.
func (s *seeder) grant(ctx context.Context, tenantID uuid.UUID, now time.Time) error {
	conn := s.db.Conn(ctx)
	_, err := conn.ExecContext(ctx, `INSERT INTO usage_streams (tenant_id, meter_id, granted_until)
SELECT $1::uuid, id, $2::timestamptz FROM meters WHERE code = $3`, tenantID, usage.AllTime().End, grantedMeter)
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `INSERT INTO usage_grants (tenant_id, id, meter_id, amount_units, amount_millionths, units, millionths,
    starts_at, priority, source, created_at)
SELECT $1::uuid, $2::uuid, id, $3::bigint, 0, $4::bigint, 0, $5::timestamptz, 50, 'admin', $6::timestamptz FROM meters WHERE code = $7`,
		tenantID, sqldb.NewID(), plenty, plenty, now, now, grantedMeter)
	return err
}

// user registers an account and a tenant with a subscription to the plan.
func (s *seeder) user(ctx context.Context, email string) (*user, error) {
	registered, tokens, err := s.accounts.Register(ctx, account.Registration{Name: "Bench", Email: email, Password: password}, account.Grant{})
	if err != nil {
		return nil, err
	}
	memberships, err := s.accounts.Memberships(ctx, registered.ID)
	if err != nil {
		return nil, err
	}
	id := memberships[0].TenantID
	text := func(s string) *string { return &s }
	_, err = s.tenants.CompleteSetup(ctx, id, func(b *tenant.BillingDetails) error {
		*b = tenant.BillingDetails{
			LegalName: text("Bench GmbH"), Address: text("Musterstraße 1"), City: text("Berlin"), PostalCode: text("10115"), Country: text("DE"),
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	now := clock.System().Now()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	_, err = s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity,
	interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, psp_subscription_id, sync_version, created_at, updated_at)
VALUES ($1, $2, $3, 'active', 'EUR', 900, 5, 'month', 1, $4, $5, $6, $7, 1, $8, $9)`,
		sqldb.NewID(), id, s.plan.ID, first, first, first.AddDate(0, 1, 0), "sub_"+email, now, now)
	if err != nil {
		return nil, err
	}
	if err := s.grant(ctx, id, now); err != nil {
		return nil, err
	}
	_, key, err := s.keys.Create(ctx, &id, apikey.Terms{Name: "Bench", Scopes: []string{authz.UsageWrite}})
	return &user{email: email, tenant: id, access: tokens.Access, refresh: tokens.Refresh, key: key}, err
}
