package purchase_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

type object = apptest.Object

// shop is a service that sells the pack calls: 1,000.5 API calls for 49.00 EUR, valid for 30 days.
type shop struct {
	apptest.CatalogAdmin
	pack string // its path below /admin
}

func open(s *apptest.Server) shop {
	k := s.CatalogAdmin()
	return shop{k, "/packs/" + k.AdminCall("POST", "/packs", object{
		"slug": "calls", "name": object{"en": "1,000 API calls", "fr": "1 000 appels"}, "feature_code": "api-calls", "amount": 1000.5,
		"expires_after_days": 30, "prices": []any{apptest.Price("EUR", 4900), apptest.Price("USD", 5200)},
	}).Want(201).Str("data.id")}
}

// checkout opens a checkout for the pack.
func (s shop) checkout(o apptest.Owner, changes ...object) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/packs/calls/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, append([]object{{"currency": "EUR"}}, changes...)...))
}

// buy pays for packs with a form such as apptest.Card, and waits for the notifications.
func (s shop) buy(o apptest.Owner, way map[string][]string, changes ...object) (session string) {
	s.T.Helper()
	opened := s.checkout(o, changes...).Want(200)
	s.Submit(opened.Str("data.url"), way).Want(303)
	s.AwaitNotifications()
	return opened.Str("data.session_id")
}

// grants returns the tenant's grants from the admin API, which does not read open checkouts back.
func (s shop) grants(o apptest.Owner) apptest.Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/admin/tenants/"+o.Tenant+"/grants", s.Admin(), nil).Want(200)
}

func (s shop) wantGrants(o apptest.Owner, want int) apptest.Reply {
	s.T.Helper()
	got := s.grants(o)
	if list, _ := got.At("data").([]any); len(list) != want {
		s.T.Fatalf("%d grants, want %d: %s", len(list), want, got.Text)
	}
	return got
}

// refund refunds an amount of the newest payment at the provider.
func (s shop) refund(o apptest.Owner, amount string) {
	s.T.Helper()
	charges := s.ProviderObjects(o, "charge")
	s.AtProvider("POST", "/refunds", "charge", charges[len(charges)-1].Str("id"), "amount", amount)
}

func inBothModes(t *testing.T, f func(t *testing.T, s shop)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		for _, mode := range []settings.InvoiceMode{settings.InvoicesByPSP, settings.InvoicesByPlatform} {
			t.Run(string(dialect)+"/"+string(mode), func(t *testing.T) {
				t.Parallel()
				f(t, open(apptest.Start(t, dialect, func(s *settings.Settings) {
					if mode == settings.InvoicesByPlatform {
						apptest.WithPlatformInvoices(s)
					}
				})))
			})
		}
	}
}

