package stats_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// figures requests the key figures.
func figures(s *apptest.Server) apptest.Reply {
	s.T.Helper()
	a := s.Call("GET", "/api/v1/admin/stats", s.Admin(), nil).Want(200)
	list, _ := a.At("data.mrr").([]any)
	for _, c := range list { // the current amount is the previous amount plus all changes
		c, _ := c.(apptest.Object)
		sum := 0.0
		for _, key := range []string{"amount_30_days_ago", "new", "expansion", "contraction", "ended"} {
			sum += c[key].(float64)
		}
		if sum != c["amount"] {
			s.T.Errorf("the sum of %v is %v", c, sum)
		}
	}
	return a
}

// revenue returns the recurring revenue in euros. Without revenue, all values are 0.
func revenue(a apptest.Reply) map[string]float64 {
	found := map[string]float64{}
	list, _ := a.At("data.mrr").([]any)
	for _, c := range list {
		if c := c.(apptest.Object); c["currency"] == "EUR" {
			for key, v := range c {
				if n, ok := v.(float64); ok && n != 0 {
					found[key] = n
				}
			}
		}
	}
	return found
}

// changes returns the differences between two readings.
func changes(before, after map[string]float64) map[string]float64 {
	found := map[string]float64{}
	for _, m := range []map[string]float64{before, after} {
		for key := range m {
			if d := after[key] - before[key]; d != 0 {
				found[key] = d
			}
		}
	}
	return found
}

// wantRevenue checks how the recurring revenue in euros has changed since a reading.
func wantRevenue(s *apptest.Server, since apptest.Reply, want map[string]float64) {
	s.T.Helper()
	if diff := cmp.Diff(want, changes(revenue(since), revenue(figures(s)))); diff != "" {
		s.T.Error(diff)
	}
}

// counted returns the figures at a path as numbers.
func counted(a apptest.Reply, path string) map[string]float64 {
	found := map[string]float64{}
	for key, v := range a.At(path).(apptest.Object) {
		if n, ok := v.(float64); ok {
			found[key] = n
		}
	}
	return found
}

// Revenue follows each change of a subscription. Changes older than 30 days count as the previous
// amount.
func TestRevenueFollowsSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "year", 12000, 0, nil)
		s.AddPlan("larger", "flat", "month", 4900, 0, nil)
		s.AddPlan("tried", "flat", "month", 5000, 10, nil)
		before := figures(s)
		ada, free, tries := s.NewCustomer("ada"), s.NewCustomer("free"), s.NewCustomer("tries")
		s.BuyPlan(ada.Owner, "starter")
		wantRevenue(s, before, map[string]float64{"amount": 1900, "new": 1900})
		s.BuyPlan(free.Owner, "free")
		tries.Buy(s.PlanID(tries.Owner, "tried"), "EUR", apptest.Card(apptest.CardPays))
		wantRevenue(s, before, map[string]float64{"amount": 1900, "new": 1900})

		s.ChangePlan(ada.Owner, "larger", nil).Want(200)
		wantRevenue(s, before, map[string]float64{"amount": 4900, "new": 1900, "expansion": 3000})
		s.ChangePlan(ada.Owner, "crew", apptest.Object{"quantity": 3}).Want(200)
		wantRevenue(s, before, map[string]float64{"amount": 3000, "new": 1900, "expansion": 3000, "contraction": -1900})
		now := figures(s)
		if diff := cmp.Diff(map[string]float64{"total": 3, "added_30_days": 3}, changes(counted(before, "data.tenants"), counted(now, "data.tenants"))); diff != "" {
			t.Error(diff)
		}
		by := changes(counted(before, "data.tenants.by_subscription"), counted(now, "data.tenants.by_subscription"))
		if diff := cmp.Diff(map[string]float64{"active": 2, "trialing": 1}, by); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]float64{"active": 2}, changes(counted(before, "data.subscriptions"), counted(now, "data.subscriptions"))); diff != "" {
			t.Error(diff)
		}

		s.Advance(11 * apptest.Day)
		wantRevenue(s, before, map[string]float64{"amount": 8000, "new": 6900, "expansion": 3000, "contraction": -1900})
		tries.LogInAgain()
		s.Cancel(tries.Owner, true).Want(200)
		wantRevenue(s, before, map[string]float64{"amount": 3000, "new": 6900, "expansion": 3000, "contraction": -1900, "ended": -5000})
		s.Advance(33 * apptest.Day)
		later := figures(s)
		if diff := cmp.Diff(map[string]float64{"amount": 3000, "amount_30_days_ago": 3000}, changes(map[string]float64{}, euros(later, before))); diff != "" {
			t.Error(diff)
		}
		if got := counted(later, "data.subscriptions"); got["active"] != got["active_30_days_ago"] {
			t.Errorf("subscriptions %v", got)
		}
		if got := counted(later, "data.tenants"); got["added_30_days"] != 0 {
			t.Errorf("tenants %v", got)
		}
	})
}

