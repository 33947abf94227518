package blackbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// metering is a customer of a usage plan, followed over several periods.
type metering struct {
	*apptest.Customer
	p *apptest.Proxy
}

// atEnd advances the clock to the given time after the end of the current period.
func (m metering) atEnd(after time.Duration) {
	m.T.Helper()
	m.LogInAgain()
	end, err := time.Parse(time.RFC3339, m.Subscription(m.Owner).Str("data.current_period_end"))
	if err != nil {
		m.T.Fatal(err)
	}
	m.AdvanceTo(end.Add(after))
	m.LogInAgain()
}

func (m metering) use(code string, quantity float64) {
	m.T.Helper()
	m.Call("POST", m.Path("/usage"), m.Token, apptest.Object{"meter_code": code, "quantity": quantity}).Want(201)
}

// settled waits until all usage is reported.
func (m metering) settled() {
	m.T.Helper()
	awaitJobs(m.Server, "that everything is reported", func() bool { return metric(m.Server, "tenantry_usage_report_lag_seconds") == 0 })
}

// billed returns the lines of the newest invoice at the provider.
func (m metering) billed() string {
	m.T.Helper()
	invoices := m.ProviderObjects(m.Owner, "invoice")
	var lines []string
	all, _ := invoices[len(invoices)-1].At("lines.data").([]any)
	for _, l := range all {
		l := l.(map[string]any)
		name, _, _ := strings.Cut(fmt.Sprint(l["description"]), " (at")
		lines = append(lines, fmt.Sprintf("%s = %v", name, l["amount"]))
	}
	return strings.Join(lines, ", ")
}

func (m metering) wantBilled(want string) {
	m.T.Helper()
	if got := m.billed(); got != want {
		m.T.Errorf("billed is %s\nwant      %s", got, want)
	}
}

// items returns the subscription's metered prices at the provider, in order.
func (m metering) items() string {
	m.T.Helper()
	subs := m.ProviderObjects(m.Owner, "subscription")
	var prices []string
	all, _ := subs[len(subs)-1].At("items.data").([]any)
	for _, item := range all {
		price := item.(map[string]any)["price"].(map[string]any)
		if recurring := price["recurring"].(map[string]any); recurring["usage_type"] == "metered" {
			prices = append(prices, fmt.Sprint(price["id"]))
		}
	}
	return strings.Join(prices, " ")
}

func (m metering) awaitItems(want ...string) {
	m.T.Helper()
	apptest.Eventually(m.T, "the items "+strings.Join(want, " "), func() bool { return m.items() == strings.Join(want, " ") })
}

// status returns the status of a meter in a plan's euro price: the price that is sold, the number
// of subscriptions with another price, and the time of the next switch.
func status(s *apptest.Server, plan, code string) (price any, pending float64, next any) {
	s.T.Helper()
	rows, _ := s.Call("GET", "/api/v1/admin/plans/"+plan+"/psp-price-status", s.Admin(), nil).Want(200).At("data").([]any)
	for _, row := range rows {
		meters, _ := row.(map[string]any)["meters"].([]any)
		for _, m := range meters {
			if m := m.(map[string]any); m["meter_code"] == code {
				return m["psp_price_id"], m["pending_subscriptions"].(float64), m["next_switch_at"]
			}
		}
	}
	return nil, 0, nil
}

func wantStatus(s *apptest.Server, plan, code string, price any, pending float64, next any) {
	s.T.Helper()
	if p, n, at := status(s, plan, code); p != price || n != pending || at != next {
		s.T.Errorf("%s is sold at %v, %v pending until %v; want %v, %v, %v", code, p, n, at, price, pending, next)
	}
}

func newMetering(s *apptest.Server, p *apptest.Proxy, plan string) metering {
	c := s.NewCustomer("ada")
	c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
	return metering{c, p}
}

