package creditnote_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A refund can fail after it succeeded, and be pending before it succeeds. Several requests to
// retry a failed refund retry it once.
func TestRefundsChangeLater(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		waits := buy(s, "eve", apptest.CardRefundsWait)
		waits.credit(body(500, "refund")).Want(201).WantAt("data.refund_status", "pending")
		waits.show().WantAt("data.refunded", cents(500))
		waits.preview(body(1, "refund")).Want(200).WantAt("data.refundable", cents(1400))

		c := buy(s, "ada", apptest.CardRefundsFail)
		note := c.credit(body(1900, "refund")).Want(201).WantAt("data.refund_status", "succeeded").Str("data.id")
		s.Advance(time.Minute)
		apptest.Eventually(t, "the refunds", func() bool {
			return c.get("/credit-notes/"+note).At("data.refund_status") == "failed" && waits.get("/credit-notes").At("data.0.refund_status") == "succeeded"
		})
		c.show().WantAt("data.refunded", cents(0)).WantAt("data.credited", cents(1900))

		var done atomic.Int32
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				switch got := c.admin("POST", "/credit-notes/"+note+"/retry-refund", nil); got.Status {
				case 200:
					got.WantAt("data.refund_status", "succeeded")
					done.Add(1)
				default:
					got.WantRefused(409, "refund_not_failed")
				}
			})
		}
		wait.Wait()
		if n, m := done.Load(), s.CountAudited(c.Owner, "credit_note.refund_retried"); n != 1 || m != 1 {
			t.Errorf("%d retries succeeded, %d audit entries", n, m)
		}
		if n := len(s.AtProvider("GET", "/refunds", "limit", "10").At("data").([]any)); n != 3 {
			t.Errorf("%d refunds at the provider", n)
		}
	})
}

// If the response to a retried refund is lost, the next attempt finds the refund.
func TestLostAnswerToARetry(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		c := buy(s, "ada", apptest.CardRefundsFail)
		note := c.credit(body(500, "refund")).Want(201).Str("data.id")
		s.Advance(time.Minute)
		apptest.Eventually(t, "the failure", func() bool { return c.get("/credit-notes/"+note).At("data.refund_status") == "failed" })
		s.Chaos(apptest.ChaosNoWebhooks)
		p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, http.MethodPost, "/refunds"))
		retry := func() apptest.Reply { return c.admin("POST", "/credit-notes/"+note+"/retry-refund", nil) }
		retry().WantRefused(502, "psp_error")
		p.Tamper(nil)
		s.RetryWhileDown(retry).Want(200).WantAt("data.refund_status", "succeeded")
		retry().WantRefused(409, "refund_not_failed")
		if n := len(s.AtProvider("GET", "/refunds", "limit", "10").At("data").([]any)); n != 2 {
			t.Errorf("%d refunds at the provider", n)
		}
	})
}

// Credit notes and refunds that were created at the provider count as well.
func TestCreditNotesMadeAtTheProvider(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		c := buy(s, "ada", apptest.CardPays)
		s.AtProvider("POST", "/refunds", "charge", s.ProviderObjects(c.Owner, "charge")[0].Str("id"), "amount", "300")
		s.AtProvider("POST", "/credit_notes", "invoice", c.show().Str("data.psp_invoice_id"), "amount", "1000", "refund_amount", "600", "credit_amount", "400", "memo", "By hand")
		s.AwaitNotifications()
		apptest.Eventually(t, "the credit note", func() bool { return c.get("/credit-notes").At("meta.total") == 1.0 })
		c.get("/credit-notes").WantAt("data.0.total", cents(1000)).WantAt("data.0.settlement", "refund").WantAt("data.0.reason", "other").WantAt("data.0.memo", "By hand")
		apptest.Eventually(t, "the refunds", func() bool { return c.show().At("data.refunded.amount_cents") == 900.0 })
		c.show().WantAt("data.credited", cents(1000))
		c.preview(body(900, "refund")).Want(200).WantAt("data.refundable", cents(1000))
		c.credit(body(901, "refund")).Want(422).WantAt("amount_left", cents(900))
	})
}

// Payments by transfer are not refunded.
func TestNothingToRefund(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := bought{Customer: s.NewCustomer("ada")}
		c.admin("POST", "/subscriptions", object{
			"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "price_cents": 1900, "collection": "invoice", "days_until_due": 14,
		}).Want(201)
		s.AwaitNotifications()
		c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
		c.admin("POST", "/invoices/"+c.invoice+"/mark-paid", object{"reference": "TR 1"}).Want(200)
		c.credit(body(1, "refund")).Want(422).WantAt("amount_left", cents(0))
		c.preview(body(500, "none")).Want(200).WantAt("data.refundable", cents(0))
		c.credit(body(500, "none")).Want(201)
		c.credit(body(1400, "credit")).Want(201)
	})
}
