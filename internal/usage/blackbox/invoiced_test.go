package blackbox_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The last period of a subscription is billed normally, although the service learns of its end only
// afterwards.
func TestLastPeriodIsBilled(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "peak", "sum", "100", apptest.Object{"aggregation_type": "max"})
		ends := s.NewCustomer("ends")
		ends.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		now := s.NewCustomer("now")
		now.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		for _, c := range []*apptest.Customer{ends, now} {
			for _, quantity := range []float64{3, 5.5, 4} {
				c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "peak", "quantity": quantity}).Want(201)
			}
		}
		told := len(reportedUsage(s))
		id := now.Subscription(now.Owner).Str("data.id")
		s.Call("POST", "/api/v1/admin/tenants/"+now.Tenant+"/subscriptions/"+id+"/cancel", s.Admin(), apptest.Object{"immediately": true}).Want(200)
		if got := len(reportedUsage(s)); got < told+2 && got < 4 {
			t.Errorf("%d figures reported before the end", got)
		}
		awaitReported(s, 4)
		ends.Call("POST", ends.Path("/subscription/cancel"), ends.Token, nil).Want(200)
		s.Advance(32 * apptest.Day)
		if quantity, amount := lastLine(s, ends.Owner, "peak"); quantity != "5.5" || amount != 550 {
			t.Errorf("the last invoice bills %v for %v", quantity, amount)
		}
	})
}

// The invoice of a renewal is a draft for an hour. If the subscription is canceled immediately
// during that hour, the invoice still bills the usage of the last period and seat changes. An
// invoice whose payment fails stays open.
func TestCancelNowWhileTheRenewalIsADraft(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "peak", "sum", "100", apptest.Object{"aggregation_type": "max"})
		s.AddPlan("crew", "seat", "year", 36500, 0, nil)
		buyers := map[string]*apptest.Customer{}
		for name, card := range map[string]string{"pays": apptest.CardPays, "fails": apptest.CardFailsAtRenewal, "seats": apptest.CardPays} {
			c := s.NewCustomer(name)
			buyers[name] = c
			if name == "seats" {
				c.Buy(s.PlanID(c.Owner, "crew"), "EUR", apptest.Card(card))
				s.Join(c.Owner, "Grace", "grace@example.com", "member")
				continue
			}
			c.Buy(plan, "EUR", apptest.Card(card))
			c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "peak", "quantity": 5.5}).Want(201)
		}
		awaitReported(s, 2)
		s.AwaitNotifications()
		seats := buyers["seats"]
		apptest.Eventually(t, "the seats", func() bool { return s.Subscription(seats.Owner).At("data.quantity") == 2.0 })
		s.AdvanceTo(s.Now().AddDate(0, 1, 0).Add(10 * time.Minute))
		for name, c := range buyers {
			c.LogInAgain()
			made := s.ProviderObjects(c.Owner, "invoice")
			if last := made[len(made)-1]; last.At("status") != "draft" {
				t.Fatalf("%s: the last invoice is %s", name, last.Text)
			}
			s.Cancel(c.Owner, true).Want(200).WantAt("data.status", "canceled")
			want := map[string]string{"pays": "paid", "fails": "open", "seats": "paid"}[name]
			after := s.ProviderObjects(c.Owner, "invoice")
			if last := after[len(after)-1]; len(after) != len(made) || last.At("status") != want {
				t.Errorf("%s: %d more invoices, the last is %s", name, len(after)-len(made), last.Text)
			}
			if name == "seats" {
				if total := after[len(after)-1].At("total").(float64); total < 36400 || total > 36500 {
					t.Errorf("the seat costs %v", total)
				}
			} else if quantity, amount := lastLine(s, c.Owner, "peak"); quantity != "5.5" || amount != 550 {
				t.Errorf("%s: the last period is billed %v for %v", name, amount, quantity)
			}
			s.AwaitNotifications()
			if got := s.InvoiceStates(c.Owner)[after[len(after)-1].Str("id")]; got != want {
				t.Errorf("%s: the invoice is shown as %s", name, got)
			}
		}
	})
}

// link gives a meter a new price in euros.
func link(s *apptest.Server, code, price string, cents float64) {
	s.T.Helper()
	id := s.Call("GET", adminMeters+"?filter[code]="+code, s.Admin(), nil).Want(200).Str("data.0.id")
	s.Call("PATCH", adminMeters+"/"+id, s.Admin(), apptest.Object{
		"prices": []any{apptest.Object{"currency": "EUR", "unit_price_cents": cents, "psp_price_id": price}},
	}).Want(200)
}

