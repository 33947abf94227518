package blackbox_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// promo creates a discount and returns its code.
func promo(s *apptest.Server, code string, changes ...apptest.Object) string {
	s.T.Helper()
	s.CatalogAdmin().AdminCall("POST", "/discounts", apptest.WithChanges(apptest.Object{
		"code": code, "name": apptest.Object{"en": "Sale", "fr": "Soldes"}, "percent_off": 50, "duration": "forever",
	}, changes...)).Want(201)
	return code
}

// redemptions returns how often a code was redeemed.
func redemptions(s *apptest.Server, code string) float64 {
	s.T.Helper()
	n, _ := s.CatalogAdmin().AdminCall("GET", "/discounts?filter[code]="+code, nil).Want(200).At("data.0.redemptions").(float64)
	return n
}

// openWith opens a checkout with a promotion code.
func openWith(c *apptest.Customer, plan, code string) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/checkout"), c.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
		"plan_id": plan, "currency": "EUR", "promotion_code": code,
	}))
}

func wantReason(a apptest.Reply, reason string) {
	a.WantInvalid("promotion_code")
	a.WantAt("code", "promotion_code_invalid").WantAt("reason", reason)
}

// pass lets time pass and logs the customers in again.
func pass(s *apptest.Server, d time.Duration, customers ...*apptest.Customer) {
	s.T.Helper()
	s.Advance(d)
	s.AwaitNotifications()
	for _, c := range customers {
		c.Token = s.LogIn(c.Email)
	}
}

func monthly(s *apptest.Server, slug string, cents int, changes ...apptest.Object) string {
	s.T.Helper()
	k := s.CatalogAdmin()
	return k.CreatePricedPlan(k.CreateProduct(slug), slug, map[string]int{"EUR": cents}, changes...)
}

// A code is compared in any case, the invoice shows the full price and the discount, and a redemption
// is counted once the checkout is complete (rules: subscription#promotion-codes).
func TestPromotionCodeOfACheckout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, code := monthly(s, "pro", 1999), promo(s, "HALF")
		ada := s.NewCustomer("ada")
		preview := previewCheckout(ada, plan, apptest.Object{"promotion_code": " half "}).Want(200)
		wantPreview(preview, map[string]float64{"discount": 1000, "total": 999, "subtotal": 999, "due_now": 999, "next_amount": 999})
		page := openWith(ada, plan, " hAlF ").Want(200)
		if n := redemptions(s, code); n != 0 {
			t.Errorf("%v redemptions before the payment", n)
		}
		s.Pay(page.Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		s.Subscription(ada.Owner).WantAt("data.price_cents", 1999.0).WantAt("data.discount", apptest.Object{
			"code": "HALF", "name": "Sale", "percent_off": 50.0, "amount": nil, "ends_at": nil,
		})
		if n := redemptions(s, code); n != 1 {
			t.Errorf("%v redemptions", n)
		}
		in := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		in.WantAt("data.0.total.amount_cents", 999.0).WantAt("data.0.lines.0.amount.amount_cents", 1999.0)
		in.WantAt("data.0.lines.1.type", "adjustment").WantAt("data.0.lines.1.quantity", 1.0).WantAt("data.0.lines.1.amount.amount_cents", -1000.0).
			WantAt("data.0.lines.1.description", "Discount (HALF)")
		if n := s.CountAudited(ada.Owner, "subscription.promotion_code_applied"); n != 1 {
			t.Errorf("%d audit entries", n)
		}
		// A tenant uses a code once, and a subscription keeps the discount of a deleted code.
		post(ada, code).WantAt("reason", "already_used")
		id := s.CatalogAdmin().AdminCall("GET", "/discounts?filter[code]=half", nil).Str("data.0.id")
		s.CatalogAdmin().AdminCall("DELETE", "/discounts/"+id, nil).Want(204)
		pass(s, 31*24*time.Hour, ada)
		s.Subscription(ada.Owner).WantAt("data.discount.code", "HALF")
		s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 999.0).WantAt("data.0.lines.1.description", "Discount (HALF)")
		promo(s, "half") // the code is free again
		bob := s.NewCustomer("bob")
		openWith(bob, plan, "HALF").Want(200)
	})
}

