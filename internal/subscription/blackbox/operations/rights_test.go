package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A member who is removed while their plan change waits for the provider does not change the plan.
func TestRightsAreCheckedAgainBeforeAChange(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		bob, id := s.Join(ada.Owner, "Bob", "bob@example.com", "admin")
		asked := make(chan struct{}, 10)
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/subscriptions/") {
				return apptest.Pass
			}
			asked <- struct{}{}
			return apptest.HoldAnswer
		})
		changed := make(chan apptest.Reply, 1)
		go func() {
			changed <- s.Call("POST", ada.Path("/subscription/change-plan"), bob, apptest.Object{"new_plan_id": s.PlanID(ada.Owner, "team")})
		}()
		<-asked
		s.Call("DELETE", ada.Path("/team/members/"+apptest.IDText(float64(id))), ada.Token, nil).Want(200)
		w.Tamper(nil)
		w.ReleaseAnswers()
		(<-changed).WantRefused(403, "")
		if n := s.CountRows("SELECT count(*) FROM psp_operations"); n != 0 {
			t.Errorf("%d operations were stored", n)
		}
	})
}
