package operation_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
)

// Who is invited while a change is prepared has a seat: the change to a plan with fewer
// seats than that is refused.
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
