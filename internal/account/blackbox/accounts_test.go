package blackbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("  Ada@Example.COM ", nil)).Want(201)
		if a.Str("user.email") != "ada@example.com" || a.At("user.is_platform_admin") != false {
			t.Errorf("user: %s", a.Text)
		}
		if n := len(a.Str("refreshToken")); n != 64 {
			t.Errorf("the refresh token has %d characters", n)
		}
		if a.Str("user.tenants.0.name") != "Ada's Organization" {
			t.Errorf("first tenant: %s", a.Text)
		}
		me := s.Call("GET", "/api/v1/auth/me", a.Str("accessToken"), nil).Want(200)
		for path, want := range map[string]any{
			"user.name": "Ada", "user.avatar": nil, "user.roles.0": "owner",
			"user.tenants.0.user_role": "owner", "user.tenants.0.has_active_subscription": false,
			"user.tenants.0.has_billing_details": false, "user.tenants.0.onboarding_completed_at": nil,
			"currentTenant.name": "Ada's Organization", "user.permissions.0": "api_keys.manage",
		} {
			if got := me.At(path); got != want {
				t.Errorf("me: %s is %v, want %v", path, got, want)
			}
		}
		if a.Header.Get("Cache-Control") == "public" || me.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("a response with tokens can be cached: %q", me.Header.Get("Cache-Control"))
		}
	})
}

func TestRegisterRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("taken@example.com", false)
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
				a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("new@example.com", c.change))
				errs, _ := a.At("errors").(map[string]any)
				if a.Status != 422 || errs[c.field] == nil || len(errs) != 1 {
					t.Errorf("%d %s, want 422 only on %s", a.Status, a.Text, c.field)
				}
			})
		}
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "new@example.com", "password": "correct horse"}).Want(401)
	})
}

// If an email is registered several times concurrently, exactly one request creates an account and
// a tenant.
func TestRegisterOneEmailAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const callers = 12
		statuses := make([]int, callers)
		var wg sync.WaitGroup
		for i := range callers {
			email := "Race@example.com"
			if i%2 == 0 {
				email = "race@EXAMPLE.com"
			}
			wg.Go(func() {
				statuses[i] = s.Call("POST", "/api/v1/auth/register", "", apptest.Registration(email, nil)).Status
			})
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
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", map[string]any{"create_tenant": false})).Want(201)
		me := s.Call("GET", "/api/v1/auth/me", a.Str("accessToken"), nil).Want(200)
		if tenants := me.At("user.tenants").([]any); len(tenants) != 0 || me.At("currentTenant") != nil {
			t.Errorf("me: %s", me.Text)
		}
	})
}

func TestLogin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		old := s.Register("ada@example.com", false)
		login := func(email, password string, extra map[string]any) apptest.Reply {
			body := map[string]any{"email": email, "password": password}
			for k, v := range extra {
				body[k] = v
			}
			return s.Call("POST", "/api/v1/auth/login", "", body)
		}
		a := login("ADA@example.com", "correct horse", nil).Want(200)
		if a.Str("user.tenants.0.id") != old.Tenant || a.Str("user.tenants.0.slug") != "adas-organization" {
			t.Errorf("login: %s", a.Text)
		}
		s.Call("GET", "/api/v1/auth/me", old.Token, nil).Want(200)

		wrong, unknown := login("ada@example.com", "wrong horse", nil).Want(401), login("eve@example.com", "wrong horse", nil).Want(401)
		if wrong.Text != unknown.Text || wrong.At("code") != "INVALID_CREDENTIALS" {
			t.Errorf("wrong password: %s, unknown email: %s, want the same answer", wrong.Text, unknown.Text)
		}
		login("not an email", "wrong horse", nil).Want(401)
		login("ada@example.com", " correct horse ", nil).Want(401) // passwords are not trimmed
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com"}).Want(422)

		renewed := login("ada@example.com", "correct horse", map[string]any{"revoke_previous": true}).Want(200)
		s.Call("GET", "/api/v1/auth/me", old.Token, nil).Want(401)
		s.Call("GET", "/api/v1/auth/me", a.Str("accessToken"), nil).Want(401)
		s.Call("GET", "/api/v1/auth/me", renewed.Str("accessToken"), nil).Want(200)
	})
}

