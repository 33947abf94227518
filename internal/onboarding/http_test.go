package onboarding_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// wantErrors checks for a 422 with exactly these fields, each with one message.
func wantErrors(t *testing.T, name string, a apptest.Reply, want map[string]string) {
	t.Helper()
	fields := object{}
	for field, message := range want {
		fields[field] = []any{message}
	}
	if diff := cmp.Diff(any(fields), a.At("errors")); a.Status != 422 || diff != "" {
		t.Errorf("%s: %d %s: %s", name, a.Status, a.Text, diff)
	}
}

// A start returns an error for each invalid field, and a rejected start leaves nothing behind.
func TestStartMessages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.RegisterAlone("Ada", "taken@example.com")
		long := func(n int) string { return strings.Repeat("é", n) }
		const (
			required, null, text, whole = "This field is required.", "This field must not be null.", "This must be a string.", "This must be an integer."
			upTo255                     = "This must have at most 255 characters."
		)
		for name, tt := range map[string]struct {
			body   object // overrides valid fields
			locale string
			want   map[string]string
		}{
			"null for all": {object{"name": nil, "email": nil, "password": nil, "password_confirmation": nil, "plan_slug": nil, "currency": nil}, "en", map[string]string{
				"name": null, "email": null, "password": null, "password_confirmation": null, "plan_slug": null, "currency": null,
			}},
			"blank name":         {object{"name": "  "}, "en", map[string]string{"name": required}},
			"blank name, French": {object{"name": "  "}, "fr", map[string]string{"name": "Ce champ est obligatoire."}},
			"long name":          {object{"name": long(256)}, "en", map[string]string{"name": upTo255}},
			"long organization":  {object{"tenant_name": long(256)}, "en", map[string]string{"tenant_name": upTo255}},
			"organization null":  {object{"tenant_name": nil}, "en", map[string]string{"tenant_name": null}},
			"long plan":          {object{"plan_slug": long(256)}, "it", map[string]string{"plan_slug": "Deve avere al massimo 255 caratteri."}},
			"unknown plan":       {object{"plan_slug": "none"}, "es", map[string]string{"plan_slug": "No existe."}},
			"a plan as number":   {object{"plan_slug": 1}, "en", map[string]string{"plan_slug": text}},
			"short currency":     {object{"currency": "EU"}, "en", map[string]string{"currency": "This must have at least 3 characters."}},
			"long currency":      {object{"currency": "EURO"}, "en", map[string]string{"currency": "This must have at most 3 characters."}},
			"unknown currency":   {object{"currency": "XXX"}, "en", map[string]string{"currency": "This does not exist."}},
			"no email":           {object{"email": "grace@"}, "en", map[string]string{"email": "This must be a valid email address."}},
			"taken":              {object{"email": " TAKEN@example.com "}, "en", map[string]string{"email": "This is already in use."}},
			"taken, Italian":     {object{"email": "taken@example.com"}, "it", map[string]string{"email": "È già in uso."}},
			"7 characters":       {object{"password": "1234567", "password_confirmation": "1234567"}, "en", map[string]string{"password": "This must have at least 8 characters."}},
			"other confirmation": {object{"password_confirmation": "Correct horse"}, "en", map[string]string{"password_confirmation": "The confirmation does not match."}},
			"no seats":           {object{"quantity": 0}, "en", map[string]string{"quantity": "This must be at least 1."}},
			"a million seats":    {object{"quantity": 1_000_000}, "en", map[string]string{"quantity": "This must be at most 999,999."}},
			"half a seat":        {object{"quantity": 1.5}, "en", map[string]string{"quantity": whole}},
			"form and existence": {object{"plan_slug": "none", "quantity": "2"}, "en", map[string]string{"plan_slug": "This does not exist.", "quantity": whole}},
			"all that does not exist": {object{"plan_slug": "none", "currency": "XXX", "email": "taken@example.com"}, "en", map[string]string{
				"plan_slug": "This does not exist.", "currency": "This does not exist.", "email": "This is already in use.",
			}},
		} {
			body := newcomer("grace@example.com", nil)
			maps.Copy(body, tt.body)
			r := s.NewRequest("POST", "/api/v1/onboarding/start", "", body)
			r.Header.Set("Accept-Language", tt.locale)
			wantErrors(t, name, s.Do(r), tt.want)
		}
		for body, status := range map[string]int{`{`: 400, `[]`: 422, `"x"`: 422} {
			s.Call("POST", "/api/v1/onboarding/start", "", body).As(body).WantRefused(status, "")
		}
		s.Call("POST", "/api/v1/onboarding/start", "", nil).WantInvalid("name", "email", "password", "password_confirmation", "plan_slug", "currency")
		r := s.NewRequest("POST", "/api/v1/onboarding/start", "", newcomer("grace@example.com", map[string]any{"currency": "GBP"}))
		r.Header.Set("Accept-Language", "fr")
		gbp := s.Do(r)
		gbp.WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
		gbp.WantAt("message", "Cette offre n’est pas disponible dans cette devise.")
		for _, table := range []string{"users WHERE email = 'grace@example.com'", "tenants WHERE name = 'Grace Hopper'"} {
			if n := s.CountRows("SELECT count(*) FROM " + table); n != 0 {
				t.Errorf("%d rows are left of %s", n, table)
			}
		}
	})
}

