package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// soldPlan is a plan of the public catalog.
type soldPlan struct {
	id, product string
	prices      map[string]string // by currency
}

func (p soldPlan) path(currency, action string) string {
	return "/api/v1/admin/plans/" + p.id + "/prices/" + p.prices[currency] + "/" + action
}

func (s *server) sold(slug string) soldPlan {
	s.t.Helper()
	list, _ := s.call("GET", "/api/v1/catalog/plans", "", nil).want(200).at("data").([]any)
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
	s.t.Fatalf("no plan %q", slug)
	return soldPlan{}
}

// links lists the sync status of a plan's prices, by currency.
func (s *server) links(admin string, p soldPlan) map[string]map[string]any {
	s.t.Helper()
	list, _ := s.call("GET", "/api/v1/admin/plans/"+p.id+"/psp-price-status", admin, nil).want(200).at("data").([]any)
	byCurrency := map[string]map[string]any{}
	for _, e := range list {
		entry := e.(map[string]any)
		byCurrency[entry["currency"].(string)] = entry
	}
	return byCurrency
}

// madeFor lists what the provider has for a price of ours.
func (s *server) madeFor(price string) []string {
	s.t.Helper()
	var ids []string
	list, _ := s.byHand("GET", "/prices", "limit", "100").at("data").([]any)
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
	eachWired(t, func(t *testing.T, s *server, _ *wire) {
		admin, team := s.admin(), s.sold("team")
		starter := s.sold("starter")
		archived := s.byHand("POST", "/products", "name", "Old", "active", "false").str("id")
		for name, tt := range map[string]struct {
			field string
			body  map[string]any
		}{
			"no product":        {"product_id", map[string]any{}},
			"empty product":     {"product_id", map[string]any{"product_id": " "}},
			"null product":      {"product_id", map[string]any{"product_id": nil}},
			"nobody's product":  {"product_id", map[string]any{"product_id": noSuchID}},
			"unknown product":   {"product_id", map[string]any{"product_id": "prod_nope"}},
			"a path":            {"product_id", map[string]any{"product_id": "../prices"}},
			"inactive product":  {"product_id", map[string]any{"product_id": archived}},
			"long nickname":     {"nickname", map[string]any{"product_id": team.product, "nickname": strings.Repeat("x", 256)}},
			"nickname a number": {"nickname", map[string]any{"product_id": team.product, "nickname": 5}},
		} {
			s.call("POST", team.path("EUR", "psp-create"), admin, tt.body).refusesField(name, tt.field)
		}
		if got := s.links(admin, team)["EUR"]; got["status"] != "missing" || got["psp_price_id"] != nil {
			t.Errorf("after refusals: %v", got)
		}

		made := s.call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product, "nickname": "Team, monthly"}).want(200)
		id := made.str("data.psp_price_id")
		shown := made.at("data").(map[string]any)
		if diff := cmp.Diff(map[string]any{
			"id": team.prices["EUR"], "currency": "EUR", "price_cents": shown["price_cents"], "psp_price_id": id,
		}, shown); diff != "" {
			t.Error(diff)
		}
		remote := s.byHand("GET", "/prices/"+id)
		for at, want := range map[string]any{
			"currency": "eur", "unit_amount": shown["price_cents"], "nickname": "Team, monthly", "recurring.interval": "month",
			"recurring.interval_count": 1.0, "recurring.usage_type": "licensed", "active": true, "metadata.plan_id": team.id,
		} {
			if got := remote.at(at); got != want {
				t.Errorf("%s at the provider is %v, want %v", at, got, want)
			}
		}
		if got := s.links(admin, team)["EUR"]; got["status"] != "linked" || got["message"] != nil {
			t.Errorf("status: %v", got)
		}
		s.call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product}).
			refuses("again", 422, "psp_price_already_linked")

		// A product of the provider is taken as it is named.
		byHand := s.byHand("POST", "/products", "name", "By hand").str("id")
		made = s.call("POST", team.path("USD", "psp-create"), admin, map[string]any{"product_id": byHand}).want(200)
		remote = s.byHand("GET", "/prices/"+made.str("data.psp_price_id"))
		if remote.at("product") != byHand || remote.at("nickname") != "team" {
			t.Errorf("made %s", remote.text)
		}

		for _, path := range []string{
			"/api/v1/admin/plans/" + noSuchID + "/prices/" + team.prices["EUR"] + "/psp-create",
			"/api/v1/admin/plans/x/prices/" + team.prices["EUR"] + "/psp-create",
			"/api/v1/admin/plans/" + team.id + "/prices/x/psp-create",
			"/api/v1/admin/plans/" + team.id + "/prices/" + starter.prices["EUR"] + "/psp-create", // another plan's
			"/api/v1/admin/plans/" + team.id + "/prices/" + noSuchID + "/psp-link",
			"/api/v1/admin/plans/" + team.id + "/prices/" + starter.prices["EUR"] + "/psp-unlink",
			"/api/v1/admin/plans/" + noSuchID + "/prices/psp-import",
		} {
			s.call("POST", path, admin, map[string]any{}).want(404)
		}
		s.call("GET", "/api/v1/admin/plans/"+noSuchID+"/psp-price-status", admin, nil).want(404)
		execute(t, dbtest.Open(t, s.database), "UPDATE plans SET deleted_at = created_at WHERE id = $1", team.id)
		s.call("POST", team.path("EUR", "psp-unlink"), admin, nil).want(404)
		s.call("GET", "/api/v1/admin/plans/"+team.id+"/psp-price-status", admin, nil).want(404)

		entry := s.trail(url.Values{"filter[action]": {"plan_price.psp_created"}}).want(200).at("data.1").(map[string]any)
		if entry["actor_id"] != s.meID(admin) || entry["resource_id"] != team.prices["EUR"] {
			t.Errorf("trail: %v", entry)
		}
		if diff := cmp.Diff([]any{map[string]any{"psp_price_id": nil}, map[string]any{"psp_price_id": id}}, []any{entry["before"], entry["after"]}); diff != "" {
			t.Error(diff)
		}
	})
}

