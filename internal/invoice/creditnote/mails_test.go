package creditnote_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Reminders and receipts of an invoice show the amount without its credit notes. An invoice that is
// credited in full gets no receipt.
func TestMailsAboutACreditedInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		s.AvoidMidnight()
		open := func(name string) (b bought, number string) {
			b = bought{Customer: s.NewCustomer(name)}
			b.admin("POST", "/subscriptions", object{
				"plan_id": s.PlanID(b.Owner, "starter"), "currency": "EUR", "price_cents": 2000, "collection": "invoice", "days_until_due": 4,
			}).Want(201)
			s.AwaitNotifications()
			s.AwaitJobs() // mail the invoice now, because a later mail replaces the reminder
			in := s.Invoices(b.Owner, 1)[0].(map[string]any)
			b.invoice = in["id"].(string)
			b.credit(body(500, "none")).Want(201)
			return b, in["number"].(string)
		}
		mails := func(subject string) (texts []string) {
			for _, m := range s.Mails("billing@example.com") {
				if m["subject"] == subject {
					texts = append(texts, m["text"].(string))
				}
			}
			return texts
		}
		want := func(subject string) {
			t.Helper()
			apptest.Eventually(t, subject, func() bool { return len(mails(subject)) == 1 })
			if text := mails(subject)[0]; !strings.Contains(text, "€15.00") || strings.Contains(text, "€20.00") {
				t.Errorf("%s:\n%s", subject, text)
			}
		}
		ada, adas := open("ada")
		bob, bobs := open("bob")
		eve, eves := open("eve")
		s.Advance(26 * time.Hour)
		for _, number := range []string{adas, bobs, eves} {
			want("Reminder: invoice " + number)
		}
		eve.credit(body(1500, "none")).Want(201)
		eve.LogInAgain()
		eve.show().WantAt("data.status", "paid")
		ada.admin("POST", "/invoices/"+ada.invoice+"/mark-paid", object{}).Want(200)
		want("Receipt for invoice " + adas)
		bob.PayOpenInvoices(apptest.Card(apptest.CardPays))
		want("Receipt for invoice " + bobs)
		if got := mails("Receipt for invoice " + eves); len(got) != 0 {
			t.Errorf("the receipt of an invoice that was never paid:\n%s", got)
		}
	}, func(s *settings.Settings) { s.OptionalMails = []string{"receipt"} })
}