// A paid pack is granted with amount × quantity, and has a separate invoice without a subscription.
// Repeated notifications change nothing.
func TestPurchase(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s shop) {
		o := s.Register("ada@example.com", true)
		opened := s.checkout(o, object{"quantity": 3}).Want(200)
		if !strings.HasPrefix(opened.Str("data.session_id"), "cs_") {
			t.Errorf("session %s", opened.Text)
		}
		s.AwaitNotifications()
		s.wantGrants(o, 0)
		s.Submit(opened.Str("data.url"), apptest.Card(apptest.CardDeclined)).Want(402)
		s.AwaitNotifications()
		s.wantGrants(o, 0)
		paid := s.Now()
		s.Submit(opened.Str("data.url"), apptest.Card(apptest.CardPays)).Want(303)
		s.AwaitNotifications()
		got := s.wantGrants(o, 1).WantAt("data.0.feature_code", "api-calls").WantAt("data.0.amount", 3001.5).WantAt("data.0.remaining", 3001.5).
			WantAt("data.0.priority", 50.0).WantAt("data.0.source", "purchase").WantAt("data.0.pack", "calls").WantAt("data.0.reason", nil)
		if d := got.TimeAt("data.0.expires_at").Sub(paid.Add(30 * apptest.Day)); d.Abs() > time.Minute {
			t.Errorf("the grant expires %s late: %s", d, got.Text)
		}

		id := got.Str("data.0.invoice_id")
		invoice := s.Call("GET", o.Path("/invoices/"+id), o.Token, nil).Want(200).WantAt("data.subscription_id", nil).WantAt("data.status", "paid").
			WantAt("data.total", object{"amount_cents": 14700.0, "currency": "EUR"}).WantAt("data.balance_applied.amount_cents", 0.0).
			WantAt("data.lines.0.quantity", 3.0).WantAt("data.lines.0.description", "1,000 API calls").WantAt("data.lines.0.type", "adjustment")
		if invoice.Str("data.number") == "" || len(s.Invoices(o, 1)) != 1 {
			t.Errorf("invoice %s", invoice.Text)
		}
		apptest.Eventually(t, "the document", func() bool {
			return s.Call("GET", o.Path("/invoices/"+id+"/pdf"), o.Token, nil).Status == http.StatusOK
		})
		if s.Subscription(o).At("data") != nil {
			t.Error("the tenant has a subscription")
		}
		for _, action := range []string{"checkout.opened", "pack.purchased"} {
			if n := s.CountAudited(o, action); n != 1 {
				t.Errorf("%s is recorded %d times", action, n)
			}
		}
		s.Call("POST", "/sandbox/stripe/replay", "", object{"times": 2}).Want(200)
		s.AwaitNotifications()
		s.wantGrants(o, 1)
		if n := s.CountAudited(o, "pack.purchased"); n != 1 {
			t.Errorf("after repeated notifications the purchase is recorded %d times", n)
		}

		// The next purchase of the same pack is a separate purchase.
		if again := s.buy(o, apptest.Card(apptest.CardPays)); again == opened.Str("data.session_id") {
			t.Error("a paid session is sold again")
		}
		s.wantGrants(o, 2).WantAt("data.0.amount", 1000.5)
		s.Invoices(o, 2)
		for kind, differences := range s.Reconcile(true) {
			if len(differences) > 0 {
				t.Errorf("%s differ from the provider's: %v", kind, differences)
			}
		}
	})
}

// The checks of a checkout, in their order.
func TestRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := open(server)
		o, fresh := s.Register("ada@example.com", true), s.Register("bob@example.com", false)
		member, _ := s.Join(o, "Eve", "eve@example.com", "member")
		at := func(slug string) string { return o.Path("/packs/" + slug + "/checkout") }
		body := apptest.WithChanges(apptest.ReturnURLs, object{"currency": "EUR"})
		s.Call("POST", at("calls"), "", body).WantRefused(401, "")
		s.Call("POST", at("calls"), member, body).WantRefused(403, "")
		s.Call("PATCH", "/api/v1/onboarding/complete-setup", fresh.Token, object{"city": "Paris", "country": "FR"}).Want(200)
		s.Call("POST", at("calls"), fresh.Token, body).WantRefused(403, "")
		for _, slug := range []string{"nope", "CALLS", "%00", "%ff", strings.Repeat("a", 300)} {
			s.Call("POST", at(slug), o.Token, body).As(slug).WantRefused(404, "")
		}
		s.Call("POST", at("nope"), o.Token, object{}).WantRefused(404, "")
		for fields, change := range map[string]object{
			"currency":                {"currency": "SEK"},
			"success_url":             {"success_url": "app"},
			"quantity":                {"quantity": 0},
			"cancel_url":              {"cancel_url": nil},
			"currency quantity":       {"currency": "GBP", "quantity": 101},
			"currency success_url":    {"currency": nil, "success_url": ""},
			"quantity success_url":    {"quantity": 1.5, "success_url": "javascript:alert(1)"},
			"currency quantity again": {"currency": "EURO", "quantity": "1"},
		} {
			s.checkout(o, change).As(fields).WantInvalid(strings.Fields(strings.TrimSuffix(fields, " again"))...)
		}
		s.checkout(o, object{"currency": "eur", "quantity": 100}).Want(200)
		if got := s.Call("POST", fresh.Path("/packs/calls/checkout"), fresh.Token, body).As("incomplete details"); got.Status != 422 || got.At("code") != "billing_not_ready" || got.At("missing_fields") == nil {
			t.Errorf("incomplete billing details: %s", got.Text)
		}
		s.AdminCall("PATCH", "/currencies/USD", object{"is_active": false}).Want(200)
		s.checkout(o, object{"currency": "USD"}).As("inactive currency").WantInvalid("currency")

		s.AdminCall("PATCH", s.pack, object{"prices": []any{apptest.Price("EUR", 30)}}).Want(200)
		s.checkout(o).WantAt("price_status", "below_minimum").WantRefused(422, "plan_not_sellable")
		s.checkout(o, object{"quantity": 2}).Want(200)
		s.AdminCall("PATCH", s.pack, object{"prices": []any{apptest.Price("EUR", 99_999_999)}}).Want(200)
		s.checkout(o, object{"quantity": 2}).WantRefused(422, "psp_amount_unsupported")

		s.AdminCall("PATCH", s.pack, object{"is_active": false}).Want(200)
		s.checkout(o).As("inactive").WantRefused(404, "")
		s.AdminCall("PATCH", s.pack, object{"is_active": true}).Want(200)
		s.checkout(o).Want(200)
		s.AdminCall("DELETE", s.pack, nil).Want(204)
		s.checkout(o).As("deleted").WantRefused(404, "")
	})
}

