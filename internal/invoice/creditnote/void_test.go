package creditnote_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// unpaid is a customer with an open invoice of 20.00 EUR.
func unpaid(s *apptest.Server, name string) bought {
	s.T.Helper()
	c := bought{Customer: s.NewCustomer(name)}
	c.admin("POST", "/subscriptions", object{
		"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "price_cents": 2000, "collection": "invoice",
	}).Want(201)
	s.AwaitNotifications()
	c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
	return c
}

// async sends a request as an admin and returns the channel of its response.
func (b bought) async(path string, body any) <-chan apptest.Reply {
	b.T.Helper()
	r := b.NewRequest("POST", "/api/v1/admin/tenants/"+b.Tenant+"/invoices/"+b.invoice+path, b.Admin(), body)
	reply := make(chan apptest.Reply, 1)
	go func() { reply <- b.Do(r) }()
	return reply
}

// While an invoice is being voided, it cannot be credited or voided again. The voiding has one audit
// entry, and the credit note is refused.
func TestCreditDuringVoiding(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		c := unpaid(s, "ada")
		w.Tamper(apptest.ForEndpoint(apptest.HoldAnswer, http.MethodGet, "/invoices/"))
		first := c.async("/void", nil)
		apptest.Eventually(t, "the claim", func() bool {
			return s.CountRows(`SELECT count(*) FROM psp_invoices WHERE void_leased_until IS NOT NULL`) == 1
		})
		second, note := c.async("/void", nil), c.async("/credit-notes", body(500, "none"))
		time.Sleep(500 * time.Millisecond) // both wait
		w.ReleaseAnswers()
		w.Tamper(nil)
		(<-first).Want(200).WantAt("data.status", "void")
		(<-second).WantRefused(422, "invoice_not_voidable")
		(<-note).WantRefused(409, "invoice_not_creditable")
		c.show().WantAt("data.status", "void").WantAt("data.credited", cents(0))
		if n := s.CountAudited(c.Owner, "invoice.voided"); n != 1 {
			t.Errorf("%d audit entries", n)
		}
	})
}

// An invoice cannot be voided while a credit note is being issued.
func TestVoidDuringCredit(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		c := unpaid(s, "ada")
		w.Tamper(apptest.ForEndpoint(apptest.HoldAnswer, http.MethodPost, "/credit_notes"))
		note := c.async("/credit-notes", body(500, "none"))
		apptest.Eventually(t, "the claim", func() bool { return s.CountRows(`SELECT count(*) FROM credit_notes`) == 1 })
		c.admin("POST", "/invoices/"+c.invoice+"/void", nil).WantRefused(409, "invoice_has_credit_notes")
		w.ReleaseAnswers()
		w.Tamper(nil)
		(<-note).Want(201)
		c.show().WantAt("data.status", "open").WantAt("data.credited", cents(500))
	})
}

// A member who loses the right to pay while the invoice is being read pays nothing.
func TestPayAfterLosingTheRight(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		c := unpaid(s, "ada")
		token, id := s.Join(c.Owner, "Bob", "bob@example.com", "admin")
		path := c.Path("/invoices/" + c.invoice + "/pay")
		s.AwaitNotifications()
		w.Count("")
		w.Tamper(apptest.ForEndpoint(apptest.HoldAnswer, http.MethodGet, "/invoices/"))
		r := c.NewRequest("POST", path, token, nil)
		reply := make(chan apptest.Reply, 1)
		go func() { reply <- c.Do(r) }()
		asked := 0
		apptest.Eventually(t, "the read", func() bool {
			for _, in := range c.ProviderObjects(c.Owner, "invoice") {
				asked += w.Count("GET /invoices/" + in.Str("id"))
			}
			return asked > 0
		})
		s.Call("DELETE", c.Path("/team/members/")+apptest.IDText(float64(id)), c.Token, nil).Want(200)
		w.ReleaseAnswers()
		w.Tamper(nil)
		if got := <-reply; got.Status != 403 && got.Status != 401 && got.Status != 404 {
			t.Errorf("%d: %s", got.Status, got.Text)
		}
	})
}
