package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// While the provider rejects the API key or denies a permission, everything waits. No usage,
// payment or refund is given up because of a problem that an operator can fix.
func TestKeyThatIsDenied(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		l := s.NewCustomer("ada")
		plan := sellMetered(s, "mails", "sum", "12.5", nil)
		page, second := l.OpenCheckout(plan, "EUR").Want(200).Str("data.url"), l.OpenCheckout(plan, "EUR").Want(200).Str("data.url")
		readBackLater(l, p, page)
		l.LogInAgain()
		reportLater(t, l, p)
		l.LogInAgain()
		refundLater(l, p, second)
		changeLater(s, p)
		if log := s.Log(); !strings.Contains(log, "payment provider rejected the secret key") || !strings.Contains(log, `"level":"ERROR"`) {
			t.Error("log lacks an error about the rejected key")
		}
	})
}

func denyAll(*http.Request) apptest.Verdict { return apptest.Deny }

// The notification of a paid checkout arrives, but the checkout cannot be read.
func readBackLater(l *apptest.Customer, p *apptest.Proxy, page string) {
	s := l.Server
	p.Tamper(denyAll)
	l.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
	failed := func() bool {
		return s.CountRows(`SELECT count(*) FROM jobs WHERE NOT periodic AND last_error IS NOT NULL`) > 0
	}
	awaitJobs(s, "an attempt to read back", failed)
	p.Tamper(nil)
	awaitJobs(s, "the subscription", func() bool {
		return s.CountRows(`SELECT count(*) FROM subscriptions WHERE tenant_id = $1`, l.Tenant) == 1 && !failed()
	})
}

// Usage stays in the queue.
func reportLater(t *testing.T, l *apptest.Customer, p *apptest.Proxy) {
	s := l.Server
	p.Count("")
	p.Tamper(apptest.ForEndpoint(apptest.Deny, "POST", "/billing/meter_events"))
	l.Call("POST", l.Path("/usage"), l.Token, apptest.Object{"meter_code": "mails", "quantity": 3}).Want(201)
	awaitJobs(s, "the attempts to report", func() bool { return p.Count("POST /billing/meter_events") > 0 })
	reporting, pricing := apptest.ForEndpoint(apptest.Deny, "POST", "/billing/meter_events"), apptest.ForEndpoint(apptest.Deny, "GET", "/prices/")
	p.Tamper(func(r *http.Request) apptest.Verdict {
		if reporting(r) == apptest.Deny { // an attempt that has already read the price must not report either
			return apptest.Deny
		}
		return pricing(r)
	})
	awaitJobs(s, "the attempts to read the price", func() bool {
		return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'every:usage.report' AND last_error LIKE '%get price%'`) > 0
	})
	if n := s.CountRows(`SELECT count(*) FROM usage_reports`); n != 1 {
		t.Errorf("%d reports wait", n)
	}
	if n := s.CountRows(`SELECT count(*) FROM usage_refusals`); n != 0 {
		t.Errorf("%d figures are given up", n)
	}
	p.Tamper(nil)
	awaitJobs(s, "the report", func() bool { return s.CountRows(`SELECT count(*) FROM usage_reports`) == 0 })
	if n := s.CountRows(`SELECT count(*) FROM usage_refusals`); n != 0 {
		t.Errorf("%d figures are given up", n)
	}
}

// The second of two paid checkouts is refunded once the provider permits refunds again.
func refundLater(l *apptest.Customer, p *apptest.Proxy, second string) {
	s := l.Server
	p.Tamper(apptest.ForEndpoint(apptest.Deny, "POST", "/refunds"))
	l.Submit(second, apptest.Card(apptest.CardPays)).Want(303)
	p.Count("")
	awaitJobs(s, "the attempts to refund", func() bool { return p.Count("POST /refunds") > 0 })
	p.Tamper(nil)
	awaitJobs(s, "the refund", func() bool {
		refunded := 0
		for _, charge := range l.ProviderObjects(l.Owner, "charge") {
			if charge.At("refunded") == true {
				refunded++
			}
		}
		return refunded == 1
	})
}

// The user sees an error of the provider, and the same request succeeds later.
func changeLater(s *apptest.Server, p *apptest.Proxy) {
	c := s.NewCustomer("bob")
	c.Buy(s.PlanID(c.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
	s.AddPlan("other", "flat", "month", 2900, 0, nil)
	change := apptest.Object{"new_plan_id": s.PlanID(c.Owner, "other")}
	for _, try := range []struct {
		path string
		body any
	}{{"/change-plan", change}, {"/cancel", nil}, {"/resume", nil}} {
		for name, denied := range map[string]func(*http.Request) apptest.Verdict{"all": denyAll, "writes": apptest.ForEndpoint(apptest.Deny, "POST", "/subscriptions/")} {
			p.Tamper(denied)
			c.Call("POST", c.Path("/subscription"+try.path), c.Token, try.body).As(try.path+", "+name).WantRefused(502, "psp_error")
		}
		p.Tamper(nil)
		c.Call("POST", c.Path("/subscription"+try.path), c.Token, try.body).As(try.path).Want(200)
	}
}
