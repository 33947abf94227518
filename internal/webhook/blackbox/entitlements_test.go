package blackbox_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// limits returns the limits in the data of entitlements.changed by feature.
func limits(m message) map[string]any {
	found := map[string]any{}
	rows, _ := m.event["data"].([]any)
	for _, row := range rows {
		found[row.(map[string]any)["key"].(string)] = row.(map[string]any)["limit"]
	}
	return found
}

// selling.md, section 2: each tenant whose entitlements differ gets entitlements.changed once per
// change, with its rows of /entitlements.
func TestEntitlementsChanged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("shop")
		feature := k.AdminCall("GET", "/features?filter[code]=api-calls", nil).Want(200).Str("data.0.id")
		allow := func(plan string, calls int) {
			k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{
				"entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": calls}},
			}).Want(200)
		}
		free := k.CreatePricedPlan(product, "nothing", map[string]int{"EUR": 0})
		paid := k.CreatePricedPlan(product, "paid", map[string]int{"EUR": 900})
		allow(free, 10)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		of := map[*apptest.Customer]*receiver{}
		for _, c := range []*apptest.Customer{ada, bob} {
			of[c] = newReceiver(t, nil)
			endpoint(s, c.Owner, of[c].url, "entitlements.changed")
		}
		made := s.Call("POST", "/api/v1/admin/tenants", s.Admin(), apptest.Object{"name": "Provisioned"}).Want(201).Str("data.id")
		all := newReceiver(t, nil)
		s.Call("POST", platform, s.Admin(), apptest.Object{"url": all.url, "events": []string{"entitlements.changed"}}).Want(201)
		wantLast := func(c *apptest.Customer, n int, want map[string]any) {
			t.Helper()
			all := of[c].await(n, "entitlements.changed")
			if diff := cmp.Diff(want, limits(all[n-1])); diff != "" || len(all) != n {
				t.Errorf("%s, event %d of %d: %s", c.Email, n, len(all), diff)
			}
		}
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": true}).Want(200)
		wantLast(ada, 1, map[string]any{"api-calls": 10.0})
		wantLast(bob, 1, map[string]any{"api-calls": 10.0})
		apptest.Eventually(t, "the event of the provisioned tenant", func() bool {
			for _, m := range all.await(1, "entitlements.changed") {
				if m.event["tenant_id"] == made {
					return true
				}
			}
			return false
		})
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"sort_order": 7}).Want(200) // changes no entitlement

		ada.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		wantLast(ada, 2, map[string]any{"api-calls": 1000.0})
		var changes sync.WaitGroup
		for range 4 { // several changes at once may be published together, and each state once
			changes.Go(func() { allow(free, 20) })
		}
		changes.Wait()
		wantLast(bob, 2, map[string]any{"api-calls": 20.0})
		s.Cancel(ada.Owner, true).Want(200)
		wantLast(ada, 3, map[string]any{"api-calls": 20.0})
		k.AdminCall("PATCH", "/plans/"+free, apptest.Object{"is_default": false}).Want(200)
		wantLast(ada, 4, map[string]any{})
		wantLast(bob, 3, map[string]any{})
	})
}
