package apptest

import (
	"maps"
	"testing"
)

// CatalogAdmin is a platform admin who manages the catalog.
type CatalogAdmin struct {
	*Server
	Token string
}

// CatalogAdmin logs the platform admin in.
func (s *Server) CatalogAdmin() CatalogAdmin { return CatalogAdmin{Server: s, Token: s.Admin()} }

// Run is [Server.Run] for a catalog admin.
func (k CatalogAdmin) Run(t *testing.T, name string, f func(t *testing.T, k CatalogAdmin)) bool {
	t.Helper()
	return k.Server.Run(t, name, func(t *testing.T, s *Server) { f(t, CatalogAdmin{s, k.Token}) })
}

// AdminCall calls an admin route. path starts after /api/v1/admin.
func (k CatalogAdmin) AdminCall(method, path string, body any) Reply {
	k.T.Helper()
	return k.Call(method, "/api/v1/admin"+path, k.Token, body)
}

// Create creates an object of a kind (products, plans, features) and returns its id. It applies the
// changes to the body, see [WithChanges].
func (k CatalogAdmin) Create(kind string, body Object, changes ...Object) string {
	k.T.Helper()
	return k.AdminCall("POST", "/"+kind, WithChanges(body, changes...)).Want(201).Str("data.id")
}

// CreateProduct creates a product with the required values.
func (k CatalogAdmin) CreateProduct(slug string, changes ...Object) string {
	k.T.Helper()
	return k.Create("products", Object{"slug": slug, "name": Object{"en": "Product " + slug}}, changes...)
}

// CreateFeature creates a feature with the required values.
func (k CatalogAdmin) CreateFeature(code string, changes ...Object) string {
	k.T.Helper()
	return k.Create("features", Object{"code": code, "name": Object{"en": "Feature " + code}}, changes...)
}

// CreatePlan creates a plan with the values of [PlanBody].
func (k CatalogAdmin) CreatePlan(product, slug string, changes ...Object) string {
	k.T.Helper()
	return k.Create("plans", PlanBody(product, slug), changes...)
}

// PlanBody returns the body of a flat monthly plan with the required values.
func PlanBody(product, slug string) Object {
	return Object{
		"product_id": product, "slug": slug, "name": Object{"en": "Plan " + slug},
		"pricing_type": "flat", "billing_cycle": "monthly",
	}
}

// Absent as a value makes [WithChanges] remove the key.
const Absent = "\x00absent"

// WithChanges returns a copy of body with changed values. It removes keys whose new value is
// [Absent].
func WithChanges(body Object, changes ...Object) Object {
	out := maps.Clone(body)
	for _, change := range changes {
		for key, value := range change {
			if value == Absent {
				delete(out, key)
			} else {
				out[key] = value
			}
		}
	}
	return out
}

// Price returns a price of a plan, in minor units of the currency. link is the id of the linked
// price at the provider, if any.
func Price(currency string, cents int, link ...any) Object {
	p := Object{"currency": currency, "price_cents": cents}
	if len(link) > 0 {
		p["psp_price_id"] = link[0]
	}
	return p
}

// CreatePricedPlan creates a plan that customers can buy: with prices by currency in minor units,
// and 1000 API calls.
func (k CatalogAdmin) CreatePricedPlan(product, slug string, prices map[string]int, changes ...Object) string {
	k.T.Helper()
	plan := k.CreatePlan(product, slug, changes...)
	var list []any
	for currency, cents := range prices {
		list = append(list, Price(currency, cents))
	}
	k.AdminCall("PUT", "/plans/"+plan+"/prices", Object{"prices": list}).Want(200)
	calls := k.AdminCall("GET", "/features?filter[code]=api-calls", nil).Want(200).Str("data.0.id")
	k.AdminCall("PUT", "/plans/"+plan+"/entitlements", Object{
		"entitlements": []any{Object{"feature_id": calls, "type": "quota", "value": 1000}},
	}).Want(200)
	return plan
}
