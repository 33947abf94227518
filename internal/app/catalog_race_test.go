package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// together makes calls at the same moment and returns their answers.
func together(calls ...func() reply) []reply {
	answers := make([]reply, len(calls))
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

func repeat(n int, call func() reply) []func() reply {
	calls := make([]func() reply, n)
	for i := range calls {
		calls[i] = call
	}
	return calls
}

// Of many who make a record with one slug one succeeds, and the others are told
// that it is taken.
func TestOneSlug(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("home")
		for round := range dbtest.Rounds(3, 50) {
			slug := fmt.Sprintf("race-%d", round)
			for kind, body := range map[string]object{
				"products": {"slug": slug, "name": object{"en": "x"}}, "features": {"code": slug, "name": object{"en": "x"}},
				"plans": planBody(product, slug),
			} {
				key, made := "slug", 0
				if kind == "features" {
					key = "code"
				}
				for _, a := range together(repeat(8, func() reply { return k.on("POST", "/"+kind, body) })...) {
					if a.status == 201 {
						made++
					} else {
						a.fields(t, kind, key)
					}
				}
				if made != 1 {
					t.Errorf("%d %s were made with one slug", made, kind)
				}
			}
		}
	})
}

// Copies that are made at once have slugs of their own, without gaps.
func TestCopiesAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("home")
		for round := range dbtest.Rounds(2, 50) {
			slug := fmt.Sprintf("race-%d", round)
			plan := k.planOf(product, slug)
			got := map[string]bool{}
			for _, a := range together(repeat(6, func() reply { return k.on("POST", "/plans/"+plan+"/duplicate", nil) })...) {
				got[a.want(201).str("data.slug")] = true
			}
			for n, suffix := range []string{"-copy", "-copy-2", "-copy-3", "-copy-4", "-copy-5", "-copy-6"} {
				if !got[slug+suffix] {
					t.Errorf("copy %d is missing among %v", n+1, got)
				}
			}
		}
	})
}

// Of sets that are put at once one stands in the end, and never a mix.
func TestSetsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.planOf(k.product("home"), "pro")
		features := []string{k.feature("a"), k.feature("b"), k.feature("c")}
		set := func(n int) (prices, grants []any) {
			for i, currency := range []string{"EUR", "GBP", "USD"} {
				if i != n%3 {
					prices = append(prices, price(currency, n, fmt.Sprintf("price_%d", (i+n)%3)))
					grants = append(grants, object{"feature_id": features[i], "type": "quota", "value": n})
				}
			}
			return prices, grants
		}
		for round := range dbtest.Rounds(5, 100) {
			var calls []func() reply
			for i := range 6 {
				n := round*6 + i + 1
				prices, grants := set(n)
				calls = append(calls,
					func() reply { return k.on("PUT", "/plans/"+plan+"/prices", object{"prices": prices}) },
					func() reply { return k.on("PUT", "/plans/"+plan+"/entitlements", object{"entitlements": grants}) })
			}
			for _, a := range together(calls...) {
				a.want(200)
			}
			now := k.on("GET", "/plans/"+plan, nil).want(200)
			for list, key := range map[string]string{"prices": "price_cents", "entitlements": "value"} {
				rows := now.at("data." + list).([]any)
				if len(rows) != 2 || rows[0].(object)[key] != rows[1].(object)[key] {
					t.Errorf("a mix of sets: %s", now.text)
				}
			}
		}
	})
}

// A plan is never left in a product that is deleted.
func TestPlanIntoDeletedProduct(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		for round := range dbtest.Rounds(5, 50) {
			slug := fmt.Sprintf("race-%d", round)
			product, elsewhere := k.product(slug), k.product(slug+"-other")
			moving := k.planOf(elsewhere, slug+"-moving")
			answers := together(
				func() reply { return k.on("DELETE", "/products/"+product, nil) },
				func() reply { return k.on("POST", "/plans", planBody(product, slug)) },
				func() reply { return k.on("PATCH", "/plans/"+moving, object{"product_id": product}) },
			)
			answers[0].want(204)
			for i, a := range answers[1:] {
				if a.status == 422 {
					a.fields(t, "a deleted product", "product_id")
				} else if a.status >= 300 && (a.status != 404 || i == 0) {
					t.Errorf("%d %s", a.status, a.text)
				}
			}
			k.on("GET", "/plans?filter[product_id]="+product, nil).want(200).same("meta.total", 0.0)
		}
	})
}

// A subscription that is being made when its plan is to be deleted is seen: the
// deletion waits for it.
func TestDeletionWaitsForSubscription(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("home")
		plan, o := k.planOf(product, "pro"), k.register("ada@example.com", true)
		db := dbtest.Open(t, s.database)
		for _, path := range []string{"/plans/" + plan, "/products/" + product} {
			answer := make(chan reply, 1)
			err := db.Tx(t.Context(), func(ctx context.Context) error {
				_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents,
					quantity, interval_unit, interval_count, billing_anchor, current_period_start, current_period_end, psp_subscription_id,
					sync_version, created_at, updated_at) VALUES ($1, $2, $3, 'active', 'EUR', 1, 1, 'month', 1, $4, $5, $6, 'sub_race', 1, $7, $8)`,
					sqldb.NewID(), o.tenant, plan, sometime, sometime, sometime, sometime, sometime)
				if err != nil {
					return err
				}
				go func() { answer <- k.on("DELETE", path, nil) }()
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
			if a := <-answer; a.status != 409 || !strings.Contains(a.text, "CATALOG_IN_USE") {
				t.Errorf("%s: %d %s", path, a.status, a.text)
			}
			execute(t, db, "DELETE FROM subscriptions WHERE psp_subscription_id = 'sub_race'")
		}
		k.on("DELETE", "/products/"+product, nil).want(204)
	})
}

var sometime = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
