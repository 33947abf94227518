package blackbox_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A change of plan does not undo a scheduled end. The subscription ends with its new period, unless
// it is resumed.
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
		// The subscription does not end with the period in which the end was scheduled.
		advanceAndLogIn(s, &o, "ada@example.com", (40 * apptest.Day).String())
		s.AwaitProvider()
		s.Subscription(o).WantAt("data.status", "active").WantAt("data.cancel_at_period_end", true)
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(200).WantAt("data.cancel_at_period_end", false).WantAt("data.cancellation_reason", nil)
	})
}

// asked is a pending request about a subscription.
type asked struct {
	s        *apptest.Server
	answered chan *http.Response
}

// asks sends a request without waiting for the response.
func asks(s *apptest.Server, o apptest.Owner, path string, body any) asked {
	s.T.Helper()
	request, a := s.NewRequest("POST", o.Path("/subscription")+path, o.Token, body), asked{s, make(chan *http.Response, 1)}
	go func() {
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			s.T.Error(err)
		}
		a.answered <- answer
	}()
	return a
}

// read waits for the response.
func (a asked) read() apptest.Reply {
	answer := <-a.answered
	return a.s.Read(answer.Request, answer)
}

// While one request changes a subscription, others wait, but not forever.
func TestBusySubscription(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		// A lost response leaves an operation pending, as if another instance were working on it.
		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/subscriptions/"))
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).WantRefused(502, "psp_error")
		w.Tamper(nil)
		db := s.DB()
		apptest.Exec(t, db, `UPDATE psp_operations SET leased_until = $1 WHERE tenant_id = $2`, clock.System().Now().Add(3*apptest.Day), o.Tenant)
		began := clock.System().Now()
		var waiting []func() apptest.Reply
		for path, body := range map[string]any{
			"/resume": nil, "/cancel": apptest.Object{"immediately": true}, "/change-plan": apptest.Object{"new_plan_id": s.PlanID(o, "free")},
		} {
			waiting = append(waiting, asks(s, o, path, body).read)
		}
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "4m"}).Want(200) // does not wait
		for _, read := range waiting {
			read().WantRefused(409, "subscription_busy")
		}
		if waited := clock.System().Now().Sub(began); waited < 15*time.Second {
			t.Errorf("they waited %s", waited)
		}
		apptest.Exec(t, db, `UPDATE psp_operations SET leased_until = $1 WHERE tenant_id = $2`, clock.System().Now(), o.Tenant)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/resume"), o.Token, nil) }).Want(200).WantAt("data.cancel_at_period_end", false)
	})
}

// Moving the service's clock does not abandon an operation in progress: its lease runs on real
// time.
func TestOperationWhileTimeIsMoved(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		var first atomic.Bool
		arrived, goOn := make(chan struct{}), make(chan struct{})
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == "POST" && strings.Contains(r.URL.Path, "/v1/subscriptions/") && !first.Swap(true) {
				close(arrived)
				<-goOn
			}
			return apptest.Pass
		})
		changed := asks(s, o, "/change-plan", apptest.Object{"new_plan_id": s.PlanID(o, "pro")})
		<-arrived
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "5m"}).Want(200)
		canceled := asks(s, o, "/cancel", nil)
		select {
		case a := <-canceled.answered:
			t.Error("another caller did not wait")
			canceled.answered <- a
		case <-time.After(2 * time.Second):
		}
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "5m"}).Want(200)
		close(goOn)
		changed.read().Want(200).WantAt("data.subscription.plan.id", s.PlanID(o, "pro"))
		canceled.read().Want(200).WantAt("data.cancel_at_period_end", true).WantAt("data.plan.id", s.PlanID(o, "pro"))
		for _, action := range []string{"subscription.plan_changed", "subscription.canceled"} {
			if n := s.CountAudited(o, action); n != 1 {
				t.Errorf("%d times %s in the audit log", n, action)
			}
		}
	})
}

// A change of seats while a cancellation is recorded is checked again with the new state. Fewer seats in a
// period that is not paid are not prorated, and the provider cannot preview an invoice after the end.
func TestSeatsDuringACancellation(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("crew", "seat", "month", 1500, 0, nil)
		c := s.NewCustomer("ada")
		contracts := "/api/v1/admin/tenants/" + c.Tenant + "/subscriptions"
		c.Call("POST", contracts, s.Admin(), apptest.Object{
			"plan_id": s.PlanID(c.Owner, "crew"), "currency": "EUR", "quantity": 5, "collection": "invoice",
		}).Want(201)
		s.AwaitNotifications()
		path := contracts + "/" + c.Subscriptions().Str("data.0.id")
		var once sync.Once
		canceled := 0
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if strings.HasSuffix(r.URL.Path, "/invoices/create_preview") {
				once.Do(func() { canceled = c.Cancel(c.Owner, false).Status })
			}
			return apptest.Pass
		})
		c.Call("PATCH", path, s.Admin(), apptest.Object{"quantity": 3}).Want(200).WantAt("data.quantity", 3.0).
			WantAt("data.cancel_at_period_end", true)
		if canceled != 200 {
			t.Errorf("the cancellation was answered %d", canceled)
		}
	})
}
