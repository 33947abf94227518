package apptest

import (
	"maps"
)

// CatalogAdmin is a platform administrator at work on the catalog.
type CatalogAdmin struct {
	*Server
	Token string
}

// CatalogAdmin logs the platform administrator in.
func (s *Server) CatalogAdmin() CatalogAdmin { return CatalogAdmin{Server: s, Token: s.Admin()} }

// AdminCall calls a route of the administration; path is what follows
// /api/v1/admin.
func (k CatalogAdmin) AdminCall(method, path string, body any) Reply {
	k.T.Helper()
	return k.Call(method, "/api/v1/admin"+path, k.Token, body)
}

// Create makes a record of a kind (products, plans, features) and returns its id.
// The changes are made to the body, see [With].
func (k CatalogAdmin) Create(kind string, body Object, changes ...Object) string {
	k.T.Helper()
	return k.AdminCall("POST", "/"+kind, WithChanges(body, changes...)).Want(201).Str("data.id")
}

// CreateProduct makes a product with the values that it needs at least.
func (k CatalogAdmin) CreateProduct(slug string, changes ...Object) string {
	k.T.Helper()
	return k.Create("products", Object{"slug": slug, "name": Object{"en": "Product " + slug}}, changes...)
}

// CreateFeature makes a feature with the values that it needs at least.
func (k CatalogAdmin) CreateFeature(code string, changes ...Object) string {
	k.T.Helper()
	return k.Create("features", Object{"code": code, "name": Object{"en": "Feature " + code}}, changes...)
}

// CreatePlan makes a plan of [PlanBody].
func (k CatalogAdmin) CreatePlan(product, slug string, changes ...Object) string {
	k.T.Helper()
	return k.Create("plans", PlanBody(product, slug), changes...)
}

// PlanBody is the body of a flat monthly plan with the values that it needs at
// least.
func PlanBody(product, slug string) Object {
	return Object{
		"product_id": product, "slug": slug, "name": Object{"en": "Plan " + slug},
		"pricing_type": "flat", "billing_cycle": "monthly",
	}
}

// Absent stands for a key that [With] leaves out.
const Absent = "\x00absent"

// WithChanges returns a body with changes: a key gets another value, or is left out where
// that is [Absent].
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

// Price is a price of a plan, in minor units of the currency, with the id of the
// provider's price that it is linked to, if any.
func Price(currency string, cents int, link ...any) Object {
	p := Object{"currency": currency, "price_cents": cents}
	if len(link) > 0 {
		p["psp_price_id"] = link[0]
	}
	return p
}

// CreatePricedPlan makes a plan that can be bought: with prices by currency, in
// minor units, and 1000 API calls.
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
