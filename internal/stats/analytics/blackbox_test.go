package analytics_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

func withBase(code string) func(*settings.Settings) {
	return func(s *settings.Settings) { s.BaseCurrency = code }
}

// begin advances to noon on the 5th of the next month and removes the history of the demo
// subscriptions. It returns the month.
func begin(s *apptest.Server) time.Time {
	s.T.Helper()
	now := s.Now()
	s.AdvanceTo(time.Date(now.Year(), now.Month()+1, 5, 12, 0, 0, 0, time.UTC))
	for _, table := range []string{"subscription_histories", "subscription_journal", "subscription_days"} {
		apptest.Exec(s.T, s.DB(), `DELETE FROM `+table)
	}
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

func admin(s *apptest.Server, method, path string, body any) apptest.Reply {
	s.T.Helper()
	return s.Call(method, "/api/v1/admin"+path, s.Admin(), body).As(method + " " + path)
}

func name(month time.Time) string { return month.Format("2006-01") }

// wantMonth checks the numbers of the nth month. want has the numbers that are not 0.
func wantMonth(t *testing.T, a apptest.Reply, n int, want map[string]float64) {
	t.Helper()
	got := map[string]float64{}
	for key, v := range a.At("data.months").([]any)[n].(apptest.Object) {
		if v, ok := v.(float64); ok && v != 0 {
			got[key] = v
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A customer pays, grows and leaves; a trial is converted. A purge changes nothing but the name.
func TestAnalyticsFollowCustomers(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := begin(s)
		admin(s, "GET", "/analytics", nil).Want(200).WantAt("meta.currency", nil).WantAt("data.mrr", 0.0).WantAt("data.arpu", nil)
		s.AddPlan("larger", "flat", "month", 4900, 0, nil)
		s.AddPlan("tried", "flat", "month", 5000, 10, nil)
		ada, eve := s.NewCustomer("ada"), s.NewCustomer("eve")
		s.BuyPlan(ada.Owner, "starter")
		eve.Buy(s.PlanID(eve.Owner, "tried"), "EUR", apptest.Card(apptest.CardPays))
		s.Advance(11 * apptest.Day)
		a := admin(s, "GET", "/analytics?from="+name(first), nil).Want(200)
		wantMonth(t, a, 0, map[string]float64{"new": 6900, "closing": 6900, "customers_new": 2, "customers_closing": 2, "trials_ended": 1, "trials_converted": 1})
		a.WantAt("data.mrr", 6900.0).WantAt("data.arr", 82800.0).WantAt("data.arpu", 3450.0).WantAt("data.trial_conversion", 1.0).
			WantAt("data.customer_churn", nil).WantAt("data.net_revenue_retention", nil).WantAt("meta.currency", "EUR").
			WantAt("data.by_plan.0.mrr", 5000.0).WantAt("data.by_plan.0.subscriptions", 1.0).
			WantAt("data.by_currency", []any{apptest.Object{"currency": "EUR", "mrr": 6900.0, "rate": nil, "mrr_base": nil}})
		wantMonth(t, admin(s, "GET", "/analytics?plan=starter&from="+name(first), nil).Want(200), 0, map[string]float64{"new": 1900, "closing": 1900, "customers_new": 1, "customers_closing": 1})

		next := first.AddDate(0, 1, 0)
		s.AdvanceTo(next.AddDate(0, 0, 2))
		ada.LogInAgain()
		s.ChangePlan(ada.Owner, "larger", nil).Want(200)
		eve.LogInAgain()
		s.Cancel(eve.Owner, true).Want(200)
		a = admin(s, "GET", "/analytics?from="+name(first), nil).Want(200)
		wantMonth(t, a, 1, map[string]float64{
			"opening": 6900, "expansion": 3000, "churn": -5000, "closing": 4900, "customers_opening": 2, "customers_churned": 1, "customers_closing": 1,
		})
		a.WantAt("data.customer_churn", 0.5).WantAt("data.revenue_churn", 0.7246)
		if stats := s.Call("GET", "/api/v1/admin/stats", s.Admin(), nil).Want(200); stats.At("data.mrr.0.amount") != 4900.0 {
			t.Errorf("stats show %v", stats.At("data.mrr"))
		}
		move := admin(s, "GET", "/analytics/movements?kind=churn&month="+name(next), nil).Want(200).WantAt("meta.total", 1.0)
		move.WantAt("data.0.tenant.id", eve.Tenant).WantAt("data.0.before", apptest.Object{"amount_cents": 5000.0, "currency": "EUR"}).
			WantAt("data.0.change", apptest.Object{"amount_cents": -5000.0, "currency": "EUR"})
		// The third customer is the demo customer, who pays for a subscription without a history.
		cohorts := admin(s, "GET", "/analytics/cohorts?months=3", nil).Want(200)
		cohorts.WantAt("data.0.values", []any{}).WantAt("data.1.customers", 3.0).WantAt("data.1.values", []any{0.6667, 0.3333}).WantAt("data.2.customers", 0.0)
		admin(s, "GET", "/analytics/cohorts?months=2&measure=revenue", nil).Want(200).WantAt("data.0.values", []any{1.0, 0.7101})

		before := admin(s, "GET", "/analytics?to="+name(next), nil).Want(200).At("data.months")
		s.Call("DELETE", eve.Path(""), eve.Token, apptest.Object{"current_password": apptest.AdaLogin["password"]}).Want(204)
		apptest.Exec(t, s.DB(), `UPDATE subscription_histories SET tenant_id = NULL WHERE tenant_id = $1`, eve.Tenant)
		s.AdvanceTo(next.AddDate(0, 1, 1))
		after := admin(s, "GET", "/analytics?to="+name(next), nil).Want(200)
		if diff := cmp.Diff(before, after.At("data.months")); diff != "" {
			t.Errorf("past months changed: %s", diff)
		}
		admin(s, "GET", "/analytics/movements?kind=churn&month="+name(next), nil).Want(200).WantAt("data.0.tenant", apptest.Object{"id": nil, "name": nil})
	})
}

// A change with a known time, such as the end of a trial, has the date on which it took effect,
// even if it is read late.
func TestLateChangesAreDated(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := begin(s)
		s.AddPlan("tried", "flat", "month", 5000, 10, nil)
		eve, ada := s.NewCustomer("eve"), s.NewCustomer("ada")
		eve.Buy(s.PlanID(eve.Owner, "tried"), "EUR", apptest.Card(apptest.CardPays))
		s.BuyPlan(ada.Owner, "starter")
		s.Cancel(ada.Owner, false).Want(200)
		s.AdvanceTo(first.AddDate(0, 2, 2)) // the service reads all of it only now
		a := admin(s, "GET", "/analytics?from="+name(first), nil).Want(200)
		wantMonth(t, a, 0, map[string]float64{"new": 6900, "closing": 6900, "customers_new": 2, "customers_closing": 2, "trials_ended": 1, "trials_converted": 1})
		wantMonth(t, a, 1, map[string]float64{"opening": 6900, "churn": -1900, "closing": 5000, "customers_opening": 2, "customers_churned": 1, "customers_closing": 1})
		wantMonth(t, a, 2, map[string]float64{"opening": 5000, "closing": 5000, "customers_opening": 1, "customers_closing": 1})
	})
}

