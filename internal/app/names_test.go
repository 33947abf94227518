package app_test

import (
	"io"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// hidden are characters that no name can contain.
var hidden = map[string]string{
	"bell": "\u0007", "tab": "\t", "line end": "\n", "next line": "\u0085", "zero width space": "\u200b", "joiner": "\u200d",
	"right to left": "\u202e", "isolate": "\u2066", "soft hyphen": "\u00ad", "byte order mark": "\ufeff", "tag": "\U000e0041",
	"private": "\ue000", "private plane": "\U000f0001", "line separator": "\u2028",
}

// Names of all kinds reject control, format and private-use characters.
func TestNamesRejectHiddenCharacters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		k := s.CatalogAdmin()
		alone := s.RegisterAlone("Eve", "eve@example.com")
		_, id := s.Join(o, "Bob", "bob@example.com", "member")
		_, invitation := s.Invite(o, "zoe@example.com", "member")
		product := k.CreateProduct("hidden")
		tenant, member := "/api/v1/admin/tenants/"+o.Tenant, apptest.IDText(float64(id))
		texts := func(name string) apptest.Object {
			return apptest.Object{"name": apptest.Object{"en": "fine", "fr": name}}
		}
		for what, c := range hidden {
			name := "Ac" + c + "me"
			text := apptest.Object{"name": name}
			for field, calls := range map[string][]apptest.Reply{
				"name": {
					s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("new@example.com", text)),
					s.Call("POST", "/api/v1/invitations/"+invitation+"/accept-with-registration", "", apptest.Registration("zoe@example.com", text)),
					s.Call("POST", "/api/v1/onboarding/start", "", apptest.Registration("new@example.com", apptest.WithChanges(text, apptest.Object{"plan_slug": "starter", "currency": "EUR"}))),
					s.Call("POST", "/api/v1/tenants", alone, text),
					s.Call("PATCH", "/api/v1/tenant", o.Token, text),
					s.Call("PATCH", tenant, k.Token, text),
					s.Call("PATCH", tenant+"/members/"+member, k.Token, text),
					s.Call("POST", o.Path("/roles"), o.Token, apptest.WithChanges(text, apptest.Object{"permissions": []string{}})),
					k.AdminCall("PATCH", "/currencies/EUR", text),
					k.AdminCall("POST", "/meters", apptest.WithChanges(text, apptest.Object{"code": "x", "aggregation_type": "sum", "reset_interval": "none", "quota_enforcement": "none"})),
				},
				"tenant_name": {
					s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("new@example.com", apptest.Object{"tenant_name": name})),
				},
				"legal_name": {
					s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"legal_name": name}),
					s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, apptest.Object{"legal_name": name}),
				},
				"name.fr": {
					k.AdminCall("POST", "/products", apptest.WithChanges(texts(name), apptest.Object{"slug": "x"})),
					k.AdminCall("PATCH", "/products/"+product, texts(name)),
					k.AdminCall("POST", "/features", apptest.WithChanges(texts(name), apptest.Object{"code": "x"})),
					k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, "x"), texts(name))),
				},
			} {
				for _, a := range calls {
					a.As(what + " in " + field).WantInvalid(field)
				}
			}
			admin := commands.AdminParams{Name: name, Email: "new@example.com", Password: "correct horse"}
			if err := commands.CreateAdmin(t.Context(), s.CLISettings(), admin, io.Discard); err == nil {
				t.Errorf("%s: accepted in the name of an admin", what)
			}
			// Multi-line texts allow tabs and line ends.
			if c == "\t" || c == "\n" {
				s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"address": name}).Want(200)
			}
		}
		// All visible characters are allowed.
		s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"name": " Ünïcode & Söhne 🎉 株式会社 "}).
			Want(200).WantAt("tenant.name", "Ünïcode & Söhne 🎉 株式会社")
	})
}
