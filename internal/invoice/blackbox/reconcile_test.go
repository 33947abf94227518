package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Reconciliation finds provider changes whose events were lost and applies them. Of an issued
// invoice it changes only the status, and reports other differences.
func TestReconcileInvoices(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		open := k.AddPastDue("paid", "voided", "lost", "late", "other", "gone")
		s.AtProvider("POST", "/invoices/"+open["late"]+"/mark_uncollectible")
		s.AwaitNotifications()
		if found := s.Reconcile(false); len(found) != 0 {
			t.Fatalf("before any change: %v", found)
		}
		s.Chaos(apptest.ChaosNoWebhooks)
		s.PayAtProvider(open["paid"])
		s.AtProvider("POST", "/invoices/"+open["voided"]+"/void")
		s.AtProvider("POST", "/invoices/"+open["lost"]+"/mark_uncollectible")
		s.PayAtProvider(open["late"]) // its status in this service is already final
		apptest.Exec(t, s.DB(), `UPDATE invoices SET total_cents = 5, currency = 'USD' WHERE psp_invoice_id = $1`, open["other"])
		apptest.Exec(t, s.SandboxDB(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, open["gone"])
		// Create an invoice without an event: an upgrade that is billed immediately.
		s.AddPlan("pro", "flat", "month", 49_00, 0, nil)
		missing := s.Register("missing@example.com", true)
		s.Chaos(nil)
		s.BuyPlan(missing, "starter")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		sub := s.ProviderObjects(missing, "subscription")[0]
		s.AtProvider("POST", "/subscriptions/"+sub.Str("id"), "items[0][id]", sub.Str("items.data.0.id"), "items[0][quantity]", "3",
			"proration_behavior", "always_invoice")
		made := s.ProviderObjects(missing, "invoice")[1].Str("id")

		left := map[string][]string{
			open["late"]:  {"differs status"},
			open["other"]: {"differs total", "differs currency"},
			open["gone"]:  {"missing_there"},
		}
		want := map[string][]string{
			open["paid"]: {"differs status"}, open["voided"]: {"differs status"}, open["lost"]: {"differs status"}, made: {"missing_here"},
		}
		repaired := map[string][]string{}
		for id, differences := range want {
			repaired[id] = apptest.MarkRepaired(differences)
		}
		for id, differences := range left {
			want[id], repaired[id] = differences, differences
		}
		s.AwaitJobs()
		before := s.StoredBilling()
		apptest.SameDifferences(t, "a dry run", onlyInvoices(s, s.Reconcile(true)), want)
		if after := s.StoredBilling(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		apptest.SameDifferences(t, "the reconciliation", onlyInvoices(s, s.Reconcile(false)), repaired)
		apptest.SameDifferences(t, "another one", s.Reconcile(false), left)
		for name, status := range map[string]string{"paid": "paid", "voided": "void", "lost": "uncollectible", "late": "uncollectible", "gone": "open"} {
			if got := s.InvoiceStates(k.Names[name])[open[name]]; got != status {
				t.Errorf("%s is %q, want %s", name, got, status)
			}
		}
		if got := s.InvoiceStates(missing); got[made] != "paid" || len(got) != 2 {
			t.Errorf("missing: %v", got)
		}
		// The log names the tenant, the difference and the reason why nothing was repaired.
		a := s.Call("POST", "/sandbox/stripe/reconcile", "", nil).Want(200)
		for _, text := range []string{
			`"of":"invoice","kind":"differs","tenant_id":"` + k.Names["other"].Tenant + `","psp_id":"` + open["other"] +
				`","field":"total","here":"5","there":"1900","repaired":false,"reason":"an invoice that was issued is never changed"`,
			`"reason":"the state here is final"`,
		} {
			if !strings.Contains(a.Text, text) {
				t.Errorf("%s is not in %s", text, a.Text)
			}
		}
	}, apptest.WithPlatformInvoices)
}

// onlyInvoices removes the differences of subscriptions.
func onlyInvoices(_ *apptest.Server, found map[string][]string) map[string][]string {
	for id := range found {
		if !strings.HasPrefix(id, "in_") {
			delete(found, id)
		}
	}
	return found
}

