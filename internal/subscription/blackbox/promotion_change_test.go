package blackbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// recurring returns the monthly recurring revenue in EUR.
func recurring(s *apptest.Server) (amount float64) {
	s.T.Helper()
	list, _ := s.Call("GET", "/api/v1/admin/stats", s.Admin(), nil).Want(200).At("data.mrr").([]any)
	for _, c := range list {
		if c, _ := c.(apptest.Object); c["currency"] == "EUR" {
			amount, _ = c["amount"].(float64)
		}
	}
	return amount
}

// Revenue is net of a lasting discount for as long as the discount applies. A discount with the
// duration once does not count.
func TestRevenueIsNetOfDiscounts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := monthly(s, "pro", 1000)
		promo(s, "lasts", apptest.Object{"percent_off": 30})
		promo(s, "single", apptest.Object{"duration": "once"})
		before := recurring(s)
		ada := s.NewCustomer("ada")
		s.Pay(openWith(ada, plan, "lasts").Want(200).Str("data.url"), apptest.CardPays).Want(303)
		s.AwaitNotifications()
		if got := recurring(s) - before; got != 700 {
			t.Errorf("revenue %v", got)
		}
		ada.Call("DELETE", ada.Path("/subscription/promotion-code"), ada.Token, nil).Want(204)
		if got := recurring(s) - before; got != 1000 {
			t.Errorf("revenue %v without the discount", got)
		}
		post(ada, "single").Want(200).WantAt("data.discount.code", "single")
		if got := recurring(s) - before; got != 1000 {
			t.Errorf("revenue %v with a discount on one invoice", got)
		}
	})
}

// A change to a plan that the code does not cover ends the discount with the change, and the preview
// shows this. A code that covers both plans stays.
func TestChangeEndsADiscount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, both, other := monthly(s, "pro", 1000), monthly(s, "both", 2000), monthly(s, "other", 3000)
		promo(s, "covers", apptest.Object{"plan_ids": []any{plan, both}})
		ada := s.NewCustomer("ada")
		s.Pay(openWith(ada, plan, "covers").Want(200).Str("data.url"), apptest.CardPays).Want(303)
		s.AwaitNotifications()
		change := func(plan string) apptest.Reply {
			preview := ada.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+plan), ada.Token, nil).Want(200)
			ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": plan}).Want(200)
			s.AwaitNotifications()
			in := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
			want, isCharged := preview.At("data.net.cents"), false
			for i := range in.At("data").([]any) { // several have the same time
				isCharged = isCharged || in.At(fmt.Sprintf("data.%d.total.amount_cents", i)) == want
			}
			if !isCharged {
				t.Errorf("an invoice of %v was shown: %s", want, in.Text)
			}
			return preview
		}
		change(both).WantAt("data.next_amount.cents", 1000.0)
		s.Subscription(ada.Owner).WantAt("data.discount.code", "covers")
		change(other).WantAt("data.next_amount.cents", 3000.0)
		s.Subscription(ada.Owner).WantAt("data.discount", nil)
		if n := s.CountAudited(ada.Owner, "subscription.promotion_code_removed"); n != 1 {
			t.Errorf("%d removals are recorded", n)
		}
	})
}

// A discount with the duration once survives the trial that a change begins: whether the change redeems
// it or the subscription has it, it is taken off the first invoice after the trial.
func TestOnceAfterATrialOfAChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, tried := monthly(s, "pro", 6000), monthly(s, "tried", 2500, apptest.Object{"trial_days": 14})
		code := promo(s, "once", apptest.Object{"duration": "once", "percent_off": nil, "amounts": []any{apptest.Object{"currency": "EUR", "amount_cents": 333}}})
		redeems, has := s.NewCustomer("redeems"), s.NewCustomer("has")
		for _, c := range []*apptest.Customer{redeems, has} {
			c.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		}
		post(has, code).Want(200)
		for c, body := range map[*apptest.Customer]apptest.Object{redeems: {"promotion_code": code}, has: {}} {
			query := "/subscription/preview-change?new_plan_id=" + tried
			if body["promotion_code"] != nil {
				query += "&promotion_code=" + code
			}
			c.Call("GET", c.Path(query), c.Token, nil).Want(200).WantAt("data.next_amount.cents", 2167.0)
			body["new_plan_id"] = tried
			c.Call("POST", c.Path("/subscription/change-plan"), c.Token, body).Want(200).
				WantAt("data.subscription.status", "trialing").WantAt("data.subscription.discount.code", code)
		}
		s.AwaitNotifications()
		if n := redemptions(s, code); n != 2 {
			t.Errorf("%v redemptions", n)
		}
		for _, c := range []*apptest.Customer{redeems, has} {
			apptest.Eventually(t, "the discount at the provider", func() bool {
				list, _ := s.ProviderObjects(c.Owner, "subscription")[0].At("discounts").([]any)
				return len(list) == 1
			})
		}
		pass(s, 15*24*time.Hour, redeems, has)
		for _, c := range []*apptest.Customer{redeems, has} {
			s.Subscription(c.Owner).WantAt("data.status", "active").WantAt("data.discount", nil)
			s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 2167.0)
		}
	})
}

