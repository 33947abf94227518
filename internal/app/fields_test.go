package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type brokenBody struct {
	method, path string
	body         apptest.Object
	fields       string
}

func (b brokenBody) want(s *apptest.Server, token string) {
	s.T.Helper()
	s.Call(b.method, b.path, token, b.body).As(b.method + " " + b.path + " for " + b.fields).WantInvalid(strings.Fields(b.fields)...)
}

const (
	unknownID = "01a22455-f585-76f6-8d13-e37c7cb3ec11"
	elsewhere = "http://127.0.0.1/x"
	known     = "correct horse" // the password of the users of apptest
)

// A response lists every invalid field: the fields with an invalid form and the fields that only
// the database can check (rules: http#errors).
func TestEveryBrokenFieldOfPeople(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		other := s.Register("bob@example.com", true)
		slug := s.Call("GET", "/api/v1/tenant", other.Token, nil).Want(200).Str("data.slug")
		s.CreateRole(o, "Support")
		member := s.UserID(o.Token)
		roles, keys, hooks := o.Path("/roles"), o.Path("/api-keys"), o.Path("/webhook-endpoints")
		transfer, checkout := o.Path("/transfer-ownership"), o.Path("/checkout")
		long := strings.Repeat("x", 300)
		role := roles + "/" + fmt.Sprint(s.CreateRole(o, "Sales"))
		for _, c := range []brokenBody{
			{"POST", transfer, apptest.Object{}, "user_id current_password"},
			{"POST", transfer, apptest.Object{"user_id": 99999, "current_password": "bad"}, "user_id current_password"},
			{"POST", transfer, apptest.Object{"user_id": member, "current_password": "bad"}, "user_id current_password"},
			{"POST", transfer, apptest.Object{"user_id": "x", "current_password": "bad"}, "user_id current_password"},
			{"POST", transfer, apptest.Object{"user_id": "x", "current_password": known}, "user_id"},
			{"POST", transfer, apptest.Object{"user_id": 99999, "current_password": 7}, "user_id current_password"},

			{"PUT", "/api/v1/user/password", apptest.Object{"password": "x", "password_confirmation": "y"}, "current_password password password_confirmation"},
			{"PUT", "/api/v1/user/password", apptest.Object{"current_password": known, "password": "x", "password_confirmation": "x"}, "password"},
			{"PUT", "/api/v1/user/password", apptest.Object{"current_password": "bad", "password": "password1", "password_confirmation": "y"}, "current_password password password_confirmation"},
			{"POST", "/api/v1/user/email", apptest.Object{"email": "x", "current_password": "bad"}, "email current_password"},

			{"POST", keys, apptest.Object{"name": "", "scopes": []any{"zz"}}, "name scopes.0"},
			{"POST", keys, apptest.Object{"name": "", "scopes": []any{"zz", 5, "usage.read", "yy"}}, "name scopes.0 scopes.1 scopes.3"},
			{"POST", keys, apptest.Object{"name": "a", "scopes": []any{"zz", "yy"}}, "scopes.0 scopes.1"},
			{"POST", keys, apptest.Object{"name": "", "scopes": []any{"usage.read"}}, "name"},
			{"POST", keys, apptest.Object{"name": ""}, "name scopes"},

			{"POST", roles, apptest.Object{"name": "", "permissions": []any{"zz"}}, "name permissions.0"},
			{"POST", roles, apptest.Object{"name": "SUPPORT", "permissions": []any{"zz", 5}}, "name permissions.0 permissions.1"},
			{"POST", roles, apptest.Object{"name": "Support", "permissions": []any{"zz"}}, "name permissions.0"},
			{"POST", roles, apptest.Object{"name": "Owner", "permissions": 5}, "name permissions"},
			{"PATCH", role, apptest.Object{"name": "support", "permissions": []any{5}}, "name permissions.0"},
			{"PATCH", role, apptest.Object{"name": "sales", "permissions": []any{"zz"}}, "permissions.0"},

			{"POST", hooks, apptest.Object{"url": "ftp://x", "events": []any{"zz"}}, "url events.0"},
			{"POST", hooks, apptest.Object{"url": "https://10.0.0.1", "events": []any{"zz", "*", "yy"}, "description": long}, "url events.0 events.2 description"},
			{"POST", hooks, apptest.Object{"url": "https://10.0.0.1", "events": []any{"zz"}}, "url events.0"},
			{"POST", hooks, apptest.Object{"events": []any{"zz"}}, "url events.0"},

			{"POST", checkout, apptest.Object{"plan_id": unknownID, "currency": "ZZZ", "success_url": "x", "cancel_url": elsewhere}, "plan_id currency success_url"},
			{"POST", checkout, apptest.Object{"plan_id": unknownID, "currency": "ZZZ", "success_url": elsewhere, "cancel_url": elsewhere}, "plan_id currency"},
			{"POST", checkout, apptest.Object{"plan_id": "x", "success_url": elsewhere, "cancel_url": elsewhere}, "plan_id currency"},
			{"POST", checkout, apptest.Object{"plan_id": "x", "currency": "EUR", "success_url": elsewhere, "cancel_url": elsewhere}, "plan_id"},
			{"POST", "/api/v1/onboarding/retry-checkout", apptest.Object{"plan_slug": "nope", "currency": "ZZZ", "quantity": 0}, "plan_slug currency quantity"},
			{"POST", "/api/v1/onboarding/retry-checkout", apptest.Object{"plan_slug": "nope", "currency": "EUR", "quantity": 0}, "plan_slug quantity"},

			{"PATCH", "/api/v1/tenant", apptest.Object{"slug": slug, "country": "zz"}, "slug country"},
			{"PATCH", "/api/v1/tenant", apptest.Object{"slug": slug, "country": "DE", "vat_number": "x"}, "slug vat_number"},
			{"PATCH", "/api/v1/tenant", apptest.Object{"slug": slug, "country": "zz", "vat_number": "x"}, "slug country"},
			{"PATCH", "/api/v1/tenant", apptest.Object{"name": "", "country": "DE", "vat_number": "x"}, "name vat_number"},
			{"PATCH", "/api/v1/onboarding/complete-setup", apptest.Object{"billing_email": "x", "country": "DE", "vat_number": "x"}, "billing_email vat_number"},

			{"POST", o.Path("/team/invitations"), apptest.Object{"email": "x", "role": "zz"}, "email role"},
			{"POST", o.Path("/usage"), apptest.Object{"quantity": -1, "recorded_at": "9998-01-01T00:00:00Z"}, "meter_code quantity recorded_at"},
			{"POST", "/api/v1/push-subscriptions", apptest.Object{"endpoint": "http://x.example", "keys": apptest.Object{"p256dh": "x"}}, "endpoint keys.p256dh keys.auth"},
		} {
			c.want(s, o.Token)
		}
		brokenFieldsOfVisitors(s)
	})
}

