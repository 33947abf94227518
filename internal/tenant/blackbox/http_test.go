package blackbox_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// inLocale sends a request with the language of the caller.
func inLocale(s *apptest.Server, locale, method, path, token string, body any) apptest.Reply {
	s.T.Helper()
	r := s.NewRequest(method, path, token, body)
	r.Header.Set("Accept-Language", locale)
	return s.Do(r).As(method + " " + path + " in " + locale)
}

// GET /tenant returns every key, even if it is empty, and shows each member their own role.
func TestShowTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		bob, bobID := s.Join(ada, "Bob", "bob@example.com", "member")
		late, alone := s.Register("late@example.com", false), s.RegisterAlone("Eve", "eve@example.com")

		a := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)
		adaShown := object{"id": float64(s.UserID(ada.Token)), "name": "Ada", "email": "ada@example.com"}
		want := object{
			"id": ada.Tenant, "name": "Ada's Organization", "slug": "adas-organization", "external_id": nil, "metadata": object{}, "settings": nil, "owner": adaShown,
			"users":          []any{adaShown, object{"id": float64(bobID), "name": "Bob", "email": "bob@example.com"}},
			"user_joined_at": a.At("data.user_joined_at"), "user_role": "owner",
			"user_permissions":        []any{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"},
			"has_active_subscription": false, "has_billing_details": true, "preferred_currency": "EUR",
			"legal_name": "Analytical Engines Ltd", "address": "12 St James Square", "city": "London", "postal_code": "SW1Y 4JH",
			"country": "GB", "vat_number": nil, "vat_status": "none", "vat_name": nil, "billing_email": "billing@example.com", "require_mfa": false, "require_mfa_from": nil,
			"onboarding_completed_at": a.At("data.onboarding_completed_at"), "created_at": a.At("data.created_at"), "updated_at": a.At("data.updated_at"),
		}
		if diff := cmp.Diff(object{"data": want}, a.Body); diff != "" {
			t.Errorf("to the owner: %s", diff)
		}
		for _, key := range []string{"user_joined_at", "onboarding_completed_at", "created_at", "updated_at"} {
			a.TimeAt("data." + key)
		}
		if got := a.Header.Get("Cache-Control"); got != "no-store" {
			t.Errorf("Cache-Control %q", got)
		}

		b := s.Call("GET", "/api/v1/tenant", bob, nil).Want(200)
		want["user_role"], want["user_permissions"], want["user_joined_at"] = "member", []any{}, b.At("data.user_joined_at")
		if diff := cmp.Diff(object{"data": want}, b.Body); diff != "" {
			t.Errorf("to a member: %s", diff)
		}
		if !b.TimeAt("data.user_joined_at").After(a.TimeAt("data.user_joined_at")) {
			t.Error("a member joined before the owner")
		}

		if allow := s.Call("DELETE", "/api/v1/tenant", ada.Token, nil).Want(405).Header.Get("Allow"); !strings.Contains(allow, "PATCH") {
			t.Errorf("Allow: %q", allow)
		}
		if got := s.Call("GET", "/api/v1/tenant", "", nil).Want(401).Header.Get("WWW-Authenticate"); got == "" {
			t.Error("no WWW-Authenticate")
		}

		// Each error is returned before the body is read.
		for _, method := range []string{"GET", "PATCH"} {
			for _, tt := range []struct {
				name, token  string
				status       int
				code, locale string
				message      string
			}{
				{"nobody", "", 401, "", "en", "Please sign in."},
				{"nobody", "", 401, "", "it", "Effettuare l’accesso."},
				{"an invalid token", "x", 401, "", "fr-CA", "Veuillez vous connecter."},
				{"no tenant", alone, 400, "TENANT_CONTEXT_REQUIRED", "en", "You do not belong to an organization yet."},
				{"no tenant", alone, 400, "TENANT_CONTEXT_REQUIRED", "es", "Aún no pertenece a ninguna organización."},
				{"not onboarded", late.Token, 403, "ONBOARDING_INCOMPLETE", "de", "Finish setting up your organization first."},
				{"not onboarded", late.Token, 403, "ONBOARDING_INCOMPLETE", "de, fr;q=0.5", "Veuillez d’abord terminer la configuration de votre organisation."},
			} {
				refused := inLocale(s, tt.locale, method, "/api/v1/tenant", tt.token, `{`).As(method + " " + tt.name)
				refused.WantRefused(tt.status, tt.code)
				refused.WantAt("message", tt.message)
			}
		}
		s.Call("PATCH", "/api/v1/tenant", bob, `{`).WantRefused(403, "")
		s.Call("PATCH", "/api/v1/tenant", bob, object{"name": "Mine"}).WantRefused(403, "")
		s.Call("GET", "/api/v1/tenant", ada.Token, nil).WantAt("data.name", "Ada's Organization")
	})
}

func TestCreateTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.RegisterAlone("Ada", "ada@example.com")
		create := func(token string, body any) apptest.Reply { return s.Call("POST", "/api/v1/tenants", token, body) }
		for name, tt := range map[string]struct {
			body    any
			message string
		}{
			"no body": {nil, "This field is required."}, "absent": {object{}, "This field is required."},
			"empty": {object{"name": ""}, "This field is required."}, "blank": {object{"name": " \t "}, "This field is required."},
			"null": {object{"name": nil}, "This field must not be null."}, "another case": {object{"Name": "Acme"}, "This field is required."},
			"a number": {object{"name": 5}, "This must be a string."}, "a list": {object{"name": []any{"Acme"}}, "This must be a string."},
			"long":      {object{"name": strings.Repeat("é", 256)}, "This must have at most 255 characters."},
			"a newline": {object{"name": "Ac\nme"}, "This contains characters that are not allowed."},
			"a zero":    {object{"name": "Ac\x00me"}, "This contains characters that are not allowed."},
		} {
			a := create(ada, tt.body).As(name)
			a.WantInvalid("name")
			a.WantAt("message", tt.message)
			a.WantAt("errors.name", []any{tt.message})
		}
		create(ada, `{"name":`).WantRefused(400, "")
		create(ada, `["Acme"]`).WantRefused(422, "")
		create("", `{`).WantRefused(401, "")
		s.Call("GET", "/api/v1/tenant", ada, nil).WantRefused(400, "TENANT_CONTEXT_REQUIRED") // no tenant was created

		a := create(ada, object{"name": "  Crème & Co  ", "id": apptest.NoSuchID, "slug": "other", "preferred_currency": "USD", "country": "IT"}).Want(201)
		me := object{"id": float64(s.UserID(ada)), "name": "Ada", "email": "ada@example.com"}
		want := object{
			"id": a.At("data.id"), "name": "Crème & Co", "slug": "creme-co", "external_id": nil, "metadata": object{}, "settings": nil, "owner": me, "users": []any{me},
			"user_joined_at": a.At("data.created_at"), "user_role": "owner",
			"user_permissions":        []any{"api_keys.manage", "audit.view", "billing.manage", "roles.manage", "sso.manage", "team.invite", "team.manage", "tenant.update", "webhooks.manage"},
			"has_active_subscription": false, "has_billing_details": false, "preferred_currency": "EUR", "require_mfa": false, "require_mfa_from": nil,
			"legal_name": nil, "address": nil, "city": nil, "postal_code": nil, "country": nil, "vat_number": nil, "vat_status": "none", "vat_name": nil, "billing_email": nil,
			"onboarding_completed_at": nil, "created_at": a.At("data.created_at"), "updated_at": a.At("data.created_at"),
		}
		if diff := cmp.Diff(object{"data": want, "message": "tenant.created"}, a.Body); diff != "" {
			t.Errorf("created: %s", diff)
		}
		s.Call("GET", "/api/v1/tenant", ada, nil).WantRefused(403, "ONBOARDING_INCOMPLETE")
		s.Call("GET", "/api/v1/auth/me", ada, nil).WantAt("currentTenant.id", a.At("data.id"))

		// A user owns at most one tenant. This is checked after the body is validated.
		create(ada, object{"name": ""}).WantInvalid("name")
		for locale, message := range map[string]string{
			"en": "This user already belongs to an organization.", "fr": "Cette personne appartient déjà à une organisation.",
			"it": "Questo utente appartiene già a un’organizzazione.", "es": "Esta persona ya pertenece a una organización.",
		} {
			second := inLocale(s, locale, "POST", "/api/v1/tenants", ada, object{"name": "Second"})
			second.WantRefused(409, "USER_BELONGS_TO_ANOTHER_TENANT")
			second.WantAt("message", message)
		}
		if n := s.CountRows("SELECT count(*) FROM tenants WHERE name = 'Second'"); n != 0 {
			t.Errorf("%d tenants were created for a user with a tenant", n)
		}

		// The longest name is accepted, and a slug that is taken gets a suffix.
		bob, eve := s.RegisterAlone("Bob", "bob@example.com"), s.RegisterAlone("Eve", "eve@example.com")
		long := create(bob, object{"name": strings.Repeat("é", 255)}).Want(201)
		long.WantAt("data.name", strings.Repeat("é", 255))
		long.WantAt("data.slug", strings.Repeat("e", 60))
		if slug := create(eve, object{"name": "CREME co"}).Want(201).Str("data.slug"); !regexp.MustCompile(`^creme-co-[a-z0-9]{8}$`).MatchString(slug) {
			t.Errorf("the second has the slug %q", slug)
		}
		last := s.AuditLog(url.Values{"filter[action]": {"tenant.created"}})
		last.WantAt("data.0.before", nil)
		last.WantAt("data.0.after.name", "CREME co")
		last.WantAt("data.0.after.owner_id", float64(s.UserID(eve)))
	})
}

