package creditnote_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// onlyNotes removes the differences of other objects.
func onlyNotes(found map[string][]string) map[string][]string {
	for id := range found {
		if !strings.HasPrefix(id, "cn_") {
			delete(found, id)
		}
	}
	return found
}

// Reconciliation records credit notes whose events were lost, and voided ones. It never changes the
// amount of an issued credit note but reports the difference.
func TestReconcileCreditNotes(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		c := buy(s, "ada", apptest.CardPays)
		other := c.credit(body(100, "credit")).Want(201).Str("data.id")
		s.AwaitNotifications()
		pspInvoice := c.show().Str("data.psp_invoice_id")
		of := func(i int) string {
			return s.AtProvider("GET", "/credit_notes", "invoice", pspInvoice).At("data").([]any)[i].(map[string]any)["id"].(string)
		}
		differing := of(0)
		if found := onlyNotes(s.Reconcile(false)); len(found) != 0 {
			t.Fatalf("before any change: %v", found)
		}
		s.Chaos(apptest.ChaosNoWebhooks)
		s.AtProvider("POST", "/credit_notes", "invoice", pspInvoice, "amount", "300", "credit_amount", "300")
		missing := of(0)
		apptest.Exec(t, s.DB(), `UPDATE credit_notes SET total_cents = 5 WHERE psp_credit_note_id = $1`, differing)

		apptest.SameDifferences(t, "a dry run", onlyNotes(s.Reconcile(true)), map[string][]string{missing: {"missing_here"}, differing: {"differs total"}})
		c.get("/credit-notes").WantAt("meta.total", 1.0)
		apptest.SameDifferences(t, "the reconciliation", onlyNotes(s.Reconcile(false)), map[string][]string{missing: {"missing_here repaired"}, differing: {"differs total"}})
		c.get("/credit-notes").WantAt("meta.total", 2.0)
		c.get("/credit-notes/"+other).WantAt("data.total", cents(5))
		apptest.SameDifferences(t, "another one", onlyNotes(s.Reconcile(false)), map[string][]string{differing: {"differs total"}})
	})
}

// Reconciliation voids a credit note that was voided at the provider.
func TestReconcileVoidedCreditNotes(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		c := bought{Customer: s.NewCustomer("ada")}
		c.admin("POST", "/subscriptions", object{
			"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "price_cents": 1900, "collection": "invoice", "days_until_due": 14,
		}).Want(201)
		s.AwaitNotifications()
		c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
		id := c.credit(body(400, "none")).Want(201).Str("data.id")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		made := s.AtProvider("GET", "/credit_notes", "invoice", c.show().Str("data.psp_invoice_id")).Str("data.0.id")
		s.AtProvider("POST", "/credit_notes/"+made+"/void")
		apptest.SameDifferences(t, "a dry run", onlyNotes(s.Reconcile(true)), map[string][]string{made: {"differs status"}})
		c.get("/credit-notes/"+id).WantAt("data.status", "issued")
		apptest.SameDifferences(t, "the reconciliation", onlyNotes(s.Reconcile(false)), map[string][]string{made: {"differs status repaired"}})
		c.get("/credit-notes/"+id).WantAt("data.status", "void")
		apptest.SameDifferences(t, "another one", onlyNotes(s.Reconcile(false)), map[string][]string{})
	})
}
