package creditnote_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A line can be credited up to its amount after the discount. The discount itself, an adjustment,
// cannot be credited.
func TestCreditOfDiscountedLines(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("pro"), "pro", map[string]int{"EUR": 2000})
		k.AdminCall("POST", "/discounts", object{"code": "HALF", "name": object{"en": "Sale"}, "percent_off": 50, "duration": "forever"}).Want(201)
		c := bought{Customer: s.NewCustomer("ada")}
		page := c.Call("POST", c.Path("/checkout"), c.Token, apptest.WithChanges(apptest.ReturnURLs, object{"plan_id": plan, "currency": "EUR", "promotion_code": "HALF"})).Want(200)
		s.Pay(page.Str("data.url"), apptest.CardPays).Want(303)
		c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
		shown := c.show()
		of := func(line string, n int) object {
			return object{"lines": []any{object{"line_id": shown.Str("data.lines." + line + ".id"), "amount_cents": n}}, "settlement": "refund", "reason": "other"}
		}
		c.show().WantAt("data.lines.0.creditable", cents(1000)).WantAt("data.lines.1.creditable", cents(0))
		c.credit(of("1", 1)).WantInvalid("lines.0.line_id")
		c.credit(of("0", 1001)).Want(422).WantAt("code", "amount_too_large").WantAt("amount_left", cents(1000))
		c.credit(of("0", 600)).Want(201).WantAt("data.total", cents(600)).WantAt("data.lines.0.line_id", shown.At("data.lines.0.id")).
			WantAt("data.lines.0.description", shown.At("data.lines.0.description"))
		c.show().WantAt("data.lines.0.creditable", cents(400)).WantAt("data.lines.1.creditable", cents(0))
		c.credit(of("0", 401)).Want(422).WantAt("amount_left", cents(400))
		c.credit(of("0", 400)).Want(201)
		c.show().WantAt("data.lines.0.creditable", cents(0))
		c.show().WantAt("data.credited", shown.At("data.total")).WantAt("data.refunded", shown.At("data.total"))
	})
}

// The provider refunds dinars in tens of fils only.
func TestCreditInDinars(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		k.AdminCall("POST", "/currencies/bulk", object{"codes": []string{"KWD"}}).Want(200)
		plan := k.CreatePricedPlan(k.CreateProduct("abroad"), "abroad", map[string]int{"KWD": 5000})
		c := bought{Customer: s.NewCustomer("ada")}
		c.Buy(plan, "KWD", apptest.Card(apptest.CardPays))
		c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
		for _, settlement := range []string{"refund", "credit", "none"} {
			c.credit(body(1005, settlement)).WantInvalid("amount_cents")
			c.preview(body(1005, settlement)).WantInvalid("amount_cents")
		}
		line := object{"line_id": c.show().At("data.lines.0.id"), "amount_cents": 5}
		c.credit(object{"lines": []any{line}, "settlement": "refund", "reason": "other"}).WantInvalid("amount_cents")
		c.credit(body(1010, "refund")).Want(201).WantAt("data.total", object{"amount_cents": 1010.0, "currency": "KWD"})
		c.show().WantAt("data.refunded", object{"amount_cents": 1010.0, "currency": "KWD"})
	})
}

// The tax of a credit note is 0 if its invoice has reverse charge, even if the VAT number has become
// invalid.
func TestCreditWithReverseCharge(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect, apptest.WithPlatformInvoices, func(s *settings.Settings) {
				s.Invoices.Taxes = map[string]int64{"FR": 200_000}
				s.Invoices.Seller.VATNumber = "DE123456789"
			})
			registry := func(status string) {
				s.Call("PUT", "/sandbox/stripe/registry", "", object{"value": "FR83404833048", "status": status, "name": "Grace SARL"}).Want(200)
			}
			registry("verified")
			c := bought{Customer: s.NewCustomer("ada")}
			s.Call("PATCH", "/api/v1/tenant", c.Token, object{"country": "FR", "vat_number": "FR83404833048"}).Want(200)
			s.BuyPlan(c.Owner, "starter")
			c.invoice = s.Invoices(c.Owner, 1)[0].(map[string]any)["id"].(string)
			c.show().WantAt("data.tax", cents(0))
			registry("unverified")
			apptest.Eventually(t, "the answer", func() bool {
				return s.Call("GET", "/api/v1/tenant", c.Token, nil).Want(200).At("data.vat_status") == "invalid"
			})
			c.credit(body(500, "refund")).Want(201).WantAt("data.tax", cents(0)).WantAt("data.subtotal", cents(500))
			later := buy(s, "eve", apptest.CardPays)
			s.Advance(time.Second)
			later.credit(body(500, "none")).Want(201).WantAt("data.number", "CN-"+s.Now().Format("2006")+"-000002")
		})
	}
}
