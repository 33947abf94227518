package app

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

const (
	lateCard    = "4000 0000 0000 0341" // pays at checkout, fails at renewals
	goodAccount = "DE89 3704 0044 0532 0130 00"
	badAccount  = "DE62 3704 0044 0532 0130 01"
	day         = 24 * time.Hour
)

// life is a tenant whose subscription is followed through time.
type life struct {
	*server
	owner
	email string
}

func (s *server) life(name string) *life {
	s.t.Helper()
	email := name + "@example.com"
	return &life{server: s, owner: s.register(email, true), email: email}
}

// shop makes a plan through the administration: prices by currency, in minor
// units, and 1000 API calls.
func (k keeper) shop(product, slug string, prices map[string]int, changes ...object) string {
	k.t.Helper()
	plan := k.planOf(product, slug, changes...)
	var list []any
	for currency, cents := range prices {
		list = append(list, price(currency, cents))
	}
	k.on("PUT", "/plans/"+plan+"/prices", object{"prices": list}).want(200)
	calls := k.on("GET", "/features?filter[code]=api-calls", nil).want(200).str("data.0.id")
	k.on("PUT", "/plans/"+plan+"/entitlements", object{
		"entitlements": []any{object{"feature_id": calls, "type": "quota", "value": 1000}},
	}).want(200)
	return plan
}

// order opens a checkout for a plan and returns its answer.
func (l *life) order(plan, currency string) reply {
	l.t.Helper()
	return l.call("POST", "/api/v1/tenant/"+l.tenant+"/checkout", l.token, with(returning, object{"plan_id": plan, "currency": currency}))
}

// buy pays for a plan and waits for its subscription.
func (l *life) buy(plan, currency string, way url.Values) {
	l.t.Helper()
	l.fill(l.order(plan, currency).want(200).str("data.url"), way).want(303)
	eventually(l.t, "the activation", func() bool { return l.subscription(l.owner).at("data") != nil })
	l.settled()
}

func card(number string) url.Values  { return url.Values{"card_number": {number}} }
func debit(number string) url.Values { return url.Values{"iban": {number}} }

// fill submits a form of a hosted page.
func (s *server) fill(page string, form url.Values) reply {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", page, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(r)
}

// newCard gives another card in the portal.
func (l *life) newCard(number string) {
	l.t.Helper()
	page := l.call("POST", "/api/v1/tenant/"+l.tenant+"/docs/billing/portal", l.token, nil).want(200).str("data.url")
	l.fill(page+"/card", card(number)).want(303)
	l.settled()
}

// pass lets time go by, until the provider has done what became due and the
// service has taken it in.
func (s *server) pass(d time.Duration) {
	s.t.Helper()
	s.call("POST", "/sandbox/clock", "", object{"advance": d.String()}).want(200)
	s.caughtUp()
}

// passTo is pass to a moment.
func (s *server) passTo(to time.Time) {
	s.t.Helper()
	s.call("POST", "/sandbox/clock", "", object{"to": to.Format(time.RFC3339)}).want(200)
	s.caughtUp()
}

func (s *server) caughtUp() {
	s.t.Helper()
	db := s.sandbox()
	now := s.now().Unix()
	eventually(s.t, "what is due", func() bool {
		var due int
		if err := db.Conn(s.t.Context()).QueryRowContext(s.t.Context(), `SELECT count(*) FROM stripe_timers WHERE at <= $1`, now).Scan(&due); err != nil {
			s.t.Fatal(err)
		}
		return due == 0
	})
	s.settled()
}

// again logs the owner in anew: tokens expire as time passes.
func (l *life) again() {
	l.t.Helper()
	l.token = l.call("POST", "/api/v1/auth/login", "", object{"email": l.email, "password": "correct horse"}).want(200).str("accessToken")
}

// granted tells whether the plan's features are.
func (l *life) granted() bool {
	l.t.Helper()
	list := l.call("GET", "/api/v1/tenant/"+l.tenant+"/entitlements", l.token, nil).want(200).at("data").([]any)
	return len(list) > 0
}

// last is the tenant's newest subscription as the administration sees it: also one
// that is over.
func (l *life) last() reply {
	l.t.Helper()
	return l.call("GET", "/api/v1/admin/tenants/"+l.tenant+"/subscriptions", l.admin(), nil).want(200)
}

// is fails the test unless the newest subscription has a status, and grants its
// features if that one does (spec: Subscription status).
func (l *life) is(status string) {
	l.t.Helper()
	l.again()
	got := l.last()
	access := status == "active" || status == "trialing"
	if got.at("data.0.status") != status || l.granted() != access {
		l.t.Fatalf("%s is %v, access %v, want %s: %s", l.email, got.at("data.0.status"), l.granted(), status, got.text)
	}
}

// dunning sets what a subscription becomes once the last retry has failed.
func (s *server) dunning(outcome string) {
	s.t.Helper()
	s.call("PUT", "/sandbox/stripe/dunning", "", object{"outcome": outcome}).want(200)
}

// subscribeThere makes a subscription at the provider, without a card, as its
// owner can: a checkout that is opened first makes the customer and the price.
func (l *life) subscribeThere(plan string, more ...string) {
	l.t.Helper()
	l.order(plan, "EUR").want(200)
	customer := l.held(l.owner, "customer")[0].str("id")
	l.byHand("POST", "/subscriptions", append([]string{
		"customer", customer, "items[0][price]", l.priceThere(plan), "items[0][quantity]", "1",
		"metadata[tenant_id]", l.tenant, "metadata[plan_id]", plan,
	}, more...)...)
	l.caughtUp()
}

// priceThere is what the provider calls the price of a plan.
func (s *server) priceThere(plan string) string {
	s.t.Helper()
	for _, p := range objects(s.t, s.sandbox(), "price") {
		if p.at("metadata.plan_id") == plan {
			return p.str("id")
		}
	}
	s.t.Fatalf("no price of %s", plan)
	return ""
}

// count runs a query that counts in the service's database.
func (s *server) count(query string, args ...any) (n int) {
	s.t.Helper()
	db := dbtest.Open(s.t, s.database)
	if err := db.Conn(s.t.Context()).QueryRowContext(s.t.Context(), query, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
