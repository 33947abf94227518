package blackbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// together runs calls concurrently and returns their responses.
func together(calls ...func() apptest.Reply) []apptest.Reply {
	answers := make([]apptest.Reply, len(calls))
	begin := make(chan struct{})
	var callers sync.WaitGroup
	for i, call := range calls {
		callers.Go(func() {
			<-begin
			answers[i] = call()
		})
	}
	close(begin)
	callers.Wait()
	return answers
}

func repeat(n int, call func() apptest.Reply) []func() apptest.Reply {
	calls := make([]func() apptest.Reply, n)
	for i := range calls {
		calls[i] = call
	}
	return calls
}

// If many requests create a record with the same slug, one succeeds and the others get a "taken"
// error.
func TestOneSlug(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("home")
		for round := range dbtest.Rounds(3, 50) {
			slug := fmt.Sprintf("race-%d", round)
			for kind, body := range map[string]apptest.Object{
				"products": {"slug": slug, "name": apptest.Object{"en": "x"}}, "features": {"code": slug, "name": apptest.Object{"en": "x"}},
				"plans": apptest.PlanBody(product, slug),
			} {
				key, made := "slug", 0
				if kind == "features" {
					key = "code"
				}
				for _, a := range together(repeat(8, func() apptest.Reply { return k.AdminCall("POST", "/"+kind, body) })...) {
					if a.Status == 201 {
						made++
					} else {
						a.As(kind).WantInvalid(key)
					}
				}
				if made != 1 {
					t.Errorf("%d %s were created with one slug", made, kind)
				}
			}
		}
	})
}

// Concurrent copies have distinct slugs without gaps.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("home")
		for round := range dbtest.Rounds(2, 50) {
			slug := fmt.Sprintf("race-%d", round)
			plan := k.CreatePlan(product, slug)
			got := map[string]bool{}
			for _, a := range together(repeat(6, func() apptest.Reply { return k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil) })...) {
				got[a.Want(201).Str("data.slug")] = true
			}
			for n, suffix := range []string{"-copy", "-copy-2", "-copy-3", "-copy-4", "-copy-5", "-copy-6"} {
				if !got[slug+suffix] {
					t.Errorf("copy %d is missing among %v", n+1, got)
				}
			}
		}
	})
}

// If sets are stored concurrently, one of them wins. They are never mixed.
func TestSetsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePlan(k.CreateProduct("home"), "pro")
		features := []string{k.CreateFeature("a"), k.CreateFeature("b"), k.CreateFeature("c")}
		set := func(n int) (prices, grants []any) {
			for i, currency := range []string{"EUR", "GBP", "USD"} {
				if i != n%3 {
					prices = append(prices, apptest.Price(currency, n, fmt.Sprintf("price_%d", (i+n)%3)))
					grants = append(grants, apptest.Object{"feature_id": features[i], "type": "quota", "value": n})
				}
			}
			return prices, grants
		}
		for round := range dbtest.Rounds(5, 100) {
			var calls []func() apptest.Reply
			for i := range 6 {
				n := round*6 + i + 1
				prices, grants := set(n)
				calls = append(calls,
					func() apptest.Reply {
						return k.AdminCall("PUT", "/plans/"+plan+"/prices", apptest.Object{"prices": prices})
					},
					func() apptest.Reply {
						return k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{"entitlements": grants})
					})
			}
			for _, a := range together(calls...) {
				a.Want(200)
			}
			now := k.AdminCall("GET", "/plans/"+plan, nil).Want(200)
			for list, key := range map[string]string{"prices": "price_cents", "entitlements": "value"} {
				rows := now.At("data." + list).([]any)
				if len(rows) != 2 || rows[0].(apptest.Object)[key] != rows[1].(apptest.Object)[key] {
					t.Errorf("a mix of sets: %s", now.Text)
				}
			}
		}
	})
}

// A plan never remains in a deleted product.
func TestPlanIntoDeletedProduct(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		for round := range dbtest.Rounds(5, 50) {
			slug := fmt.Sprintf("race-%d", round)
			product, elsewhere := k.CreateProduct(slug), k.CreateProduct(slug+"-other")
			moving := k.CreatePlan(elsewhere, slug+"-moving")
			answers := together(
				func() apptest.Reply { return k.AdminCall("DELETE", "/products/"+product, nil) },
				func() apptest.Reply { return k.AdminCall("POST", "/plans", apptest.PlanBody(product, slug)) },
				func() apptest.Reply {
					return k.AdminCall("PATCH", "/plans/"+moving, apptest.Object{"product_id": product})
				},
			)
			answers[0].Want(204)
			for i, a := range answers[1:] {
				if a.Status == 422 {
					a.As("a deleted product").WantInvalid("product_id")
				} else if a.Status >= 300 && (a.Status != 404 || i == 0) {
					t.Errorf("%d %s", a.Status, a.Text)
				}
			}
			k.AdminCall("GET", "/plans?filter[product_id]="+product, nil).Want(200).WantAt("meta.total", 0.0)
		}
	})
}

// Deleting a plan waits for a concurrent transaction that creates a subscription to it.
func TestDeletionWaitsForSubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("home")
		plan, o := k.CreatePlan(product, "pro"), k.Register("ada@example.com", true)
		db := s.DB()
		for _, path := range []string{"/plans/" + plan, "/products/" + product} {
			answer := make(chan apptest.Reply, 1)
			err := db.Tx(t.Context(), func(ctx context.Context) error {
				if err := db.QueryAll(ctx, distribution.LockTenants(db, uuid.MustParse(o.Tenant))...); err != nil {
					return err
				}
				_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents,
					quantity, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, psp_subscription_id,
					sync_version, created_at, updated_at) VALUES ($1, $2, $3, 'active', 'EUR', 1, 1, 'month', 1, $4, $5, $6, 'sub_race', 1, $7, $8)`,
					sqldb.NewID(), o.Tenant, plan, sometime, sometime, sometime, sometime, sometime)
				if err != nil {
					return err
				}
				go func() { answer <- k.AdminCall("DELETE", path, nil) }()
				select {
				case a := <-answer:
					answer <- a
				case <-time.After(200 * time.Millisecond): // long enough for a deletion that does not wait
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if a := <-answer; a.Status != 409 || !strings.Contains(a.Text, "CATALOG_IN_USE") {
				t.Errorf("%s: %d %s", path, a.Status, a.Text)
			}
			apptest.Exec(t, db, "DELETE FROM subscriptions WHERE psp_subscription_id = 'sub_race'")
		}
		k.AdminCall("DELETE", "/products/"+product, nil).Want(204)
	})
}

var sometime = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
