package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// billed makes a meter at the provider and one here whose price in euros is linked
// to it, and a plan to subscribe to.
func (s *server) billed(code, formula, cents string, changes object) (plan string) {
	s.t.Helper()
	theirs := s.tryByHand("POST", "/billing/meters", "display_name", code, "event_name", code, "default_aggregation[formula]", formula).want(200).str("id")
	price := s.tryByHand("POST", "/prices", "currency", "eur", "unit_amount_decimal", cents, "product_data[name]", code,
		"recurring[interval]", "month", "recurring[usage_type]", "metered", "recurring[meter]", theirs).want(200).str("id")
	s.call("POST", adminMeters, s.admin(), with(object{
		"code": code, "name": code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
		"prices": []any{object{"currency": "EUR", "unit_price_cents": 12.5, "psp_price_id": price}},
	}, changes)).want(201)
	k := s.keeper()
	return k.shop(k.product("billed"), "billed", map[string]int{"EUR": 1000}, object{"pricing_type": "usage"})
}

// told reads the identifiers under which the sandbox's provider has counted usage.
func (s *server) told() map[string]int {
	s.t.Helper()
	db := s.sandbox()
	rows, err := db.Conn(s.t.Context()).QueryContext(s.t.Context(), `SELECT identifier FROM stripe_meter_events`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	told := map[string]int{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			s.t.Fatal(err)
		}
		told[id]++
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return told
}

// untilTold lets time go by until the provider has counted so many figures.
func (s *server) untilTold(n int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("that the provider was told of %d figures", n), func() bool {
		s.call("POST", "/sandbox/clock", "", object{"advance": "10s"}).want(200)
		time.Sleep(50 * time.Millisecond) // so that hours do not pass meanwhile
		return len(s.told()) >= n
	})
}

// figure reads a figure of the metrics.
func (s *server) figure(name string) (value float64) {
	s.t.Helper()
	for line := range strings.Lines(s.scrape(s.url + "/metrics")) {
		if text, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(text, &value); err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("no %s", name)
	return 0
}

// lastLine is the line of a tenant's newest invoice at the provider for what a meter
// counted.
func (s *server) lastLine(o owner, code string) (quantity any, amount float64) {
	s.t.Helper()
	invoices := s.held(o, "invoice")
	lines, _ := invoices[len(invoices)-1].at("lines.data").([]any)
	for _, l := range lines {
		if l := l.(map[string]any); strings.Contains(fmt.Sprint(l["description"]), code) {
			return l["quantity_decimal"], l["amount"].(float64)
		}
	}
	s.t.Fatalf("no line for %s in %s", code, invoices[len(invoices)-1].text)
	return nil, 0
}

// What is recorded on a billable meter is told to the provider once per event, by
// its id, although the provider fails, answers get lost and the service ends in
// between; and the invoice of the period bills just that.
func TestBillableUsageIsBilledOnce(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			config := newSettings(t, dialect, w.set)
			s := startWith(t, config)
			plan := s.billed("mails", "sum", "12.5", nil)
			l := s.life("ada")
			l.buy(plan, "EUR", card(goodCard))
			usage := "/api/v1/tenant/" + l.tenant + "/usage"
			want := map[string]int{}
			record := func(n int) {
				t.Helper()
				var events []any
				for range n {
					events = append(events, object{"meter_code": "mails", "quantity": 0.5, "idempotency_key": fmt.Sprint("k", len(want)+len(events))})
				}
				results, _ := l.call("POST", usage+"/batch", l.token, object{"events": events}).want(200).at("data").([]any)
				for _, r := range results {
					want[r.(map[string]any)["id"].(string)]++
				}
				l.call("POST", usage, l.token, events[0]).want(409) // neither stored nor told again
			}

			var calls atomic.Int64
			w.breaks(func(r *http.Request) verdict {
				if !strings.HasSuffix(r.URL.Path, "/billing/meter_events") {
					return pass
				}
				return []verdict{pass, pass, fail, pass, pass, swallow, pass}[calls.Add(1)%7]
			})
			record(30)
			s.untilTold(30)
			eventually(t, "that nothing waits", func() bool { return s.figure("tenantry_usage_report_lag_seconds") == 0 })

			// The provider counts, but no answer arrives; and then the service ends.
			w.breaks(on(swallow, "POST", "/billing/meter_events"))
			l.again()
			record(25)
			s.untilTold(31)
			if lag := s.figure("tenantry_usage_report_lag_seconds"); lag < 10 {
				t.Errorf("lags by %v", lag)
			}
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			w.breaks(nil)
			s = startWith(t, config)
			l.server = s
			l.again()
			s.untilTold(55)
			eventually(t, "that nothing waits", func() bool { return s.figure("tenantry_usage_report_lag_seconds") == 0 })
			if refused := s.figure("tenantry_usage_reports_refused"); refused != 0 {
				t.Errorf("%v are refused", refused)
			}
			if diff := cmp.Diff(want, s.told()); diff != "" {
				t.Errorf("what was told (-want +got)\n%s", diff)
			}

			s.pass(32 * 24 * time.Hour)
			if quantity, amount := s.lastLine(l.owner, "mails"); quantity != "27.5" || amount != 344 { // 343.75
				t.Errorf("the invoice bills %v for %v", quantity, amount)
			}
		})
	}
}
