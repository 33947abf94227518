package blackbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// If the response to a request is lost and the request is not repeated, the audit trail records the
// effect as soon as it is known here, on behalf of the user who made the request. If the request is
// repeated, the effect is recorded once.
func TestUnknownOutcomeIsInTheTrail(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.PreviewChange(o, "pro", 0).Want(200) // makes the provider's price
		s.AwaitNotifications()
		ada := float64(s.UserID(o.Token))
		entry := func(action string, want int) apptest.Reply {
			t.Helper()
			logs := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]="+action+"&filter[tenant]="+o.Tenant, s.Admin(), nil).Want(200)
			list := logs.At("data").([]any)
			if len(list) != want {
				t.Fatalf("%s: %d entries, want %d: %s", action, len(list), want, logs.Text)
			}
			if want > 0 && logs.At("data.0.actor_id") != ada {
				t.Errorf("%s: %s is not of %v", action, logs.Text, ada)
			}
			return logs
		}
		// The notification reveals the effect.
		s.Chaos(lost)
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"reason": "too dear"}).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.AwaitNotifications()
		logs := entry("subscription.canceled", 1)
		if logs.At("data.0.before.cancel_at_period_end") != false || logs.At("data.0.after.cancel_at_period_end") != true ||
			logs.At("data.0.after.reason") != "too dear" {
			t.Errorf("the entry is %s", logs.Text)
		}
		if a := s.Subscription(o); a.At("data.cancellation_reason") != "too dear" || a.At("data.cancel_at_period_end") != true {
			t.Errorf("the subscription is %s", a.Text)
		}
		again := s.RetryWhileDown(func() apptest.Reply {
			return s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"reason": "too dear"})
		})
		again.Want(200)
		entry("subscription.canceled", 1)

		// No notification arrives, but the provider's list of events reveals the effect.
		s.Chaos(apptest.ChaosNoWebhooks)
		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/subscriptions/"))
		s.ChangePlan(o, "pro", nil).WantRefused(502, "psp_error")
		entry("subscription.plan_changed", 0)
		w.Tamper(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.PreviewChange(o, "free", 0) }).Want(200)
		advanceAndLogIn(s, &o, "ada@example.com", "6m")
		apptest.Eventually(t, "the change", func() bool { return s.Subscription(o).At("data.plan.name") == "pro" })
		entry("subscription.plan_changed", 1)
		s.ChangePlan(o, "pro", nil).Want(200)
		entry("subscription.plan_changed", 1)

		// A write that never happened is not recorded, whatever follows.
		s.Chaos(apptest.Object{"api": apptest.Object{"fail_before": 1, "status": 0}})
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil) }).Want(200)
		entry("subscription.resumed", 0)
		entry("subscription.canceled", 2)

		// An effect that another user causes days later is not attributed to the failed operation.
		s.Chaos(apptest.Object{"api": apptest.Object{"fail_before": 1, "status": 0}})
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, apptest.Object{"immediately": true}).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.PreviewChange(o, "free", 0) }).Want(200)
		advanceAndLogIn(s, &o, "ada@example.com", (33 * apptest.Day).String())
		apptest.Eventually(t, "the end with the period", func() bool { return s.Subscription(o).At("data") == nil })
		entry("subscription.canceled", 2)
	})
}

// Another action finds the effect of an operation whose response was lost.
func TestAbandonedOperationIsInTheTrail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		s.Chaos(apptest.WithChanges(lost, apptest.ChaosNoWebhooks))
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).WantRefused(502, "psp_error")
		s.Chaos(apptest.ChaosNoWebhooks)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/resume"), o.Token, nil) }).Want(200)
		for _, action := range []string{"subscription.canceled", "subscription.resumed"} {
			if n := s.CountAudited(o, action); n != 1 {
				t.Errorf("%d times %s in the audit log", n, action)
			}
		}
	})
}