// post applies a code to the subscription of a customer.
func post(c *apptest.Customer, code string) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/subscription/promotion-code"), c.Token, apptest.Object{"promotion_code": code})
}

// A code is refused for each reason, in the order of the checks, without other effects.
func TestPromotionCodeReasons(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan, other := monthly(s, "pro", 1000), monthly(s, "other", 1000)
		free := monthly(s, "gratis", 0)
		only := apptest.Object{"percent_off": nil, "amounts": []any{apptest.Object{"currency": "USD", "amount_cents": 100}}}
		promo(s, "off", apptest.Object{"is_active": false})
		promo(s, "later", apptest.Object{"starts_at": s.Now().AddDate(0, 0, 9).Format(time.RFC3339)})
		promo(s, "short", apptest.Object{"ends_at": s.Now().Add(time.Minute).Format(time.RFC3339)})
		promo(s, "other-plan", apptest.Object{"plan_ids": []any{other}})
		promo(s, "dollars", only)
		promo(s, "tiny", apptest.Object{"percent_off": 97})
		promo(s, "any")
		ada := s.NewCustomer("ada")
		pass(s, 2*time.Minute, ada)
		sessions := len(s.AllProviderObjects("checkout.session")) // the demo tenant's
		for code, reason := range map[string]string{
			"nothing": "unknown", "off": "inactive", "later": "inactive", "short": "expired", "other-plan": "not_for_plan", "dollars": "not_for_currency",
			"tiny": "below_minimum",
		} {
			wantReason(openWith(ada, plan, code), reason)
			wantReason(previewCheckout(ada, plan, apptest.Object{"promotion_code": code}), reason)
		}
		wantReason(openWith(ada, free, "any"), "not_for_plan")
		wantReason(previewOnboarding(s, "pro", apptest.Object{"promotion_code": "off"}), "inactive")
		wantPreview(previewOnboarding(s, "pro", apptest.Object{"promotion_code": "any"}).Want(200), map[string]float64{"discount": 500, "total": 500})
		start := s.Call("POST", "/api/v1/onboarding/start", "", apptest.Object{
			"name": "Eve", "email": "eve@example.com", "password": "correct horse battery", "password_confirmation": "correct horse battery",
			"plan_slug": "pro", "currency": "EUR", "promotion_code": "off",
		})
		wantReason(start, "inactive")
		if n := len(s.AllProviderObjects("checkout.session")); n != sessions {
			t.Errorf("%d sessions, there were %d", n, sessions)
		}
		k.AdminCall("POST", "/discounts", apptest.Object{"code": "first", "name": apptest.Object{"en": "First"}, "percent_off": 10, "duration": "once", "first_purchase_only": true}).Want(201)
		for _, none := range []any{nil, "", "  "} {
			previewCheckout(ada, plan, apptest.Object{"promotion_code": none}).Want(200).WantAt("data.discount.cents", 0.0)
		}
		s.Pay(openWith(ada, plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		wantReason(post(ada, "first"), "first_purchase_only")
		ada.Call("POST", ada.Path("/subscription/promotion-code"), ada.Token, apptest.Object{}).WantInvalid("promotion_code")
		wantReason(post(ada, "other-plan"), "not_for_plan")
	})
}

// A code that was deactivated at the provider, or whose coupon was deleted there, is refused like an
// inactive one: a retry cannot help.
func TestPromotionCodeEndedAtTheProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, large := monthly(s, "pro", 1000), monthly(s, "large", 3000)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		s.Pay(openWith(ada, plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		for code, end := range map[string]func(id, coupon string){
			"stopped": func(id, _ string) { s.AtProvider("POST", "/promotion_codes/"+id, "active", "false") },
			"deleted": func(_, coupon string) { s.AtProvider("DELETE", "/coupons/"+coupon) },
		} {
			promo(s, code)
			openWith(bob, plan, code).Want(200) // the first use creates it at the provider
			made := s.AtProvider("GET", "/promotion_codes", "code", code)
			end(made.Str("data.0.id"), made.Str("data.0.promotion.coupon"))
			wantReason(openWith(bob, plan, code), "inactive")
			wantReason(previewCheckout(bob, plan, apptest.Object{"promotion_code": code}), "inactive")
			wantReason(post(ada, code), "inactive")
			wantReason(ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": large, "promotion_code": code}), "inactive")
			if n := redemptions(s, code); n != 0 {
				t.Errorf("%s: %v redemptions", code, n)
			}
		}
		s.Subscription(ada.Owner).WantAt("data.plan.id", plan).WantAt("data.discount", nil)
		openWith(bob, plan, "").Want(200)
	})
}

