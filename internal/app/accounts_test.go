package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

func registration(email string, change map[string]any) map[string]any {
	body := map[string]any{
		"name": "Ada", "email": email, "password": "correct horse", "password_confirmation": "correct horse",
	}
	for key, value := range change {
		if value == nil {
			delete(body, key)
		} else {
			body[key] = value
		}
	}
	return body
}

func TestRegister(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		a := s.call("POST", "/api/v1/auth/register", "", registration("  Ada@Example.COM ", nil)).want(201)
		if a.str("user.email") != "ada@example.com" || a.at("user.is_platform_admin") != false {
			t.Errorf("user: %s", a.text)
		}
		if n := len(a.str("refreshToken")); n != 64 {
			t.Errorf("the refresh token has %d characters", n)
		}
		if a.str("user.tenants.0.name") != "Ada's Organization" {
			t.Errorf("first tenant: %s", a.text)
		}
		me := s.call("GET", "/api/v1/auth/me", a.str("accessToken"), nil).want(200)
		for path, want := range map[string]any{
			"user.name": "Ada", "user.avatar": nil, "user.roles.0": "owner",
			"user.tenants.0.user_role": "owner", "user.tenants.0.has_active_subscription": false,
			"user.tenants.0.has_billing_details": false, "user.tenants.0.onboarding_completed_at": nil,
			"currentTenant.name": "Ada's Organization", "user.permissions.0": "billing.manage",
		} {
			if got := me.at(path); got != want {
				t.Errorf("me: %s is %v, want %v", path, got, want)
			}
		}
		if a.header.Get("Cache-Control") == "public" || me.header.Get("Cache-Control") != "no-store" {
			t.Errorf("an answer with tokens can be cached: %q", me.header.Get("Cache-Control"))
		}
	})
}

func TestRegisterRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.register("taken@example.com", false)
		for name, c := range map[string]struct {
			change map[string]any
			field  string
		}{
			"no name":               {map[string]any{"name": nil}, "name"},
			"blank name":            {map[string]any{"name": "   "}, "name"},
			"long name":             {map[string]any{"name": strings.Repeat("é", 256)}, "name"},
			"no email":              {map[string]any{"email": nil}, "email"},
			"not an email":          {map[string]any{"email": "ada"}, "email"},
			"non-ASCII local part":  {map[string]any{"email": "ädä@example.com"}, "email"},
			"taken email":           {map[string]any{"email": "TAKEN@example.com"}, "email"},
			"short password":        {map[string]any{"password": "1234567", "password_confirmation": "1234567"}, "password"},
			"password over 1 KiB":   {map[string]any{"password": strings.Repeat("a", 1025), "password_confirmation": strings.Repeat("a", 1025)}, "password"},
			"no confirmation":       {map[string]any{"password_confirmation": nil}, "password_confirmation"},
			"other confirmation":    {map[string]any{"password_confirmation": "incorrect horse"}, "password_confirmation"},
			"name is a number":      {map[string]any{"name": 7}, "name"},
			"control character":     {map[string]any{"name": "A\x00da"}, "name"},
			"create_tenant a text":  {map[string]any{"create_tenant": "true"}, "create_tenant"},
			"long name of a tenant": {map[string]any{"tenant_name": strings.Repeat("x", 256)}, "tenant_name"},
		} {
			t.Run(name, func(t *testing.T) {
				a := s.call("POST", "/api/v1/auth/register", "", registration("new@example.com", c.change))
				errs, _ := a.at("errors").(map[string]any)
				if a.status != 422 || errs[c.field] == nil || len(errs) != 1 {
					t.Errorf("%d %s, want 422 on %s alone", a.status, a.text, c.field)
				}
			})
		}
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "new@example.com", "password": "correct horse"}).want(401)
	})
}

// Of many registrations of one email at once exactly one makes an account, and
// no tenant of another is left behind.
func TestRegisterOneEmailAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		const callers = 12
		statuses := make([]int, callers)
		var wg sync.WaitGroup
		for i := range callers {
			email := "Race@example.com"
			if i%2 == 0 {
				email = "race@EXAMPLE.com"
			}
			wg.Go(func() { statuses[i] = s.call("POST", "/api/v1/auth/register", "", registration(email, nil)).status })
		}
		wg.Wait()
		made := 0
		for _, status := range statuses {
			switch status {
			case 201:
				made++
			case 422:
			default:
				t.Errorf("status %d", status)
			}
		}
		if made != 1 {
			t.Errorf("%d accounts were made", made)
		}
	})
}

func TestRegisterWithoutTenant(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		a := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", map[string]any{"create_tenant": false})).want(201)
		me := s.call("GET", "/api/v1/auth/me", a.str("accessToken"), nil).want(200)
		if tenants := me.at("user.tenants").([]any); len(tenants) != 0 || me.at("currentTenant") != nil {
			t.Errorf("me: %s", me.text)
		}
	})
}

