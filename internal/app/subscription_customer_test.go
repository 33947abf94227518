package app

import "testing"

// The provider's customer follows the billing details, whoever changes them.
func TestCustomerFollowsBillingDetails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		// Without a customer there is nobody to tell.
		s.call("PATCH", "/api/v1/tenant", o.token, map[string]any{"city": "Turin"}).want(200)
		s.checkout(o, "starter")
		follows := func(want map[string]any) {
			t.Helper()
			eventually(t, "the customer follows", func() bool {
				c := s.held(o, "customer")
				if len(c) != 1 {
					t.Fatalf("%d customers", len(c))
				}
				for at, want := range want {
					if c[0].at(at) != want {
						return false
					}
				}
				return true
			})
		}
		follows(map[string]any{"name": "Analytical Engines Ltd", "address.city": "Turin", "email": "billing@example.com"})
		s.call("PATCH", "/api/v1/tenant", o.token, map[string]any{"vat_number": "GB123", "address": "1 Road", "billing_email": nil}).want(200)
		follows(map[string]any{"address.line1": "1 Road", "email": nil, "invoice_settings.custom_fields.0.value": "GB123"})
		s.call("PATCH", "/api/v1/admin/tenants/"+o.tenant, s.admin(), map[string]any{"legal_name": "Difference Engines", "vat_number": nil}).want(200)
		follows(map[string]any{"name": "Difference Engines", "invoice_settings.custom_fields": nil})
		s.call("PATCH", "/api/v1/onboarding/complete-setup", o.token, map[string]any{"city": "Rome", "country": "IT"}).want(200)
		follows(map[string]any{"address.city": "Rome", "address.country": "IT"})
		// Without a legal name it is known by its name, changed while nobody answers.
		s.chaos(pspDown)
		s.call("PATCH", "/api/v1/tenant", o.token, map[string]any{"legal_name": nil, "name": "Engines"}).want(200)
		s.chaos(nil)
		follows(map[string]any{"name": "Engines"})
	})
}