// brokenFieldsOfVisitors checks the requests of callers without an account.
func brokenFieldsOfVisitors(s *apptest.Server) {
	s.T.Helper()
	register := func(email, name, password, confirmation string) apptest.Object {
		return apptest.Object{"name": name, "email": email, "password": password, "password_confirmation": confirmation}
	}
	start := func(name string) apptest.Object {
		return apptest.WithChanges(register("ada@example.com", name, "password1", "password1"), apptest.Object{"plan_slug": "nope", "currency": "ZZZ"})
	}
	for _, c := range []brokenBody{
		{"POST", "/api/v1/auth/register", register("ADA@example.com", "", known, known), "name email"},
		{"POST", "/api/v1/auth/register", register("ada@example.com", "Ada", "password1", "password1"), "email password"},
		{"POST", "/api/v1/auth/register", register("new@example.com", "", "password1", "password1"), "name password"},
		{"POST", "/api/v1/auth/register", register("new@example.com", "", known, known), "name"},
		{"POST", "/api/v1/auth/register", register("x", "N", known, "y"), "email password_confirmation"},
		{"POST", "/api/v1/onboarding/start", start(""), "name email password plan_slug currency"},
		{"POST", "/api/v1/onboarding/start", start("N"), "email password plan_slug currency"},
		{"POST", "/api/v1/auth/reset-password", apptest.Object{"email": "", "token": "x", "password": "password1", "password_confirmation": "password1"}, "email password"},
	} {
		c.want(s, "")
	}
}

