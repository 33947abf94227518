package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// owing registers tenants whose renewal has failed, so that each has a paid and an
// open invoice, and returns the provider's open ones.
func (k customers) owing(names ...string) (open map[string]string) {
	k.t.Helper()
	for _, name := range names {
		k.names[name] = k.register(name+"@example.com", true)
		k.subscribeBy(k.names[name], "starter", lateCard)
	}
	k.settled()
	k.pass(32 * day)
	open = map[string]string{}
	for _, name := range names {
		for _, in := range k.held(k.names[name], "invoice") {
			if in.at("status") == "open" {
				open[name] = in.str("id")
			}
		}
		if open[name] == "" {
			k.t.Fatalf("%s has no open invoice", name)
		}
		o := k.names[name]
		o.token = k.login(name + "@example.com")
		k.names[name] = o
		k.invoices(o, 2)
	}
	return open
}

// payByHand has an invoice paid at the provider, with another card.
func (s *server) payByHand(invoice string) {
	s.t.Helper()
	customer := s.byHand("GET", "/invoices/"+invoice).str("customer")
	card := s.byHand("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).str("id")
	s.byHand("POST", "/invoices/"+invoice+"/pay", "payment_method", card)
}

// states are the tenant's invoices as they are shown: status by the provider's id.
func (s *server) states(o owner) map[string]string {
	s.t.Helper()
	list := s.call("GET", "/api/v1/tenant/"+o.tenant+"/invoices?per_page=100", o.token, nil).want(200).at("data").([]any)
	states := map[string]string{}
	for _, in := range list {
		in := in.(map[string]any)
		states[in["psp_invoice_id"].(string)] = in["status"].(string)
	}
	return states
}

// What became of invoices at the provider without a notification is found and
// follows here; what was issued is never changed, and said instead.
func TestReconcileInvoices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		open := k.owing("paid", "voided", "lost", "late", "other", "gone")
		s.byHand("POST", "/invoices/"+open["late"]+"/mark_uncollectible")
		s.settled()
		if found := s.reconcile(false); len(found) != 0 {
			t.Fatalf("before anything was changed: %v", found)
		}
		s.chaos(noWebhooks)
		s.payByHand(open["paid"])
		s.byHand("POST", "/invoices/"+open["voided"]+"/void")
		s.byHand("POST", "/invoices/"+open["lost"]+"/mark_uncollectible")
		s.payByHand(open["late"]) // which is final here
		execute(t, dbtest.Open(t, s.database), `UPDATE invoices SET total_cents = 5, currency = 'USD' WHERE psp_invoice_id = $1`, open["other"])
		execute(t, s.sandbox(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, open["gone"])
		// One that is made without a notification: a plan that costs more, billed at once.
		s.sell("pro", "flat", "month", 49_00, 0, nil)
		missing := s.register("missing@example.com", true)
		s.chaos(nil)
		s.subscribe(missing, "starter")
		s.settled()
		s.chaos(noWebhooks)
		sub := s.held(missing, "subscription")[0]
		s.byHand("POST", "/subscriptions/"+sub.str("id"), "items[0][id]", sub.str("items.data.0.id"), "items[0][quantity]", "3",
			"proration_behavior", "always_invoice")
		made := s.held(missing, "invoice")[1].str("id")

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
			repaired[id] = mapped(differences, func(d string) string { return d + " repaired" })
		}
		for id, differences := range left {
			want[id], repaired[id] = differences, differences
		}
		before := s.stored()
		same(t, "a dry run", s.invoicesOf(s.reconcile(true)), want)
		if after := s.stored(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		same(t, "the reconciliation", s.invoicesOf(s.reconcile(false)), repaired)
		same(t, "another one", s.reconcile(false), left)
		for name, status := range map[string]string{"paid": "paid", "voided": "void", "lost": "uncollectible", "late": "uncollectible", "gone": "open"} {
			if got := s.states(k.names[name])[open[name]]; got != status {
				t.Errorf("%s is %q, want %s", name, got, status)
			}
		}
		if got := s.states(missing); got[made] != "paid" || len(got) != 2 {
			t.Errorf("missing: %v", got)
		}
		// The lines say whose it is, what differs and why nothing was done.
		a := s.call("POST", "/sandbox/stripe/reconcile", "", nil).want(200)
		for _, text := range []string{
			`"of":"invoice","kind":"differs","tenant_id":"` + k.names["other"].tenant + `","psp_id":"` + open["other"] +
				`","field":"total","here":"5","there":"1900","repaired":false,"reason":"an invoice that was issued is never changed"`,
			`"reason":"the state here is final"`,
		} {
			if !strings.Contains(a.text, text) {
				t.Errorf("%s is not in %s", text, a.text)
			}
		}
	}, platformManaged)
}

