package blackbox_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// An event is published when a grant is created, once when it is used up,
// and within a minute after it expires with units left.
func TestEventsOfGrants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "free") // 100 api-calls
		own := newReceiver(t, nil)
		endpoint(s, ada.Owner, own.url, "grant.created", "grant.used_up", "grant.expired")
		grants := "/api/v1/admin/tenants/" + ada.Tenant + "/grants"
		create := func(body apptest.Object) any {
			t.Helper()
			made := s.Call("POST", grants, s.Admin(), apptest.WithChanges(apptest.Object{"feature_code": "api-calls", "amount": 5}, body)).Want(201).At("data")
			platform := apptest.Object{"type": "platform", "id": nil, "name": nil} // members do not see which admin
			return apptest.WithChanges(made.(apptest.Object), apptest.Object{"by": platform})
		}
		until := s.Now().Add(time.Hour).Format(time.RFC3339)
		used := create(apptest.Object{"expires_at": until, "priority": 1})
		if diff := cmp.Diff(used, own.await(1, "grant.created")[0].event["data"]); diff != "" {
			t.Error(diff)
		}
		rest := create(apptest.Object{"expires_at": until})
		deleted := create(apptest.Object{"expires_at": until}).(apptest.Object)
		s.Call("DELETE", grants+"/"+deleted["id"].(string), s.Admin(), nil).Want(204)
		for _, quantity := range []int{102, 3, 1} {
			s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": quantity}).Want(201)
		}
		usedUp := own.await(1, "grant.used_up")
		at := s.Call("GET", ada.Path("/grants"), ada.Token, nil).Want(200).Str("data.1.used_up_at")
		want := apptest.WithChanges(used.(apptest.Object), apptest.Object{"remaining": 0.0, "used_up_at": at})
		if diff := cmp.Diff(want, usedUp[0].event["data"]); diff != "" {
			t.Error(diff)
		}
		s.Advance(time.Hour + time.Minute)
		expired := own.await(1, "grant.expired")
		want = apptest.WithChanges(rest.(apptest.Object), apptest.Object{"remaining": 0.0})
		if diff := cmp.Diff(want, expired[0].event["data"]); diff != "" {
			t.Error(diff)
		}
		s.Advance(2 * time.Minute)
		for kind, n := range map[string]int{"grant.created": 3, "grant.used_up": 1, "grant.expired": 1} {
			if got := len(own.await(n, kind)); got != n {
				t.Errorf("%d events %s, want %d", got, kind, n)
			}
		}
	})
}
