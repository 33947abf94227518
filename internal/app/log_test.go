package app_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The log contains no password and no token of the traffic.
func TestNothingSecretInTheLog(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", map[string]any{
			"password": "canary-password", "password_confirmation": "canary-password",
		})).Want(201)
		token := a.Str("accessToken")
		o := apptest.Owner{Token: token, Tenant: s.Call("GET", "/api/v1/auth/me?token=canary-query", token, nil).Want(200).Str("currentTenant.id")}
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", token, apptest.BillingDetails).Want(200)
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com", "password": "canary-wrong"}).Want(401)
		s.BuyPlan(o, "starter")
		log := s.Log()
		for _, secret := range []string{"canary-", token, a.Str("refreshToken"), "sk_test_", "whsec_", "4242 4242", "4242424242424242"} {
			if strings.Contains(log, secret) {
				t.Errorf("the log has %q", secret)
			}
		}
		if !strings.Contains(log, "/api/v1/tenant/{tenantId}/checkout") {
			t.Errorf("the access log does not name routes by their template:\n%s", log)
		}
	})
}
