package blackbox_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// soldPlan is a plan of the public catalog.
type soldPlan struct {
	id, product string
	prices      map[string]string // IDs by currency
}

func (p soldPlan) path(currency, action string) string {
	return "/api/v1/admin/plans/" + p.id + "/prices/" + p.prices[currency] + "/" + action
}

func soldPlanOf(s *apptest.Server, slug string) soldPlan {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200).At("data").([]any)
	for _, e := range list {
		e := e.(map[string]any)
		if e["slug"] != slug {
			continue
		}
		p := soldPlan{id: e["id"].(string), product: e["product_id"].(string), prices: map[string]string{}}
		for _, price := range e["prices"].([]any) {
			price := price.(map[string]any)
			p.prices[price["currency"].(string)] = price["id"].(string)
		}
		return p
	}
	s.T.Fatalf("no plan %q", slug)
	return soldPlan{}
}

// linksOf returns the sync status of a plan's prices, by currency.
func linksOf(s *apptest.Server, admin string, p soldPlan) map[string]map[string]any {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/admin/plans/"+p.id+"/psp-price-status", admin, nil).Want(200).At("data").([]any)
	byCurrency := map[string]map[string]any{}
	for _, e := range list {
		entry := e.(map[string]any)
		byCurrency[entry["currency"].(string)] = entry
	}
	return byCurrency
}

// madeFor lists the provider prices that were created for a local price.
func madeFor(s *apptest.Server, price string) []string {
	s.T.Helper()
	var ids []string
	list, _ := s.AtProvider("GET", "/prices", "limit", "100").At("data").([]any)
	for _, e := range list {
		e := e.(map[string]any)
		if e["metadata"].(map[string]any)["price_id"] == price {
			ids = append(ids, e["id"].(string))
		}
	}
	return ids
}

func TestPSPCreate(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, _ *apptest.Proxy) {
		admin, team := s.Admin(), soldPlanOf(s, "team")
		starter := soldPlanOf(s, "starter")
		s.Run(t, "an invalid product or nickname is refused", func(t *testing.T, s *apptest.Server) {
			archived := s.AtProvider("POST", "/products", "name", "Old", "active", "false").Str("id")
			refusePSPCreate(t, s, admin, team, archived)
		})
		var id string
		s.Run(t, "the price has the terms of the plan", func(t *testing.T, s *apptest.Server) { id = createPSPPrice(t, s, admin, team) })
		s.Run(t, "a provider product can be named explicitly", func(t *testing.T, s *apptest.Server) {
			byHand := s.AtProvider("POST", "/products", "name", "By hand").Str("id")
			made := s.Call("POST", team.path("USD", "psp-create"), admin, map[string]any{"product_id": byHand}).Want(200)
			remote := s.AtProvider("GET", "/prices/"+made.Str("data.psp_price_id"))
			if remote.At("product") != byHand || remote.At("nickname") != "team" {
				t.Errorf("made %s", remote.Text)
			}
		})
		s.Run(t, "a price that does not exist is not found", func(_ *testing.T, s *apptest.Server) { missPSPPrices(s, admin, team, starter) })
		entry := s.AuditLog(url.Values{"filter[action]": {"plan_price.psp_created"}}).Want(200).At("data.1").(map[string]any)
		if entry["actor_id"] != float64(s.UserID(admin)) || entry["resource_id"] != team.prices["EUR"] {
			t.Errorf("trail: %v", entry)
		}
		if diff := cmp.Diff([]any{map[string]any{"psp_price_id": nil}, map[string]any{"psp_price_id": id}}, []any{entry["before"], entry["after"]}); diff != "" {
			t.Error(diff)
		}
	})
}

func refusePSPCreate(t *testing.T, s *apptest.Server, admin string, team soldPlan, archived string) {
	for name, tt := range map[string]struct {
		field string
		body  map[string]any
	}{
		"no product":        {"product_id", map[string]any{}},
		"empty product":     {"product_id", map[string]any{"product_id": " "}},
		"null product":      {"product_id", map[string]any{"product_id": nil}},
		"nobody's product":  {"product_id", map[string]any{"product_id": apptest.NoSuchID}},
		"unknown product":   {"product_id", map[string]any{"product_id": "prod_nope"}},
		"a path":            {"product_id", map[string]any{"product_id": "../prices"}},
		"inactive product":  {"product_id", map[string]any{"product_id": archived}},
		"long nickname":     {"nickname", map[string]any{"product_id": team.product, "nickname": strings.Repeat("x", 256)}},
		"nickname a number": {"nickname", map[string]any{"product_id": team.product, "nickname": 5}},
	} {
		s.Call("POST", team.path("EUR", "psp-create"), admin, tt.body).As(name).WantInvalid(tt.field)
	}
	if got := linksOf(s, admin, team)["EUR"]; got["status"] != "missing" || got["psp_price_id"] != nil {
		t.Errorf("after refusals: %v", got)
	}
}

