package pricelist_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// shop is a catalog with one record of every kind.
const shop = `
features:
  - {code: sso, name: {en: Single sign-on, fr: Authentification unique}, description: {en: Log in once}}
  - {code: beta, name: {en: Beta}, is_active: false}
products:
  - slug: main
    name: {en: Main, fr: Principal}
    description: {en: Our product, it: Il nostro prodotto}
    plans:
      - {slug: last, name: {en: Last}, pricing_type: usage, billing_cycle: quarterly, sort_order: 9}
      - slug: first
        name: {en: First, es: Primero}
        description: {en: The first}
        pricing_type: seat
        billing_cycle: yearly
        trial_days: 14
        sort_order: 1
        prices: {USD: 1100, EUR: 1000}
        entitlements: {sso: true, team-members: 5, beta: true}
      - {slug: hidden, name: {en: Hidden}, pricing_type: flat, billing_cycle: weekly, is_active: false}
  - slug: retired
    name: {en: Retired}
    is_active: false
    plans:
      - {slug: orphan, name: {en: Orphan}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 1}}
`

// lists has the price list service on a database, without meters.
type lists struct {
	db      *sqldb.DB
	catalog *catalog.Service
	list    *pricelist.Service
	clock   *clock.Fixed
}

// unsold reports that plans do not have subscribers.
type unsold struct{}

func (unsold) HasSubscribers(context.Context, []uuid.UUID) (bool, error) { return false, nil }

func newLists(t *testing.T, db *sqldb.DB) *lists {
	t.Helper()
	at := clock.NewFixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	plans := catalog.New(catalog.Deps{DB: db, Clock: at, Subscriptions: unsold{}, Audit: audit.New(audit.Deps{DB: db, Clock: at})})
	return &lists{db: db, catalog: plans, list: pricelist.New(pricelist.Deps{DB: db, Catalog: plans}), clock: at}
}

// apply imports a catalog in YAML.
func (s *lists) apply(t *testing.T, text string) {
	t.Helper()
	c, err := pricelist.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.list.Apply(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
}

// all returns a whole list.
func all[T any](t *testing.T, read func(context.Context) ([]T, error)) []T {
	t.Helper()
	items, err := read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return items
}

// exec changes the database directly, bypassing the service.
func exec(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
