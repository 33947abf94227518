package apptest

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// NewProviderPrice creates a monthly price of 1000 EUR cents at the provider and returns its id.
// changes are alternating names and values.
func (s *Server) NewProviderPrice(changes ...string) string {
	s.T.Helper()
	form := []string{
		"currency", "eur", "unit_amount", "1000", "recurring[interval]", "month", "recurring[interval_count]", "1",
		"product_data[name]", "By hand",
	}
	return s.AtProvider("POST", "/prices", append(form, changes...)...).Str("id")
}

// NewMeteredPrice creates a monthly metered price with a new meter at the provider and returns the
// price's id. cents is the price of a unit as decimal text. changes are alternating names and
// values.
func (s *Server) NewMeteredPrice(currency, cents string, changes ...string) string {
	s.T.Helper()
	meter := s.AtProvider("POST", "/billing/meters", "display_name", "By hand",
		"event_name", strings.ToLower(rand.Text()), "default_aggregation[formula]", "sum").Str("id")
	form := []string{
		"currency", strings.ToLower(currency), "unit_amount_decimal", cents, "recurring[interval]", "month",
		"recurring[usage_type]", "metered", "recurring[meter]", meter, "product_data[name]", "By hand",
	}
	return s.AtProvider("POST", "/prices", append(form, changes...)...).Str("id")
}

// providerKey is the API key of the service's account at the payment provider. Tests use it as
// well.
const providerKey = "sk_test_dashboard"

// AtProvider calls the payment provider directly, as the owner of the account can. form has
// alternating names and values, and path starts after /v1. AtProvider ends the test on an error.
func (s *Server) AtProvider(method, path string, form ...string) Reply {
	s.T.Helper()
	return s.TryAtProvider(method, path, form...).Want(200)
}

// TryAtProvider is [Server.AtProvider] for calls that can fail.
func (s *Server) TryAtProvider(method, path string, form ...string) Reply {
	s.T.Helper()
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	target, body := s.URL+"/sandbox/stripe/v1"+path, values.Encode()
	if method == http.MethodGet {
		target, body = target+"?"+body, ""
	}
	r, err := http.NewRequestWithContext(s.T.Context(), method, target, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set(direct, "1")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+providerKey)
	return s.Do(r)
}

// PayAtProvider pays an invoice at the provider with another card.
func (s *Server) PayAtProvider(invoice string) {
	s.T.Helper()
	customer := s.AtProvider("GET", "/invoices/"+invoice).Str("customer")
	card := s.AtProvider("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).Str("id")
	s.AtProvider("POST", "/invoices/"+invoice+"/pay", "payment_method", card)
}

// ProviderObjects returns a tenant's objects of a kind (customer, subscription, invoice,
// checkout.session) at the provider, oldest first.
func (s *Server) ProviderObjects(o Owner, kind string) []Reply {
	s.T.Helper()
	all := s.AllProviderObjects(kind)
	customers := map[any]bool{}
	for _, c := range s.AllProviderObjects("customer") {
		if c.At("metadata.tenant_id") == o.Tenant {
			customers[c.At("id")] = true
		}
	}
	return slices.DeleteFunc(all, func(r Reply) bool { return !customers[r.At("customer")] && !customers[r.At("id")] })
}

// AllProviderObjects returns the provider's objects of a kind, oldest first.
func (s *Server) AllProviderObjects(kind string) []Reply {
	t, db := s.T, s.SandboxDB()
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(),
		`SELECT doc FROM stripe_objects WHERE kind = $1 ORDER BY doc ->> '$.created', rowid`, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []Reply
	for rows.Next() {
		r := Reply{T: t, what: "the provider's " + kind}
		if err := rows.Scan(&r.Text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(r.Text), &r.Body); err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// ProviderPriceOf returns the id of the provider's price of the plan with an id.
func (s *Server) ProviderPriceOf(plan string) string {
	s.T.Helper()
	for _, p := range s.AllProviderObjects("price") {
		if p.At("metadata.plan_id") == plan {
			return p.Str("id")
		}
	}
	s.T.Fatalf("no price of %s", plan)
	return ""
}
