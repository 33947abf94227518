package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func previewCheckout(c *apptest.Customer, plan string, change apptest.Object) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/checkout/preview"), c.Token, apptest.WithChanges(apptest.Object{"plan_id": plan, "currency": "EUR"}, change))
}

func previewOnboarding(s *apptest.Server, plan string, change apptest.Object) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/onboarding/preview", "", apptest.WithChanges(apptest.Object{"plan_slug": plan, "currency": "EUR"}, change))
}

// wantPreview checks the amounts of a preview in EUR, by field. A nil tax is decided by the provider.
func wantPreview(a apptest.Reply, want map[string]float64) {
	for field, cents := range want {
		a.WantAt("data."+field+".cents", cents).WantAt("data."+field+".currency", "EUR")
	}
}

// The preview of a first purchase shows the amount of the first invoice, and creates nothing
// (rules: subscription#preview-of-a-purchase).
func TestPreviewOfAPurchase(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		k := s.CatalogAdmin()
		seats := k.CreatePricedPlan(k.CreateProduct("fourth"), "seats", map[string]int{"EUR": 1000}, apptest.Object{"pricing_type": "seat"})
		ada := s.NewCustomer("ada")

		trial := previewCheckout(ada, shop.trial, nil).Want(200)
		wantPreview(trial, map[string]float64{"subtotal": 2000, "discount": 0, "total": 2000, "balance_applied": 0, "due_now": 0, "next_amount": 2000})
		trial.WantAt("data.tax", nil).WantAt("data.reverse_charge", false).WantAt("data.next_billing_at", trial.At("data.trial_ends_at"))
		if got, want := trial.TimeAt("data.trial_ends_at"), s.Now().AddDate(0, 0, 14); got.Sub(want).Abs() > time.Minute {
			t.Errorf("the trial ends at %v, want %v", got, want)
		}
		paid := previewCheckout(ada, seats, apptest.Object{"quantity": 3}).Want(200)
		wantPreview(paid, map[string]float64{"subtotal": 3000, "total": 3000, "balance_applied": 0, "due_now": 3000, "next_amount": 3000})
		paid.WantAt("data.trial_ends_at", nil)
		if n := len(s.AllProviderObjects("customer")); n != 1 { // the demo tenant's
			t.Errorf("%d customers at the provider", n)
		}

		previewCheckout(ada, apptest.NoSuchID, nil).WantInvalid("plan_id")
		previewCheckout(ada, shop.trial, apptest.Object{"success_url": "x"}).WantInvalid("success_url")
		previewCheckout(ada, shop.free, nil).WantRefused(422, "plan_change_error")
		previewCheckout(ada, seats, apptest.Object{"currency": "USD"}).WantRefused(422, "seat_pricing_misconfigured")

		// The customer's credit pays a part, and the first invoice charges the rest.
		bob := s.NewCustomer("bob")
		bob.OpenCheckout(seats, "EUR").Want(200)
		customer := bob.ProviderObjects(bob.Owner, "customer")[0].Str("id")
		s.AtProvider("POST", "/customers/"+customer+"/balance_transactions", "amount", "-700", "currency", "eur")
		wantPreview(previewCheckout(bob, seats, nil).Want(200), map[string]float64{"total": 1000, "balance_applied": 700, "due_now": 300, "next_amount": 1000})
		bob.Buy(seats, "EUR", apptest.Card(apptest.CardPays))
		if invoice := bob.ProviderObjects(bob.Owner, "invoice")[0]; invoice.At("amount_paid") != 300.0 {
			t.Errorf("the first invoice charges %v", invoice.At("amount_paid"))
		}
		previewCheckout(bob, seats, nil).WantRefused(422, "subscription_already_exists")
		member, _ := s.Join(bob.Owner, "Eve", "eve@example.com", "member")
		s.Call("POST", bob.Path("/checkout/preview"), member, apptest.Object{"plan_id": seats, "currency": "EUR"}).WantRefused(403, "")

		// A plan can be previewed before the registration.
		wantPreview(previewOnboarding(s, "seats", apptest.Object{"quantity": 2}).Want(200), map[string]float64{"total": 2000, "due_now": 2000})
		wantPreview(previewOnboarding(s, "trial", nil).Want(200), map[string]float64{"total": 2000, "due_now": 0})
		wantPreview(previewOnboarding(s, "nothing", nil).Want(200).WantAt("data.next_billing_at", nil), map[string]float64{"total": 0, "next_amount": 0})
		previewOnboarding(s, "none", nil).WantInvalid("plan_slug")
		previewOnboarding(s, "seats", apptest.Object{"currency": "XXX"}).WantInvalid("currency")
		previewOnboarding(s, "seats", apptest.Object{"country": "XX"}).WantInvalid("country")
		previewOnboarding(s, "seats", apptest.Object{"country": "DE", "vat_number": "nonsense"}).WantInvalid("vat_number")
		previewOnboarding(s, "seats", apptest.Object{"currency": "USD"}).WantRefused(422, "PLAN_NOT_AVAILABLE_IN_CURRENCY")
	})
}

// If the service issues the invoices, the preview shows their tax.
func TestPreviewOfAPurchaseWithTax(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("shop"), "paid", map[string]int{"EUR": 1200})
		ada := s.NewCustomer("ada") // in GB, whose rate is 20 %
		preview := previewCheckout(ada, plan, nil).Want(200)
		wantPreview(preview, map[string]float64{"subtotal": 1000, "tax": 200, "total": 1200, "due_now": 1200})
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		invoice := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		invoice.WantAt("data.0.tax.amount_cents", 200.0).WantAt("data.0.subtotal.amount_cents", 1000.0)
		previewOnboarding(s, "paid", nil).WantRefused(422, "billing_not_ready")
		wantPreview(previewOnboarding(s, "paid", apptest.Object{"country": "GB"}).Want(200), map[string]float64{"subtotal": 1000, "tax": 200, "total": 1200})
		wantPreview(previewOnboarding(s, "paid", apptest.Object{"country": "FR"}).Want(200), map[string]float64{"subtotal": 1200, "tax": 0, "total": 1200})
	}, apptest.WithPlatformInvoices)
}