// createPSPPrice returns the ID of the price at the provider.
func createPSPPrice(t *testing.T, s *apptest.Server, admin string, team soldPlan) string {
	made := s.Call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product, "nickname": "Team, monthly"}).Want(200)
	id := made.Str("data.psp_price_id")
	shown := made.At("data").(map[string]any)
	if diff := cmp.Diff(map[string]any{
		"id": team.prices["EUR"], "currency": "EUR", "price_cents": shown["price_cents"], "psp_price_id": id,
	}, shown); diff != "" {
		t.Error(diff)
	}
	remote := s.AtProvider("GET", "/prices/"+id)
	for at, want := range map[string]any{
		"currency": "eur", "unit_amount": shown["price_cents"], "nickname": "Team, monthly", "recurring.interval": "month",
		"recurring.interval_count": 1.0, "recurring.usage_type": "licensed", "active": true, "metadata.plan_id": team.id,
	} {
		if got := remote.At(at); got != want {
			t.Errorf("%s at the provider is %v, want %v", at, got, want)
		}
	}
	if got := linksOf(s, admin, team)["EUR"]; got["status"] != "linked" || got["message"] != nil {
		t.Errorf("status: %v", got)
	}
	s.Call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product}).
		As("again").WantRefused(422, "psp_price_already_linked")
	return id
}

func missPSPPrices(s *apptest.Server, admin string, team, starter soldPlan) {
	for _, path := range []string{
		"/api/v1/admin/plans/" + apptest.NoSuchID + "/prices/" + team.prices["EUR"] + "/psp-create",
		"/api/v1/admin/plans/x/prices/" + team.prices["EUR"] + "/psp-create",
		"/api/v1/admin/plans/" + team.id + "/prices/x/psp-create",
		"/api/v1/admin/plans/" + team.id + "/prices/" + starter.prices["EUR"] + "/psp-create", // a price of another plan
		"/api/v1/admin/plans/" + team.id + "/prices/" + apptest.NoSuchID + "/psp-link",
		"/api/v1/admin/plans/" + team.id + "/prices/" + starter.prices["EUR"] + "/psp-unlink",
		"/api/v1/admin/plans/" + apptest.NoSuchID + "/prices/psp-import",
	} {
		s.Call("POST", path, admin, map[string]any{}).Want(404)
	}
	s.Call("GET", "/api/v1/admin/plans/"+apptest.NoSuchID+"/psp-price-status", admin, nil).Want(404)
	apptest.Exec(s.T, s.DB(), "UPDATE plans SET deleted_at = created_at WHERE id = $1", team.id)
	s.Call("POST", team.path("EUR", "psp-unlink"), admin, nil).Want(404)
	s.Call("GET", "/api/v1/admin/plans/"+team.id+"/psp-price-status", admin, nil).Want(404)
}

// If a response is lost, the retry finds the created price and does not create another one.
func TestPSPCreateLostAnswer(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team := s.Admin(), soldPlanOf(s, "team")
		apptest.Exec(t, s.DB(), "UPDATE plans SET psp_product_id = NULL")
		body := map[string]any{"product_id": team.product, "nickname": "Team"}
		create := func() apptest.Reply { return s.Call("POST", team.path("EUR", "psp-create"), admin, body) }
		products := func() int {
			return strings.Count(s.AtProvider("GET", "/products", "limit", "100").Text, `"product_id":"`+team.product)
		}
		before := products()

		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/products"))
		create().As("the product's answer is lost").WantRefused(502, "psp_error")
		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/prices"))
		create().As("the price's answer is lost").WantRefused(502, "psp_error")
		if got := linksOf(s, admin, team)["EUR"]; got["status"] != "missing" {
			t.Errorf("after lost responses: %v", got)
		}
		w.Tamper(nil)
		w.Count("")
		id := create().Want(200).Str("data.psp_price_id")
		if n := w.Count("POST /prices"); n != 0 {
			t.Errorf("%d more requests for the price", n)
		}
		if made := madeFor(s, team.prices["EUR"]); !slices.Equal(made, []string{id}) {
			t.Errorf("the provider has %v, linked is %s", made, id)
		}
		if n := products() - before; n != 1 {
			t.Errorf("the provider has %d more products", n)
		}

		// A request with other parameters replaces the open operation.
		w.Tamper(apptest.ForEndpoint(apptest.Fail, "POST", "/prices"))
		s.Call("POST", team.path("USD", "psp-create"), admin, body).As("outage").WantRefused(502, "psp_error")
		w.Tamper(nil)
		made := s.Call("POST", team.path("USD", "psp-create"), admin, map[string]any{"product_id": team.product, "nickname": "Other"}).Want(200)
		if got := s.AtProvider("GET", "/prices/"+made.Str("data.psp_price_id")); got.At("nickname") != "Other" {
			t.Errorf("made %s", got.Text)
		}

		// The provider created a price, but the response was lost and the price was deactivated.
		// The retry does not link this price. The retry of a rejected request does not search for a
		// price.
		s.Call("POST", team.path("USD", "psp-unlink"), admin, nil).Want(200)
		known := madeFor(s, team.prices["USD"])
		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/prices"))
		s.Call("POST", team.path("USD", "psp-create"), admin, body).As("lost").WantRefused(502, "psp_error")
		w.Tamper(apptest.ForEndpoint(apptest.Refuse, "POST", "/prices"))
		for _, id := range madeFor(s, team.prices["USD"]) {
			s.AtProvider("POST", "/prices/"+id, "active", "false")
		}
		s.Call("POST", team.path("USD", "psp-create"), admin, body).As("refused").WantRefused(502, "psp_error")
		w.Tamper(nil)
		w.Count("")
		linked := s.Call("POST", team.path("USD", "psp-create"), admin, body).Want(200).Str("data.psp_price_id")
		if n := w.Count("GET /prices"); n != 0 {
			t.Errorf("retry searched for the rejected price %d times, want 0", n)
		}
		if made := madeFor(s, team.prices["USD"]); len(made) != len(known)+2 || made[0] != linked {
			t.Errorf("the provider has %v and had %v, linked is %s", made, known, linked)
		}
	})
}