// An answer that is lost leaves the outcome unknown: the repetition finds what was
// made, and nothing is made twice.
func TestPSPCreateLostAnswer(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team := s.admin(), s.sold("team")
		execute(t, dbtest.Open(t, s.database), "UPDATE products SET psp_product_id = NULL")
		body := map[string]any{"product_id": team.product, "nickname": "Team"}
		create := func() reply { return s.call("POST", team.path("EUR", "psp-create"), admin, body) }
		products := func() int {
			return strings.Count(s.byHand("GET", "/products", "limit", "100").text, `"product_id":"`+team.product)
		}
		before := products()

		w.breaks(on(swallow, "POST", "/products"))
		create().refuses("the product's answer is lost", 502, "psp_error")
		w.breaks(on(swallow, "POST", "/prices"))
		create().refuses("the price's answer is lost", 502, "psp_error")
		if got := s.links(admin, team)["EUR"]; got["status"] != "missing" {
			t.Errorf("after lost answers: %v", got)
		}
		w.breaks(nil)
		w.count("")
		id := create().want(200).str("data.psp_price_id")
		if n := w.count("POST /prices"); n != 0 {
			t.Errorf("the price was asked for %d times more", n)
		}
		if made := s.madeFor(team.prices["EUR"]); !slices.Equal(made, []string{id}) {
			t.Errorf("the provider has %v, linked is %s", made, id)
		}
		if n := products() - before; n != 1 {
			t.Errorf("the provider has %d more products", n)
		}

		// Another request than the one that is open takes its place.
		w.breaks(on(fail, "POST", "/prices"))
		s.call("POST", team.path("USD", "psp-create"), admin, body).refuses("outage", 502, "psp_error")
		w.breaks(nil)
		made := s.call("POST", team.path("USD", "psp-create"), admin, map[string]any{"product_id": team.product, "nickname": "Other"}).want(200)
		if got := s.byHand("GET", "/prices/"+made.str("data.psp_price_id")); got.at("nickname") != "Other" {
			t.Errorf("made %s", got.text)
		}

		// One that was made unseen and is off sale by now is not what is linked, and
		// what was refused is not looked for.
		s.call("POST", team.path("USD", "psp-unlink"), admin, nil).want(200)
		known := s.madeFor(team.prices["USD"])
		w.breaks(on(swallow, "POST", "/prices"))
		s.call("POST", team.path("USD", "psp-create"), admin, body).refuses("lost", 502, "psp_error")
		w.breaks(on(refuse, "POST", "/prices"))
		for _, id := range s.madeFor(team.prices["USD"]) {
			s.byHand("POST", "/prices/"+id, "active", "false")
		}
		s.call("POST", team.path("USD", "psp-create"), admin, body).refuses("refused", 502, "psp_error")
		w.breaks(nil)
		w.count("")
		linked := s.call("POST", team.path("USD", "psp-create"), admin, body).want(200).str("data.psp_price_id")
		if n := w.count("GET /prices"); n != 0 {
			t.Errorf("what was refused was looked for %d times", n)
		}
		if made := s.madeFor(team.prices["USD"]); len(made) != len(known)+2 || made[0] != linked {
			t.Errorf("the provider has %v and had %v, linked is %s", made, known, linked)
		}
	})
}

