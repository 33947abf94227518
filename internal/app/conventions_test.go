package app_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Only multi-line texts can contain tabs and line ends. No text can contain other control
// characters (rules: http#requests).
func TestCharactersOfTexts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		k := s.CatalogAdmin()
		product := k.CreateProduct("texts")
		update := func(body apptest.Object) apptest.Reply { return s.Call("PATCH", "/api/v1/tenant", o.Token, body) }
		setup := func(body apptest.Object) apptest.Reply {
			return s.Call("PATCH", "/api/v1/onboarding/complete-setup", o.Token, body)
		}
		record := func(metadata any) apptest.Reply {
			return s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "metadata": metadata})
		}
		describe := func(text string) apptest.Reply {
			return k.AdminCall("PATCH", "/products/"+product, apptest.Object{"description": apptest.Object{"en": text}})
		}
		const lines = "one\ttwo\r\nthree\nfour"
		update(apptest.Object{"address": lines}).Want(200).WantAt("tenant.address", lines)
		setup(apptest.Object{"address": lines}).Want(200).WantAt("data.address", lines)
		update(apptest.Object{"settings": apptest.Object{"note": lines}}).Want(200).WantAt("tenant.settings.note", lines)
		describe(lines).Want(200).WantAt("data.translations.en.description", lines)
		record(apptest.Object{"note": lines}).Want(201)
		k.AdminCall("PATCH", "/products/"+product, apptest.Object{"metadata": apptest.Object{"note": lines}}).Want(200)
		for _, c := range []string{"\x00", "\x07", "\x0b", "\x1b", "\x7f", "\u0085"} {
			text := "one" + c + "two"
			update(apptest.Object{"address": text}).As("address").WantInvalid("address")
			setup(apptest.Object{"address": text}).As("setup").WantInvalid("address")
			update(apptest.Object{"settings": apptest.Object{"note": text}}).As("settings").WantInvalid("settings")
			update(apptest.Object{"settings": apptest.Object{text: 1}}).As("a key of settings").WantInvalid("settings")
			describe(text).As("description").WantInvalid("description.en")
			record(apptest.Object{"note": text}).As("metadata").WantInvalid("metadata")
		}
		for _, field := range []string{"city", "postal_code", "vat_number", "legal_name", "name"} {
			update(apptest.Object{field: "1\n2"}).As(field).WantInvalid(field)
		}
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"reason": "a\x00"}).Want(404) // the path is checked first
	})
}

// Null clears an optional field. It does not reset a field to its default.
func TestNulls(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		k := s.CatalogAdmin()
		product, feature := k.CreateProduct("nulls"), k.CreateFeature("nulls")
		for field, a := range map[string]apptest.Reply{
			"create_tenant":   s.Call("POST", "/api/v1/auth/register", "", apptest.WithChanges(apptest.Registration("new@example.com", nil), apptest.Object{"create_tenant": nil})),
			"is_active":       k.AdminCall("POST", "/products", apptest.Object{"slug": "x", "name": apptest.Object{"en": "X"}, "is_active": nil}),
			"trial_days":      k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, "x"), apptest.Object{"trial_days": nil})),
			"sort_order":      k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, "x"), apptest.Object{"sort_order": nil})),
			"expires_in_days": s.Call("POST", o.Path("/team/invitations"), o.Token, apptest.Object{"email": "x@example.com", "role": "member", "expires_in_days": nil}),
			"quantity":        s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "quantity": nil}),
		} {
			a.WantInvalid(field)
		}
		update := func(body apptest.Object) apptest.Reply { return s.Call("PATCH", "/api/v1/tenant", o.Token, body) }
		update(apptest.Object{"settings": apptest.Object{"a": 1}}).Want(200)
		update(apptest.Object{"settings": nil}).Want(200).WantAt("tenant.settings", nil)
		update(apptest.Object{"name": nil}).WantInvalid("name")
		plan := k.CreatePlan(product, "nulls")
		k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{
			"entitlements": []any{apptest.Object{"feature_id": feature, "type": "boolean", "value": nil}},
		}).Want(200)

		// Null removes the text of a locale, but English cannot be removed. An unknown locale is
		// rejected.
		name := func(texts apptest.Object) apptest.Reply {
			return k.AdminCall("PATCH", "/products/"+product, apptest.Object{"name": texts})
		}
		name(apptest.Object{"fr": "Produit", "it": "Prodotto"}).Want(200).WantAt("data.translations.fr.name", "Produit").WantAt("data.translations.en.name", "Product nulls")
		name(apptest.Object{"fr": nil}).Want(200).WantAt("data.translations.fr", nil).WantAt("data.translations.it.name", "Prodotto")
		name(apptest.Object{"en": nil}).WantInvalid("name.en")
		name(apptest.Object{"de": "Produkt"}).WantInvalid("name.de")
		name(apptest.Object{"de": nil}).WantInvalid("name.de")
	})
}