// Concurrent requests of admins and first checkouts create one price and one product.
func TestPSPCreateAtOnce(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, _ *apptest.Proxy) {
		admin, db := s.Admin(), s.DB()
		owners := []apptest.Owner{s.Register("ada@example.com", true), s.Register("eve@example.com", true), s.Register("bob@example.com", true)}
		for range dbtest.Rounds(1, 10) {
			team := soldPlanOf(s, "team")
			apptest.Exec(t, db, "UPDATE plans SET psp_product_id = NULL")
			apptest.Exec(t, db, "UPDATE plan_prices SET psp_price_id = NULL WHERE plan_id = $1", team.id)
			known := madeFor(s, team.prices["EUR"])
			answers := make([]apptest.Reply, len(owners))
			ids := make([]string, 3)
			var wg sync.WaitGroup
			for i, o := range owners {
				wg.Go(func() {
					answers[i] = s.Call("POST", o.Path("/checkout"), o.Token, map[string]any{
						"plan_id": team.id, "currency": "EUR", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
					})
				})
			}
			for i := range ids {
				wg.Go(func() {
					a := s.Call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product})
					if a.Status == 200 {
						ids[i] = a.Str("data.psp_price_id")
					} else {
						a.As("psp-create").WantRefused(422, "psp_price_already_linked")
					}
				})
			}
			wg.Wait()
			linked := linksOf(s, admin, team)["EUR"]["psp_price_id"]
			for _, a := range answers {
				a.Want(200)
			}
			for _, id := range ids {
				if id != "" && id != linked {
					t.Errorf("an admin received price %s, but %v is linked", id, linked)
				}
			}
			if made := madeFor(s, team.prices["EUR"]); len(made) != len(known)+1 || made[0] != linked {
				t.Errorf("the provider has %v and had %v, linked is %v", made, known, linked)
			}
		}
	})
}

// While the provider creates a price, its terms can change and another request can link it.
func TestPSPCreateOvertaken(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		admin, team, db := s.Admin(), soldPlanOf(s, "team"), s.DB()
		during := func(query string, args ...any) {
			var once sync.Once
			w.Tamper(func(r *http.Request) apptest.Verdict {
				if r.Method == "POST" && r.URL.Path == "/sandbox/stripe/v1/prices" {
					once.Do(func() { apptest.Exec(t, db, query, args...) })
				}
				return apptest.Pass
			})
		}
		body := map[string]any{"product_id": team.product}
		during("UPDATE plan_prices SET price_cents = 4200 WHERE id = $1", team.prices["EUR"])
		id := s.Call("POST", team.path("EUR", "psp-create"), admin, body).Want(200).Str("data.psp_price_id")
		if got := s.AtProvider("GET", "/prices/"+id); got.At("unit_amount") != 4200.0 {
			t.Errorf("linked to the old amount: %s", got.Text)
		}

		during("UPDATE plan_prices SET psp_price_id = 'price_theirs' WHERE id = $1", team.prices["USD"])
		s.Call("POST", team.path("USD", "psp-create"), admin, body).As("linked meanwhile").WantRefused(422, "psp_price_already_linked")
		if got := linksOf(s, admin, team)["USD"]; got["psp_price_id"] != "price_theirs" {
			t.Errorf("overwritten: %v", got)
		}

		var once sync.Once
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1/prices/") {
				once.Do(func() {
					apptest.Exec(t, db, "UPDATE plan_prices SET psp_price_id = 'price_others' WHERE id = $1", team.prices["USD"])
				})
			}
			return apptest.Pass
		})
		usd := s.NewProviderPrice("currency", "usd", "unit_amount", apptest.IDText(amountOf(s, team, "USD")))
		s.Call("POST", team.path("USD", "psp-link"), admin, map[string]any{"psp_price_id": usd}).As("linked meanwhile").WantRefused(422, "psp_price_already_linked")
		if got := linksOf(s, admin, team)["USD"]; got["psp_price_id"] != "price_others" {
			t.Errorf("overwritten: %v", got)
		}
	})
}