// checkoutWith buys the plan with a slug with a new repeating discount.
func checkoutWith(c *apptest.Customer, plan string, percent, months int) {
	c.T.Helper()
	code := c.Email[:3]
	admin(c.Server, "POST", "/discounts", apptest.Object{
		"code": code, "name": apptest.Object{"en": "Sale"}, "duration": "repeating", "months": months, "percent_off": percent,
	}).Want(201)
	page := c.Call("POST", c.Path("/checkout"), c.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
		"plan_id": c.PlanID(c.Owner, plan), "currency": "EUR", "promotion_code": code,
	})).Want(200).Str("data.url")
	c.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
	c.AwaitNotifications()
}

// A subscription or a plan that ends together with its discount never counts at its full price.
func TestDiscountEndsWithItsPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := begin(s)
		s.AddPlan("small", "flat", "month", 1000, 0, nil)
		ada, bob, eve := s.NewCustomer("ada"), s.NewCustomer("bob"), s.NewCustomer("eve")
		checkoutWith(ada, "starter", 100, 1)
		checkoutWith(bob, "starter", 20, 1)
		checkoutWith(eve, "starter", 20, 1)
		s.Cancel(ada.Owner, false).Want(200)
		s.Cancel(bob.Owner, false).Want(200)
		s.ChangePlan(eve.Owner, "small", apptest.Object{"when": "period_end"}).Want(200)
		s.AdvanceTo(first.AddDate(0, 1, 10))
		stats := s.Call("GET", "/api/v1/admin/stats", s.Admin(), nil).Want(200)
		for kind, want := range map[string]float64{"amount": 1000, "expansion": 0, "contraction": -520, "ended": -1520} {
			stats.WantAt("data.mrr.0."+kind, want)
		}
		s.AdvanceTo(first.AddDate(0, 2, 2))
		ada.LogInAgain()
		s.BuyPlan(ada.Owner, "starter")
		a := admin(s, "GET", "/analytics?from="+name(first), nil).Want(200)
		wantMonth(t, a, 0, map[string]float64{"new": 3040, "closing": 3040, "customers_new": 2, "customers_closing": 2})
		wantMonth(t, a, 1, map[string]float64{
			"opening": 3040, "contraction": -520, "churn": -1520, "closing": 1000, "customers_opening": 2, "customers_churned": 1, "customers_closing": 1,
		})
		wantMonth(t, a, 2, map[string]float64{"opening": 1000, "new": 1900, "closing": 2900, "customers_opening": 1, "customers_new": 1, "customers_closing": 2})
	})
}