// A change with an unknown outcome is retried while another operation reads its outcome back. The
// change is still recorded.
func TestRepetitionWhileTheOutcomeIsReadBack(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.PreviewChange(o, "pro", 0).Want(200)
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		w.Tamper(apptest.ForEndpoint(apptest.Fail, "POST", "/subscriptions/"))
		s.ChangePlan(o, "pro", nil).WantRefused(502, "psp_error")

		// The cancellation reads first. It gets the response once the change is sent, or after a
		// timeout if that does not happen.
		looks := make(chan struct{})
		var first, sent sync.Once
		w.Tamper(func(r *http.Request) apptest.Verdict {
			does := apptest.Pass
			switch {
			case r.Method == "POST":
				sent.Do(w.ReleaseAnswers)
			case strings.Contains(r.URL.Path, "/subscriptions/"):
				time.Sleep(100 * time.Millisecond) // a slow provider, so that both operations overlap
				first.Do(func() { does = apptest.HoldAnswer; close(looks) })
			}
			return does
		})
		var canceled, changed apptest.Reply
		var both sync.WaitGroup
		both.Go(func() {
			canceled = s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil) })
		})
		<-looks
		both.Go(func() { changed = s.ChangePlan(o, "pro", nil) })
		time.AfterFunc(time.Second, func() { sent.Do(w.ReleaseAnswers) })
		both.Wait()
		canceled.Want(200)
		changed.Want(200).WantAt("data.subscription.plan.name", "pro")
		if n := s.CountAudited(o, "subscription.plan_changed"); n != 1 {
			t.Errorf("the change is %d times in the audit log", n)
		}
	})
}

// Between a lost response and the retry, a sync of the seats reads the outcome back. The retry is
// answered as if it were the first attempt, and does not repeat the write.
func TestRepetitionAfterTheSeatsFollowed(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		k := s.CatalogAdmin()
		product, bySeat := k.CreateProduct("crew"), apptest.Object{"pricing_type": "seat"}
		k.CreatePricedPlan(product, "dinghy", map[string]int{"EUR": 300}, bySeat)
		crew := k.CreatePricedPlan(product, "crew", map[string]int{"EUR": 500}, bySeat)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "dinghy")
		s.AwaitNotifications()
		for i, step := range []struct {
			path   string
			body   apptest.Object
			action string
			shown  string // where the response shows it
			want   any
		}{
			{"/subscription/cancel", apptest.Object{"reason": "too dear"}, "subscription.canceled", "data.cancel_at_period_end", true},
			{"/subscription/resume", nil, "subscription.resumed", "data.cancel_at_period_end", false},
			{"/subscription/change-plan", apptest.Object{"new_plan_id": crew}, "subscription.plan_changed", "data.subscription.plan.id", crew},
		} {
			ask := func() apptest.Reply { return s.Call("POST", o.Path(step.path), o.Token, step.body) }
			w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/subscriptions/"))
			ask().WantRefused(502, "psp_error")
			w.Tamper(nil)
			s.Join(o, "Grace", fmt.Sprintf("grace%d@example.com", i), "member")
			apptest.Eventually(t, "the seats", func() bool {
				return seatsOf(s, o).At("data.is_synced") == true && s.Subscription(o).At("data.quantity") == float64(i+2)
			})
			s.RetryWhileDown(ask).Want(200).WantAt(step.shown, step.want)
			if n := s.CountAudited(o, step.action); n != 1 {
				t.Errorf("%s is %d times in the audit log", step.action, n)
			}
		}
		// Only the first retry is answered like the first attempt. A further request is a new change.
		s.ChangePlan(o, "crew", nil).WantRefused(422, "plan_change_error")
	})
}

// Requesting the pending plan again, with a card that now pays, is recorded once, whether or not a
// notification reports the end of the pending change.
func TestRepeatedRequestForPendingPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		for name, chaos := range map[string]map[string]any{"told": nil, "untold": apptest.ChaosNoWebhooks} {
			b := buysWith(s, name, "starter", apptest.Confirmation(apptest.CardConfirms))
			b.waits("pro")
			b.ReplaceCard(apptest.CardPays)
			s.AwaitNotifications()
			s.Chaos(chaos)
			s.ChangePlan(b.Owner, "pro", nil).Want(200).WantAt("data.action", "updated")
			s.Chaos(nil)
			b.nothingWaits(s.PlanID(b.Owner, "pro"))
			for action, want := range map[string]int{"changed": 1, "change_waits": 1, "change_lapsed": 0, "change_dropped": 0} {
				if n := s.CountAudited(b.Owner, "subscription.plan_"+action); n != want {
					t.Errorf("%s: plan_%s is %d times in the audit log", name, action, n)
				}
			}
		}
	})
}
