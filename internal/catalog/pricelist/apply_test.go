package pricelist_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func plan(t *testing.T, s *lists, slug string) catalog.Plan {
	t.Helper()
	p, err := s.catalog.PlanBySlug(t.Context(), slug)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestApplyAgainChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newLists(t, db)
		s.apply(t, shop)
		state := func() []any {
			return []any{all(t, s.catalog.AllFeatures), all(t, s.catalog.AllProducts), all(t, s.catalog.AllPlans)}
		}
		before := state()
		s.clock.Set(s.clock.Now().Add(time.Hour))
		s.apply(t, shop)
		if diff := cmp.Diff(before, state()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestApplyChanges(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newLists(t, db)
		s.apply(t, shop)
		before := plan(t, s, "first")
		start := s.clock.Now()
		s.clock.Set(start.Add(time.Hour))
		s.apply(t, `
features:
  - {code: sso, name: {en: SSO}, is_active: false}
products:
  - slug: main
    name: {en: New}
    plans:
      - slug: first
        name: {en: First, es: Uno}
        pricing_type: seat
        billing_cycle: yearly
        trial_days: 7
        sort_order: 2
        prices: {EUR: 1000, GBP: 900}
        entitlements: {sso: 3, team-members: true}
`)
		after := plan(t, s, "first")
		if after.ID != before.ID || after.Product.ID != before.Product.ID {
			t.Error("ids have changed")
		}
		if !after.CreatedAt.Equal(start) || !after.UpdatedAt.Equal(s.clock.Now()) {
			t.Errorf("created %s, updated %s", after.CreatedAt, after.UpdatedAt)
		}
		if after.Product.Name["en"] != "New" || after.Product.Description != nil || after.Name["es"] != "Uno" ||
			after.Description != nil || after.TrialDays != 7 || after.SortOrder != 2 {
			t.Errorf("plan = %+v", after)
		}
		var prices []int64
		for _, p := range after.Prices { // sorted EUR, GBP, USD
			prices = append(prices, p.PriceCents)
		}
		if diff := cmp.Diff([]int64{1000, 900, 1100}, prices); diff != "" {
			t.Errorf("a price that the file does not name must stay: %s", diff)
		}
		sso, seats := after.Entitlements[1], after.Entitlements[2]
		if sso.Type != catalog.TypeQuota || *sso.Value != 3 || sso.ID != before.Entitlements[1].ID || sso.Feature.IsActive {
			t.Errorf("sso = %+v", sso)
		}
		if seats.Type != catalog.TypeBoolean || seats.Value != nil || seats.ID != before.Entitlements[2].ID || !seats.Feature.IsSystem {
			t.Errorf("team-members = %+v", seats)
		}
		if got := plan(t, s, "last"); !got.UpdatedAt.Equal(start) {
			t.Error("a plan that the file does not name has changed")
		}
	})
}

// Provider prices are immutable, so a change of the terms unlinks a price. Other changes keep the
// link.
func TestApplyUnlinksPrices(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const file = `
products:
  - slug: p
    name: {en: P}
    plans:
      - {slug: x, name: {en: X}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 100, USD: 200}}
`
		for name, tt := range map[string]struct {
			old, changed string
			want         string // currencies that remain linked
		}{
			"the name":          {"en: X", "en: Y", "EUR GBP USD"},
			"an amount":         {"EUR: 100", "EUR: 101", "GBP USD"},
			"the interval":      {"monthly", "yearly", ""},
			"the pricing type":  {"flat", "seat", ""},
			"nothing at all":    {"flat", "flat", "EUR GBP USD"},
			"a currency is new": {"USD: 200", "USD: 200, CHF: 1", "EUR GBP USD"},
		} {
			s := newLists(t, dbtest.New(t, db.Dialect()))
			exec(t, s.db, `INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at)
				SELECT 'CHF', 'Swiss Franc', 'CHF', 2, true, created_at, updated_at FROM currencies WHERE code = 'EUR'`)
			s.apply(t, strings.Replace(file, "USD: 200", "USD: 200, GBP: 300", 1))
			for _, price := range plan(t, s, "x").Prices {
				exec(t, s.db, "UPDATE plan_prices SET psp_price_id = $1 WHERE id = $2", "price_"+price.Currency, price.ID)
			}
			s.apply(t, strings.Replace(file, tt.old, tt.changed, 1))
			var linked []string
			for _, price := range plan(t, s, "x").Prices {
				if price.PSPPriceID != nil {
					linked = append(linked, price.Currency)
				}
			}
			if got := strings.Join(linked, " "); got != tt.want {
				t.Errorf("%s: linked in %q, want %q", name, got, tt.want)
			}
		}
	})
}

func TestApplyRejectsUnknownNames(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newLists(t, db)
		for path, file := range map[string]string{
			"prices.CHF":         strings.Replace(shop, "USD: 1100", "CHF: 1100", 1),
			"entitlements.gamma": strings.Replace(shop, "beta: true", "gamma: true", 1),
		} {
			c, err := pricelist.Parse([]byte(file))
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.list.Apply(t.Context(), c, false)
			problem, ok := errors.AsType[*pricelist.ProblemError](err)
			if !ok || problem.Line == 0 || !strings.HasSuffix(problem.Path, path) {
				t.Errorf("%s: %v", path, err)
			}
		}
		if got := all(t, s.catalog.AllProducts); len(got) != 0 {
			t.Errorf("rejected catalog was applied partly: %v", got)
		}
	})
}

// Instances that start concurrently on a new database do not interfere with each other.
func TestApplyAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c, err := pricelist.Parse([]byte(`
products:
  - {slug: a, name: {en: A}, plans: [{slug: a, name: {en: A}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 1, USD: 2}, entitlements: {team-members: 3}}]}
  - {slug: b, name: {en: B}, plans: [{slug: b, name: {en: B}, pricing_type: flat, billing_cycle: monthly}]}
  - {slug: c, name: {en: C}}
`))
		if err != nil {
			t.Fatal(err)
		}
		var instances sync.WaitGroup
		start := make(chan struct{})
		for range 8 {
			s := newLists(t, db)
			instances.Go(func() {
				<-start
				if _, err := s.list.Apply(t.Context(), c, false); err != nil {
					t.Error(err)
				}
			})
		}
		close(start)
		instances.Wait()
		s := newLists(t, db)
		if got := all(t, s.catalog.AllProducts); len(got) != 3 {
			t.Errorf("%d products", len(got))
		}
	})
}