// A change of plan and the end of a trial keep their dates and the discount of that time, even if the
// service reads them after the discount has ended.
func TestLateChangesBeforeTheEndOfADiscount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		first := begin(s)
		s.AddPlan("larger", "flat", "month", 6000, 0, nil)
		s.AddPlan("tried", "flat", "month", 5000, 10, nil)
		ada, eve := s.NewCustomer("ada"), s.NewCustomer("eve")
		checkoutWith(ada, "starter", 50, 3)
		checkoutWith(eve, "tried", 50, 2)
		s.ChangePlan(ada.Owner, "larger", apptest.Object{"when": "period_end"}).Want(200)
		s.AdvanceTo(first.AddDate(0, 4, 10))
		a := admin(s, "GET", "/analytics?from="+name(first), nil).Want(200)
		changes := []float64{950 + 2500, 2050, 2500, 3000, 0} // the discount of eve ends with the period that began before
		for n, want := range changes {
			month := a.At("data.months").([]any)[n].(apptest.Object)
			if got := month["new"].(float64) + month["expansion"].(float64) + month["contraction"].(float64); got != want {
				t.Errorf("month %d: changed by %v, want %v", n, got, want)
			}
		}
		admin(s, "GET", "/stats", nil).Want(200).WantAt("data.mrr.0.amount", 11_000.0)
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		month := begin(s)
		today := s.Now().Format(time.DateOnly)
		admin(s, "GET", "/rates", nil).Want(200).WantAt("data", []any{})
		eve := s.NewCustomer("eve")
		eve.Buy(s.PlanID(eve.Owner, "starter"), "USD", apptest.Card(apptest.CardPays))
		a := admin(s, "GET", "/analytics?from="+name(month), nil).Want(200).WantAt("data.mrr", 0.0).
			WantAt("data.by_currency", []any{apptest.Object{"currency": "USD", "mrr": 2100.0, "rate": nil, "mrr_base": nil}})
		a.WantAt("meta.missing_rates", []any{apptest.Object{"currency": "USD", "month": name(month)}})

		inBase := func(want any) {
			t.Helper()
			admin(s, "GET", "/tenants?filter[search]="+eve.Tenant, nil).Want(200).WantAt("data.0.mrr_base", want)
			admin(s, "GET", "/tenants/"+eve.Tenant, nil).Want(200).WantAt("data.mrr_base", want)
		}
		inBase(nil)
		rates := apptest.Object{"USD": 1.05, "GBP": 0.8567891234}
		admin(s, "PUT", "/rates/"+today, apptest.Object{"rates": rates}).Want(200).WantAt("data", apptest.Object{"date": today, "rates": rates})
		a = admin(s, "GET", "/analytics?from="+name(month), nil).Want(200).WantAt("data.mrr", 2000.0).WantAt("meta.missing_rates", []any{}).WantAt("meta.currency", "EUR")
		a.WantAt("data.by_currency", []any{apptest.Object{"currency": "USD", "mrr": 2100.0, "rate": 1.05, "mrr_base": 2000.0}})
		inBase(apptest.Object{"amount_cents": 2000.0, "currency": "EUR"})
		s.AdvanceTo(month.AddDate(0, 1, 4))
		next := s.Now().Format(time.DateOnly)
		admin(s, "PUT", "/rates/"+next, apptest.Object{"rates": apptest.Object{"USD": 2.1}}).Want(200)
		a = admin(s, "GET", "/analytics?from="+name(month), nil).Want(200)
		wantMonth(t, a, 1, map[string]float64{"opening": 2000, "exchange": -1000, "closing": 1000, "customers_opening": 1, "customers_closing": 1})
		a.WantAt("meta.missing_rates", []any{apptest.Object{"currency": "USD", "month": name(month)}}) // the rate is older than ten days at the end of the month
		admin(s, "GET", "/rates?from="+today, nil).Want(200).WantAt("data.0.date", next).WantAt("data.1.date", today)

		for range 2 {
			admin(s, "DELETE", "/rates/"+next, nil).Want(204)
		}
		admin(s, "DELETE", "/rates/yesterday", nil).WantInvalid("date")
		for body, field := range map[string]string{
			`{}`: "rates", `{"rates":{}}`: "rates", `{"rates":{"EUR":1}}`: "rates", `{"rates":{"XXX":1}}`: "rates",
			`{"rates":{"USD":0}}`: "rates.USD", `{"rates":{"USD":-1}}`: "rates.USD", `{"rates":{"USD":1.00000000001}}`: "rates.USD", `{"rates":{"USD":"1"}}`: "rates.USD",
		} {
			admin(s, "PUT", "/rates/"+today, json.RawMessage(body)).As(body).WantInvalid(field)
		}
		for _, rate := range []float64{-1, 0} {
			admin(s, "PUT", "/rates/"+today, apptest.Object{"rates": apptest.Object{"USD": rate}}).Want(422).WantAt("message", "This must be greater than 0.")
		}
		admin(s, "PUT", "/rates/2999-01-01", apptest.Object{"rates": rates}).WantInvalid("date")
		admin(s, "PUT", "/rates/2026-02-30", apptest.Object{"rates": rates}).WantInvalid("date")
		for action, n := range map[string]float64{"rates.updated": 2, "rates.deleted": 1} {
			admin(s, "GET", "/audit-logs?filter[action]="+action, nil).Want(200).WantAt("meta.total", n)
		}
	}, withBase("EUR"))
}

