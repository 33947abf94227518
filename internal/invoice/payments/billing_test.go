package payments_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The payment method is read from the provider: the subscription's, or else the customer's.
func TestPaymentMethod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("life")
		plan, free := k.CreatePricedPlan(product, "plain", map[string]int{"EUR": 2000}), k.CreatePricedPlan(product, "nothing", map[string]int{"EUR": 0})
		c := s.NewCustomer("ada")
		method := func() apptest.Reply { return get(c, "/billing/payment-method") }
		method().WantAt("data", nil)
		billing(c).WantAt("data", object{"payment_method": nil, "customer": nil, "provider_url": nil, "failed_payment": nil, "paid_in_all": []any{}, "open": []any{}})

		c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		card := method()
		year := float64(s.Now().Year() + 4)
		card.WantAt("data.type", "card").WantAt("data.brand", "visa").WantAt("data.last4", "4242").WantAt("data.exp_month", 12.0).WantAt("data.exp_year", year)
		customer := s.ProviderObjects(c.Owner, "customer")[0].Str("id")
		billing(c).WantAt("data.payment_method", card.At("data")).WantAt("data.customer", customer).
			WantAt("data.provider_url", s.URL+"/sandbox/dashboard/customers/"+customer)
		s.Do(s.NewRequest("GET", "/sandbox/dashboard/customers/"+customer, "", nil)).Want(200)

		c.ReplaceCard(apptest.CardFailsAtRenewal)
		method().WantAt("data.last4", "0341")
		// A subscription without its own payment method uses the customer's.
		sub := s.ProviderObjects(c.Owner, "subscription")[0].Str("id")
		s.AtProvider("POST", "/subscriptions/"+sub, "default_payment_method", "")
		method().WantAt("data.last4", "0341")
		s.AtProvider("POST", "/customers/"+customer, "invoice_settings[default_payment_method]", "")
		method().WantAt("data", nil)
		billing(c).WantAt("data.payment_method", nil).WantAt("data.customer", customer)

		debit := s.NewCustomer("bob")
		debit.Buy(plan, "EUR", apptest.Debit(apptest.DebitPays))
		got := get(debit, "/billing/payment-method")
		got.WantAt("data.type", "sepa_debit").WantAt("data.brand", nil).WantAt("data.exp_month", nil).WantAt("data.exp_year", nil)
		if len(got.Str("data.last4")) != 4 {
			t.Errorf("the debit: %s", got.Text)
		}
		gratis := s.NewCustomer("eve")
		gratis.Buy(free, "EUR", nil)
		get(gratis, "/billing/payment-method").WantAt("data", nil)
	})
}

// While the provider is down, the API returns an error instead of "no payment method".
func TestPaymentMethodWhileTheProviderIsAway(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "starter")
		s.Chaos(map[string]any{"api": map[string]any{"fail_before": 1}})
		s.Call("GET", c.Path("/billing/payment-method"), c.Token, nil).WantRefused(502, "psp_error")
		s.Call("GET", "/api/v1/admin/tenants/"+c.Tenant+"/billing", s.Admin(), nil).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("GET", c.Path("/billing/payment-method"), c.Token, nil) }).Want(200)
	})
}

// Members who can manage billing can read payments, but only of their own tenant.
func TestPaymentPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c, other := s.NewCustomer("ada"), s.NewCustomer("eve")
		member, _ := s.Join(c.Owner, "Bob", "bob@example.com", "member")
		for _, path := range []string{"/billing/payment-method", "/billing/failed-payment", "/credit"} {
			s.Call("GET", c.Path(path), "", nil).WantRefused(401, "")
			s.Call("GET", c.Path(path), member, nil).WantRefused(403, "")
			s.Call("GET", c.Path(path), other.Token, nil).WantRefused(403, "")
		}
		s.Call("GET", c.Path("/invoices/summary"), other.Token, nil).WantRefused(403, "")
		s.Call("GET", c.Path("/invoices/summary"), member, nil).Want(200) // every member can read invoices
		key := s.Call("POST", c.Path("/api-keys"), c.Token, object{"name": "Books", "scopes": []any{"invoices.read"}}).Want(201).Str("data.secret")
		s.Call("GET", c.Path("/invoices/summary"), key, nil).Want(200)
		s.Call("GET", c.Path("/credit"), key, nil).Want(200)
		s.Call("GET", c.Path("/billing/payment-method"), key, nil).WantRefused(403, "insufficient_scope")
		s.Call("GET", "/api/v1/admin/tenants/"+c.Tenant+"/billing", c.Token, nil).WantRefused(403, "")
		s.Call("GET", "/api/v1/admin/tenants/01990000-0000-7000-8000-000000000000/billing", s.Admin(), nil).WantRefused(404, "")
		s.Call("GET", "/api/v1/admin/tenants/x/billing", s.Admin(), nil).WantRefused(404, "")
	})
}

// Totals are grouped by currency and by the year of the issue date. Each refund counts once, in the
// year of its invoice.
func TestSummary(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server) {
		s.AdvanceTo(time.Date(s.Now().Year()+1, time.March, 1, 0, 0, 0, 0, time.UTC)) // the invoices fall into one year of the summary
		c, invoice := renews(s, "ada", apptest.CardPays)
		this := float64(s.Now().Year())
		none := s.NewCustomer("bob")
		get(none, "/invoices/summary").WantAt("data", object{"year": this, "years": []any{}, "totals": []any{}})

		charge := s.ProviderObjects(c.Owner, "charge")[0].Str("id")
		s.AtProvider("POST", "/refunds", "charge", charge, "amount", "500")
		s.AtProvider("POST", "/refunds", "charge", charge, "amount", "250")
		s.AwaitNotifications()
		apptest.Eventually(t, "the refunds", func() bool { return get(c, "/invoices/summary").At("data.totals.0.refunded") == 750.0 })
		wantEntries(t, s, c.Owner, "invoice.issued 2000", "payment.succeeded 2000", "invoice.issued 2000", "payment.succeeded 2000", "refund.created 500", "refund.created 250")
		billing(c).WantAt("data.paid_in_all.0.amount", 4000.0)

		// Move the invoice to the previous year, in another currency.
		apptest.Exec(t, s.DB(), "UPDATE psp_invoices SET year = year - 1, currency = 'USD' WHERE id = $1", invoice.At("data.id"))
		got := get(c, "/invoices/summary").WantAt("data.year", this).WantAt("data.years", []any{this, this - 1})
		if totals, _ := got.At("data.totals").([]any); len(totals) != 1 {
			t.Errorf("this year: %s", got.Text)
		}
		before := get(c, "/invoices/summary?year="+apptest.IDText(this-1)).WantAt("data.totals.0.currency", "USD").WantAt("data.totals.0.count", 1.0)
		if paid := before.At("data.totals.0.paid"); paid != 2000.0 {
			t.Errorf("last year: %s", before.Text)
		}
		get(c, "/invoices/summary?year=2001").WantAt("data.totals", []any{}).WantAt("data.years", []any{this, this - 1})
		for _, year := range []string{"1999", "10000", "x", "2026.5"} {
			s.Call("GET", c.Path("/invoices/summary?year="+year), c.Token, nil).As(year).WantInvalid("year")
		}
	})
}