// hide makes the provider return "not found" for an invoice.
func hide(s *apptest.Server, id string) {
	s.T.Helper()
	apptest.Exec(s.T, s.SandboxDB(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, id)
	apptest.Exec(s.T, s.SandboxDB(), `UPDATE stripe_objects SET doc = json_set(doc, '$.latest_invoice', NULL)
		WHERE kind = 'subscription' AND doc ->> '$.latest_invoice' = $1`, id)
}

// Only IDs of the provider's own invoices are stored. Reconciliation deletes IDs that the provider
// does not know, unless the provider has no invoices of the tenant at all.
func TestReconcileIDs(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		open := k.AddPastDue("ada", "eve")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		s.PayAtProvider(open["ada"]) // The provider's invoices are read on request, so nothing differs.
		hide(s, open["ada"])
		evil := map[string][]string{}
		for _, in := range s.ProviderObjects(k.Names["eve"], "invoice") {
			evil[in.Str("id")] = []string{"missing_there"}
			hide(s, in.Str("id"))
		}
		want := func(ada string) map[string][]string {
			all := map[string][]string{open["ada"]: {ada}}
			for id, differences := range evil {
				all[id] = differences
			}
			return all
		}
		s.AwaitJobs()
		before := s.StoredBilling()
		apptest.SameDifferences(t, "a dry run", onlyInvoices(s, s.Reconcile(true)), want("missing_there"))
		if after := s.StoredBilling(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		apptest.SameDifferences(t, "the reconciliation", onlyInvoices(s, s.Reconcile(false)), want("missing_there repaired"))
		apptest.SameDifferences(t, "another one", s.Reconcile(false), evil)
	})
}

// Invoices that cannot be compared are reported, and the others are still compared.
func TestReconcileWithAFailingProvider(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := &apptest.Proxy{}
			s := apptest.Start(t, dialect, apptest.WithPlatformInvoices, w.Option)
			k := s.Customers()
			open := k.AddPastDue("ada", "eve")
			s.AwaitNotifications()
			s.Chaos(apptest.ChaosNoWebhooks)
			for name := range open {
				s.PayAtProvider(open[name])
			}
			ada := s.ProviderObjects(k.Names["ada"], "customer")[0].Str("id")
			for what, breaks := range map[string]func(*http.Request) apptest.Verdict{
				"invoices of tenant " + k.Names["ada"].Tenant: func(r *http.Request) apptest.Verdict {
					if strings.HasSuffix(r.URL.Path, "/invoices") && r.URL.Query().Get("customer") == ada {
						return apptest.Refuse
					}
					return apptest.Pass
				},
				open["ada"]: apptest.ForEndpoint(apptest.Refuse, "GET", "/invoices/"+open["ada"]),
				"subscriptions of the provider's list": func(r *http.Request) apptest.Verdict {
					if strings.HasSuffix(r.URL.Path, "/subscriptions") {
						return apptest.Refuse
					}
					return apptest.Pass
				},
			} {
				w.Tamper(breaks)
				a := s.Call("POST", "/sandbox/stripe/reconcile", "", map[string]any{"dry_run": true}).Want(502)
				if !strings.Contains(a.Str("message"), what) || strings.Contains(a.Str("message"), k.Names["eve"].Tenant) {
					t.Errorf("%s: %s", what, a.Text)
				}
				// If a list cannot be read, stored invoices are compared by ID.
				for name, id := range open {
					if compared := strings.Contains(a.Text, `"psp_id":"`+id+`"`); compared != (what != id) {
						t.Errorf("%s: %s was compared: %v: %s", what, name, compared, a.Text)
					}
				}
			}
			w.Tamper(nil)
			apptest.SameDifferences(t, "the reconciliation", onlyInvoices(s, s.Reconcile(false)), map[string][]string{
				open["ada"]: {"differs status repaired"}, open["eve"]: {"differs status repaired"},
			})
		})
	}
}