// Only one of several concurrent checkouts gets the last use of a code. A newer checkout of the
// same tenant takes over the hold, and the end of the session releases it.
func TestTheLastUseOfAPromotionCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, code := monthly(s, "pro", 1000), promo(s, "last", apptest.Object{"max_redemptions": 1})
		customers := make([]*apptest.Customer, 4)
		for i := range customers {
			customers[i] = s.NewCustomer(fmt.Sprintf("customer-%d", i))
		}
		open := func() (winner *apptest.Customer, page string) {
			var mu sync.Mutex
			var wait sync.WaitGroup
			won := 0
			for _, c := range customers {
				wait.Go(func() {
					a := openWith(c, plan, code)
					mu.Lock()
					defer mu.Unlock()
					if a.Status == 200 {
						winner, page, won = c, a.Str("data.url"), won+1
					} else {
						wantReason(a, "used_up")
					}
				})
			}
			wait.Wait()
			if won != 1 {
				t.Fatalf("%d checkouts hold the last use", won)
			}
			return winner, page
		}
		winner, _ := open()
		openWith(winner, plan, code).Want(200)
		pass(s, 61*time.Minute, customers...) // the session ends after an hour
		_, page := open()
		s.Pay(page, "4242424242424242").Want(303)
		s.AwaitNotifications()
		if n := redemptions(s, code); n != 1 {
			t.Errorf("%v redemptions", n)
		}
		pass(s, 61*time.Minute, customers...)
		for _, c := range customers[:2] {
			if a := openWith(c, plan, code); a.Status != 422 {
				t.Errorf("another redemption: %s", a.Text)
			}
		}
	})
}

