package blackbox_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// An invitation that is sent while a change is prepared takes a seat. So the change to a plan with
// too few seats is rejected.
func TestInvitationWhileAChangeIsPrepared(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("wide", "flat", "month", 4000, 0, map[string]int{"team-members": 10})
		s.AddPlan("small", "flat", "month", 2000, 0, map[string]int{"team-members": 2})
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "wide")
		s.AwaitNotifications()
		invitation := func(email string) *http.Request {
			return s.NewRequest("POST", o.Path("/team/invitations"), o.Token, apptest.Object{"email": email, "role": "member"})
		}
		s.Do(invitation("grace@example.com")).Want(201)
		var once sync.Once
		invited := 0
		late := invitation("mary@example.com")
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == "GET" && strings.Contains(r.URL.Path, "/v1/subscriptions/") {
				once.Do(func() {
					if a, err := http.DefaultClient.Do(late); err == nil {
						invited = a.StatusCode
						_ = a.Body.Close()
					}
				})
			}
			return apptest.Pass
		})
		a := s.ChangePlan(o, "small", nil)
		w.Tamper(nil)
		if invited != 201 {
			t.Fatalf("the invitation is %d", invited)
		}
		a.WantRefused(422, "plan_change_error")
		a.WantAt("violations.0.feature_code", "team-members").WantAt("violations.0.current_usage", 3.0).WantAt("violations.0.plan_limit", 2.0)
		s.Subscription(o).WantAt("data.plan.id", s.PlanID(o, "wide"))
	})
}

// An invitation that is sent during the call to the provider cannot exceed the seats of the new
// plan. In any order, the team fits the resulting plan.
func TestInvitationsDuringProviderRequest(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("wide", "flat", "month", 4000, 0, map[string]int{"team-members": 10})
		s.AddPlan("small", "flat", "month", 2000, 0, map[string]int{"team-members": 3})
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "wide")
		s.AwaitNotifications()
		invite := func(email string) int {
			a, err := http.DefaultClient.Do(s.NewRequest("POST", o.Path("/team/invitations"), o.Token, apptest.Object{"email": email, "role": "member"}))
			if err != nil {
				return 0
			}
			_ = a.Body.Close()
			return a.StatusCode
		}
		var once sync.Once
		var got []int
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == "POST" && strings.Contains(r.URL.Path, "/v1/subscriptions/") {
				once.Do(func() {
					for _, name := range []string{"grace", "mary", "joan"} {
						got = append(got, invite(name+"@example.com"))
					}
				})
			}
			return apptest.Pass
		})
		s.ChangePlan(o, "small", nil).Want(200).WantAt("data.action", "updated")
		w.Tamper(nil)
		if !slices.Equal(got, []int{201, 201, 422}) {
			t.Errorf("the invitations are %v", got)
		}

		// Send all requests concurrently.
		for round := range dbtest.Rounds(3, 20) {
			c := s.NewCustomer(fmt.Sprintf("busy%d", round))
			o = c.Owner
			s.BuyPlan(o, "wide")
			s.AwaitNotifications()
			var all sync.WaitGroup
			var changed apptest.Reply
			for i := range 4 {
				all.Go(func() { invite(fmt.Sprintf("m%d-%d@example.com", round, i)) })
			}
			all.Go(func() { changed = s.ChangePlan(o, "small", nil) })
			all.Wait()
			seats := s.CountRows(`SELECT count(*) FROM invitations WHERE tenant_id = $1`, o.Tenant) + 1
			if changed.Status == 200 && seats > 3 {
				t.Errorf("round %d: %d of 3 seats are taken", round, seats)
			}
		}
	})
}