// The revenue of /admin/stats is sorted in the base currency, because minor units of two currencies
// cannot be compared.
func TestStatsSortByBaseCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		begin(s)
		for name, currency := range map[string]string{"ada": "EUR", "eve": "USD"} {
			c := s.NewCustomer(name)
			c.Buy(s.PlanID(c.Owner, "starter"), currency, apptest.Card(apptest.CardPays))
		}
		wantFirst := func(currency string) {
			t.Helper()
			admin(s, "GET", "/stats", nil).Want(200).WantAt("data.mrr.0.currency", currency)
		}
		wantFirst("EUR") // without a rate for USD
		for rate, currency := range map[float64]string{0.1: "USD", 10: "EUR"} {
			admin(s, "PUT", "/rates/"+s.Now().Format(time.DateOnly), apptest.Object{"rates": apptest.Object{"USD": rate}}).Want(200)
			wantFirst(currency)
		}
	}, withBase("EUR"))
}

func TestAnalyticsRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		month := name(begin(s))
		for query, field := range map[string]string{
			"/analytics?from=2026": "from", "/analytics?to=2026-13": "to", "/analytics?from=2999-01": "from", "/analytics?to=2999-01": "to",
			"/analytics?from=2020-02&to=2020-01": "from", "/analytics?from=2020-01&to=2023-01": "from", "/analytics?currency=euro": "currency",
			"/analytics?format=xml": "format", "/analytics/movements?kind=new": "month", "/analytics/movements?month=" + month: "kind",
			"/analytics/movements?kind=new&month=2999-01": "month", "/analytics/cohorts?months=0": "months", "/analytics/cohorts?months=37": "months",
			"/analytics/cohorts?measure=tenants": "measure", "/rates?from=x": "from", "/rates?from=2999-01-01": "from",
		} {
			admin(s, "GET", query, nil).WantInvalid(field)
		}
		for _, path := range []string{"/analytics?", "/analytics/cohorts?", "/analytics/movements?kind=new&month=" + month + "&"} {
			for _, param := range []string{"filter[plan]=starter", "filter[tenant]=x", "sort=month", "include=plan"} {
				admin(s, "GET", path+param, nil).Want(400)
			}
		}
		admin(s, "GET", "/analytics?from=2020-02&to=2023-01", nil).Want(200)
		admin(s, "PUT", "/rates/"+s.Now().Format(time.DateOnly), apptest.Object{"rates": apptest.Object{"USD": 1}}).WantRefused(409, "no_base_currency")
		for currency, who := range map[string]string{"EUR": "ada", "USD": "eve"} {
			c := s.NewCustomer(who)
			c.Buy(s.PlanID(c.Owner, "starter"), currency, apptest.Card(apptest.CardPays))
		}
		for _, path := range []string{"/analytics", "/analytics/cohorts", "/analytics/movements?kind=new&month=" + month} {
			admin(s, "GET", path, nil).WantInvalid("currency")
		}
		admin(s, "GET", "/analytics?currency=usd", nil).Want(200).WantAt("data.mrr", 2100.0).WantAt("meta.currency", "USD")
		file := admin(s, "GET", "/analytics?format=csv&currency=USD&from="+month, nil).Want(200)
		want := `"month","currency","opening","new","expansion","contraction","churn","reactivation","exchange","closing","customers_opening","customers_new","customers_churned","customers_reactivated","customers_closing","trials_ended","trials_converted"
"` + month + `","USD","0.00","21.00","0.00","0.00","0.00","0.00","0.00","21.00","0","1","0","0","1","0","0"
`
		if diff := cmp.Diff(want, file.Text); diff != "" {
			t.Error(diff)
		}
		file = admin(s, "GET", "/analytics/movements?format=csv&kind=new&currency=USD&month="+month, nil).Want(200)
		if lines := strings.Split(file.Text, "\n"); len(lines) != 3 || lines[0] != `"tenant.id","tenant.name","currency","before","after","change"` {
			t.Errorf("%q", lines)
		}
		file = admin(s, "GET", "/analytics/cohorts?format=csv&currency=USD&months=2", nil).Want(200)
		if got := file.Text; !strings.HasSuffix(got, `"`+month+`","1","1",""`+"\n") {
			t.Errorf("%q", got)
		}
	})
}