// Responses to platform admins list every invalid field as well.
func TestEveryBrokenFieldOfAdmins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		k := s.CatalogAdmin()
		product, feature := k.CreateProduct("taken"), k.CreateFeature("taken")
		plan, second := k.CreatePlan(product, "taken"), k.CreateProduct("second")
		english := func(text string) apptest.Object { return apptest.Object{"en": text} }
		newPlan := func(change apptest.Object) apptest.Object {
			return apptest.WithChanges(apptest.PlanBody(product, "new"), change)
		}
		meter := func(change apptest.Object) apptest.Object {
			return apptest.WithChanges(apptest.Object{
				"code": "new", "name": "New", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
			}, change)
		}
		tenant := "/tenants/" + o.Tenant
		user := tenant + "/members/" + fmt.Sprint(s.UserID(o.Token))
		for _, c := range []brokenBody{
			{"POST", "/products", apptest.Object{"slug": "taken", "name": english("")}, "slug name.en"},
			{"POST", "/products", apptest.Object{"slug": "taken", "name": 5}, "slug name"},
			{"PATCH", "/products/" + second, apptest.Object{"slug": "taken", "is_active": 5}, "slug is_active"},
			{"PATCH", "/products/" + second, apptest.Object{"slug": "second", "is_active": 5}, "is_active"},
			{"POST", "/plans", newPlan(apptest.Object{"product_id": unknownID, "slug": "taken", "name": english("")}), "product_id slug name.en"},
			{"POST", "/plans", newPlan(apptest.Object{"name": english(""), "interval_unit": "year", "interval_count": 9}), "name.en interval_count"},
			{"POST", "/plans", newPlan(apptest.Object{"interval_unit": "day", "interval_count": 99999}), "interval_count"},
			{"POST", "/plans", newPlan(apptest.Object{"interval_unit": "dat", "interval_count": 100}), "interval_unit"},
			{"PATCH", "/plans/" + plan, apptest.Object{
				"product_id": unknownID, "trial_days": -1,
				"prices":       []any{apptest.Object{"currency": "ZZZ", "price_cents": -1}, apptest.Object{"currency": "EUR", "price_cents": 1000}},
				"entitlements": []any{apptest.Object{"feature_id": unknownID, "type": "quota"}},
			}, "product_id trial_days prices.0.currency prices.0.price_cents entitlements.0.feature_id entitlements.0.value"},
			{"PUT", "/plans/" + plan + "/prices", apptest.Object{"prices": []any{5, apptest.Object{"currency": "ZZZ", "price_cents": 1000}}}, "prices.0 prices.1.currency"},
			{"PUT", "/plans/" + plan + "/entitlements", apptest.Object{"entitlements": []any{
				apptest.Object{"feature_id": feature, "type": "zz", "value": 1}, apptest.Object{"feature_id": feature, "type": "boolean", "value": 1},
			}}, "entitlements.0.type entitlements.1.feature_id entitlements.1.value"},
			{"POST", "/features", apptest.Object{"code": "taken", "name": english("")}, "code name.en"},
			{"PATCH", "/features/" + feature, apptest.Object{"code": "team-members", "sort_order": -1}, "code sort_order"},
			{"POST", "/currencies", apptest.Object{"code": "eur", "name": "", "symbol": "x", "minor_units": 2}, "code name"},
			{"POST", "/meters", meter(apptest.Object{"code": "api-calls", "name": ""}), "code name"},
			{"POST", "/meters", meter(apptest.Object{"code": "api-calls", "prices": []any{apptest.Object{"currency": "ZZZ", "unit_price_cents": 1}}}), "code prices.0.currency"},
			{"POST", "/api-keys", apptest.Object{"name": "", "scopes": []any{"zz"}}, "name scopes.0"},
			{"POST", "/webhook-endpoints", apptest.Object{"url": "https://10.0.0.1", "events": []any{"zz"}, "description": 5}, "url events.0 description"},
			{"POST", "/impersonation/start", apptest.Object{"user_id": "x", "tenant_id": unknownID}, "user_id tenant_id"},
			{"PATCH", tenant, apptest.Object{"billing_email": "x", "country": "DE", "vat_number": "x"}, "billing_email vat_number"},
			{"PATCH", user, apptest.Object{"name": "", "password": "password1"}, "name password"},
			{"POST", tenant + "/invitations", apptest.Object{"email": "x", "role": "zz"}, "email role"},
		} {
			c.path = "/api/v1/admin" + c.path
			c.want(s, k.Token)
		}
	})
}

// Guards run before the fields are validated. All other errors are reported only if the fields are
// valid.
func TestGuardsRunBeforeFieldValidation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		token, _ := s.Join(o, "Mia", "mia@example.com", "member")
		for _, path := range []string{"/transfer-ownership", "/roles", "/api-keys", "/webhook-endpoints", "/checkout"} {
			s.Call("POST", o.Path(path), token, apptest.Object{}).As(path).WantRefused(403, "")
		}
		fresh := s.Register("bob@example.com", true)
		s.Call("POST", fresh.Path("/subscription/change-plan"), fresh.Token, apptest.Object{"new_plan_id": unknownID, "quantity": 0}).WantRefused(404, "")
	})
}
