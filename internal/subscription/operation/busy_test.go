package operation_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/clock"
)

// Another plan does not take a scheduled end back: the subscription ends with the
// period that it then has, unless it is resumed.
func TestScheduledEndAcrossAChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("pro-yearly", "flat", "year", 49000, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		ending := s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"reason": "too dear"}).Want(200)
		for _, slug := range []string{"pro", "pro-yearly"} {
			s.ChangePlan(o, slug, nil).Want(200).WantAt("data.subscription.plan.name", slug).
				WantAt("data.subscription.cancel_at_period_end", true).WantAt("data.subscription.cancellation_reason", "too dear").
				WantAt("data.subscription.canceled_at", ending.At("data.canceled_at"))
			s.ProviderObjects(o, "subscription")[0].WantAt("cancel_at_period_end", true)
		}
		end, err := time.Parse(time.RFC3339Nano, s.Subscription(o).Str("data.current_period_end"))
		if err != nil || end.Before(s.Now().Add(360*apptest.Day)) {
			t.Fatalf("the period ends at %v, %v", end, err)
		}
		// Not with the period that it had when the end was asked for.
		advanceAndLogIn(s, &o, "ada@example.com", (40 * apptest.Day).String())
		s.AwaitProvider()
		s.Subscription(o).WantAt("data.status", "active").WantAt("data.cancel_at_period_end", true)
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(200).WantAt("data.cancel_at_period_end", false).WantAt("data.cancellation_reason", nil)
	})
}

// While somebody works on a subscription others wait, and not for ever.
func TestBusySubscription(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		// An operation that is under way elsewhere.
		w.Tamper(apptest.On(apptest.LoseAnswer, "POST", "/subscriptions/"))
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).WantRefused(502, "psp_error")
		w.Tamper(nil)
		db := s.DB()
		apptest.Exec(t, db, `UPDATE psp_operations SET leased_until = $1 WHERE tenant_id = $2`, clock.System().Now().Add(3*apptest.Day), o.Tenant)
		for path, body := range map[string]any{
			"/resume": nil, "/cancel": apptest.Object{"immediately": true}, "/change-plan": apptest.Object{"new_plan_id": s.PlanID(o, "free")},
		} {
			request, answered := s.NewRequest("POST", o.Path("/subscription")+path, o.Token, body), make(chan *http.Response, 1)
			go func() {
				a, err := http.DefaultClient.Do(request)
				if err != nil {
					t.Error(err)
				}
				answered <- a
			}()
			var a *http.Response
			for advanced := 0; a == nil; advanced++ {
				select {
				case a = <-answered:
				case <-time.After(50 * time.Millisecond):
					if advanced < 60 { // the owner stays logged in
						s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "4s"}).Want(200)
					}
				}
			}
			s.Read(request, a).WantRefused(409, "subscription_busy")
		}
		apptest.Exec(t, db, `UPDATE psp_operations SET leased_until = created_at WHERE tenant_id = $1`, o.Tenant)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/resume"), o.Token, nil) }).Want(200).WantAt("data.cancel_at_period_end", false)
	})
}