// A start returns the tenant and the owner's session.
func TestStartAnswer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		a := s.Call("POST", "/api/v1/onboarding/start", "", newcomer(" Grace@Example.com ", map[string]any{
			"name": strings.Repeat("é", 255), "tenant_name": "  Compilers & Co ", "currency": "USD", "quantity": 1, "is_platform_admin": true, "slug": "other",
		})).Want(201)
		id := s.UserID(a.Str("accessToken"))
		me := object{"id": float64(id), "name": strings.Repeat("é", 255), "email": "grace@example.com"}
		want := object{
			"id": a.At("tenant.id"), "name": "Compilers & Co", "slug": "compilers-co", "external_id": nil, "metadata": object{}, "settings": nil, "owner": me, "users": []any{me},
			"user_joined_at": a.At("tenant.created_at"), "user_role": "owner",
			"user_permissions":        []any{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"},
			"has_active_subscription": false, "has_billing_details": false, "preferred_currency": "USD", "require_mfa": false, "require_mfa_from": nil,
			"legal_name": nil, "address": nil, "city": nil, "postal_code": nil, "country": nil, "vat_number": nil, "vat_status": "none", "vat_name": nil, "billing_email": nil,
			"onboarding_completed_at": nil, "created_at": a.At("tenant.created_at"), "updated_at": a.At("tenant.created_at"),
		}
		if diff := cmp.Diff(any(want), a.At("tenant")); diff != "" {
			t.Errorf("the tenant: %s", diff)
		}
		a.WantAt("user.id", float64(id))
		a.WantAt("user.is_platform_admin", false)
		if got := a.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}
		for _, path := range []string{"/api/v1/tenant", "/api/v1/tenant/" + a.Str("tenant.id") + "/subscription"} {
			s.Call("GET", path, a.Str("accessToken"), nil).WantRefused(403, "ONBOARDING_INCOMPLETE")
		}

		// In cookie mode, there is a session but no token in the response.
		browser := s.Frontend()
		browser.Fetch("POST", "/api/v1/onboarding/start", "", newcomer("ada@example.com", nil)).WantRefused(419, "")
		browser.Fetch("GET", "/csrf-cookie", "", nil).Want(204)
		started := browser.Send("POST", "/api/v1/onboarding/start", newcomer("ada@example.com", nil)).Want(201)
		if keys := slices.Sorted(maps.Keys(started.Body)); !slices.Equal(keys, []string{"checkout_url", "tenant", "user"}) {
			t.Errorf("in cookie mode: %q", keys)
		}
		browser.Fetch("GET", "/api/v1/onboarding/status", "", nil).Want(200).WantAt("tenant_id", started.At("tenant.id"))
	})
}