// unlinked creates a meter in the service and at the provider, without a price.
func unlinked(s *apptest.Server, code, formula string, changes apptest.Object) {
	s.T.Helper()
	s.TryAtProvider("POST", "/billing/meters", "display_name", code, "event_name", code, "default_aggregation[formula]", formula).Want(200)
	s.Call("POST", adminMeters, s.Admin(), apptest.WithChanges(apptest.Object{
		"code": code, "name": code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
	}, changes)).Want(201)
}

// If a meter becomes billable or changes its price, running subscriptions get the new price with
// their next period. The new price bills all usage of that period, and the old price all earlier
// usage. The same happens at each later change.
func TestNewPricesBeginWithAPeriod(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		plan := sellMetered(s, "calls", "sum", "100", nil)
		unlinked(s, "disk", "sum", nil)
		unlinked(s, "level", "last", apptest.Object{"aggregation_type": "last_value", "reset_interval": "none"})
		m := newMetering(s, p, plan)
		first := m.items()
		m.use("calls", 3)
		m.use("disk", 5)
		m.use("level", 8)
		m.settled()
		calls, disk, level := meteredPrice(s, "calls", "250"), meteredPrice(s, "disk", "7"), meteredPrice(s, "level", "10")
		link(s, "calls", calls, 250)
		link(s, "disk", disk, 7)
		link(s, "level", level, 10)
		m.use("calls", 2)
		m.use("disk", 100)
		m.settled()
		end := m.Subscription(m.Owner).Str("data.current_period_end")
		wantStatus(s, plan, "calls", calls, 1, end)
		wantStatus(s, plan, "disk", disk, 1, end)
		if m.items() != first {
			t.Errorf("the items changed within the period: %s", m.items())
		}

		switchDuringAnOutage(t, m, p, newPrices{plan, calls, disk, level})
		m.AdvanceTo(s.Now().Add(2 * time.Hour))
		m.LogInAgain()
		m.wantBilled("1 × Plan billed (Product billed) = 1000, 5 × calls = 500")

		billNewPrices(t, m, plan)
	})
}

// newPrices are a plan and the new prices of its meters.
type newPrices struct{ plan, calls, disk, level string }

// The provider is unavailable when the period begins. Usage waits until it is back.
func switchDuringAnOutage(t *testing.T, m metering, p *apptest.Proxy, n newPrices) {
	s, plan, calls, disk, level := m.Server, n.plan, n.calls, n.disk, n.level
	p.Tamper(apptest.ForEndpoint(apptest.Fail, "POST", "/subscriptions/"))
	m.atEnd(2 * time.Minute)
	told := len(reportedUsage(s))
	m.use("calls", 4)
	m.use("disk", 6)
	m.use("level", 9)
	m.use("level", 7)
	for range 6 { // time in which usage could wrongly be reported
		passJobs(s)
	}
	if now := len(reportedUsage(s)); now != told {
		t.Errorf("%d figures reported before the prices were decided", now-told)
	}
	if got := m.Call("GET", m.Path("/usage/cost-estimate"), m.Token, nil).Want(200).At("data.total_amount_cents"); got != 400.0 {
		t.Errorf("the estimate is %v before the switch", got)
	}
	link(s, "disk", meteredPrice(s, "disk", "9"), 9) // takes effect in the following period
	start := m.Subscription(m.Owner).Str("data.current_period_start")
	wantStatus(s, plan, "calls", calls, 1, start)
	p.Tamper(nil)
	m.settled()
	added := []string{disk, level}
	if strings.Contains(m.items(), level+" "+disk) {
		added = []string{level, disk}
	}
	m.awaitItems(append([]string{calls}, added...)...)
	wantStatus(s, plan, "calls", calls, 0, nil)
	m.use("calls", 1)
	m.settled()
	if got := m.Call("GET", m.Path("/usage/cost-estimate"), m.Token, nil).Want(200).At("data.total_amount_cents"); got != 5*250.0+6*7+70 {
		t.Errorf("the estimate is %v", got)
	}
	if s.CountAudited(m.Owner, "subscription.metered_prices_changed") != 1 {
		t.Error("the audit trail does not have exactly one price switch")
	}
}

