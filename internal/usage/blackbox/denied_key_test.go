package blackbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// While the provider rejects the API key or denies a permission, everything waits. No usage,
// payment or refund is given up because of a problem that an operator can fix.
func TestKeyThatIsDenied(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		// Jobs are only retried after some time has passed.
		eventually := func(what string, look func() bool) {
			t.Helper()
			apptest.Eventually(t, what, func() bool {
				s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10s"}).Want(200)
				time.Sleep(50 * time.Millisecond) // limits how fast the sandbox clock advances
				return look()
			})
		}
		all := func(*http.Request) apptest.Verdict { return apptest.Deny }

		// The notification of a paid checkout arrives, but the checkout cannot be read.
		l := s.NewCustomer("ada")
		plan := sellMetered(s, "mails", "sum", "12.5", nil)
		page, second := l.OpenCheckout(plan, "EUR").Want(200).Str("data.url"), l.OpenCheckout(plan, "EUR").Want(200).Str("data.url")
		p.Tamper(all)
		l.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		failed := func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE NOT periodic AND last_error IS NOT NULL`) > 0
		}
		eventually("an attempt to read back", failed)
		p.Tamper(nil)
		eventually("the subscription", func() bool {
			return s.CountRows(`SELECT count(*) FROM subscriptions WHERE tenant_id = $1`, l.Tenant) == 1 && !failed()
		})

		l.LogInAgain()

		// Usage stays in the queue.
		p.Count("")
		p.Tamper(apptest.ForEndpoint(apptest.Deny, "POST", "/billing/meter_events"))
		l.Call("POST", l.Path("/usage"), l.Token, apptest.Object{"meter_code": "mails", "quantity": 3}).Want(201)
		eventually("the attempts to report", func() bool { return p.Count("POST /billing/meter_events") > 0 })
		reporting, pricing := apptest.ForEndpoint(apptest.Deny, "POST", "/billing/meter_events"), apptest.ForEndpoint(apptest.Deny, "GET", "/prices/")
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if reporting(r) == apptest.Deny { // an attempt that has already read the price must not report either
				return apptest.Deny
			}
			return pricing(r)
		})
		eventually("the attempts to read the price", func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'every:usage.report' AND last_error LIKE '%get price%'`) > 0
		})
		if n := s.CountRows(`SELECT count(*) FROM usage_reports`); n != 1 {
			t.Errorf("%d reports wait", n)
		}
		if n := s.CountRows(`SELECT count(*) FROM usage_refusals`); n != 0 {
			t.Errorf("%d figures are given up", n)
		}
		p.Tamper(nil)
		eventually("the report", func() bool { return s.CountRows(`SELECT count(*) FROM usage_reports`) == 0 })
		if n := s.CountRows(`SELECT count(*) FROM usage_refusals`); n != 0 {
			t.Errorf("%d figures are given up", n)
		}

		l.LogInAgain()

		// The payment of the second of two paid checkouts is refunded once that is possible.
		p.Tamper(apptest.ForEndpoint(apptest.Deny, "POST", "/refunds"))
		l.Submit(second, apptest.Card(apptest.CardPays)).Want(303)
		p.Count("")
		eventually("the attempts to refund", func() bool { return p.Count("POST /refunds") > 0 })
		p.Tamper(nil)
		eventually("the refund", func() bool {
			refunded := 0
			for _, charge := range l.ProviderObjects(l.Owner, "charge") {
				if charge.At("refunded") == true {
					refunded++
				}
			}
			return refunded == 1
		})

		// The user sees an error of the provider, and the same request succeeds later.
		c := s.NewCustomer("bob")
		c.Buy(s.PlanID(c.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		s.AddPlan("other", "flat", "month", 2900, 0, nil)
		change := apptest.Object{"new_plan_id": s.PlanID(c.Owner, "other")}
		for _, try := range []struct {
			path string
			body any
		}{{"/change-plan", change}, {"/cancel", nil}, {"/resume", nil}} {
			for name, denied := range map[string]func(*http.Request) apptest.Verdict{"all": all, "writes": apptest.ForEndpoint(apptest.Deny, "POST", "/subscriptions/")} {
				p.Tamper(denied)
				c.Call("POST", c.Path("/subscription"+try.path), c.Token, try.body).As(try.path+", "+name).WantRefused(502, "psp_error")
			}
			p.Tamper(nil)
			c.Call("POST", c.Path("/subscription"+try.path), c.Token, try.body).As(try.path).Want(200)
		}
		if log := s.Log(); !strings.Contains(log, "payment provider rejected the secret key") || !strings.Contains(log, `"level":"ERROR"`) {
			t.Error("log lacks an error about the rejected key")
		}
	})
}