// A malformed body is reported after a missing permission and before an invalid field.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		bob, _ := s.Join(o, "Bob", "bob@example.com", "member")
		large := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
		send := func(method, path, token, body, contentType string) apptest.Reply {
			r := s.NewRequest(method, path, token, body)
			r.Header.Set("Content-Type", contentType)
			return s.Do(r)
		}
		for _, c := range []struct {
			body, contentType string
			status            int
		}{
			{large, "application/json", 413}, {`{}`, "text/plain", 415}, {`{`, "application/json", 400}, {`[]`, "application/json", 422},
		} {
			send("PATCH", "/api/v1/tenant", "", c.body, c.contentType).WantRefused(401, "")
			send("PATCH", "/api/v1/tenant", bob, c.body, c.contentType).WantRefused(403, "")
			send("PATCH", "/api/v1/tenant", o.Token, c.body, c.contentType).Want(c.status)
			none := "/api/v1/admin/plans/" + apptest.NoSuchID
			send("PATCH", none, o.Token, c.body, c.contentType).WantRefused(403, "")
			send("PATCH", none, s.Admin(), c.body, c.contentType).WantRefused(404, "")
			send("PATCH", "/api/v1/admin/plans/x", s.Admin(), c.body, c.contentType).WantRefused(404, "")
			send("POST", "/api/v1/tenant/x/checkout", o.Token, c.body, c.contentType).WantRefused(403, "")
			send("POST", "/api/v1/tenant/"+apptest.NoSuchID+"/checkout", o.Token, c.body, c.contentType).WantRefused(403, "")
		}
	})
}

// The public catalog is the same for all callers and contains only plans on sale.
func TestPublicCatalogIsTheSame(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		for _, path := range []string{"/catalog/products", "/catalog/plans", "/catalog/plans?currency=usd", "/catalog/features", "/currencies"} {
			path = "/api/v1" + path
			want := s.Call("GET", path, "", nil).Want(200)
			for _, token := range []string{o.Token, s.Admin(), "stale"} {
				got := s.Call("GET", path, token, nil).Want(200)
				for _, header := range []string{"Cache-Control", "Etag", "Vary"} {
					if got.Header.Get(header) != want.Header.Get(header) || want.Header.Get(header) == "" {
						t.Errorf("%s: %s is %q, want %q", path, header, got.Header.Get(header), want.Header.Get(header))
					}
				}
				if got.Text != want.Text || got.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s differs with a token", path)
				}
			}
		}
		// Currency codes are accepted in either case. A currency without prices selects no price.
		for query, most := range map[string]int{"eur": 9, "EUR": 9, "xyz": 0, "JPY": 0} {
			list := s.Call("GET", "/api/v1/catalog/plans?currency="+query, "", nil).Want(200).At("data").([]any)
			own := s.Call("GET", o.Path("/plans?currency="+query), o.Token, nil).Want(200).At("data").([]any)
			for _, plan := range append(list, own...) {
				prices := plan.(apptest.Object)["prices"].([]any)
				if len(prices) > most || most > 0 && (len(prices) != 1 || prices[0].(apptest.Object)["currency"] != "EUR") {
					t.Errorf("%s: %v", query, prices)
				}
			}
		}
		s.Call("GET", "/api/v1/catalog/plans?currency=euro", "", nil).WantInvalid("currency")

		k := s.CatalogAdmin()
		k.AdminCall("PATCH", "/currencies/usd", apptest.Object{"is_active": false}).Want(200)
		sso := k.AdminCall("GET", "/features?filter[code]=sso", nil).Want(200).Str("data.0.id")
		k.AdminCall("PATCH", "/features/"+sso, apptest.Object{"is_active": false}).Want(200)
		plans := s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200)
		if strings.Contains(plans.Text, `"USD"`) || strings.Contains(plans.Text, `"sso"`) || !strings.Contains(plans.Text, `"EUR"`) {
			t.Errorf("shown: %s", plans.Text)
		}

		// The domain of billing_email is stored as entered.
		s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"billing_email": "Bills@Example.COM"}).Want(200).WantAt("tenant.billing_email", "Bills@Example.COM")
	})
}