// The other steps require a member. The body is validated last.
func TestStepsRefuse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, alone := s.Register("ada@example.com", true), s.RegisterAlone("Eve", "eve@example.com")
		bob, _ := s.Join(ada, "Bob", "bob@example.com", "member")
		for path, method := range map[string]string{"status": "GET", "retry-checkout": "POST", "complete-setup": "PATCH"} {
			path = "/api/v1/onboarding/" + path
			for _, body := range []any{nil, `{`} {
				s.Call(method, path, "", body).WantRefused(401, "")
				s.Call(method, path, "none", body).WantRefused(401, "")
				s.Call(method, path, alone, body).WantRefused(400, "TENANT_CONTEXT_REQUIRED")
			}
			s.Call("DELETE", path, ada.Token, nil).WantRefused(405, "")
		}

		// Opening a checkout requires the billing permission, and changing billing details the
		// permission to update the tenant. Every member can read the status.
		retry := func(token string, body any) apptest.Reply {
			return s.Call("POST", "/api/v1/onboarding/retry-checkout", token, body)
		}
		retry(bob, `{`).WantRefused(403, "")
		retry(bob, object{"plan_slug": "starter", "currency": "EUR"}).WantRefused(403, "")
		s.Call("GET", "/api/v1/onboarding/status", bob, nil).Want(200).WantAt("tenant_id", ada.Tenant)
		setup := func(token string, body any) apptest.Reply {
			return s.Call("PATCH", "/api/v1/onboarding/complete-setup", token, body)
		}
		setup(bob, nil).WantRefused(403, "")
		setup(bob, `{`).WantRefused(403, "")
		setup(bob, object{"legal_name": "Bob's Own Ltd", "billing_email": "bob@example.com"}).WantRefused(403, "")
		s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).WantAt("data.billing_email", apptest.BillingDetails["billing_email"])
		s.CreateRole(ada, "Bookkeeper", "tenant.update")
		eve, _ := s.Join(ada, "Edith", "edith@example.com", "Bookkeeper")
		setup(eve, nil).Want(200).WantAt("data.user_role", "Bookkeeper")
		fresh := s.Register("fresh@example.com", false)
		cy, _ := s.Join(ada, "Cy", "cy@example.com", "admin")
		setup(cy, nil).Want(200).WantAt("data.user_role", "admin")
		setup(fresh.Token, nil).Want(200).WantAt("data.user_role", "owner")

		const required = "This field is required."
		for name, tt := range map[string]struct {
			body object
			want map[string]string
		}{
			"nothing":        {object{}, map[string]string{"plan_slug": required, "currency": required}},
			"empty":          {object{"plan_slug": "", "currency": " "}, map[string]string{"plan_slug": required, "currency": required}},
			"unknown":        {object{"plan_slug": "none", "currency": "XXX"}, map[string]string{"plan_slug": "This does not exist.", "currency": "This does not exist."}},
			"long currency":  {object{"plan_slug": "starter", "currency": "EURO"}, map[string]string{"currency": "This must have at most 3 characters."}},
			"no seats":       {object{"plan_slug": "team", "currency": "EUR", "quantity": 0}, map[string]string{"quantity": "This must be at least 1."}},
			"million seats":  {object{"plan_slug": "team", "currency": "EUR", "quantity": 1e6}, map[string]string{"quantity": "This must be at most 999,999."}},
			"seats as text":  {object{"plan_slug": "team", "currency": "EUR", "quantity": "1"}, map[string]string{"quantity": "This must be an integer."}},
			"below the team": {object{"plan_slug": "team", "currency": "EUR", "quantity": 1}, map[string]string{"quantity": "There are more team members than seats."}},
		} {
			wantErrors(t, name, retry(ada.Token, tt.body), tt.want)
		}
		retry(ada.Token, `{`).WantRefused(400, "")
		opened := retry(ada.Token, object{"plan_slug": "team", "currency": "EUR", "quantity": 4}).Want(200)
		if data, _ := opened.At("data").(object); len(opened.Body) != 1 || len(data) != 1 || !strings.HasPrefix(opened.Str("data.checkout_url"), "http") {
			t.Errorf("opened: %s", opened.Text)
		}
		s.Call("GET", "/api/v1/onboarding/status", ada.Token, nil).Want(200).WantAt("has_subscription", false)
	})
}

// Completing the setup stores the given fields. The first completion time is kept.
func TestCompleteSetup(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", false)
		s.Run(t, "invalid fields are refused", func(t *testing.T, s *apptest.Server) { refusedSetup(t, s, ada) })
		s.Run(t, "an empty request completes the setup, and a later one keeps the time", func(t *testing.T, s *apptest.Server) { completedSetup(t, s, ada) })
		s.Run(t, "absent fields are unchanged, and null and blank values clear a field", func(t *testing.T, s *apptest.Server) { changedSetup(t, s, ada) })
	})
}