// A checkout copies its pack: a changed price and a changed pack apply from the next checkout,
// and a deleted pack can still be paid.
func TestOpenCheckoutKeepsItsPrices(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := open(server)
		o := s.Register("ada@example.com", true)
		before := s.checkout(o).Want(200).Str("data.url")
		s.AdminCall("PATCH", s.pack, object{"amount": 2000, "expires_after_days": nil, "prices": []any{apptest.Price("EUR", 8000)}}).Want(200)
		after := s.checkout(o).Want(200).Str("data.url")
		s.AdminCall("DELETE", s.pack, nil).Want(204)
		s.AdminCall("DELETE", s.AdminCall("GET", "/meters?filter[code]=api-calls", nil).Str("data.0.id"), nil)
		for i, want := range []struct {
			page          string
			amount, total float64
		}{{before, 1000.5, 4900}, {after, 2000, 8000}} {
			s.Submit(want.page, apptest.Card(apptest.CardPays)).Want(303)
			s.AwaitNotifications()
			got := s.wantGrants(o, i+1).WantAt("data.0.amount", want.amount).WantAt("data.0.pack", "calls")
			if never := got.At("data.0.expires_at") == nil; never != (i == 1) {
				t.Errorf("expiry of %s", got.Text)
			}
			s.Call("GET", o.Path("/invoices/"+got.Str("data.0.invoice_id")), o.Token, nil).Want(200).WantAt("data.total.amount_cents", want.total)
		}
	})
}

// A bank debit is granted once it succeeds, and the expiry counts from then. A failed debit grants
// nothing.
func TestDebits(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s shop) {
		o, failing := s.NewCustomer("ada"), s.NewCustomer("bob")
		s.buy(o.Owner, apptest.Debit(apptest.DebitPays))
		s.buy(failing.Owner, apptest.Debit(apptest.DebitFails))
		s.wantGrants(o.Owner, 0)
		s.Advance(5*apptest.Day + time.Hour)
		got := s.wantGrants(o.Owner, 1)
		if d := got.TimeAt("data.0.expires_at").Sub(s.Now().Add(30 * apptest.Day)); d.Abs() > 2*time.Hour {
			t.Errorf("the grant expires %s late", d)
		}
		o.LogInAgain()
		s.Call("GET", o.Path("/invoices/"+got.Str("data.0.invoice_id")), o.Token, nil).Want(200).WantAt("data.status", "paid").WantAt("data.subscription_id", nil)
		s.wantGrants(failing.Owner, 0)
		if n := s.CountRows(`SELECT count(*) FROM pack_purchases WHERE ended_at IS NULL AND completed_at IS NULL`); n != 0 {
			t.Errorf("%d purchases are open", n)
		}
	})
}