// euros returns the recurring revenue in euros without the demo subscriptions, which continue
// unchanged.
func euros(a, demo apptest.Reply) map[string]float64 {
	found, of := revenue(a), revenue(demo)
	found["amount"] -= of["amount"]
	found["amount_30_days_ago"] -= of["amount"]
	return found
}

// Currencies are never added up. The largest is first.
func TestCurrenciesAreApart(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		apptest.Exec(t, s.DB(), `DELETE FROM subscription_journal`)
		apptest.Exec(t, s.DB(), `DELETE FROM subscription_days`)
		figures(s).WantAt("data.mrr", []any{})
		for name, currency := range map[string]string{"ada": "USD", "eve": "USD", "bob": "EUR"} {
			c := s.NewCustomer(name)
			c.Buy(s.PlanID(c.Owner, "starter"), currency, apptest.Card(apptest.CardPays))
		}
		want := func(currency string, amount float64) apptest.Object {
			return apptest.Object{
				"currency": currency, "amount": amount, "amount_30_days_ago": 0.0, "new": amount, "expansion": 0.0, "contraction": 0.0, "ended": 0.0,
			}
		}
		figures(s).WantAt("data.mrr", []any{want("USD", 4200), want("EUR", 1900)})
	})
}

// Each failed payment counts, and the invoice counts as open until it is paid.
func TestFailedPayments(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, eve := s.NewCustomer("ada"), s.NewCustomer("eve")
		s.BuyPlanWith(ada.Owner, "starter", apptest.CardFailsAtRenewal)
		s.BuyPlan(eve.Owner, "starter")
		want := func(open float64, amounts []any) (last, previous float64) {
			t.Helper()
			a := figures(s)
			a.WantAt("data.failed_payments.open", open)
			a.WantAt("data.failed_payments.amounts", amounts)
			return a.At("data.failed_payments.last_7_days").(float64), a.At("data.failed_payments.previous_7_days").(float64)
		}
		owed := []any{apptest.Object{"currency": "EUR", "amount": 1900.0}}
		if last, previous := want(0, []any{}); last != 0 || previous != 0 {
			t.Errorf("before: %v, %v", last, previous)
		}
		s.Advance(31*apptest.Day + 6*time.Hour)
		failed, previous := want(1, owed)
		if failed < 1 || previous != 0 {
			t.Errorf("after a failure: %v, %v", failed, previous)
		}
		a := s.Call("GET", "/api/v1/admin/stats/series?figure=failed_payments&interval=day", s.Admin(), nil).Want(200)
		sum := 0.0
		for _, v := range values(a, 0) {
			sum += v
		}
		if sum != failed {
			t.Errorf("%v failures in the series, %v in 7 days", sum, failed)
		}
		s.Advance(7 * apptest.Day)
		if last, previous := want(1, owed); previous != failed || last < 1 {
			t.Errorf("a week later: %v, %v", last, previous) // the provider has retried
		}
		ada.LogInAgain()
		ada.ReplaceCard(apptest.CardPays)
		ada.PayOpenInvoices(apptest.Card(apptest.CardPays))
		want(0, []any{})
	})
}

// Events that are rejected because of a quota are counted by the hour.
func TestQuotaRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada, eve := s.NewCustomer("ada"), s.NewCustomer("eve")
		s.BuyPlan(ada.Owner, "free")
		s.BuyPlan(eve.Owner, "free")
		refuse := func(c *apptest.Customer) {
			t.Helper()
			c.LogInAgain()
			c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1_000_000}).WantRefused(429, "QUOTA_EXCEEDED")
		}
		want := func(last, previous, tenants float64) {
			t.Helper()
			figures(s).WantAt("data.quota_refusals", apptest.Object{"last_24_hours": last, "previous_24_hours": previous, "tenants": tenants})
		}
		want(0, 0, 0)
		refuse(ada)
		refuse(ada)
		refuse(eve)
		want(3, 0, 2)
		day := s.Now().Format(time.DateOnly)
		s.Advance(24 * time.Hour)
		want(0, 3, 0)
		refuse(eve)
		want(1, 3, 1)
		s.Advance(24 * time.Hour)
		want(0, 1, 0)
		a := s.Call("GET", "/api/v1/admin/stats/series?figure=quota_refusals&interval=day&from="+day, s.Admin(), nil).Want(200)
		if diff := cmp.Diff([]float64{3, 1, 0}, values(a, 0)); diff != "" {
			t.Error(diff)
		}
	})
}

