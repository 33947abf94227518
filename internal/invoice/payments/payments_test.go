package payments_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

type object = apptest.Object

// inBothModes runs a test with both sources of invoices, on both databases.
func inBothModes(t *testing.T, f func(t *testing.T, s *apptest.Server)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.InvoicesByPSP, settings.InvoicesByPlatform} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				f(t, apptest.Start(t, dialect, func(s *settings.Settings) {
					if mode == settings.InvoicesByPlatform {
						apptest.WithPlatformInvoices(s)
					}
				}))
			})
		}
	}
}

// renews creates a customer of a plan for 20.00, advances past the renewal, which can fail, and
// returns the renewal's invoice.
func renews(s *apptest.Server, name, card string) (c *apptest.Customer, invoice apptest.Reply) {
	s.T.Helper()
	k := s.CatalogAdmin()
	plan := k.CreatePricedPlan(k.CreateProduct("life-"+name), "plain-"+name, map[string]int{"EUR": 2000})
	c = s.NewCustomer(name)
	way := apptest.Card(card)
	if card == apptest.CardConfirms {
		way = apptest.Confirmation(card)
	}
	c.Buy(plan, "EUR", way)
	s.Advance(32*apptest.Day + 2*time.Hour)
	c.LogInAgain()
	list := s.Invoices(c.Owner, 2)
	return c, s.Call("GET", c.Path("/invoices/"+list[0].(object)["id"].(string)), c.Token, nil).Want(200)
}

func get(c *apptest.Customer, path string) apptest.Reply {
	c.T.Helper()
	return c.Call("GET", c.Path(path), c.Token, nil).Want(200)
}

func billing(c *apptest.Customer) apptest.Reply {
	c.T.Helper()
	return c.Call("GET", "/api/v1/admin/tenants/"+c.Tenant+"/billing", c.Admin(), nil).Want(200)
}

// entries returns the payment history of a tenant, oldest first.
func entries(s *apptest.Server, o apptest.Owner) (found []string) {
	s.T.Helper()
	rows, err := s.DB().Conn(s.T.Context()).QueryContext(s.T.Context(),
		`SELECT type, amount_cents FROM payment_entries WHERE tenant_id = $1 ORDER BY happened_at, id`, o.Tenant)
	if err != nil {
		s.T.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind string
		var amount int64
		if err := rows.Scan(&kind, &amount); err != nil {
			s.T.Fatal(err)
		}
		found = append(found, fmt.Sprint(kind, " ", amount))
	}
	if err := rows.Err(); err != nil {
		s.T.Fatal(err)
	}
	return found
}