func TestUpdateTenantMessages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.Run(t, "a refusal names the field in the caller's language", func(t *testing.T, s *apptest.Server) { refusedTenantFields(t, s, ada) })
		s.Run(t, "values at the limits are accepted", func(t *testing.T, s *apptest.Server) { acceptedTenantFields(t, s, ada) })
		s.Run(t, "billing details are complete with five fields", func(_ *testing.T, s *apptest.Server) { completeBillingDetails(s, ada) })
		s.Run(t, "any role with tenant.update is sufficient", func(_ *testing.T, s *apptest.Server) { roleThatUpdatesTenant(s, ada) })
	})
}

func refusedTenantFields(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	before := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200)
	for _, tt := range []struct {
		body, locale string
		want         map[string]string
	}{
		{`{"name":null}`, "en", map[string]string{"name": "This field must not be null."}},
		{`{"name":null}`, "fr", map[string]string{"name": "Ce champ ne peut pas être null."}},
		{`{"slug":"a b"}`, "en", map[string]string{"slug": "This does not have the right format."}},
		{`{"slug":"a b"}`, "es", map[string]string{"slug": "El formato no es correcto."}},
		{`{"settings":[]}`, "en", map[string]string{"settings": "This must be an object."}},
		{`{"settings":"{}"}`, "it", map[string]string{"settings": "Deve essere un oggetto."}},
		{`{"country":"ZZ"}`, "en", map[string]string{"country": "This must be a two-letter ISO 3166-1 country code."}},
		{`{"country":"ZZ"}`, "fr", map[string]string{"country": "Cette valeur doit être un code pays ISO 3166-1 à deux lettres."}},
		{`{"billing_email":"nobody"}`, "en", map[string]string{"billing_email": "This must be a valid email address."}},
		{`{"city":"Ro\nma"}`, "en", map[string]string{"city": "This contains characters that are not allowed."}},
		{`{"city":7}`, "en", map[string]string{"city": "This must be a string."}},
		{`{"postal_code":"` + strings.Repeat("1", 21) + `"}`, "it", map[string]string{"postal_code": "Deve avere al massimo 20 caratteri."}},
		{`{"address":"` + strings.Repeat("x", 501) + `"}`, "en", map[string]string{"address": "This must have at most 500 characters."}},
		{`{"name":"Ada","name":null}`, "en", map[string]string{"name": "This field must not be null."}}, // the last one wins
		{`{"settings":` + strings.Repeat(`{"a":`, 33) + `1` + strings.Repeat(`}`, 33) + `}`, "en", map[string]string{"settings": "This is nested too deeply."}},
		{`{"name":5,"slug":"é","city":[],"country":"de","legal_name":"fine"}`, "en", map[string]string{
			"name": "This must be a string.", "slug": "This does not have the right format.", "city": "This must be a string.",
			"country": "This must be a two-letter ISO 3166-1 country code.",
		}},
	} {
		a := inLocale(s, tt.locale, "PATCH", "/api/v1/tenant", ada.Token, tt.body).As(tt.body + " in " + tt.locale)
		want := object{}
		for field, message := range tt.want {
			want[field] = []any{message}
		}
		if a.Status != 422 || !cmp.Equal(want, a.At("errors")) {
			t.Errorf("%s in %s: %d %s", tt.body, tt.locale, a.Status, a.Text)
		}
		if first, _ := a.At("message").(string); len(tt.want) == 1 && !strings.Contains(a.Text, `["`+first+`"]`) {
			t.Errorf("%s: the message is %q", tt.body, first)
		}
	}
	for name, tt := range map[string]struct {
		kind, body string
		status     int
	}{
		"a form":      {"application/x-www-form-urlencoded", "name=x", 415},
		"no object":   {"application/json", `"x"`, 422},
		"two objects": {"application/json", `{"name":"x"}{}`, 400},
		"too large":   {"application/json", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413},
	} {
		r := s.NewRequest("PATCH", "/api/v1/tenant", ada.Token, tt.body)
		r.Header.Set("Content-Type", tt.kind)
		s.Do(r).As(name).WantRefused(tt.status, "")
	}
	if after := s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200); after.Text != before.Text {
		t.Errorf("refused changes were made: %s", after.Text)
	}
}

