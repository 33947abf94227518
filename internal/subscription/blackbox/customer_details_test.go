package blackbox_test

import (
	"regexp"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The provider's customer follows the billing details, no matter who changes them.
func TestCustomerFollowsBillingDetails(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		// Without a customer, the change is not sent to the provider.
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"city": "Turin"}).Want(200)
		s.Checkout(o, "starter")
		follows := func(want map[string]any) {
			t.Helper()
			apptest.Eventually(t, "the customer follows", func() bool {
				c := s.ProviderObjects(o, "customer")
				if len(c) != 1 {
					t.Fatalf("%d customers", len(c))
				}
				for at, want := range want {
					if c[0].At(at) != want {
						return false
					}
				}
				return true
			})
		}
		follows(map[string]any{"name": "Analytical Engines Ltd", "address.city": "Turin", "email": "billing@example.com"})
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"vat_number": "gb 123 4567 89", "address": " 1 Road\r\n\n\tBack  house ", "billing_email": nil}).Want(200)
		// Without a billing address, sent invoices go to the owner.
		follows(map[string]any{"address.line1": "1 Road, Back house", "email": "ada@example.com", "invoice_settings.custom_fields": nil})
		s.Call("PATCH", "/api/v1/admin/tenants/"+o.Tenant, s.Admin(), map[string]any{"legal_name": "Difference Engines", "country": "US", "vat_number": "12-345"}).Want(200)
		follows(map[string]any{"name": "Difference Engines", "invoice_settings.custom_fields.0.value": "12-345"})
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"vat_number": nil}).Want(200)
		follows(map[string]any{"invoice_settings.custom_fields": nil})
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, map[string]any{"city": "Rome", "country": "IT"}).Want(200)
		follows(map[string]any{"address.city": "Rome", "address.country": "IT"})
		// Without a legal name, the provider's customer has the tenant's name. The change is made while
		// the provider is down.
		s.Chaos(apptest.ChaosProviderDown)
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"legal_name": nil, "name": "Engines"}).Want(200)
		s.Chaos(nil)
		follows(map[string]any{"name": "Engines"})
	})
}

var verifyLink = regexp.MustCompile(`/verify-email\?token=([A-Za-z0-9]{64})`)

// Without a billing email, the provider's customer has the owner's email, also after the owner changes
// it or transfers the ownership. A billing email stays.
func TestCustomerFollowsTheOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.Checkout(o, "starter")
		bob, bobID := s.Join(o, "Bob", "bob@example.com", "admin")
		follows := func(email string) {
			t.Helper()
			apptest.Eventually(t, "the email "+email, func() bool { return s.ProviderObjects(o, "customer")[0].At("email") == email })
		}
		changeEmail := func(login, to string) {
			t.Helper()
			s.Call("POST", "/api/v1/user/email", login, apptest.Object{"email": to, "current_password": "correct horse"}).Want(202)
			token := ""
			apptest.Eventually(t, "the link to "+to, func() bool {
				for _, mail := range s.Mails(to) {
					if found := verifyLink.FindStringSubmatch(mail["text"].(string)); found != nil {
						token = found[1]
					}
				}
				return token != ""
			})
			s.Call("POST", "/api/v1/auth/verify-email", login, apptest.Object{"token": token}).Want(200)
		}
		s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"billing_email": nil}).Want(200)
		follows("ada@example.com")
		changeEmail(bob, "robert@example.com") // a member who is not the owner
		changeEmail(o.Token, "lovelace@example.com")
		follows("lovelace@example.com")

		s.Call("POST", o.Path("/transfer-ownership"), o.Token, apptest.Object{"user_id": bobID, "current_password": "correct horse"}).Want(200)
		follows("robert@example.com")

		s.Call("PATCH", "/api/v1/tenant", bob, apptest.Object{"billing_email": "bills@example.com"}).Want(200)
		follows("bills@example.com")
		changeEmail(bob, "bobby@example.com")
		s.Call("PATCH", "/api/v1/tenant", bob, apptest.Object{"city": "Turin"}).Want(200)
		apptest.Eventually(t, "the city", func() bool { return s.ProviderObjects(o, "customer")[0].At("address.city") == "Turin" })
		follows("bills@example.com")
	})
}