func TestLogin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		old := s.register("ada@example.com", false)
		login := func(email, password string, extra map[string]any) reply {
			body := map[string]any{"email": email, "password": password}
			for k, v := range extra {
				body[k] = v
			}
			return s.call("POST", "/api/v1/auth/login", "", body)
		}
		a := login("ADA@example.com", "correct horse", nil).want(200)
		if a.str("user.tenants.0.id") != old.tenant || a.str("user.tenants.0.slug") != "adas-organization" {
			t.Errorf("login: %s", a.text)
		}
		s.call("GET", "/api/v1/auth/me", old.token, nil).want(200)

		wrong, unknown := login("ada@example.com", "wrong horse", nil).want(401), login("eve@example.com", "wrong horse", nil).want(401)
		if wrong.text != unknown.text || wrong.at("code") != "INVALID_CREDENTIALS" {
			t.Errorf("a wrong password (%s) and an unknown email (%s) can be told apart", wrong.text, unknown.text)
		}
		login("not an email", "wrong horse", nil).want(401)
		login("ada@example.com", " correct horse ", nil).want(401) // a password is not trimmed
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com"}).want(422)

		renewed := login("ada@example.com", "correct horse", map[string]any{"revoke_previous": true}).want(200)
		s.call("GET", "/api/v1/auth/me", old.token, nil).want(401)
		s.call("GET", "/api/v1/auth/me", a.str("accessToken"), nil).want(401)
		s.call("GET", "/api/v1/auth/me", renewed.str("accessToken"), nil).want(200)
	})
}

// Logging in is limited by address and email at 5 a minute, so that one email
// that is attacked does not lock others out.
func TestLoginLimits(t *testing.T) {
	t.Parallel()
	s := start(t, sqldb.SQLite, limited)
	login := func(email string) reply {
		return s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "wrong horse"})
	}
	for i := range 5 {
		a := login("Ada@example.com").want(401)
		if got, want := a.header.Get("X-RateLimit-Remaining"), fmt.Sprint(4-i); got != want {
			t.Errorf("remaining after %d: %s, want %s", i+1, got, want)
		}
	}
	a := login(" ada@EXAMPLE.com").want(429)
	if a.header.Get("Retry-After") == "" || a.at("message") == nil {
		t.Errorf("limited: %v %s", a.header, a.text)
	}
	login("grace@example.com").want(401)
}

// An access token lives for 15 minutes of the service's clock.
func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", false)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "14m"}).want(200)
		s.call("GET", "/api/v1/auth/me", o.token, nil).want(200)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "61s"}).want(200)
		s.call("GET", "/api/v1/auth/me", o.token, nil).want(401)
	})
}

func TestCompleteSetup(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", false)
		setup := func(body any) reply { return s.call("PATCH", "/api/v1/onboarding/complete-setup", o.token, body) }
		setup(map[string]any{"country": "gb"}).want(422)
		setup(map[string]any{"country": "XX"}).want(422)
		setup(map[string]any{"billing_email": "nobody"}).want(422)
		setup(map[string]any{"postal_code": strings.Repeat("1", 21)}).want(422)
		s.call("GET", "/api/v1/tenant", o.token, nil).want(403)

		first := setup(map[string]any{"legal_name": " Acme ", "city": "Paris"}).want(200)
		if first.str("data.legal_name") != "Acme" || first.at("data.address") != nil || first.at("data.has_billing_details") != false {
			t.Errorf("first: %s", first.text)
		}
		second := setup(map[string]any{"city": nil, "country": "FR", "vat_number": ""}).want(200)
		for path, want := range map[string]any{
			"data.legal_name": "Acme", "data.city": nil, "data.country": "FR", "data.vat_number": nil,
			"data.onboarding_completed_at": first.at("data.onboarding_completed_at"),
			"data.owner.email":             "ada@example.com", "data.user_role": "owner", "data.preferred_currency": "EUR",
		} {
			if got := second.at(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		if shown := s.call("GET", "/api/v1/tenant", o.token, nil).want(200); shown.str("data.legal_name") != "Acme" {
			t.Errorf("tenant: %s", shown.text)
		}
	})
}

// No password or token that the traffic of a whole slice carries is in the log.
func TestNothingSecretInTheLog(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		a := s.call("POST", "/api/v1/auth/register", "", registration("ada@example.com", map[string]any{
			"password": "canary-password", "password_confirmation": "canary-password",
		})).want(201)
		token := a.str("accessToken")
		o := owner{token: token, tenant: s.call("GET", "/api/v1/auth/me?token=canary-query", token, nil).want(200).str("currentTenant.id")}
		s.call("PATCH", "/api/v1/onboarding/complete-setup", token, billing).want(200)
		s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com", "password": "canary-wrong"}).want(401)
		s.subscribe(o, "starter")
		log := s.log.String()
		for _, secret := range []string{"canary-", token, a.str("refreshToken"), "sk_test_", "whsec_", "4242 4242", "4242424242424242"} {
			if strings.Contains(log, secret) {
				t.Errorf("the log has %q", secret)
			}
		}
		if !strings.Contains(log, "/api/v1/tenant/{tenantId}/checkout") {
			t.Errorf("the access log does not name routes by their template:\n%s", log)
		}
	})
}

func TestHealth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.call(http.MethodGet, "/healthz", "", nil).want(200)
		eventually(t, "readiness", func() bool { return s.call(http.MethodGet, "/readyz", "", nil).status == 200 })
	})
}