// A change with a promotion code never waits: if the bank requires a confirmation, it is refused, and
// nothing is redeemed.
func TestChangeWithACodeNeverWaits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, large := monthly(s, "pro", 1000), monthly(s, "large", 3000)
		code := promo(s, "code", apptest.Object{"max_redemptions": 1})
		ada := s.NewCustomer("ada")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		ada.ReplaceCard(apptest.CardConfirms)
		ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": large, "promotion_code": code}).
			WantRefused(422, "plan_change_error")
		s.Subscription(ada.Owner).WantAt("data.discount", nil).WantAt("data.pending_change", nil).WantAt("data.price_cents", 1000.0)
		if n := redemptions(s, code); n != 0 {
			t.Errorf("%v redemptions", n)
		}
		bob := s.NewCustomer("bob") // the last use is free again
		openWith(bob, plan, code).Want(200)
	})
}

// A trial without a card redeems the code with the request.
func TestPromotionCodeOfATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		code := promo(s, "trial")
		ada := newVerified(s, "ada")
		body := func(code string) apptest.Object {
			return apptest.Object{"plan_id": shop.trial, "currency": "EUR", "promotion_code": code}
		}
		wantReason(ada.Call("POST", ada.Path("/subscription/trial"), ada.Token, body("none")), "unknown")
		ada.Call("POST", ada.Path("/subscription/trial"), ada.Token, body(code)).Want(201).WantAt("data.discount.code", code).WantAt("data.status", "trialing")
		if n := redemptions(s, code); n != 1 {
			t.Errorf("%v redemptions", n)
		}
	})
}

// The estimate is net: a percentage is taken off each line, an amount off the plan's fee first.
func TestEstimateIsNetOfDiscounts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call("POST", "/api/v1/admin/meters", s.Admin(), apptest.Object{
			"code": "calls", "name": "calls", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
			"prices": []any{apptest.Object{"currency": "EUR", "unit_price_cents": 7, "psp_price_id": s.NewMeteredPrice("EUR", "7")}},
		}).Want(201)
		plan := monthly(s, "billed", 1000, apptest.Object{"pricing_type": "usage"})
		promo(s, "percent")
		promo(s, "amount", apptest.Object{"percent_off": nil, "amounts": []any{apptest.Object{"currency": "EUR", "amount_cents": 1200}}})
		ada := s.NewCustomer("ada")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		ada.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "calls", "quantity": 100}).Want(201)
		estimate := func(discount, total float64) {
			t.Helper()
			s.Call("GET", ada.Path("/usage/cost-estimate"), ada.Token, nil).Want(200).WantAt("data.discount_cents", discount).
				WantAt("data.total_amount_cents", total).WantAt("data.lines.0.amount_cents", 700.0)
		}
		estimate(0, 700)
		post(ada, "percent").Want(200)
		estimate(350, 350)
		post(ada, "amount").Want(200)
		estimate(200, 500)
		pass(s, 32*24*time.Hour, ada)
		in := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		in.WantAt("data.0.total.amount_cents", 500.0)
	})
}

// A change for which nothing is billed does not use up a discount with the duration once: the preview
// and the next invoice have it.
func TestOnceAfterAChangeThatBillsNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 3000), monthly(s, "small", 1000)
		promo(s, "single", apptest.Object{"duration": "once"})
		ada := s.NewCustomer("ada")
		makeContract(ada, apptest.Object{"plan_id": large, "currency": "EUR", "collection": "invoice"}).Want(201)
		pass(s, 24*time.Hour, ada) // the first invoice is not paid
		shown := ada.Call("GET", ada.Path("/subscription/preview-change?promotion_code=single&new_plan_id="+small), ada.Token, nil).Want(200)
		shown.WantAt("data.net.cents", 0.0).WantAt("data.next_amount.cents", 500.0)
		ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": small, "promotion_code": "single"}).Want(200)
		pass(s, 32*24*time.Hour, ada)
		s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 500.0)
	})
}
