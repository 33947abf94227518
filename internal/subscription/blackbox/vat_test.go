package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// eachSelling runs a test on both databases for a seller in Germany.
func eachSelling(t *testing.T, platformManaged bool, run func(t *testing.T, s *apptest.Server)) {
	t.Helper()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			run(t, apptest.Start(t, dialect, func(s *settings.Settings) {
				if platformManaged {
					apptest.WithPlatformInvoices(s)
				}
				s.Invoices.Taxes = map[string]int64{"DE": 190_000, "FR": 200_000}
				s.Invoices.Seller.VATNumber = "DE123456789"
			}))
		})
	}
}

func setRegistry(s *apptest.Server, value, status, name string) {
	s.T.Helper()
	s.Call("PUT", "/sandbox/stripe/registry", "", apptest.Object{"value": value, "status": status, "name": name}).Want(200)
}

func awaitVAT(s *apptest.Server, o apptest.Owner, status string, name any) {
	s.T.Helper()
	apptest.Eventually(s.T, "the status "+status, func() bool {
		t := s.Call("GET", "/api/v1/admin/tenants/"+o.Tenant, s.Admin(), nil).Want(200)
		return t.At("data.vat_status") == status && t.At("data.vat_name") == name
	})
}

// buyFrom registers a business and buys a plan for it. It returns the subtotal and the tax of the
// first invoice.
func buyFrom(s *apptest.Server, email, country string, number any) (o apptest.Owner, subtotal, tax float64) {
	s.T.Helper()
	o = s.Register(email, true)
	s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"country": country, "vat_number": number}).Want(200)
	s.BuyPlan(o, "starter")
	in := apptest.Reply{Body: s.Invoices(o, 1)[0].(map[string]any)}
	return o, in.At("subtotal.amount_cents").(float64), in.At("tax.amount_cents").(float64)
}

// Reverse charge applies only while the registry confirms the number, in another member state
// (directive 2006/112/EC, articles 44 and 196).
func TestReverseChargeNeedsAValidNumber(t *testing.T) {
	t.Parallel()
	eachSelling(t, true, func(t *testing.T, s *apptest.Server) {
		setRegistry(s, "FR 83 404 833 048", "verified", "Grace SARL")
		setRegistry(s, "DE987654321", "verified", "Gross GmbH")
		for name, c := range map[string]struct {
			country, status string
			number          any
			tax             float64
		}{
			"valid":       {"FR", "valid", "fr 83.404.833-048", 0},
			"consumer":    {"FR", "none", nil, 317},
			"unverified":  {"FR", "invalid", "FR12345678901", 317},
			"pending":     {"FR", "pending", "222222222", 317},
			"same-member": {"DE", "valid", "DE987654321", 303},
			"not-taxed":   {"US", "unknown", "12-3456789", 0},
			"test-value":  {"FR", "valid", "000000000", 0},
		} {
			o, subtotal, tax := buyFrom(s, name+"@example.com", c.country, c.number)
			if tax != c.tax || subtotal+tax != 1900 {
				t.Errorf("%s: subtotal %v and tax %v, want tax %v of 1900", name, subtotal, tax, c.tax)
			}
			var registered any
			if name == "valid" {
				registered = "Grace SARL"
			}
			if name == "same-member" {
				registered = "Gross GmbH"
			}
			awaitVAT(s, o, c.status, registered)
		}
	})
}

// The number is registered as the customer's tax ID before anything is paid. A new number replaces the
// tax ID, and the audit trail records each answer of the VAT registry.
func TestVATNumberBecomesTaxID(t *testing.T) {
	t.Parallel()
	eachSelling(t, false, func(t *testing.T, s *apptest.Server) {
		setRegistry(s, "FR83404833048", "verified", "Grace SARL")
		o := s.Register("ada@example.com", true)
		set := func(change map[string]any) { s.Call("PATCH", "/api/v1/tenant", o.Token, change).Want(200) }
		set(map[string]any{"country": "FR", "vat_number": "FR83404833048"})
		page := s.Checkout(o, "starter")
		ids := func() []apptest.Reply { return s.ProviderObjects(o, "tax_id") }
		if found := ids(); len(found) != 1 || found[0].At("type") != "eu_vat" || found[0].At("value") != "FR83404833048" {
			t.Fatalf("before the payment: %v", found)
		}
		awaitVAT(s, o, "valid", "Grace SARL")
		exempt := func(want string) {
			t.Helper()
			apptest.Eventually(t, "tax_exempt "+want, func() bool { return s.ProviderObjects(o, "customer")[0].At("tax_exempt") == want })
		}
		exempt("reverse")
		s.Pay(page, "4242424242424242")
		s.AwaitNotifications()
		setRegistry(s, "FR83404833048", "unverified", "")
		awaitVAT(s, o, "invalid", nil)
		exempt("none")
		set(map[string]any{"country": "CH", "vat_number": "che-123.456.789 tva"})
		apptest.Eventually(t, "the new tax ID", func() bool {
			found := ids()
			return len(found) == 1 && found[0].At("type") == "ch_vat" && found[0].At("value") == "CHE-123.456.789 TVA"
		})
		awaitVAT(s, o, "invalid", nil)
		set(map[string]any{"vat_number": nil})
		apptest.Eventually(t, "no tax ID", func() bool { return len(ids()) == 0 })
		if got := s.CountAudited(o, "tenant.vat_checked"); got != 3 {
			t.Errorf("%d checks in the audit log, want 3", got)
		}
	})
}

// The provider does not validate a number again, so the service registers the number again after seven
// days. Meanwhile the last answer stays, and an unavailable registry changes nothing for 30 days.
func TestVATNumberIsCheckedAgain(t *testing.T) {
	t.Parallel()
	eachSelling(t, false, func(t *testing.T, s *apptest.Server) {
		setRegistry(s, "FR83404833048", "verified", "Grace SARL")
		o, _, _ := buyFrom(s, "ada@example.com", "FR", "FR83404833048")
		awaitVAT(s, o, "valid", "Grace SARL")
		only := func() apptest.Reply {
			t.Helper()
			found := s.ProviderObjects(o, "tax_id")
			if len(found) != 1 {
				return apptest.Reply{}
			}
			return found[0]
		}
		first := only().Str("id")
		s.Call("PUT", "/sandbox/stripe/registry", "", apptest.Object{"value": "FR83404833048", "status": "unavailable"}).Want(200)
		awaitVAT(s, o, "unknown", nil)
		exempt := func() any { return s.ProviderObjects(o, "customer")[0].At("tax_exempt") }
		if got := exempt(); got != "reverse" {
			t.Errorf("tax_exempt %v right after the registry became unavailable", got)
		}
		s.Advance(7*24*time.Hour + 2*time.Hour)
		apptest.Eventually(t, "another registration", func() bool { id := only(); return id.Body != nil && id.Str("id") != first })
		awaitVAT(s, o, "unknown", nil)
		s.Advance(31 * 24 * time.Hour)
		apptest.Eventually(t, "the end of the 30 days", func() bool { return exempt() == "none" })
	})
}
