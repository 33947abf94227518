package blackbox_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// owes creates a customer whose renewal payment failed with the card, and returns the path of the
// open invoice.
func owes(s *apptest.Server, name, plan, card string) (c *apptest.Customer, invoice string) {
	s.T.Helper()
	c = s.NewCustomer(name)
	way := apptest.Card(card)
	if card == apptest.CardConfirms {
		way = apptest.Confirmation(card)
	}
	c.Buy(plan, "EUR", way)
	s.Advance(32*apptest.Day + 2*time.Hour)
	c.LogInAgain()
	s.Subscription(c.Owner).WantAt("data.status", "past_due")
	list := s.Invoices(c.Owner, 2)
	return c, c.Path("/invoices/" + list[0].(map[string]any)["id"].(string))
}

// wantAction checks that the invoice has a payment action of the kind, and returns the URL of the
// provider's page.
func wantAction(a apptest.Reply, at, kind string) string {
	a.T.Helper()
	page, _ := a.At(at + ".url").(string)
	if a.At(at+".type") != kind || !strings.Contains(page, "/sandbox/invoices/in_") {
		a.T.Fatalf("%s is not %s: %s", at, kind, a.Text)
	}
	return page
}

// An open invoice shows its payment action and is paid once, by any member with the permission.
func TestPayInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
		c, path := owes(s, "ada", plan, apptest.CardFailsAtRenewal)
		shown := func(status string) apptest.Reply {
			return s.Call("GET", path, c.Token, nil).Want(200).WantAt("data.status", status)
		}
		page := wantAction(shown("open"), "data.payment_action", "pay")
		wantAction(s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).WantAt("data.1.payment_action", nil), "data.0.payment_action", "pay")
		apptest.Eventually(t, "the mail", func() bool {
			for _, m := range s.Mails("billing@example.com") {
				if strings.Contains(m["text"].(string), page) {
					return true
				}
			}
			return false
		})

		other := s.NewCustomer("eve")
		member, _ := s.Join(c.Owner, "Grace", "grace@example.com", "member")
		s.Call("POST", path+"/pay", member, nil).Want(403)
		s.Call("POST", path+"/pay", other.Token, nil).Want(403)
		s.Call("POST", c.Path("/invoices/01990000-0000-7000-8000-000000000000/pay"), c.Token, nil).Want(404)
		s.Call("POST", c.Path("/invoices/x/pay"), c.Token, nil).Want(404)

		failed := s.Call("POST", path+"/pay", c.Token, nil)
		failed.WantRefused(422, "payment_failed")
		if got := wantAction(failed, "payment_action", "pay"); got != page {
			t.Errorf("the page is %s, and was %s", got, page)
		}
		// Adding a card does not pay the invoice. Concurrent payments charge the card once.
		c.ReplaceCard(apptest.CardPays)
		shown("open")
		charges := len(s.ProviderObjects(c.Owner, "charge"))
		statuses := make([]int, 8)
		var wg sync.WaitGroup
		for i := range statuses {
			wg.Go(func() { statuses[i] = s.Call("POST", path+"/pay", c.Token, nil).Status })
		}
		wg.Wait()
		paid := 0
		for _, status := range statuses {
			if status == 200 {
				paid++
			} else if status != 409 {
				t.Errorf("a payment at the same time: %d", status)
			}
		}
		if made := len(s.ProviderObjects(c.Owner, "charge")) - charges; paid == 0 || made != 1 {
			t.Errorf("%d payments succeeded, %d were charged", paid, made)
		}
		shown("paid").WantAt("data.payment_action", nil)
		s.Subscription(c.Owner).WantAt("data.status", "active")
		s.Call("POST", path+"/pay", c.Token, nil).WantRefused(409, "invoice_not_payable")
		if n := s.CountAudited(c.Owner, "invoice.paid"); n == 0 {
			t.Error("the payment is not in the audit log")
		}
	})
}

// A payment that requires confirmation is confirmed on the provider's page.
func TestConfirmInvoice(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
		c, path := owes(s, "ada", plan, apptest.CardConfirms)
		page := wantAction(s.Call("GET", path, c.Token, nil).Want(200), "data.payment_action", "confirm")
		mailed := func(subject string) bool {
			return slices.ContainsFunc(s.Mails("billing@example.com"), func(m map[string]any) bool {
				return m["subject"] == subject && strings.Contains(m["text"].(string), page)
			})
		}
		const confirm, failed = "Confirm the payment for the “Plan plain” plan", "Payment failed for the “Plan plain” plan"
		apptest.Eventually(t, "the mail", func() bool { return mailed(confirm) })
		if mailed(failed) {
			t.Error("the payment is announced as failed")
		}
		again := s.Call("POST", path+"/pay", c.Token, nil)
		again.WantRefused(422, "payment_failed")
		wantAction(again, "payment_action", "confirm")
		// If the bank refuses the confirmation, the invoice can still be paid another way.
		refusal := apptest.Confirmation("")
		refusal.Set("authentication", "refused")
		s.Submit(page, refusal).Want(402)
		s.AwaitNotifications()
		apptest.Eventually(t, "the mail after the refusal", func() bool { return mailed(failed) })
		wantAction(s.Call("GET", path, c.Token, nil).Want(200), "data.payment_action", "pay")
		s.Call("POST", path+"/pay", c.Token, nil).WantRefused(422, "payment_failed")
		wantAction(s.Call("GET", path, c.Token, nil).Want(200), "data.payment_action", "confirm")
		s.Submit(page, apptest.Confirmation("")).Want(303)
		s.AwaitNotifications()
		s.Call("GET", path, c.Token, nil).Want(200).WantAt("data.status", "paid").WantAt("data.payment_action", nil)
		s.Subscription(c.Owner).WantAt("data.status", "active")
	})
}

// An admin voids an invoice, or records its payment, while a member's payment is being declined.
// The member did not pay.
func TestPayingAnInvoiceThatIsSettledMeanwhile(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"void": "/void", "marked as paid": "/mark-paid"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
				k := s.CatalogAdmin()
				plan := k.CreatePricedPlan(k.CreateProduct("life"), "plain", map[string]int{"EUR": 2000})
				c := s.NewCustomer("ada")
				k.AdminCall("POST", "/tenants/"+c.Tenant+"/subscriptions", map[string]any{"plan_id": plan, "currency": "EUR", "collection": "invoice"}).Want(201)
				id := s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
				asked := make(chan struct{})
				var first sync.Once
				p.Tamper(func(r *http.Request) (does apptest.Verdict) {
					if strings.HasSuffix(r.URL.Path, "/pay") {
						first.Do(func() { does = apptest.HoldAnswer; close(asked) })
					}
					return does
				})
				paid := make(chan apptest.Reply, 1)
				go func() { paid <- s.Call("POST", c.Path("/invoices/"+id+"/pay"), c.Token, nil) }()
				<-asked
				k.AdminCall("POST", "/tenants/"+c.Tenant+"/invoices/"+id+path, map[string]any{}).Want(200)
				p.ReleaseAnswers()
				(<-paid).WantRefused(409, "invoice_not_payable")
				if n := s.CountAudited(c.Owner, "invoice.paid"); n != 0 {
					t.Errorf("%d entries of a payment", n)
				}
			})
		})
	}
}