// Without notifications, a payment is found when the tenant lists its grants, and otherwise by the
// periodic job.
func TestLostNotifications(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s shop) {
		looks, waits := s.NewCustomer("ada"), s.NewCustomer("bob")
		s.Chaos(apptest.ChaosNoWebhooks)
		s.buy(looks.Owner, apptest.Card(apptest.CardPays))
		s.buy(waits.Owner, apptest.Card(apptest.CardPays))
		s.wantGrants(looks.Owner, 0)
		s.Call("GET", looks.Path("/grants"), looks.Token, nil).Want(200).WantAt("data.0.pack", "calls")
		got := s.wantGrants(looks.Owner, 1)
		s.Call("GET", looks.Path("/invoices/"+got.Str("data.0.invoice_id")), looks.Token, nil).Want(200).WantAt("data.status", "paid")
		s.wantGrants(waits.Owner, 0)
		s.Advance(2 * time.Hour)
		apptest.Eventually(t, "the job", func() bool {
			list, _ := s.grants(waits.Owner).At("data").([]any)
			return len(list) == 1
		})
		s.Chaos(nil)
		s.Call("POST", "/sandbox/stripe/replay", "", object{}).Want(200)
		s.AwaitNotifications()
		s.wantGrants(looks.Owner, 1)
		s.wantGrants(waits.Owner, 1)
	})
}

// Reads, repeated notifications and requests at the same time grant a payment once.
func TestConcurrentGrants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := open(server)
		o := s.Register("ada@example.com", true)
		for n := 1; n <= 3; n++ {
			page := s.checkout(o).Want(200).Str("data.url")
			var wg sync.WaitGroup
			wg.Go(func() { s.Submit(page, apptest.Card(apptest.CardPays)).Want(303) })
			for range 4 {
				wg.Go(func() { s.Call("GET", o.Path("/grants"), o.Token, nil).Want(200) })
				wg.Go(func() { s.Call("POST", "/sandbox/stripe/replay", "", object{"share": 0.5}).Want(200) })
			}
			wg.Wait()
			s.AwaitNotifications()
			s.wantGrants(o, n)
		}
		if n := s.CountAudited(o, "pack.purchased"); n != 3 {
			t.Errorf("%d purchases are recorded", n)
		}
		if n := s.CountRows(`SELECT count(*) FROM webhook_events WHERE type = 'grant.created'`); n != 0 && n != 3 {
			t.Errorf("%d grants are published", n)
		}
	})
}

// Partial refunds change nothing until they add up to the price. Then the rest is void, in both
// orders of the notifications.
func TestRefunds(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s shop) {
		o, early := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		s.buy(o, apptest.Card(apptest.CardPays), object{"quantity": 2})
		for _, part := range []string{"1", "4899", "4000"} {
			s.refund(o, part)
			s.AwaitNotifications()
			s.wantGrants(o, 1).WantAt("data.0.remaining", 2001.0)
		}
		s.refund(o, "900")
		s.AwaitNotifications()
		got := s.wantGrants(o, 1).WantAt("data.0.remaining", 0.0).WantAt("data.0.amount", 2001.0)
		if n := s.CountAudited(o, "pack.refunded"); n != 1 {
			t.Errorf("the refund is recorded %d times", n)
		}
		s.Call("GET", o.Path("/invoices/"+got.Str("data.0.invoice_id")), o.Token, nil).Want(200).WantAt("data.status", "paid")
		s.buy(o, apptest.Card(apptest.CardPays))
		s.wantGrants(o, 2).WantAt("data.0.remaining", 1000.5).WantAt("data.1.remaining", 0.0)

		// The payment was refunded before its notification arrives.
		s.Chaos(apptest.ChaosNoWebhooks)
		s.buy(early, apptest.Card(apptest.CardPays))
		s.refund(early, "4900")
		s.Chaos(nil)
		s.wantGrants(early, 0)
		s.Call("POST", "/sandbox/stripe/replay", "", object{"shuffle": true}).Want(200)
		s.AwaitNotifications()
		s.wantGrants(early, 1).WantAt("data.0.remaining", 0.0)
	})
}

