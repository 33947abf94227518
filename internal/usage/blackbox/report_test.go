package blackbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const adminMeters = "/api/v1/admin/meters"

// sellMeter creates a meter in the service and at the provider, with a linked price in euros.
func sellMeter(s *apptest.Server, code, formula, cents string, changes apptest.Object) {
	s.T.Helper()
	s.TryAtProvider("POST", "/billing/meters", "display_name", code, "event_name", code, "default_aggregation[formula]", formula).Want(200)
	s.Call("POST", adminMeters, s.Admin(), apptest.WithChanges(apptest.Object{
		"code": code, "name": code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
		"prices": []any{apptest.Object{"currency": "EUR", "unit_price_cents": json.RawMessage(cents), "psp_price_id": meteredPrice(s, code, cents)}},
	}, changes)).Want(201)
}

// meteredPrice creates a monthly price in euros at the provider, for its meter with the given event
// name.
func meteredPrice(s *apptest.Server, code, cents string) (price string) {
	s.T.Helper()
	for _, m := range s.AllProviderObjects("billing.meter") {
		if m.Str("event_name") == code {
			return s.TryAtProvider("POST", "/prices", "currency", "eur", "unit_amount_decimal", cents, "product_data[name]", code,
				"recurring[interval]", "month", "recurring[usage_type]", "metered", "recurring[meter]", m.Str("id")).Want(200).Str("id")
		}
	}
	s.T.Fatalf("no meter %s at the provider", code)
	return ""
}

// sellMetered calls sellMeter and creates a plan to subscribe to.
func sellMetered(s *apptest.Server, code, formula, cents string, changes apptest.Object) (plan string) {
	s.T.Helper()
	sellMeter(s, code, formula, cents, changes)
	k := s.CatalogAdmin()
	return k.CreatePricedPlan(k.CreateProduct("billed"), "billed", map[string]int{"EUR": 1000}, apptest.Object{"pricing_type": "usage"})
}

// reportedUsage returns the identifiers of the usage that the sandbox's provider has counted.
func reportedUsage(s *apptest.Server) map[string]int {
	s.T.Helper()
	db := s.SandboxDB()
	rows, err := db.Conn(s.T.Context()).QueryContext(s.T.Context(), `SELECT identifier FROM stripe_meter_events`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer rows.Close()
	told := map[string]int{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			s.T.Fatal(err)
		}
		told[id]++
	}
	if err := rows.Err(); err != nil {
		s.T.Fatal(err)
	}
	return told
}

// awaitReported advances the clock until the provider has counted n figures.
func awaitReported(s *apptest.Server, n int) {
	s.T.Helper()
	awaitJobs(s, fmt.Sprintf("%d reported figures", n), func() bool { return len(reportedUsage(s)) >= n })
}

// awaitJobs advances the clock until done returns true, because reports and retries of jobs are due
// only after some time. The failure names the condition what.
func awaitJobs(s *apptest.Server, what string, done func() bool) {
	s.T.Helper()
	apptest.Eventually(s.T, what, func() bool {
		passJobs(s)
		return done()
	})
}

// passJobs advances the clock so that jobs become due, and gives them real time to run.
func passJobs(s *apptest.Server) {
	s.T.Helper()
	s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "10s"}).Want(200)
	time.Sleep(50 * time.Millisecond) // otherwise the clock would run months ahead of the jobs
}

// metric returns the value of a metric.
func metric(s *apptest.Server, name string) (value float64) {
	s.T.Helper()
	for line := range strings.Lines(s.Scrape(s.URL + "/metrics")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(text, &value); err != nil {
				s.T.Fatal(err)
			}
			return value
		}
	}
	s.T.Fatalf("no %s", name)
	return 0
}

// lastLine returns the line for a meter on a tenant's newest invoice at the provider.
func lastLine(s *apptest.Server, o apptest.Owner, code string) (quantity any, amount float64) {
	s.T.Helper()
	invoices := s.ProviderObjects(o, "invoice")
	lines, _ := invoices[len(invoices)-1].At("lines.data").([]any)
	for _, l := range lines {
		if l := l.(map[string]any); strings.Contains(fmt.Sprint(l["description"]), code) {
			return l["quantity_decimal"], l["amount"].(float64)
		}
	}
	s.T.Fatalf("no line for %s in %s", code, invoices[len(invoices)-1].Text)
	return nil, 0
}

// Every event on a billable meter is reported to the provider and counted once under its ID, even
// if the provider fails, responses get lost, and the service restarts in between. The invoice of
// the period bills exactly these events.
func TestBillableUsageIsBilledOnce(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := &apptest.Proxy{}
			config := apptest.NewSettings(t, dialect, w.Option)
			s := apptest.StartWith(t, config)
			plan := sellMetered(s, "mails", "sum", "12.5", nil)
			l := s.NewCustomer("ada")
			l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
			usage := l.Path("/usage")
			want := map[string]int{}
			record := func(n int) {
				t.Helper()
				var events []any
				for range n {
					events = append(events, apptest.Object{"meter_code": "mails", "quantity": 0.5, "idempotency_key": fmt.Sprint("k", len(want)+len(events))})
				}
				results, _ := l.Call("POST", usage+"/batch", l.Token, apptest.Object{"events": events}).Want(200).At("data").([]any)
				for _, r := range results {
					want[r.(map[string]any)["id"].(string)]++
				}
				l.Call("POST", usage, l.Token, events[0]).Want(409) // neither stored nor reported again
			}

			var calls atomic.Int64
			w.Tamper(func(r *http.Request) apptest.Verdict {
				if !strings.HasSuffix(r.URL.Path, "/billing/meter_events") {
					return apptest.Pass
				}
				return []apptest.Verdict{apptest.Pass, apptest.Pass, apptest.Fail, apptest.Pass, apptest.Pass, apptest.LoseAnswer, apptest.Pass}[calls.Add(1)%7]
			})
			record(30)
			awaitReported(s, 30)
			apptest.Eventually(t, "that nothing waits", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })

			// The provider counts, but its response is lost; then the service stops.
			w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/billing/meter_events"))
			l.LogInAgain()
			record(25)
			awaitReported(s, 31)
			if lag := metric(s, "tenantry_usage_report_lag_seconds"); lag < 10 {
				t.Errorf("lags by %v", lag)
			}
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			w.Tamper(nil)
			s = apptest.StartWith(t, config)
			l.Server = s
			l.LogInAgain()
			awaitReported(s, 55)
			apptest.Eventually(t, "that nothing waits", func() bool { return metric(s, "tenantry_usage_report_lag_seconds") == 0 })
			if refused := metric(s, "tenantry_usage_reports_refused"); refused != 0 {
				t.Errorf("%v are refused", refused)
			}
			if diff := cmp.Diff(want, reportedUsage(s)); diff != "" {
				t.Errorf("reported usage (-want +got)\n%s", diff)
			}

			s.Advance(32 * 24 * time.Hour)
			if quantity, amount := lastLine(s, l.Owner, "mails"); quantity != "27.5" || amount != 344 { // 343.75
				t.Errorf("the invoice bills %v for %v", quantity, amount)
			}
		})
	}
}