// Usage recorded after the invoice of its period is final becomes a rejected report, but still
// counts. While the invoice is a draft, the usage is billed.
func TestLateUsageIsListed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		begun := s.Now()
		end, err := time.Parse(time.RFC3339, s.Subscription(c.Owner).Str("data.current_period_end"))
		if err != nil {
			t.Fatal(err)
		}
		record := func(quantity int) {
			t.Helper()
			c.LogInAgain()
			c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{
				"meter_code": "mails", "quantity": quantity, "recorded_at": begun.Add(time.Hour).Format(time.RFC3339),
			}).Want(201)
		}
		s.AdvanceTo(end.Add(10 * time.Minute))
		s.AwaitNotifications()
		record(2) // the invoice is a draft
		awaitReported(s, 1)
		s.AdvanceTo(end.Add(3 * time.Hour))
		if quantity, _ := lastLine(s, c.Owner, "mails"); quantity != "2" {
			t.Errorf("the invoice bills %v", quantity)
		}
		record(3)
		var out bytes.Buffer
		apptest.Eventually(t, "that the late usage is listed", func() bool {
			s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10s"}).Want(200)
			out.Reset()
			if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(out.String(), "period_closed")
		})
		if strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), " 3 ") {
			t.Errorf("listed is\n%s", out.String())
		}
		if len(reportedUsage(s)) != 1 {
			t.Error("late usage was reported")
		}
	})
}

// Late usage is also listed if the subscription ends before the usage is reported.
func TestLateUsageBeforeACancellationIsListed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		begun := s.Now()
		s.AdvanceTo(begun.AddDate(0, 1, 0).Add(3 * time.Hour))
		c.LogInAgain()
		s.AwaitJobs()
		record(c, "mails", 3, apptest.Object{"recorded_at": begun.Add(time.Hour).Format(time.RFC3339)})
		s.Cancel(c.Owner, true).Want(200)
		var out bytes.Buffer
		awaitJobs(s, "that the late usage is listed", func() bool {
			out.Reset()
			if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
				t.Fatal(err)
			}
			return metric(s, "tenantry_usage_report_lag_seconds") == 0
		})
		if !strings.Contains(out.String(), "period_closed") || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), " 3 ") {
			t.Errorf("listed is\n%s", out.String())
		}
	})
}

// After a change to a plan without usage, late usage is listed if the plan at its time billed usage.
func TestLateUsageAfterAChangeOfPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		begun := s.Now()
		s.AdvanceTo(begun.AddDate(0, 1, 0).Add(3 * time.Hour))
		c.LogInAgain()
		s.ChangePlan(c.Owner, "solo", nil).Want(200)
		s.AdvanceTo(begun.AddDate(0, 2, 0).Add(3 * time.Hour))
		c.LogInAgain()
		for quantity, at := range map[int]time.Time{3: begun.AddDate(0, 0, 27), 4: begun.AddDate(0, 1, 10)} {
			record(c, "mails", quantity, apptest.Object{"recorded_at": at.Format(time.RFC3339)})
		}
		awaitJobs(s, "the end of the reports", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })
		var out bytes.Buffer
		if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "period_closed") != 1 || !strings.Contains(out.String(), " 3 ") {
			t.Errorf("listed is\n%s", out.String())
		}
	})
}

// A change to a plan without usage invoices the usage of the current period, so usage from before the
// change that is recorded after it is listed.
func TestLateUsageOfTheCurrentPeriodAfterAChangeOfPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		begun := s.Now()
		record(c, "mails", 2, nil)
		s.Advance(5 * apptest.Day)
		c.LogInAgain()
		s.ChangePlan(c.Owner, "solo", nil).Want(200)
		if _, amount := lastLine(s, c.Owner, "mails"); amount != 200 {
			t.Errorf("the change bills %v", amount)
		}
		s.Advance(time.Hour)
		c.LogInAgain()
		for quantity, at := range map[int]time.Time{3: begun.AddDate(0, 0, 2), 4: s.Now()} {
			record(c, "mails", quantity, apptest.Object{"recorded_at": at.Format(time.RFC3339)})
		}
		awaitJobs(s, "the end of the reports", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })
		s.ChangePlan(c.Owner, "billed", nil).Want(200)
		for quantity, at := range map[int]time.Time{5: begun.AddDate(0, 0, 3), 6: s.Now()} {
			record(c, "mails", quantity, apptest.Object{"recorded_at": at.Format(time.RFC3339)})
		}
		awaitJobs(s, "the end of the reports", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })
		var out bytes.Buffer
		if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "period_closed") != 2 || !strings.Contains(out.String(), " 3 ") || !strings.Contains(out.String(), " 5 ") {
			t.Errorf("listed is\n%s", out.String())
		}
	})
}

// A change to a plan without usage bills the figures that are queued. They are not listed, even if the
// notification about the new plan comes first, and the figures are reported before the change ends.
func TestUsageThatAChangeBillsIsNotListed(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		s.AddPlan("solo", "flat", "month", 2000, 0, nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		s.Advance(5 * apptest.Day)
		c.LogInAgain()
		solo := s.PlanID(c.Owner, "solo")
		record(c, "mails", 7, nil)
		var held atomic.Bool
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, "/subscriptions/sub") || held.Swap(true) {
				return apptest.Pass
			}
			return apptest.HoldAnswer
		})
		made := make(chan apptest.Reply)
		go func() { made <- s.ChangePlan(c.Owner, "solo", nil) }()
		apptest.Eventually(t, "the new plan", func() bool { return s.Subscription(c.Owner).At("data.plan.id") == solo })
		awaitJobs(s, "the end of the reports", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })
		p.ReleaseAnswers()
		(<-made).Want(200)
		if _, amount := lastLine(s, c.Owner, "mails"); amount != 700 {
			t.Errorf("the change bills %v", amount)
		}
		var out bytes.Buffer
		if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "period_closed") {
			t.Errorf("listed is\n%s", out.String())
		}
	})
}

