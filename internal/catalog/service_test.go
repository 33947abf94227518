package catalog_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func TestReads(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		s := newServer(t, db)
		s.apply(t, shop)

		bySlug, err := s.svc.PlanBySlug(ctx, "first")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.svc.Plan(ctx, bySlug.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(bySlug, plan); diff != "" {
			t.Error(diff)
		}
		if plan.Interval != (catalog.Interval{Unit: "year", Count: 1}) || plan.PricingType != catalog.PricingSeat || plan.TrialDays != 14 {
			t.Errorf("plan = %+v", plan)
		}
		if price, ok := plan.PriceIn("USD"); !ok || price.PriceCents != 1100 || price.PSPPriceID != nil || price.PlanID != plan.ID {
			t.Errorf("price = %+v, %v", price, ok)
		}
		if _, ok := plan.PriceIn("GBP"); ok {
			t.Error("the plan has a price in GBP")
		}

		if plan.Product.Slug != "main" {
			t.Errorf("product = %s", plan.Product.Slug)
		}

		// Inactive features are listed too, marked as inactive.
		granted := plan.Entitlements
		var codes []string
		for _, e := range granted {
			codes = append(codes, e.Feature.Code)
		}
		if diff := cmp.Diff([]string{"beta", "sso", "team-members"}, codes); diff != "" {
			t.Error(diff)
		}
		if granted[0].Feature.IsActive || granted[1].Value != nil || granted[2].Value == nil || *granted[2].Value != 5 {
			t.Errorf("entitlements = %+v", granted)
		}

		plans, err := s.svc.PlansForTenant(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(plans) != 2 || plans[0].Slug != "first" || len(plans[0].Entitlements) != 3 ||
			len(plans[0].WithActiveEntitlements().Entitlements) != 2 || plans[0].Entitlements[1].Feature.Name["fr"] != "Authentification unique" || len(plans[0].Prices) != 2 {
			t.Errorf("plans = %+v", plans)
		}
	})
}

func TestOnSale(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newServer(t, db)
		s.apply(t, shop)
		for slug, want := range map[string]bool{"first": true, "hidden": false, "orphan": false} {
			plan, err := s.svc.PlanBySlug(t.Context(), slug)
			if err != nil || plan.IsOnSale() != want {
				t.Errorf("%s on sale = %v, %v; want %v", slug, plan.IsOnSale(), err, want)
			}
		}

		// A deleted plan remains readable for records that refer to it.
		plan, err := s.svc.PlanBySlug(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		exec(t, db, "UPDATE plans SET deleted_at = created_at WHERE slug = 'first'")
		if _, err := s.svc.PlanBySlug(t.Context(), "first"); !errors.Is(err, catalog.ErrNotFound) {
			t.Errorf("a deleted plan by slug: %v", err)
		}
		deleted, err := s.svc.Plan(t.Context(), plan.ID)
		if err != nil || !deleted.Deleted || deleted.IsOnSale() || len(deleted.Prices) != 2 {
			t.Errorf("a deleted plan by id = %+v, %v", deleted, err)
		}
	})
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		svc := newServer(t, db).svc
		id := sqldb.NewID()
		_, plan := svc.Plan(ctx, id)
		_, bySlug := svc.PlanBySlug(ctx, "nope")
		_, entry := svc.Product(ctx, id)
		_, currency := svc.Currency(ctx, "QQQ")
		for name, err := range map[string]error{
			"Plan": plan, "PlanBySlug": bySlug, "Product": entry, "Currency": currency,
		} {
			if !errors.Is(err, catalog.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		svc := newServer(t, db).svc
		exec(t, db, "UPDATE currencies SET is_active = false WHERE code = 'GBP'")
		got, err := svc.Currency(t.Context(), "GBP")
		if err != nil {
			t.Fatal(err)
		}
		want := catalog.Currency{Code: "GBP", Name: "Pound Sterling", Symbol: "£", MinorUnits: 2}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for code, want := range map[string]bool{"EUR": true, "GBP": true, "QQQ": false, "eur": false} {
			if exists, err := svc.CurrencyExists(t.Context(), code); err != nil || exists != want {
				t.Errorf("CurrencyExists(%s) = %v, %v", code, exists, err)
			}
		}
	})
}