// invoicesOf leaves out the differences of subscriptions.
func (s *server) invoicesOf(found map[string][]string) map[string][]string {
	for id := range found {
		if !strings.HasPrefix(id, "in_") {
			delete(found, id)
		}
	}
	return found
}

// Of the provider's own invoices only ids are kept here: one that leads nowhere is
// forgotten, but not if the provider seems to have none at all of the tenant's.
func TestReconcileIDs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		open := k.owing("ada", "eve")
		s.settled()
		s.chaos(noWebhooks)
		s.payByHand(open["ada"]) // read when it is asked for: nothing differs
		execute(t, s.sandbox(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, open["ada"])
		evil := map[string][]string{}
		for _, in := range s.held(k.names["eve"], "invoice") {
			evil[in.str("id")] = []string{"missing_there"}
			execute(t, s.sandbox(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, in.str("id"))
		}
		want := func(ada string) map[string][]string {
			all := map[string][]string{open["ada"]: {ada}}
			for id, differences := range evil {
				all[id] = differences
			}
			return all
		}
		before := s.stored()
		same(t, "a dry run", s.invoicesOf(s.reconcile(true)), want("missing_there"))
		if after := s.stored(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		same(t, "the reconciliation", s.invoicesOf(s.reconcile(false)), want("missing_there repaired"))
		same(t, "another one", s.reconcile(false), evil)
	})
}

// What cannot be compared is named, and keeps nothing else from being compared.
func TestReconcileWithAFailingProvider(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			s := start(t, dialect, platformManaged, w.set)
			k := customers{s, map[string]owner{}}
			open := k.owing("ada", "eve")
			s.settled()
			s.chaos(noWebhooks)
			for name := range open {
				s.payByHand(open[name])
			}
			ada := s.held(k.names["ada"], "customer")[0].str("id")
			for what, breaks := range map[string]func(*http.Request) verdict{
				"invoices of tenant " + k.names["ada"].tenant: func(r *http.Request) verdict {
					if strings.HasSuffix(r.URL.Path, "/invoices") && r.URL.Query().Get("customer") == ada {
						return refuse
					}
					return pass
				},
				open["ada"]: on(refuse, "GET", "/invoices/"+open["ada"]),
				"subscriptions of the provider's list": func(r *http.Request) verdict {
					if strings.HasSuffix(r.URL.Path, "/subscriptions") {
						return refuse
					}
					return pass
				},
			} {
				w.breaks(breaks)
				a := s.call("POST", "/sandbox/stripe/reconcile", "", map[string]any{"dry_run": true}).want(502)
				if !strings.Contains(a.str("message"), what) || strings.Contains(a.str("message"), k.names["eve"].tenant) {
					t.Errorf("%s: %s", what, a.text)
				}
				// Where a list cannot be read, what is known here is asked for by its id.
				for name, id := range open {
					if compared := strings.Contains(a.text, `"psp_id":"`+id+`"`); compared != (what != id) {
						t.Errorf("%s: %s was compared: %v: %s", what, name, compared, a.text)
					}
				}
			}
			w.breaks(nil)
			same(t, "the reconciliation", s.invoicesOf(s.reconcile(false)), map[string][]string{
				open["ada"]: {"differs status repaired"}, open["eve"]: {"differs status repaired"},
			})
		})
	}
}
