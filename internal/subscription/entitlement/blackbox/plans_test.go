package blackbox_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// plansBySlug returns the plans of a list by their slug.
func plansBySlug(a apptest.Reply) map[string]apptest.Object {
	a.T.Helper()
	bySlug := map[string]apptest.Object{}
	for _, plan := range a.Want(200).At("data").([]any) {
		bySlug[plan.(apptest.Object)["slug"].(string)] = plan.(apptest.Object)
	}
	return bySlug
}

func TestPlansOffered(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		k := s.CatalogAdmin()
		bare := k.CreatePlan(k.CreateProduct("bare"), "bare", apptest.Object{"name": apptest.Object{"en": "Bare", "fr": "Nu"}, "sort_order": 5})
		plans := func(query string) apptest.Reply {
			return s.Call("GET", o.Path("/plans")+query, o.Token, nil)
		}
		euros := plansBySlug(plans(""))
		// Every key is present, even without a value.
		if diff := cmp.Diff(apptest.Object{
			"id": bare, "slug": "bare", "name": "Bare", "description": nil, "pricing_type": "flat", "billing_cycle": "monthly",
			"interval_unit": "month", "interval_count": 1.0, "trial_days": 0.0, "trial_requires_card": true, "is_default": false, "sort_order": 5.0, "prices": []any{}, "features": []any{},
			"eligibility": apptest.Object{"selectable": true, "violations": []any{}},
		}, euros["bare"]); diff != "" {
			t.Errorf("bare (-want +got)\n%s", diff)
		}
		price := func(currency string, cents float64) []any {
			return []any{apptest.Object{"currency": currency, "price_cents": cents}}
		}
		for _, tt := range []struct {
			query string
			want  []any // the prices of starter
		}{
			{"", price("EUR", 1900)}, // the tenant's preferred currency
			{"?currency=", price("EUR", 1900)},
			{"?currency=EUR", price("EUR", 1900)},
			{"?currency=USD", price("USD", 2100)},
			{"?currency=GBP", []any{}}, // nothing is sold in it
			{"?currency=XXX", []any{}},
		} {
			if diff := cmp.Diff(tt.want, plansBySlug(plans(tt.query))["starter"]["prices"]); diff != "" {
				t.Errorf("prices of %q (-want +got)\n%s", tt.query, diff)
			}
		}
		for _, query := range []string{"?currency=EU", "?currency=EURO"} {
			plans(query).As(query).WantInvalid("currency")
		}

		// The list is in the caller's language, or in English if a text is not translated.
		r := s.NewRequest("GET", o.Path("/plans"), o.Token, nil)
		r.Header.Set("Accept-Language", "fr")
		french := plansBySlug(s.Do(r))
		for slug, name := range map[string]string{"bare": "Nu", "starter": "Essentiel", "free": "Gratuit"} {
			if french[slug]["name"] != name {
				t.Errorf("%s is %v in French", slug, french[slug]["name"])
			}
		}
		if got := french["starter"]["description"]; got != "Pour une petite équipe et son premier produit." {
			t.Errorf("described as %v", got)
		}

		// A plan that is not on sale is not offered.
		k.AdminCall("PATCH", "/plans/"+bare, apptest.Object{"is_active": false}).Want(200)
		if _, there := plansBySlug(plans(""))["bare"]; there {
			t.Error("an inactive plan is offered")
		}
	})
}

// A tenant that uses more than a plan's quota cannot select it and is shown the reason. Exactly the
// quota is allowed.
func TestPlansEligibility(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		s.AddPlan("one-seat", "flat", "month", 100, 0, map[string]int{"team-members": 1})
		s.AddPlan("no-seat", "flat", "month", 100, 0, map[string]int{"team-members": 0})
		violation := func(feature string, usage, limit float64) any {
			return apptest.Object{"feature_code": feature, "current_usage": usage, "plan_limit": limit}
		}
		wants := func(what string, o apptest.Owner, want map[string][]any) {
			t.Helper()
			offered := plansBySlug(s.Call("GET", o.Path("/plans"), o.Token, nil))
			for slug, violations := range want {
				eligibility := apptest.Object{"selectable": len(violations) == 0, "violations": violations}
				if diff := cmp.Diff(eligibility, offered[slug]["eligibility"].(apptest.Object)); diff != "" {
					t.Errorf("%s: %s (-want +got)\n%s", what, slug, diff)
				}
			}
		}
		record := func(quantity string) {
			t.Helper()
			s.Call("POST", o.Path("/usage"), o.Token, `{"meter_code":"api-calls","quantity":`+quantity+`}`).Want(201)
		}
		noSeat := []any{violation("team-members", 1, 0)}
		wants("nothing used", o, map[string][]any{"free": {}, "starter": {}, "one-seat": {}, "no-seat": noSeat})
		record("100")
		wants("exactly the quota", o, map[string][]any{"free": {}, "starter": {}})
		record("0.000001")
		wants("a millionth more", o, map[string][]any{"free": {violation("api-calls", 101, 100)}, "starter": {}})
		record("899.999999")
		wants("the next plan's quota", o, map[string][]any{"free": {violation("api-calls", 1000, 100)}, "starter": {}})
		s.Join(o, "Mo", "mo@example.com", "member")
		wants("a second member", o, map[string][]any{
			"one-seat": {violation("team-members", 2, 1)}, "no-seat": {violation("team-members", 2, 0)}, "starter": {},
		})
		// A quota also applies while its feature is inactive, in the list and at checkout.
		k := s.CatalogAdmin()
		calls := k.AdminCall("GET", "/features?filter[code]=api-calls", nil).Want(200).Str("data.0.id")
		k.AdminCall("PATCH", "/features/"+calls, apptest.Object{"is_active": false}).Want(200)
		wants("an inactive feature", o, map[string][]any{"free": {violation("api-calls", 1000, 100)}, "starter": {}})
		refused := s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(o, "free"), "currency": "EUR",
		}))
		refused.WantRefused(422, "plan_change_error")
		refused.WantAt("violations", []any{violation("api-calls", 1000, 100)})
		for _, f := range plansBySlug(s.Call("GET", o.Path("/plans"), o.Token, nil))["free"]["features"].([]any) {
			if f := f.(apptest.Object); f["code"] == "api-calls" {
				t.Errorf("the inactive feature is listed: %v", f)
			}
		}
		k.AdminCall("PATCH", "/features/"+calls, apptest.Object{"is_active": true}).Want(200)
		wants("another tenant", other, map[string][]any{"free": {}, "starter": {}, "one-seat": {}, "no-seat": noSeat})
	})
}

func TestEntitlementsOfSubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200).WantAt("data", []any{})
		closed := apptest.Object{"allowed": false, "reason": "no_active_subscription"}
		s.Call("GET", "/api/v1/studio/access", o.Token, nil).Want(200).WantAt("data", closed)
		s.BuyPlan(o, "starter")
		entitlement := func(key, kind string, limit any) any {
			return apptest.Object{"key": key, "enabled": true, "type": kind, "limit": limit, "used": nil, "remaining": nil}
		}
		s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "quantity": 7}).Want(201)
		s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200).WantAt("data", []any{
			entitlement("api-calls", "quota", 1000.0), entitlement("storage-gb", "quota", 10.0),
			entitlement("studio-access", "boolean", nil), entitlement("team-members", "quota", 5.0),
		})
		s.Call("GET", "/api/v1/studio/access", o.Token, nil).Want(200).WantAt("data", apptest.Object{"allowed": true, "reason": nil})
		// Another tenant lacks entitlements.
		s.Call("GET", other.Path("/entitlements"), other.Token, nil).Want(200).WantAt("data", []any{})
		s.Call("GET", "/api/v1/studio/access", other.Token, nil).Want(200).WantAt("data", closed)
		s.BuyPlan(other, "free")
		s.Call("GET", "/api/v1/studio/access", other.Token, nil).Want(200).
			WantAt("data", apptest.Object{"allowed": false, "reason": "feature_not_in_plan"})

		// The plan of the subscription has every key and all its prices.
		plan := s.Subscription(o).Want(200).At("data.plan").(apptest.Object)
		if got := slices.Sorted(maps.Keys(plan)); strings.Join(got, " ") !=
			"billing_cycle description features id interval_count interval_unit is_default name prices pricing_type trial_days trial_requires_card" {
			t.Errorf("keys of the subscribed plan: %q", got)
		}
		if got, _ := plan["prices"].([]any); len(got) != 2 {
			t.Errorf("prices of the subscribed plan: %v", plan["prices"])
		}
	})
}

func TestEntitlementRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o, other := s.Register("ada@example.com", true), s.Register("eve@example.com", true)
		fresh := s.Register("new@example.com", false)
		member, _ := s.Join(o, "Mo", "mo@example.com", "member")
		admin := s.Admin()
		for _, path := range []string{"/plans", "/plans?currency=EURO", "/entitlements"} {
			s.Call("GET", o.Path(path), "", nil).As("without a token "+path).WantRefused(401, "")
			s.Call("GET", o.Path(path), other.Token, nil).As("a stranger "+path).WantRefused(403, "")
			s.Call("GET", o.Path(path), admin, nil).As("an administrator "+path).WantRefused(403, "")
			s.Call("GET", apptest.Owner{Tenant: apptest.NoSuchID}.Path(path), o.Token, nil).As("no tenant "+path).WantRefused(403, "")
			s.Call("GET", fresh.Path(path), fresh.Token, nil).As("before onboarding "+path).WantRefused(403, "ONBOARDING_INCOMPLETE")
			s.Call("POST", o.Path(path), o.Token, apptest.Object{}).As("POST "+path).WantRefused(405, "")
		}
		s.Call("GET", o.Path("/plans"), member, nil).Want(200)
		s.Call("GET", o.Path("/entitlements"), member, nil).Want(200)
		s.Call("GET", "/api/v1/studio/access", "", nil).WantRefused(401, "")
		s.Call("GET", "/api/v1/studio/access", member, nil).Want(200).WantAt("data.allowed", false)
		// The studio requires a tenant, but not a completed onboarding.
		alone := s.RegisterAlone("Al", "al@example.com")
		s.Call("GET", "/api/v1/studio/access", alone, nil).WantRefused(400, "TENANT_CONTEXT_REQUIRED")
		s.Call("GET", "/api/v1/studio/access", fresh.Token, nil).Want(200).WantAt("data.reason", "no_active_subscription")
	})
}
