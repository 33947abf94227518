package sso_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// If delegated login is disabled, codes of logins through a connection can still be exchanged.
// Other codes are rejected before validation.
func TestExchangeWithoutDelegatedLogins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		_, id := corporate(s, "owner@"+corp, object{"provision_members": true})
		enter(s, id, as("ada@"+corp)).WantAt("isNewUser", true)
		for _, code := range []any{nil, 7, "x", uuid.NewString()} {
			s.Call("POST", "/api/v1/auth/oauth/exchange", "", object{"code": code}).WantRefused(403, "LOGIN_METHOD_DISABLED")
		}
		late := signOn(s, id, as("ada@"+corp)).Get("code")
		s.Advance(time.Minute)
		exchange(s, late).WantRefused(400, "OAUTH_CODE_EXPIRED")
	}, func(s *settings.Settings) { s.LoginMethods = []string{settings.PasswordLogin} })
}