// If the response of the provider is lost, or the provider fails, the next request continues the
// purchase: only one session exists, and its payment is granted.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, server *apptest.Server, p *apptest.Proxy) {
		s := open(server)
		for name, verdict := range map[string]apptest.Verdict{
			"fail": apptest.Fail, "before": apptest.FailBefore, "after": apptest.FailAfter, "lose": apptest.LoseAnswer,
		} {
			o := s.Register(name+"@example.com", true)
			p.Tamper(apptest.ForEndpoint(verdict, "POST", "/checkout/sessions"))
			failed := s.checkout(o)
			p.Tamper(nil)
			if failed.Status != http.StatusOK { // otherwise the first attempt already found the session
				failed.As(name).WantRefused(502, "psp_error")
			}
			opened := s.checkout(o).As(name).Want(200)
			if n := len(s.ProviderObjects(o, "checkout.session")); failed.Status != http.StatusOK && n != 1 {
				t.Errorf("%s: %d sessions", name, n)
			}
			s.Submit(opened.Str("data.url"), apptest.Card(apptest.CardPays)).Want(303)
			s.AwaitNotifications()
			s.wantGrants(o, 1)
		}
	})
}

// A payment whose invoice is missing is granted, and the purchase stays open until the invoice is
// issued.
func TestMissingInvoice(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, server *apptest.Server, p *apptest.Proxy) {
		s := open(server)
		o := s.Register("ada@example.com", true)
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/checkout/sessions") {
				body, _ := io.ReadAll(r.Body)
				text := strings.Replace(string(body), "invoice_creation[enabled]=true", "invoice_creation[enabled]=false", 1)
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			}
			return apptest.Pass
		})
		page := s.checkout(o).Want(200).Str("data.url")
		s.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		apptest.Eventually(t, "the grant", func() bool {
			list, _ := s.grants(o).At("data").([]any)
			return len(list) == 1
		})
		s.wantGrants(o, 1).WantAt("data.0.invoice_id", nil)
		s.Call("GET", o.Path("/grants"), o.Token, nil).Want(200)
		s.wantGrants(o, 1)
		if n := s.CountRows(`SELECT count(*) FROM pack_purchases WHERE completed_at IS NULL AND ended_at IS NULL`); n != 1 {
			t.Errorf("%d purchases are open", n)
		}
	})
}

// An expired session ends the purchase.
func TestExpiry(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := open(server)
		c := s.NewCustomer("ada")
		page := s.checkout(c.Owner).Want(200).Str("data.url")
		s.Advance(25 * time.Hour)
		s.Submit(page, apptest.Card(apptest.CardPays)).Want(410)
		s.wantGrants(c.Owner, 0)
		if n := s.CountRows(`SELECT count(*) FROM pack_purchases WHERE ended_at IS NOT NULL`); n != 1 {
			t.Errorf("%d purchases have ended", n)
		}
	})
}

// A payment for a deleted tenant is refunded, and not granted after the tenant was restored.
func TestDeletedTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, server *apptest.Server) {
		s := open(server)
		o := s.Register("ada@example.com", true)
		page := s.checkout(o).Want(200).Str("data.url")
		s.Call("DELETE", o.Path(""), o.Token, object{"current_password": apptest.AdaLogin["password"]}).Want(204)
		s.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		s.AwaitNotifications()
		s.AwaitNotifications() // the refund's notifications
		if n := s.CountRows(`SELECT count(*) FROM usage_grants`); n != 0 {
			t.Errorf("%d grants", n)
		}
		if got := s.ProviderObjects(o, "charge")[0].At("refunded"); got != true {
			t.Errorf("refunded: %v", got)
		}
		if n := s.CountRows(`SELECT count(*) FROM pack_purchases WHERE ended_at IS NOT NULL AND refunded_at IS NOT NULL`); n != 1 {
			t.Errorf("%d purchases have ended", n)
		}
		s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/restore", s.Admin(), nil).Want(200)
		s.Call("POST", "/sandbox/stripe/replay", "", object{}).Want(200)
		s.AwaitNotifications()
		if n := s.CountRows(`SELECT count(*) FROM usage_grants`); n != 0 || len(s.ProviderObjects(o, "refund")) > 1 {
			t.Errorf("%d grants after repeated notifications", n)
		}
	})
}