func wantEntries(t *testing.T, s *apptest.Server, o apptest.Owner, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, entries(s, o)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// A declined renewal shows the reason, the number of attempts and the next attempt, until it is
// paid.
func TestFailedPayment(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server) {
		s.AdvanceTo(time.Date(s.Now().Year()+1, time.March, 1, 0, 0, 0, 0, time.UTC)) // all invoices fall into one year of the summary
		c, invoice := renews(s, "ada", apptest.CardFailsAtRenewal)
		there := s.AtProvider("GET", "/invoices/"+invoice.Str("data.psp_invoice_id"))
		failed := get(c, "/billing/failed-payment")
		want := object{
			"invoice": invoice.At("data.id"), "number": invoice.At("data.number"), "amount": 2000.0, "currency": "EUR",
			"at": failed.At("data.at"), "attempts": 1.0, "decline_code": "generic_decline",
			"decline_message": "The payment was declined. Please contact your bank or use another payment method.",
			"next_attempt_at": failed.At("data.next_attempt_at"),
		}
		if diff := cmp.Diff(want, failed.At("data")); diff != "" {
			t.Errorf("the failed payment: %s", diff)
		}
		if next := failed.TimeAt("data.next_attempt_at").Unix(); float64(next) != there.At("next_payment_attempt") {
			t.Errorf("next attempt at %d, at the provider %v", next, there.At("next_payment_attempt"))
		}
		for _, ch := range s.ProviderObjects(c.Owner, "charge") {
			if ch.At("status") == "failed" && ch.At("created") != float64(failed.TimeAt("data.at").Unix()) {
				t.Errorf("failed at %v, at the provider %v", failed.At("data.at"), ch.At("created"))
			}
		}
		if diff := cmp.Diff(failed.At("data"), billing(c).At("data.failed_payment")); diff != "" {
			t.Errorf("the admin API shows another failed payment: %s", diff)
		}
		for locale, text := range map[string]string{"fr": "Le paiement a été refusé", "es": "Se ha rechazado el pago", "it": "Il pagamento è stato rifiutato"} {
			r := s.NewRequest("GET", c.Path("/billing/failed-payment"), c.Token, nil)
			r.Header.Set("Accept-Language", locale)
			if got := s.Do(r).Want(200).Str("data.decline_message"); !strings.HasPrefix(got, text) {
				t.Errorf("%s: %s", locale, got)
			}
		}

		// These endpoints do not call the provider, so they work while it is down.
		s.Chaos(map[string]any{"api": map[string]any{"fail_before": 1}})
		get(c, "/billing/failed-payment")
		get(c, "/invoices/summary")
		s.Chaos(nil)

		s.AdvanceTo(failed.TimeAt("data.next_attempt_at").Add(time.Hour))
		c.LogInAgain()
		again := get(c, "/billing/failed-payment").WantAt("data.attempts", 2.0)
		if !again.TimeAt("data.at").After(failed.TimeAt("data.at")) || !again.TimeAt("data.next_attempt_at").After(again.TimeAt("data.at")) {
			t.Errorf("after another attempt: %s", again.Text)
		}
		wantEntries(t, s, c.Owner, "invoice.issued 2000", "payment.succeeded 2000", "invoice.issued 2000", "payment.failed 2000", "payment.failed 2000")
		summary := get(c, "/invoices/summary")
		summary.WantAt("data.totals.0", object{"currency": "EUR", "paid": 2000.0, "open": 2000.0, "refunded": 0.0, "count": 2.0})
		billing(c).WantAt("data.paid_in_all", []any{object{"currency": "EUR", "amount": 2000.0}}).WantAt("data.open", []any{object{"currency": "EUR", "amount": 2000.0}})

		c.ReplaceCard(apptest.CardPays)
		s.Call("POST", c.Path("/invoices/"+invoice.Str("data.id")+"/pay"), c.Token, nil).Want(200)
		get(c, "/billing/failed-payment").WantAt("data", nil)
		billing(c).WantAt("data.failed_payment", nil).WantAt("data.open", []any{}).WantAt("data.paid_in_all.0.amount", 4000.0)
		s.AwaitNotifications()
		wantEntries(t, s, c.Owner, "invoice.issued 2000", "payment.succeeded 2000", "invoice.issued 2000", "payment.failed 2000", "payment.failed 2000", "payment.succeeded 2000")
	})
}

// A renewal that needs confirmation shows the action. If the payer refuses, the payment has failed.
func TestPaymentToConfirm(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server) {
		c, invoice := renews(s, "ada", apptest.CardConfirms)
		get(c, "/billing/failed-payment").WantAt("data.decline_code", "authentication_required").WantAt("data.invoice", invoice.At("data.id"))
		refusal := apptest.Confirmation("")
		refusal.Set("authentication", "refused")
		s.Submit(invoice.Str("data.payment_action.url"), refusal).Want(402)
		s.AwaitNotifications()
		get(c, "/billing/failed-payment").WantAt("data.decline_code", "payment_intent_authentication_failure").
			WantAt("data.decline_message", "The bank requires you to confirm this payment. Please confirm it or use another payment method.")
		wantEntries(t, s, c.Owner, "invoice.issued 2000", "payment.succeeded 2000", "invoice.issued 2000", "payment.action_required 2000", "payment.failed 2000")
		admin := "/api/v1/admin/tenants/" + c.Tenant + "/invoices/" + invoice.Str("data.id") + "/void"
		s.Call("POST", admin, s.Admin(), nil).Want(200)
		s.AwaitNotifications()
		get(c, "/billing/failed-payment").WantAt("data", nil)
		if got := entries(s, c.Owner); got[len(got)-1] != "invoice.voided 2000" {
			t.Errorf("after voiding: %v", got)
		}
	})
}