// Many at once, admins and first checkouts, make one price and one product.
func TestPSPCreateAtOnce(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, _ *wire) {
		admin, db := s.admin(), dbtest.Open(t, s.database)
		owners := []owner{s.register("ada@example.com", true), s.register("eve@example.com", true), s.register("bob@example.com", true)}
		for range dbtest.Rounds(1, 10) {
			team := s.sold("team")
			execute(t, db, "UPDATE products SET psp_product_id = NULL")
			execute(t, db, "UPDATE plan_prices SET psp_price_id = NULL WHERE plan_id = $1", team.id)
			known := s.madeFor(team.prices["EUR"])
			answers := make([]reply, len(owners))
			ids := make([]string, 3)
			var wg sync.WaitGroup
			for i, o := range owners {
				wg.Go(func() {
					answers[i] = s.call("POST", "/api/v1/tenant/"+o.tenant+"/checkout", o.token, map[string]any{
						"plan_id": team.id, "currency": "EUR", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
					})
				})
			}
			for i := range ids {
				wg.Go(func() {
					a := s.call("POST", team.path("EUR", "psp-create"), admin, map[string]any{"product_id": team.product})
					if a.status == 200 {
						ids[i] = a.str("data.psp_price_id")
					} else {
						a.refuses("psp-create", 422, "psp_price_already_linked")
					}
				})
			}
			wg.Wait()
			linked := s.links(admin, team)["EUR"]["psp_price_id"]
			for _, a := range answers {
				a.want(200)
			}
			for _, id := range ids {
				if id != "" && id != linked {
					t.Errorf("an admin was told %s, linked is %v", id, linked)
				}
			}
			if made := s.madeFor(team.prices["EUR"]); len(made) != len(known)+1 || made[0] != linked {
				t.Errorf("the provider has %v and had %v, linked is %v", made, known, linked)
			}
		}
	})
}

// What is sold may change, and somebody else may link, while the provider makes a
// price.
func TestPSPCreateOvertaken(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		admin, team, db := s.admin(), s.sold("team"), dbtest.Open(t, s.database)
		during := func(query string, args ...any) {
			var once sync.Once
			w.breaks(func(r *http.Request) verdict {
				if r.Method == "POST" && r.URL.Path == "/sandbox/stripe/v1/prices" {
					once.Do(func() { execute(t, db, query, args...) })
				}
				return pass
			})
		}
		body := map[string]any{"product_id": team.product}
		during("UPDATE plan_prices SET price_cents = 4200 WHERE id = $1", team.prices["EUR"])
		id := s.call("POST", team.path("EUR", "psp-create"), admin, body).want(200).str("data.psp_price_id")
		if got := s.byHand("GET", "/prices/"+id); got.at("unit_amount") != 4200.0 {
			t.Errorf("linked to the old amount: %s", got.text)
		}

		during("UPDATE plan_prices SET psp_price_id = 'price_theirs' WHERE id = $1", team.prices["USD"])
		s.call("POST", team.path("USD", "psp-create"), admin, body).refuses("linked meanwhile", 422, "psp_price_already_linked")
		if got := s.links(admin, team)["USD"]; got["psp_price_id"] != "price_theirs" {
			t.Errorf("overwritten: %v", got)
		}

		var once sync.Once
		w.breaks(func(r *http.Request) verdict {
			if r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/sandbox/stripe/v1/prices/") {
				once.Do(func() {
					execute(t, db, "UPDATE plan_prices SET psp_price_id = 'price_others' WHERE id = $1", team.prices["USD"])
				})
			}
			return pass
		})
		usd := s.priceAt("currency", "usd", "unit_amount", itoa(s.amount(team, "USD")))
		s.call("POST", team.path("USD", "psp-link"), admin, map[string]any{"psp_price_id": usd}).refuses("linked meanwhile", 422, "psp_price_already_linked")
		if got := s.links(admin, team)["USD"]; got["psp_price_id"] != "price_others" {
			t.Errorf("overwritten: %v", got)
		}
	})
}