// Values at the limits are accepted and stored as value.
func acceptedTenantFields(t *testing.T, s *apptest.Server, ada apptest.Owner) {
	for name, tt := range map[string]struct {
		body  string
		key   string
		value any
	}{
		"blanks are cut off":     {`{"name":"  Babbage  "}`, "name", "Babbage"},
		"characters, not bytes":  {`{"postal_code":"` + strings.Repeat("é", 20) + `"}`, "postal_code", strings.Repeat("é", 20)},
		"Kosovo":                 {`{"country":"XK"}`, "country", "XK"},
		"the last of two":        {`{"city":5,"city":"Roma"}`, "city", "Roma"},
		"blank is null":          {`{"vat_number":"   "}`, "vat_number", nil},
		"an empty object":        {`{"settings":{}}`, "settings", object{}},
		"settings keep lines":    {`{"settings":{"a":"1\n\t2"}}`, "settings", object{"a": "1\n\t2"}},
		"settings keep blanks":   {`{"settings":{" a ":"  ","n":null,"l":[]}}`, "settings", object{" a ": "  ", "n": nil, "l": []any{}}},
		"a key of another case":  {`{"Legal_Name":"x"}`, "legal_name", "Analytical Engines Ltd"},
		"keys that are not ours": {`{"preferred_currency":"USD","id":"x"}`, "preferred_currency", "EUR"},
	} {
		s.Call("PATCH", "/api/v1/tenant", ada.Token, tt.body).As(name).Want(200).WantAt("tenant."+tt.key, tt.value)
	}
	s.Call("PATCH", "/api/v1/tenant", ada.Token, `{"settings":`+strings.Repeat(`{"a":`, 32)+`1`+strings.Repeat(`}`, 32)+`}`).As("32 deep").Want(200)
	digits := s.Call("PATCH", "/api/v1/tenant", ada.Token, `{"settings":{"n":12345678901234567890,"f":0.10}}`).Want(200)
	if !strings.Contains(digits.Text, "12345678901234567890") {
		t.Errorf("a long number is rounded: %s", digits.Text)
	}
}

// Billing details are complete if all five fields are present.
func completeBillingDetails(s *apptest.Server, ada apptest.Owner) {
	full := object{"legal_name": "A", "address": "B", "city": "C", "postal_code": "D", "country": "IT"}
	for key := range full {
		partial := maps.Clone(full)
		partial[key] = nil
		s.Call("PATCH", "/api/v1/tenant", ada.Token, partial).As("without "+key).Want(200).WantAt("tenant.has_billing_details", false)
	}
	full["vat_number"], full["billing_email"] = nil, nil
	s.Call("PATCH", "/api/v1/tenant", ada.Token, full).Want(200).WantAt("tenant.has_billing_details", true)
}

func roleThatUpdatesTenant(s *apptest.Server, ada apptest.Owner) {
	bob, bobID := s.Join(ada, "Bob", "bob@example.com", "member")
	s.Call("PATCH", "/api/v1/tenant", bob, object{"city": "Milano"}).WantRefused(http.StatusForbidden, "")
	role := s.CreateRole(ada, "Clerk", "tenant.update")
	s.Call("PATCH", ada.Path("/team/members/"+apptest.IDText(float64(bobID))+"/role"), ada.Token, object{"role_id": role}).Want(200)
	s.Call("PATCH", "/api/v1/tenant", bob, object{"city": "Milano"}).Want(200).WantAt("tenant.user_permissions", []any{"tenant.update"})
}