// Confidential decline codes are shown only in the admin API.
func TestConfidentialDeclineCodes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c, _ := renews(s, "ada", apptest.CardFailsAtRenewal)
		for code, told := range map[string]any{
			"stolen_card": "generic_decline", "lost_card": "generic_decline", "fraudulent": "generic_decline",
			"insufficient_funds": "insufficient_funds", "something_new": "something_new",
		} {
			apptest.Exec(t, s.DB(), "UPDATE psp_invoices SET decline_code = $1 WHERE failed_at IS NOT NULL", code)
			own, admin := get(c, "/billing/failed-payment"), billing(c)
			own.WantAt("data.decline_code", told)
			admin.WantAt("data.failed_payment.decline_code", code).WantAt("data.failed_payment.decline_message", own.At("data.decline_message"))
			if general := strings.Contains(own.Str("data.decline_message"), "contact your bank"); general == (code == "insufficient_funds") {
				t.Errorf("%s: %s", code, own.Text)
			}
		}
		apptest.Exec(t, s.DB(), "UPDATE psp_invoices SET decline_code = NULL")
		get(c, "/billing/failed-payment").WantAt("data.decline_code", nil)
	})
}

// Reconciliation stores missing payment states and updates outdated ones.
func TestComparisonMakesUpForStates(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server) {
		c, _ := renews(s, "ada", apptest.CardFailsAtRenewal)
		summary, failed, happened := get(c, "/invoices/summary"), get(c, "/billing/failed-payment"), entries(s, c.Owner)
		check := func(what string) {
			t.Helper()
			for path, want := range map[string]apptest.Reply{"/invoices/summary": summary, "/billing/failed-payment": failed} {
				if got := get(c, path); got.Text != want.Text {
					t.Errorf("%s: %s, want %s", what, got.Text, want.Text)
				}
			}
			wantEntries(t, s, c.Owner, happened...)
		}
		apptest.Exec(t, s.DB(), "UPDATE psp_invoices SET status = NULL, year = NULL, currency = NULL, paid_cents = 0, open_cents = 0, attempts = 0, failed_at = NULL, failed_key = NULL, decline_code = NULL")
		apptest.Exec(t, s.DB(), "DELETE FROM payment_entries")
		s.Reconcile(true)
		get(c, "/invoices/summary").WantAt("data.totals", []any{})
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { s.Reconcile(false) })
		}
		both.Wait()
		check("never stored")
		apptest.Exec(t, s.DB(), "UPDATE psp_invoices SET status = 'open', paid_cents = 0, open_cents = 2000 WHERE status = 'paid'")
		s.Reconcile(false)
		check("behind")
		s.Reconcile(false)
		check("again")
	})
}

// A state that is older than the stored one is discarded.
func TestLateStates(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c, invoice := renews(s, "ada", apptest.CardPays)
		s.AwaitJobs()
		before := s.StoredBilling()
		late(t, s, c.Owner, invoice.Str("data.psp_invoice_id"))
		if diff := cmp.Diff(before, s.StoredBilling()); diff != "" {
			t.Errorf("a late state was stored: %s", diff)
		}
		wantEntries(t, s, c.Owner, "invoice.issued 2000", "payment.succeeded 2000", "invoice.issued 2000", "payment.succeeded 2000")
	})
}