func completeSetup(s *apptest.Server, ada apptest.Owner, body any) apptest.Reply {
	s.T.Helper()
	return s.Call("PATCH", "/api/v1/onboarding/complete-setup", ada.Token, body)
}

// wantSetup checks the onboarding status of a tenant.
func wantSetup(s *apptest.Server, ada apptest.Owner, done bool, details object) {
	s.T.Helper()
	want := object{
		"tenant_id": ada.Tenant, "onboarding_completed": done, "has_subscription": false, "subscription_status": nil,
		"plan_name": nil, "has_billing_details": done, "billing_details": details,
	}
	status := s.Call("GET", "/api/v1/onboarding/status", ada.Token, nil).Want(200)
	if diff := cmp.Diff(want, status.Body); diff != "" {
		s.T.Errorf("status: %s", diff)
	}
}

// longSetup returns billing details with the longest values.
func longSetup() object {
	long := func(n int) string { return strings.Repeat("é", n) }
	return object{
		"legal_name": long(255), "address": long(255), "city": long(255), "postal_code": long(20), "country": "XK",
		"vat_number": long(50), "billing_email": "bills@example.com",
	}
}

func refusedSetup(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	complete := func(body any) apptest.Reply { return completeSetup(s, ada, body) }
	long := func(n int) string { return strings.Repeat("é", n) }
	most := func(n string) string { return "This must have at most " + n + " characters." }
	const country, email, text = "This must be a two-letter ISO 3166-1 country code.", "This must be a valid email address.", "This must be a string."
	for name, tt := range map[string]struct {
		field string
		value any
		want  string
	}{
		"legal_name":   {"legal_name", long(256), most("255")},
		"address":      {"address", long(256), most("255")},
		"city":         {"city", long(256), most("255")},
		"postal_code":  {"postal_code", long(21), most("20")},
		"vat_number":   {"vat_number", long(51), most("50")},
		"email form":   {"billing_email", "bills", email},
		"lower case":   {"country", "it", country},
		"three":        {"country", "ITA", country},
		"no country":   {"country", "ZZ", country},
		"a number":     {"country", 39, text},
		"a list":       {"legal_name", []any{}, text},
		"line in city": {"city", "Ro\nma", "This contains characters that are not allowed."},
	} {
		wantErrors(t, name, complete(object{tt.field: tt.value}), map[string]string{tt.field: tt.want})
	}
	wantErrors(t, "several", complete(object{"city": 1, "country": "x", "legal_name": "fine"}), map[string]string{"city": text, "country": country})
	complete(`{`).WantRefused(400, "")
	complete(`[]`).WantRefused(422, "")
	wantSetup(s, ada, false, object{
		"legal_name": nil, "address": nil, "city": nil, "postal_code": nil, "country": nil, "vat_number": nil, "billing_email": nil,
	})
}

// A request without billing details completes the setup, too. It does not change other fields of
// the tenant.
func completedSetup(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	first := completeSetup(s, ada, object{"name": "Other", "slug": "other", "settings": object{}, "onboarding_completed_at": nil}).Want(200)
	first.WantAt("message", "onboarding.setup_completed")
	first.WantAt("data.name", "Ada's Organization")
	first.WantAt("data.slug", "adas-organization")
	first.WantAt("data.settings", nil)
	first.WantAt("data.has_billing_details", false)
	at := first.TimeAt("data.onboarding_completed_at")

	full := longSetup()
	second := completeSetup(s, ada, full).Want(200)
	for key, value := range full {
		second.WantAt("data."+key, value)
	}
	second.WantAt("data.has_billing_details", true)
	if again := second.TimeAt("data.onboarding_completed_at"); !again.Equal(at) {
		t.Errorf("completed at %v, then at %v", at, again)
	}
	if !second.TimeAt("data.updated_at").After(at) {
		t.Error("updated_at did not change")
	}
}

func changedSetup(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	full := longSetup()
	third := completeSetup(s, ada, object{"vat_number": nil, "billing_email": " ", "city": " Roma "}).Want(200)
	full["vat_number"], full["billing_email"], full["city"] = nil, nil, "Roma"
	for key, value := range full {
		third.WantAt("data."+key, value)
	}
	wantSetup(s, ada, true, full)
	s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).WantAt("data.city", "Roma")
}