func billNewPrices(t *testing.T, m metering, plan string) {
	s := m.Server
	m.atEnd(2 * time.Hour)
	m.settled()
	for want, amount := range map[string]float64{"calls": 1250, "disk": 42, "level": 70} {
		if _, got := lastLine(s, m.Owner, want); got != amount {
			t.Errorf("%s is billed with %v, want %v: %s", want, got, amount, m.billed())
		}
	}
	m.use("disk", 10)
	m.settled()
	// A meter that is no longer billed is removed from the items.
	id := s.Call("GET", adminMeters+"?filter[code]=calls", s.Admin(), nil).Want(200).Str("data.0.id")
	s.Call("PATCH", adminMeters+"/"+id, s.Admin(), apptest.Object{"prices": []any{}}).Want(200)
	wantStatus(s, plan, "calls", nil, 1, m.Subscription(m.Owner).Str("data.current_period_end"))
	m.atEnd(2 * time.Hour)
	m.settled()
	for want, amount := range map[string]float64{"calls": 0, "disk": 90, "level": 70} {
		if _, got := lastLine(s, m.Owner, want); got != amount {
			t.Errorf("%s is billed with %v, want %v: %s", want, got, amount, m.billed())
		}
	}
	apptest.Eventually(t, "that calls is not an item", func() bool { return len(strings.Fields(m.items())) == 2 })
}

// Lost responses, and a crash between the price switch and storing it, do not affect the bill.
func TestASwitchOfPricesIsMadeOnce(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			p := &apptest.Proxy{}
			config := apptest.NewSettings(t, dialect, p.Option)
			s := apptest.StartWith(t, config)
			m := newMetering(s, p, sellMetered(s, "calls", "sum", "100", nil))
			calls := meteredPrice(s, "calls", "250")
			link(s, "calls", calls, 250)
			p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/subscriptions/"))
			m.atEnd(2 * time.Minute)
			m.use("calls", 4)
			m.awaitItems(calls)
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			s = apptest.StartWith(t, config)
			m.Server = s
			m.LogInAgain()
			m.use("calls", 2)
			p.Tamper(nil)
			s.AdvanceTo(s.Now().Add(time.Minute)) // the lease of the operation has expired
			m.LogInAgain()
			m.settled()
			m.atEnd(2 * time.Hour)
			m.wantBilled("1 × Plan billed (Product billed) = 1000, 6 × calls = 1500")
			if n := s.CountAudited(m.Owner, "subscription.metered_prices_changed"); n != 1 {
				t.Errorf("%d entries in the audit trail", n)
			}
		})
	}
}

