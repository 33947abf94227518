package onboarding_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// If the service issues invoices, the country is required before the payment, because the first
// invoice shows the buyer's address and tax.
func TestCountryBeforePayment(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect, func(s *settings.Settings) {
				apptest.WithPlatformInvoices(s)
				s.Invoices.Taxes = map[string]int64{"FR": 200_000}
			})
			start := func(changes map[string]any) apptest.Reply {
				return s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", changes))
			}
			for _, changes := range []map[string]any{{}, {"country": ""}, {"city": "Paris"}} {
				refused := start(changes)
				refused.WantRefused(422, "billing_not_ready")
				refused.WantAt("missing_fields", []any{"country"})
			}
			start(map[string]any{"country": "FR", "vat_number": "1", "plan_slug": "none"}).WantInvalid("vat_number", "plan_slug")
			start(map[string]any{"country": "FR", "billing_email": "x", "address": strings.Repeat("x", 256)}).WantInvalid("billing_email", "address")
			if got := s.CountRows(`SELECT count(*) FROM users WHERE email = 'grace@example.com'`); got != 0 {
				t.Fatalf("refused requests left %d accounts", got)
			}
			a := start(map[string]any{
				"legal_name": "Grace SARL", "address": "1 rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR",
				"vat_number": "fr 83 404 833 048", "billing_email": "bills@example.com",
			}).Want(201)
			a.WantAt("tenant.country", "FR").WantAt("tenant.vat_number", "FR83404833048").WantAt("tenant.has_billing_details", true)
			o := apptest.Owner{Token: a.Str("accessToken"), Tenant: a.Str("tenant.id")}
			customer := s.ProviderObjects(o, "customer")[0]
			customer.WantAt("name", "Grace SARL").WantAt("address.country", "FR").WantAt("email", "bills@example.com")
			s.Pay(a.Str("checkout_url"), "4242424242424242")
			s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, map[string]any{}).Want(200)
			in := apptest.Reply{Body: s.Invoices(o, 1)[0].(map[string]any)}
			for at, want := range map[string]any{"tax.amount_cents": 317.0, "billing_info.address.line1": "1 rue de Rivoli", "billing_info.address.country": "FR"} {
				if got := in.At(at); got != want {
					t.Errorf("first invoice: %s is %v, want %v", at, got, want)
				}
			}

			other := s.Register("bob@example.com", false)
			retry := func() apptest.Reply {
				return s.Call("POST", "/api/v1/onboarding/retry-checkout", other.Token, map[string]any{"plan_slug": "starter", "currency": "EUR"})
			}
			refused := retry()
			refused.WantRefused(422, "billing_not_ready")
			refused.WantAt("missing_fields", []any{"country"})
			s.Call("PATCH", "/api/v1/onboarding/complete-setup", other.Token, map[string]any{"country": "FR"}).Want(200)
			retry().Want(200)
		})
	}
}

// If the provider issues invoices, billing details are optional, and the provider's invoice shows
// them.
func TestStartPassesBillingDetailsToProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call("POST", "/api/v1/onboarding/start", "", newcomer("ada@example.com", nil)).Want(201)
		a := s.Call("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{
			"legal_name": "Grace SARL", "address": "1 rue de Rivoli", "city": "Paris", "postal_code": "75001", "country": "FR",
			"vat_number": "FR83404833048",
		})).Want(201)
		o := apptest.Owner{Token: a.Str("accessToken"), Tenant: a.Str("tenant.id")}
		s.Pay(a.Str("checkout_url"), "4242424242424242")
		bill := s.ProviderObjects(o, "invoice")[0]
		bill.WantAt("customer_address.line1", "1 rue de Rivoli").WantAt("customer_tax_ids.0.value", "FR83404833048")
		file := s.Call("GET", "/sandbox/stripe/storage/"+bill.Str("id")+".pdf", "", nil).Want(200).Text
		for _, want := range []string{"Grace SARL", "1 rue de Rivoli", "75001 Paris", "FR83404833048"} {
			if !strings.Contains(file, want) {
				t.Errorf("the document lacks %q", want)
			}
		}
	})
}