// A discount with the duration once is taken off the first invoice above 0: a trial does not use it up.
func TestOnceAfterATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := monthly(s, "pro", 1000, apptest.Object{"trial_days": 14})
		code := promo(s, "once", apptest.Object{"duration": "once"})
		ada := s.NewCustomer("ada")
		wantPreview(previewCheckout(ada, plan, apptest.Object{"promotion_code": code}).Want(200), map[string]float64{"discount": 500, "total": 500, "due_now": 0, "next_amount": 500})
		s.Pay(openWith(ada, plan, code).Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		s.Subscription(ada.Owner).WantAt("data.status", "trialing").WantAt("data.discount.code", "once")
		if n := redemptions(s, code); n != 1 {
			t.Errorf("%v redemptions", n)
		}
		// The invoice of the trial has ended the discount at the provider. A job applies it again.
		apptest.Eventually(t, "the discount at the provider", func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'subscription.discount'`) == 0
		})
		pass(s, 15*24*time.Hour, ada)
		s.Subscription(ada.Owner).WantAt("data.status", "active").WantAt("data.discount", nil)
		s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 500.0)
		pass(s, 31*24*time.Hour, ada)
		s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 1000.0)
	})
}

// A contract's discount with the duration once is at the provider before the request returns, so that an
// outage of the worker during the trial does not matter.
func TestOnceAfterATrialOfAContract(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		code := promo(s, "once", apptest.Object{"duration": "once"})
		var customers []*apptest.Customer
		for n := range 4 {
			c := s.NewCustomer(fmt.Sprintf("customer-%d", n))
			customers = append(customers, c)
			makeContract(c, apptest.Object{
				"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "promotion_code": code, "trial_days": 3, "collection": "invoice",
			}).Want(201).WantAt("data.status", "trialing")
			if list := s.ProviderObjects(c.Owner, "subscription")[0].At("discounts").([]any); len(list) != 1 {
				t.Errorf("the provider has the discounts %v", list)
			}
		}
		s.Advance(73 * time.Hour)
		pass(s, 2*time.Hour, customers...)
		for _, c := range customers {
			s.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 950.0)
		}
	})
}

// A code can be applied to a running subscription and removed again. It applies from the next invoice,
// for some months. A change to a plan that the code does not cover ends it.
func TestPromotionCodeOfASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, large := monthly(s, "pro", 1000), monthly(s, "large", 3000)
		code := promo(s, "months", apptest.Object{
			"duration": "repeating", "months": 2, "percent_off": nil, "plan_ids": []any{plan},
			"amounts": []any{apptest.Object{"currency": "EUR", "amount_cents": 300}}, "max_per_tenant": nil,
		})
		promo(s, "new", apptest.Object{"percent_off": 25})
		ada := s.NewCustomer("ada")
		post(ada, code).WantRefused(404, "")
		ada.Call("DELETE", ada.Path("/subscription/promotion-code"), ada.Token, nil).WantRefused(404, "")
		s.Pay(openWith(ada, plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		ada.Call("DELETE", ada.Path("/subscription/promotion-code"), ada.Token, nil).Want(204)

		got := post(ada, "MONTHS").Want(200).WantAt("data.discount.code", "months").WantAt("data.discount.percent_off", nil).
			WantAt("data.discount.amount", apptest.Object{"amount_cents": 300.0, "currency": "EUR"})
		if at := got.TimeAt("data.discount.ends_at"); at.Sub(s.Now().AddDate(0, 2, 0)).Abs() > 3*24*time.Hour {
			t.Errorf("the discount ends at %v", at)
		}
		pass(s, 31*24*time.Hour, ada)
		s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).WantAt("data.0.total.amount_cents", 700.0)

		// The preview shows the cost of the change: the credit is net of the discount.
		shown := ada.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+large), ada.Token, nil).Want(200)
		shown.WantAt("data.next_amount.cents", 3000.0)
		if credit, _ := shown.At("data.credit.cents").(float64); credit > 700 {
			t.Errorf("credit %v of a period that cost 700", credit)
		}
		with := ada.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+large+"&promotion_code=new"), ada.Token, nil).Want(200)
		with.WantAt("data.next_amount.cents", 2250.0)
		wantReason(ada.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+large+"&promotion_code=months"), ada.Token, nil), "not_for_plan")
		changed := ada.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": large, "promotion_code": "new"}).Want(200)
		changed.WantAt("data.subscription.discount.code", "new").WantAt("data.subscription.price_cents", 3000.0)
		in := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		if total, due := in.At("data.0.total.amount_cents"), with.At("data.net.cents"); total != due {
			t.Errorf("the change cost %v, the preview shows %v", total, due)
		}
		if n := redemptions(s, "new"); n != 1 {
			t.Errorf("%v redemptions", n)
		}

		admin := "/tenants/" + ada.Tenant + "/subscriptions/" + s.Subscription(ada.Owner).Str("data.id") + "/promotion-code"
		k := s.CatalogAdmin()
		k.AdminCall("DELETE", admin, nil).Want(204)
		s.Subscription(ada.Owner).WantAt("data.discount", nil)
		promo(s, "gift", apptest.Object{"percent_off": 10})
		k.AdminCall("POST", admin, apptest.Object{"promotion_code": "gift"}).Want(200).WantAt("data.discount.code", "gift")
		k.AdminCall("POST", "/tenants/"+ada.Tenant+"/subscriptions/"+apptest.NoSuchID+"/promotion-code", apptest.Object{"promotion_code": "gift"}).WantRefused(404, "")
		if n := s.CountAudited(ada.Owner, "subscription.promotion_code_removed"); n != 1 {
			t.Errorf("%d removals are recorded", n)
		}
	})
}

// If the customer will never owe anything, the checkout takes no card. Otherwise it takes a card
// for later invoices.
func TestFreeForever(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := monthly(s, "pro", 1000)
		promo(s, "forever", apptest.Object{"percent_off": 100})
		promo(s, "month", apptest.Object{"percent_off": 100, "duration": "once"})
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		openWith(ada, plan, "forever").Want(200)
		openWith(bob, plan, "month").Want(200)
		for owner, want := range map[*apptest.Customer]string{ada: "if_required", bob: "always"} {
			s.ProviderObjects(owner.Owner, "checkout.session")[0].WantAt("payment_method_collection", want)
		}
		s.Pay(openWith(ada, plan, "forever").Want(200).Str("data.url"), "").Want(303)
		s.AwaitNotifications()
		s.Subscription(ada.Owner).WantAt("data.status", "active").WantAt("data.discount.percent_off", 100.0)
		pass(s, 32*24*time.Hour, ada)
		s.Subscription(ada.Owner).WantAt("data.status", "active").WantAt("data.payment_action", nil)
	})
}

// After a lost response, the same request applies and redeems the code once.
func TestPromotionCodeAfterALostAnswer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := monthly(s, "pro", 1000)
		ada := s.NewCustomer("ada")
		s.Pay(openWith(ada, plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		bob := s.NewCustomer("bob")
		s.Pay(openWith(bob, plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		s.AwaitNotifications()
		for name, chaos := range map[string]apptest.Object{"made": {"fail_after": 1, "status": 0}, "not-made": {"fail_before": 1, "status": 0}} {
			for _, isFirst := range []bool{true, false} { // the coupon is created, or the subscription is changed
				code := promo(s, fmt.Sprintf("%s-%t", name, isFirst), apptest.Object{"max_redemptions": 2})
				if !isFirst {
					post(bob, code).Want(200)
				}
				before := redemptions(s, code)
				s.Chaos(apptest.Object{"api": chaos})
				post(ada, code).WantRefused(502, "psp_error")
				s.Chaos(nil)
				s.RetryWhileDown(func() apptest.Reply { return post(ada, code) }).As(code).Want(200).WantAt("data.discount.code", code)
				if n := redemptions(s, code); n != before+1 {
					t.Errorf("%s: %v redemptions", code, n)
				}
			}
		}
		if n := s.CountRows(`SELECT count(*) FROM discount_redemptions WHERE redeemed_at IS NULL`); n != 0 {
			t.Errorf("%d holds remain", n)
		}
	})
}

// Exactly one of several concurrent subscriptions gets the last use of a code.
func TestConcurrentRedemptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, code := monthly(s, "pro", 1000), promo(s, "two", apptest.Object{"max_redemptions": 2})
		customers := make([]*apptest.Customer, 4)
		for i := range customers {
			customers[i] = s.NewCustomer(fmt.Sprintf("customer-%d", i))
			s.Pay(openWith(customers[i], plan, "").Want(200).Str("data.url"), "4242424242424242").Want(303)
		}
		s.AwaitNotifications()
		var wait sync.WaitGroup
		answers := make([]apptest.Reply, len(customers))
		for i, c := range customers {
			wait.Go(func() { answers[i] = post(c, code) })
		}
		wait.Wait()
		won := 0
		for _, a := range answers {
			if a.Status == 200 {
				won++
			} else {
				wantReason(a, "used_up")
			}
		}
		if n := redemptions(s, code); won != 2 || n != 2 {
			t.Errorf("%d subscriptions have the code, redeemed %v times", won, n)
		}
	})
}

// A code that is active at the provider for another coupon is refused, and the refusal states the
// reason.
func TestPromotionCodeMadeAtTheProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		coupon := s.AtProvider("POST", "/coupons", "percent_off", "30", "duration", "forever").Str("id")
		s.AtProvider("POST", "/promotion_codes", "promotion[type]", "coupon", "promotion[coupon]", coupon, "code", "BYHAND")
		plan, code := monthly(s, "pro", 1000), promo(s, "byHand")
		ada := s.NewCustomer("ada")
		wantReason(openWith(ada, plan, code), "inactive")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		wantReason(post(ada, code), "inactive")
		if n := redemptions(s, code); n != 0 {
			t.Errorf("%v redemptions", n)
		}
	})
}