// Subscriptions in every state get new prices with their next period, if the subscription has
// another period and the price can bill it.
func TestSubscriptionsWithNewPrices(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		unlinked(s, "calls", "sum", nil)
		unlinked(s, "dollars", "sum", nil)
		unlinked(s, "other", "sum", nil)
		k := s.CatalogAdmin()
		product := k.CreateProduct("used")
		usage := apptest.Object{"pricing_type": "usage"}
		plans := map[string]string{
			"month": k.CreatePricedPlan(product, "month", map[string]int{"EUR": 1000}, usage),
			"free":  k.CreatePricedPlan(product, "free-base", map[string]int{"EUR": 0}, usage),
			"trial": k.CreatePricedPlan(k.CreateProduct("tried"), "tried", map[string]int{"EUR": 1000}, usage, apptest.Object{"trial_days": 10}),
			"year":  k.CreatePricedPlan(product, "year", map[string]int{"EUR": 1000}, usage, apptest.Object{"billing_cycle": "yearly"}),
			"flat":  k.CreatePricedPlan(product, "flat", map[string]int{"EUR": 1000}),
		}
		buy := func(name, plan, card string) metering {
			c := s.NewCustomer(name)
			c.Buy(plans[plan], "EUR", apptest.Card(card))
			return metering{c, p}
		}
		stays, fails, ends := buy("stays", "month", apptest.CardPays), buy("fails", "month", apptest.CardFailsAtRenewal), buy("ends", "month", apptest.CardPays)
		free, trial := buy("free", "free", apptest.CardPays), buy("trial", "trial", apptest.CardPays)
		year, flat := buy("year", "year", apptest.CardPays), buy("flat", "flat", apptest.CardPays)
		ends.Call("POST", ends.Path("/subscription/cancel"), ends.Token, nil).Want(200)
		calls, other := meteredPrice(s, "calls", "10"), meteredPrice(s, "other", "3")
		link(s, "calls", calls, 10)
		link(s, "other", other, 3)
		id := s.Call("GET", adminMeters+"?filter[code]=dollars", s.Admin(), nil).Want(200).Str("data.0.id")
		s.Call("PATCH", adminMeters+"/"+id, s.Admin(), apptest.Object{"prices": []any{apptest.Object{"currency": "USD", "unit_price_cents": 5}}}).Want(200)
		wantStatus(s, plans["month"], "calls", calls, 3, stays.Subscription(stays.Owner).Str("data.current_period_end"))
		wantStatus(s, plans["year"], "calls", calls, 1, nil)
		wantStatus(s, plans["month"], "dollars", nil, 0, nil)
		wantStatus(s, plans["flat"], "calls", nil, 0, nil)

		// One of the prices is inactive when the period begins; the other is used.
		s.AtProvider("POST", "/prices/"+other, "active", "false")
		trial.atEnd(time.Minute)
		trial.awaitItems(calls)
		stays.atEnd(2 * time.Hour)
		for _, m := range []metering{stays, fails, free} {
			m.LogInAgain()
			m.awaitItems(calls)
			m.use("calls", 7)
			m.settled()
		}
		for _, m := range []metering{year, flat, ends} {
			if got := m.items(); got != "" {
				t.Errorf("the metered items are %s, want none", got)
			}
		}
		fails.WantStatus("past_due")
		wantStatus(s, plans["month"], "calls", calls, 0, nil)
		free.atEnd(2 * time.Hour)
		for _, m := range []metering{stays, free} {
			if _, amount := lastLine(s, m.Owner, "calls"); amount != 70 {
				t.Errorf("billed is %s", m.billed())
			}
		}
		year.atEnd(2 * time.Hour)
		s.AwaitNotifications()
		if got := year.items(); got != "" {
			t.Errorf("the yearly subscription has the items %s, want none", got)
		}
	})
}

// A subscription that was created at the provider with metered prices alone starts without an
// invoice. It is imported, bills its usage, and ends like others.
func TestMeteredOnlySubscriptionIsTakenOver(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "calls", "sum", "100", nil)
		m := newMetering(s, nil, plan)
		s.Cancel(m.Owner, true).Want(200)
		customer := s.ProviderObjects(m.Owner, "customer")[0].Str("id")
		before := len(s.ProviderObjects(m.Owner, "invoice"))
		made := s.AtProvider("POST", "/subscriptions", "customer", customer, "items[0][price]", meteredPrice(s, "calls", "30"), "metadata[plan_id]", plan)
		if made.At("latest_invoice") != nil {
			t.Errorf("first invoice = %v", made.At("latest_invoice"))
		}
		apptest.Eventually(t, "that it is taken over", func() bool { return s.Subscription(m.Owner).At("data") != nil })
		s.Subscription(m.Owner).WantAt("data.status", "active").WantAt("data.payment_action", nil).WantAt("data.plan.id", plan)
		if n := len(s.ProviderObjects(m.Owner, "invoice")); n != before {
			t.Errorf("%d invoices were made", n-before)
		}
		m.use("calls", 4)
		m.settled()
		s.AdvanceTo(s.Now().Add(5 * time.Second))
		s.Cancel(m.Owner, true).Want(200)
		m.wantBilled("4 × calls = 120")
	})
}