// Health reports problems that need attention.
func TestHealth(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "each instance opens its own circuit breaker")
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "starter")
		s.AwaitNotifications()
		a := figures(s).WantAt("data.health.ok", true).WantAt("data.health.provider.reachable", true)
		if ms, ok := a.At("data.health.database_ms").(float64); !ok || ms < 0 || ms > 1000 {
			t.Errorf("database_ms: %v", a.At("data.health.database_ms"))
		}
		if ms, ok := a.At("data.health.provider.latency_ms").(float64); !ok || ms <= 0 {
			t.Errorf("latency_ms: %v", a.At("data.health.provider.latency_ms"))
		}
		if at := a.TimeAt("data.health.provider.last_notification_at"); at.After(s.Now()) || s.Now().Sub(at) > time.Hour {
			t.Errorf("the last notification came at %v", at)
		}

		p.Tamper(func(*http.Request) apptest.Verdict { return apptest.Fail })
		s.Call("POST", ada.Path("/docs/billing/portal"), ada.Token, nil).Want(502)
		figures(s).WantAt("data.health.provider.reachable", false).WantAt("data.health.ok", false)
		p.Tamper(nil)
		apptest.Eventually(t, "an answer", func() bool {
			return s.Call("POST", ada.Path("/docs/billing/portal"), ada.Token, nil).Status == 200
		})
		figures(s).WantAt("data.health.provider.reachable", true)

		id, now := sqldb.NewID(), s.Now()
		add := func(kind string, due time.Time, dead *time.Time) {
			t.Helper()
			apptest.Exec(t, s.DB(), `INSERT INTO jobs (id, kind, payload, due_at, created_at, dead_at) VALUES ($1, $2, '{}', $3, $3, $4)`, id, kind, due, dead)
			id = sqldb.NewID()
		}
		jobs := func() apptest.Object { return figures(s).At("data.health.jobs").(apptest.Object) }
		waiting := jobs()["waiting"].(float64)
		add("nobody's", now.Add(-4*time.Minute), nil)
		if got := jobs(); got["waiting"] != waiting+1 || got["late"] != 0.0 {
			t.Errorf("a job that waits: %v", got)
		}
		figures(s).WantAt("data.health.ok", true)
		add("nobody's", now.Add(-10*time.Minute), nil)
		figures(s).WantAt("data.health.jobs.late", 1.0).WantAt("data.health.ok", false)
		apptest.Exec(t, s.DB(), `DELETE FROM jobs WHERE kind = 'nobody''s'`)
		add("nobody's", now, &now)
		figures(s).WantAt("data.health.jobs.dead", 1.0).WantAt("data.health.ok", false)
		apptest.Exec(t, s.DB(), `DELETE FROM jobs WHERE kind = 'nobody''s'`)
		add("mail.send", now.Add(time.Hour), nil)
		figures(s).WantAt("data.health.mail.waiting", 1.0).WantAt("data.health.mail.failing", 0.0).WantAt("data.health.ok", true)
		apptest.Exec(t, s.DB(), `UPDATE jobs SET last_error = 'connection refused' WHERE kind = 'mail.send'`)
		figures(s).WantAt("data.health.mail.failing", 1.0).WantAt("data.health.ok", false)
		apptest.Exec(t, s.DB(), `UPDATE jobs SET last_error = NULL WHERE kind = 'mail.send'`)

		apptest.Exec(t, s.DB(), `INSERT INTO psp_events (id, type, object_id, received_at) VALUES ('evt_late', 'none', 'none', $1)`, now.Add(-time.Hour))
		a = figures(s).WantAt("data.health.ok", false).WantAt("data.health.provider.waiting", 1.0)
		if delay, _ := a.At("data.health.provider.delay_seconds").(float64); delay < 3600 || delay > 4000 {
			t.Errorf("delay_seconds: %v", delay)
		}
	})
}

// Webhook deliveries count for one day.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		now := s.Now()
		endpoint, event := sqldb.NewID(), sqldb.NewID()
		apptest.Exec(t, s.DB(), `INSERT INTO webhook_endpoints (id, url, types, is_enabled, secrets, created_at) VALUES ($1, 'https://example.com', '*', false, '[]', $2)`, endpoint, now)
		apptest.Exec(t, s.DB(), `INSERT INTO webhook_events (id, type, body, created_at) VALUES ($1, 'x', '{}', $2)`, event, now)
		for status, ages := range map[string][]time.Duration{"delivered": {0, time.Hour, 25 * time.Hour}, "failed": {23 * time.Hour, 25 * time.Hour}, "pending": {0}} {
			for _, age := range ages {
				apptest.Exec(t, s.DB(), `INSERT INTO webhook_deliveries (id, endpoint_id, event_id, type, status, created_at) VALUES ($1, $2, $3, 'x', $4, $5)`,
					sqldb.NewID(), endpoint, event, status, now.Add(-age))
			}
		}
		figures(s).WantAt("data.health.webhooks", apptest.Object{"delivered": 2.0, "failed": 1.0})
	})
}

// Only platform admins with permission to view tenants can see the figures.
func TestFigurePermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := s.Register("ada@example.com", true), s.Admin()
		paths := []string{"/api/v1/admin/stats", "/api/v1/admin/stats/series?figure=tenants"}
		for _, path := range paths {
			s.Call("GET", path, "", nil).WantRefused(401, "")
			s.Call("GET", path, ada.Token, nil).WantRefused(403, "")
			s.Call("GET", path, admin, nil).Want(200)
		}
		apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = $1 WHERE email = 'admin@tenantry.test'`, sqldb.JSON(`["logs.view"]`))
		for _, path := range paths {
			s.Call("GET", path, s.Admin(), nil).WantRefused(403, "")
		}
	})
}
