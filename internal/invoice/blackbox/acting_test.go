package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The platform pays and voids a customer's invoice. pdf_url is the
// platform's path, and creditable is the amount of a line that can still be credited.
func TestActingForInvoices(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode) {
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		plan := s.PlanID(ada.Owner, "starter")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		admin := s.Admin()
		ofAda, ofBob := "/api/v1/admin/tenants/"+ada.Tenant, "/api/v1/admin/tenants/"+bob.Tenant
		paid := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		id, total := paid.Str("data.0.id"), paid.At("data.0.total.amount_cents").(float64)
		paid.WantAt("data.0.lines.0.creditable", apptest.Object{"amount_cents": total, "currency": "EUR"})
		s.Call("POST", ofAda+"/invoices/"+id+"/pay", admin, nil).WantRefused(409, "invoice_not_payable")
		s.Call("POST", ofBob+"/invoices/"+id+"/pay", admin, nil).WantRefused(404, "")
		s.Call("POST", ofAda+"/invoices/"+id+"/pay", ada.Token, nil).WantRefused(403, "")
		s.Call("POST", ofAda+"/invoices/"+id+"/void", admin, nil).WantRefused(422, "invoice_not_voidable")
		line := paid.Str("data.0.lines.0.id")
		note := apptest.Object{"lines": []any{apptest.Object{"line_id": line, "amount_cents": 300}}, "settlement": "credit", "reason": "other"}
		s.Call("POST", ofAda+"/invoices/"+id+"/credit-notes", admin, note).Want(201)
		s.Call("GET", ofAda+"/invoices/"+id, admin, nil).Want(200).WantAt("data.lines.0.creditable.amount_cents", total-300)

		// In one mode, the service renders the document soon after the payment.
		pdf := ofAda + "/invoices/" + id + "/pdf"
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", pdf, admin, nil).Status == 200 })
		s.Call("GET", ofAda+"/invoices/"+id, admin, nil).Want(200).WantAt("data.pdf_url", pdf)
		s.Call("GET", ofBob+"/invoices/"+id+"/pdf", admin, nil).WantRefused(404, "")

		// An open invoice.
		s.Call("POST", ofBob+"/subscriptions", admin, apptest.Object{"plan_id": plan, "currency": "EUR", "collection": "invoice"}).Want(201)
		bob.AwaitNotifications()
		open := s.Call("GET", bob.Path("/invoices"), bob.Token, nil).Want(200).Str("data.0.id")
		// Without a card, the customer has to pay on the provider's page.
		for path, token := range map[string]string{bob.Path("/invoices/" + open + "/pay"): bob.Token, ofBob + "/invoices/" + open + "/pay": admin} {
			refused := s.Call("POST", path, token, nil)
			refused.WantRefused(422, "payment_failed")
			if refused.Str("payment_action.type") != "pay" || refused.Str("payment_action.url") == "" {
				t.Errorf("%s: %s", path, refused.Text)
			}
		}
		s.Call("POST", ofBob+"/invoices/"+open+"/credit-notes", admin, apptest.Object{"amount_cents": 100, "settlement": "none", "reason": "other"}).Want(201)
		s.Call("POST", ofBob+"/invoices/"+open+"/void", admin, nil).WantRefused(409, "invoice_has_credit_notes")
		shown := s.Call("POST", ofBob+"/invoices/"+open+"/mark-paid", admin, apptest.Object{}).Want(200)
		if url, _ := shown.At("data.pdf_url").(string); url != "" && !strings.HasPrefix(url, ofBob) {
			t.Errorf("the PDF is at %s", url)
		}
		if mode == settings.InvoicesByPlatform && shown.At("data.tax") == nil {
			t.Errorf("the platform's own invoice lacks a tax: %s", shown.Text)
		}
	})
}