// Logins are limited to 5 per minute and combination of IP address and email, so that an attack on
// one email does not lock out other users.
func TestLoginLimits(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite, apptest.Limited)
	login := func(email string) apptest.Reply {
		return s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "wrong horse"})
	}
	for i := range 5 {
		a := login("Ada@example.com").Want(401)
		if got, want := a.Header.Get("X-RateLimit-Remaining"), fmt.Sprint(4-i); got != want {
			t.Errorf("remaining after %d: %s, want %s", i+1, got, want)
		}
	}
	a := login(" ada@EXAMPLE.com").Want(429)
	if a.Header.Get("Retry-After") == "" || a.At("message") == nil {
		t.Errorf("limited: %v %s", a.Header, a.Text)
	}
	login("grace@example.com").Want(401)
}

// An access token expires after 15 minutes of the service's clock.
func TestAccessTokenExpires(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", false)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "14m"}).Want(200)
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "61s"}).Want(200)
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(401)
	})
}

func TestCompleteSetup(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", false)
		setup := func(body any) apptest.Reply {
			return s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, body)
		}
		setup(map[string]any{"country": "gb"}).Want(422)
		setup(map[string]any{"country": "XX"}).Want(422)
		setup(map[string]any{"billing_email": "nobody"}).Want(422)
		setup(map[string]any{"postal_code": strings.Repeat("1", 21)}).Want(422)
		s.Call("GET", "/api/v1/tenant", o.Token, nil).Want(403)

		first := setup(map[string]any{"legal_name": " Acme ", "city": "Paris"}).Want(200)
		if first.Str("data.legal_name") != "Acme" || first.At("data.address") != nil || first.At("data.has_billing_details") != false {
			t.Errorf("first: %s", first.Text)
		}
		second := setup(map[string]any{"city": nil, "country": "FR", "vat_number": ""}).Want(200)
		for path, want := range map[string]any{
			"data.legal_name": "Acme", "data.city": nil, "data.country": "FR", "data.vat_number": nil,
			"data.onboarding_completed_at": first.At("data.onboarding_completed_at"),
			"data.owner.email":             "ada@example.com", "data.user_role": "owner", "data.preferred_currency": "EUR",
		} {
			if got := second.At(path); got != want {
				t.Errorf("%s is %v, want %v", path, got, want)
			}
		}
		if shown := s.Call("GET", "/api/v1/tenant", o.Token, nil).Want(200); shown.Str("data.legal_name") != "Acme" {
			t.Errorf("tenant: %s", shown.Text)
		}
	})
}

// A password can be entered in another Unicode form than it was set in.
func TestPasswordsInOtherForms(t *testing.T) {
	t.Parallel()
	const composed, decomposed = "P\u00e4ssw\u00f6rter", "Pa\u0308sswo\u0308rter"
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		login := func(password string) apptest.Reply {
			return s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "ada@example.com", "password": password})
		}
		s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", map[string]any{
			"password": composed, "password_confirmation": decomposed,
		})).Want(201)
		login(decomposed).Want(200)
		login("Passworter").Want(401)
		token := login(composed).Want(200).Str("accessToken")
		s.Call("PUT", "/api/v1/user/password", token, map[string]any{
			"current_password": decomposed, "password": "A\u030angstro\u0308m", "password_confirmation": "\u00c5ngstr\u00f6m",
		}).Want(204)
		resetPassword(s, "ada@example.com", resetToken(s, "ada@example.com"), "\u212bngstro\u0308m").Want(200)
		login("\u00c5ngstr\u00f6m").Want(200)
		login("A\u030angstro\u0308m").Want(200)
	})
}
