package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// Another plan does not take a scheduled end back: the subscription ends with the
// period that it then has, unless it is resumed.
func TestScheduledEndAcrossAChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("pro", "flat", "month", 4900, 0, nil)
		s.sell("pro-yearly", "flat", "year", 49000, 0, nil)
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		ending := s.call("POST", o.sub()+"/cancel", o.token, object{"reason": "too dear"}).want(200)
		for _, slug := range []string{"pro", "pro-yearly"} {
			s.changeTo(o, slug, nil).want(200).same("data.subscription.plan.name", slug).
				same("data.subscription.cancel_at_period_end", true).same("data.subscription.cancellation_reason", "too dear").
				same("data.subscription.canceled_at", ending.at("data.canceled_at"))
			s.held(o, "subscription")[0].same("cancel_at_period_end", true)
		}
		end, err := time.Parse(time.RFC3339Nano, s.subscription(o).str("data.current_period_end"))
		if err != nil || end.Before(s.now().Add(360*day)) {
			t.Fatalf("the period ends at %v, %v", end, err)
		}
		// Not with the period that it had when the end was asked for.
		s.later(&o, "ada@example.com", (40 * day).String())
		s.caughtUp()
		s.subscription(o).same("data.status", "active").same("data.cancel_at_period_end", true)
		s.call("POST", o.sub()+"/resume", o.token, nil).want(200).same("data.cancel_at_period_end", false).same("data.cancellation_reason", nil)
	})
}

// While somebody works on a subscription others wait, and not for ever.
func TestBusySubscription(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.settled()
		// An operation that is under way elsewhere.
		w.breaks(on(swallow, "POST", "/subscriptions/"))
		s.call("POST", o.sub()+"/cancel", o.token, nil).refused(502, "psp_error")
		w.breaks(nil)
		db := dbtest.Open(t, s.database)
		execute(t, db, `UPDATE psp_operations SET leased_until = $1 WHERE tenant_id = $2`, clock.System().Now().Add(3*day), o.tenant)
		for path, body := range map[string]any{
			"/resume": nil, "/cancel": object{"immediately": true}, "/change-plan": object{"new_plan_id": s.plan(o, "free")},
		} {
			request, answered := s.request("POST", o.sub()+path, o.token, body), make(chan *http.Response, 1)
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
						s.call("POST", "/sandbox/clock", "", object{"advance": "4s"}).want(200)
					}
				}
			}
			s.read(request, a).refused(409, "subscription_busy")
		}
		execute(t, db, `UPDATE psp_operations SET leased_until = created_at WHERE tenant_id = $1`, o.tenant)
		s.whenBack(func() reply { return s.call("POST", o.sub()+"/resume", o.token, nil) }).want(200).same("data.cancel_at_period_end", false)
	})
}