// The estimate equals the usage on the next invoice to the cent: for all aggregations and reset
// intervals, for months and years, after a price change, in a trial, and with a plan that does not
// bill usage.
func TestEstimateIsTheNextInvoice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		random := rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
		plans := map[string]string{}
		plans["month"] = sellMetered(s, "m-sum", "sum", "12.5", nil)
		sellMeter(s, "m-day", "sum", "0.003", apptest.Object{"reset_interval": "daily"})
		sellMeter(s, "m-max", "sum", "7", apptest.Object{"aggregation_type": "max", "reset_interval": "weekly"})
		sellMeter(s, "m-peak", "last", "9", apptest.Object{"aggregation_type": "max", "reset_interval": "weekly"})
		sellMeter(s, "m-last", "last", "33.3", apptest.Object{"aggregation_type": "last_value", "reset_interval": "none"})
		k := s.CatalogAdmin()
		plans["trial"] = k.CreatePricedPlan(k.CreateProduct("tried"), "tried", map[string]int{"EUR": 1000}, apptest.Object{"pricing_type": "usage", "trial_days": 20})
		plans["flat"] = k.CreatePricedPlan(k.CreateProduct("flat-plan"), "flat-plan", map[string]int{"EUR": 1000})
		buyers := map[string]*apptest.Customer{}
		for name, plan := range plans {
			buyers[name] = s.NewCustomer(name)
			buyers[name].Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		}
		link(s, "m-sum", meteredPrice(s, "m-sum", "99"), 99) // existing subscriptions keep their price
		events := 0
		for day := range 15 {
			s.AdvanceTo(s.Now().Add(apptest.Day))
			for name, c := range buyers {
				c.LogInAgain()
				for _, code := range []string{"m-sum", "m-day", "m-max", "m-peak", "m-last"} {
					if name != "month" && day%5 > 0 || random.IntN(3) == 0 {
						continue
					}
					c.Call("POST", c.Path("/usage"), c.Token, fmt.Sprintf(`{"meter_code":%q,"quantity":%d.%06d}`, code, random.IntN(50), random.IntN(1e6))).Want(201)
					events++
				}
			}
		}
		apptest.Eventually(t, "that everything is reported", func() bool {
			s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10s"}).Want(200)
			return metric(s, "tenantry_usage_report_lag_seconds") == 0
		})
		estimates := map[string]float64{}
		for name, c := range buyers {
			c.LogInAgain()
			estimates[name] = c.Call("GET", c.Path("/usage/cost-estimate"), c.Token, nil).Want(200).At("data.total_amount_cents").(float64)
		}
		s.Advance(33 * apptest.Day)
		for name, c := range buyers {
			billed := 0.0
			for _, in := range s.ProviderObjects(c.Owner, "invoice")[1:2] { // the first renewal
				lines, _ := in.At("lines.data").([]any)
				for _, l := range lines {
					if l := l.(map[string]any); l["quantity_decimal"] != nil {
						billed += l["amount"].(float64)
					}
				}
			}
			if estimates[name] != billed || (billed > 0) != (name == "month") {
				t.Errorf("%s: the estimate was %v, billed is %v", name, estimates[name], billed)
			}
		}
	})
}

// The provider accepts usage for a deleted customer. A later thin event turns it into a rejected
// report.
func TestUsageFoundWrongLaterIsListed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "mails", "sum", "100", nil)
		c := s.NewCustomer("ada")
		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		apptest.Exec(t, s.DB(), `UPDATE psp_customers SET psp_customer_id = 'cus_gone' WHERE tenant_id = $1`, c.Tenant)
		c.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "mails", "quantity": 7}).Want(201)
		var out bytes.Buffer
		apptest.Eventually(t, "that the usage is listed", func() bool {
			s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10s"}).Want(200)
			out.Reset()
			if err := commands.ListRefusedUsage(t.Context(), s.CLISettings(), &out); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(out.String(), "meter_event_customer_not_found: No such customer: 'cus_gone'")
		})
		apptest.Exec(t, s.DB(), `UPDATE psp_customers SET psp_customer_id = $1 WHERE tenant_id = $2`, s.ProviderObjects(c.Owner, "customer")[0].Str("id"), c.Tenant)
		if err := commands.RetryRefusedUsage(t.Context(), s.CLISettings(), commands.RejectedUsageSelection{}, &out); err != nil {
			t.Fatal(err)
		}
		awaitReported(s, 1)
	})
}
