package blackbox_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// onBehalf calls a route of the customer's newest subscription with the token of an admin or the
// secret of a key.
func onBehalf(c *apptest.Customer, method, below, token string, body any) apptest.Reply {
	c.T.Helper()
	return c.Call(method, contractPath(c)+"/"+c.Subscriptions().Str("data.0.id")+below, token, body)
}

// audited returns the newest audit entry of an action.
func audited(s *apptest.Server, action string) apptest.Object {
	s.T.Helper()
	a := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]="+action, s.Admin(), nil).Want(200)
	return a.At("data.0").(apptest.Object)
}

// The platform changes, schedules, drops, cancels and resumes for a customer, as an admin and with a
// key (rules: subscription#by-the-platform). The audit trail names the actor; the tenant's responses do
// not.
func TestActingForACustomer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("max", "flat", "month", 9900, 0, nil)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		starter, growth := s.PlanID(ada.Owner, "starter"), s.PlanID(ada.Owner, "max")
		for _, c := range []*apptest.Customer{ada, bob} {
			c.Buy(starter, "EUR", apptest.Card(apptest.CardPays))
		}
		admin, adminID := s.Admin(), float64(s.UserID(s.Admin()))
		keyID, key := platformKey(s, "subscriptions.write")
		body := apptest.Object{"new_plan_id": growth}
		foreign := contractPath(ada) + "/" + bob.Subscriptions().Str("data.0.id")
		for path, method := range map[string]string{
			"/preview-change?new_plan_id=" + growth: "GET", "/change-plan": "POST", "/resume": "POST", "/pending-change": "DELETE",
		} {
			s.Call(method, foreign+path, admin, body).As(method+" "+path).WantRefused(404, "")
			onBehalf(ada, method, path, ada.Token, body).WantRefused(403, "")
			onBehalf(ada, method, path, "", body).WantRefused(401, "")
		}
		onBehalf(ada, "POST", "/change-plan", admin, apptest.Object{}).WantInvalid("new_plan_id")
		onBehalf(ada, "POST", "/change-plan", admin, apptest.Object{"new_plan_id": starter}).WantRefused(422, "plan_change_error")

		// At the end of the period, with a key.
		onBehalf(ada, "GET", "/preview-change?when=period_end&new_plan_id="+growth, key, nil).Want(200).WantAt("data.due_now.cents", 0.0)
		later := apptest.WithChanges(body, apptest.Object{"when": "period_end"})
		onBehalf(ada, "POST", "/change-plan", key, later).Want(200).WantAt("data.action", "scheduled").
			WantAt("data.subscription.pending_change.by", apptest.Object{"type": "api_key", "id": keyID, "name": "Backend"})
		masked := apptest.Object{"type": "platform", "id": nil, "name": nil}
		ada.Subscription(ada.Owner).WantAt("data.pending_change.kind", "scheduled").WantAt("data.pending_change.by", masked)
		if e := audited(s, "subscription.plan_change_scheduled"); e["api_key_id"] != keyID || e["actor_id"] != nil {
			t.Errorf("the entry: %v", e)
		}
		onBehalf(ada, "DELETE", "/pending-change", admin, nil).Want(204)
		onBehalf(ada, "DELETE", "/pending-change", admin, nil).Want(204)
		ada.Subscription(ada.Owner).WantAt("data.pending_change", nil)
		if e := audited(s, "subscription.plan_change_dropped"); e["actor_id"] != adminID || e["api_key_id"] != nil {
			t.Errorf("the entry: %v", e)
		}
		s.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, later).Want(200).
			WantAt("data.subscription.pending_change.by.type", "user").WantAt("data.subscription.pending_change.by.id", float64(s.UserID(ada.Token)))
		onBehalf(ada, "DELETE", "/pending-change", key, nil).Want(204)

		// A preview binds the actor who saw it.
		shown := onBehalf(ada, "GET", "/preview-change?new_plan_id="+growth, admin, nil).Want(200)
		s.Advance(10 * time.Minute)
		ada.LogInAgain()
		s.Call("GET", ada.Path("/subscription/preview-change?new_plan_id="+growth), ada.Token, nil).Want(200)
		s.Advance(4 * time.Minute)
		admin = s.Admin()
		onBehalf(ada, "POST", "/change-plan", admin, body).Want(200).WantAt("data.action", "updated").
			WantAt("message", "subscription.plan_changed").WantAt("data.subscription.plan.id", growth)
		ada.AwaitNotifications()
		if e := audited(s, "subscription.plan_changed"); e["actor_id"] != adminID {
			t.Errorf("the entry: %v", e)
		}
		newestInvoice(ada).WantAt("data.0.total.amount_cents", shown.At("data.due_now.cents"))

		onBehalf(ada, "POST", "/resume", key, nil).WantRefused(422, "subscription_not_resumable")
		ada.LogInAgain()
		ada.Cancel(ada.Owner, false).Want(200)
		onBehalf(ada, "POST", "/resume", key, nil).Want(200).WantAt("data.cancel_at_period_end", false).WantAt("message", "subscription.resumed")
		if e := audited(s, "subscription.resumed"); e["api_key_id"] != keyID {
			t.Errorf("the entry: %v", e)
		}
		ada.Cancel(ada.Owner, true).Want(200)
		onBehalf(ada, "POST", "/change-plan", s.Admin(), body).WantRefused(422, "subscription_cannot_be_upgraded")
		onBehalf(ada, "GET", "/preview-change?new_plan_id="+growth, key, nil).WantRefused(404, "")
		onBehalf(ada, "POST", "/resume", key, nil).WantRefused(404, "")
		onBehalf(ada, "DELETE", "/pending-change", key, nil).Want(204)
		bob.LogInAgain()
		bob.Subscription(bob.Owner).WantAt("data.plan.id", starter)
	})
}

// A preview during a view-only impersonation is not stored (rules: subscription#preview).
func TestReadOnlyPreviewBindsNothing(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("max", "flat", "month", 9900, 0, nil)
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		token := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", token, apptest.Object{
			"user_id": s.UserID(ada.Token), "tenant_id": ada.Tenant, "read_only": true,
		}).Want(200)
		path := ada.Path("/subscription/preview-change?new_plan_id=" + s.PlanID(ada.Owner, "max"))
		s.Call("GET", path, token, nil).Want(200)
		if n := s.CountRows("SELECT count(*) FROM change_previews"); n != 0 {
			t.Errorf("%d previews", n)
		}
		s.Call("GET", path, ada.Token, nil).Want(200)
		if n := s.CountRows("SELECT count(*) FROM change_previews"); n != 1 {
			t.Errorf("%d previews", n)
		}
	})
}

// If a change waits for a confirmation, the owner gets the link by mail
// (rules: subscription#by-the-platform).
func TestActingChangeWaits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("max", "flat", "month", 9900, 0, nil)
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		ada.ReplaceCard(apptest.CardConfirms)
		ada.AwaitNotifications()
		a := onBehalf(ada, "POST", "/change-plan", s.Admin(), apptest.Object{"new_plan_id": s.PlanID(ada.Owner, "max")}).Want(200)
		a.WantAt("data.action", "confirmation_required").WantAt("data.subscription.pending_change.kind", "payment").
			WantAt("data.subscription.pending_change.by.type", "user")
		ada.Subscription(ada.Owner).WantAt("data.pending_change.by", apptest.Object{"type": "platform", "id": nil, "name": nil})
		apptest.Eventually(t, "the mail to the owner", func() bool { return countMails(s, ada.Email, "Confirm the change") == 1 })
		if n := countMails(s, billingEmail, "Confirm the change"); n != 0 {
			t.Errorf("%d mails to the billing address", n)
		}
		onBehalf(ada, "DELETE", "/pending-change", s.Admin(), nil).Want(204)
	})
}

// A change from a free plan to a plan with a price charges the saved card. Without a card, the owner
// gets the link to pay. The old subscription ends when the new one is active
// (rules: subscription#by-the-platform).
func TestActingFromFreeToPaid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("max", "flat", "month", 9900, 0, nil)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		starter, growth := s.PlanID(ada.Owner, "starter"), s.PlanID(ada.Owner, "max")
		k := s.CatalogAdmin()
		free := k.CreatePricedPlan(k.CreateProduct("gratis"), "gratis", map[string]int{"EUR": 0})
		ada.Buy(starter, "EUR", apptest.Card(apptest.CardPays))
		ada.Cancel(ada.Owner, true).Want(200)
		for _, c := range []*apptest.Customer{ada, bob} {
			makeContract(c, apptest.Object{"plan_id": free, "currency": "EUR"}).Want(201).WantAt("data.status", "active")
			c.AwaitNotifications()
		}
		old := ada.Subscriptions().Str("data.0.id")
		body := apptest.Object{"new_plan_id": starter}
		onBehalf(ada, "POST", "/change-plan", s.Admin(), apptest.WithChanges(body, apptest.Object{"when": "period_end"})).WantRefused(422, "plan_change_error")
		onBehalf(ada, "POST", "/change-plan", s.Admin(), body).Want(200).WantAt("data.action", "updated").
			WantAt("data.subscription.status", "active").WantAt("data.subscription.plan.id", starter)
		ada.AwaitNotifications()
		list := ada.Subscriptions()
		list.WantAt("data.0.plan.id", starter).WantAt("data.1.id", old).WantAt("data.1.status", "canceled")

		// Without a card.
		waits := onBehalf(bob, "POST", "/change-plan", s.Admin(), body).Want(200)
		waits.WantAt("data.action", "confirmation_required").WantAt("data.payment_action.type", "pay").WantAt("data.subscription.plan.id", free)
		onBehalf(bob, "POST", "/change-plan", s.Admin(), body).Want(200).WantAt("data.payment_action.url", waits.At("data.payment_action.url"))
		apptest.Eventually(t, "the mail to the owner", func() bool { return countMails(s, bob.Email, "Pay for the") == 1 })
		bob.WantStatus("active")
		// Another change replaces the change that waits.
		other := onBehalf(bob, "POST", "/change-plan", s.Admin(), apptest.Object{"new_plan_id": growth}).Want(200)
		if other.At("data.payment_action.url") == waits.At("data.payment_action.url") {
			t.Error("the link is the same")
		}
		bob.AwaitNotifications()
		s.Submit(other.Str("data.payment_action.url"), apptest.Card(apptest.CardPays)).Want(303)
		bob.AwaitNotifications()
		list = bob.Subscriptions()
		list.WantAt("data.0.plan.id", growth).WantAt("data.0.status", "active").WantAt("data.1.status", "canceled")
		if n := countMails(s, bob.Email, "Pay for the"); n != 2 {
			t.Errorf("%d mails", n)
		}
	})
}

// A change from a free plan that waits for its payment can be dropped. The link to pay then expires. If the
// payment was faster, the change is made (rules: subscription#by-the-platform).
func TestActingDropsAChangeFromFree(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		starter := s.PlanID(ada.Owner, "starter")
		k := s.CatalogAdmin()
		free := k.CreatePricedPlan(k.CreateProduct("gratis"), "gratis", map[string]int{"EUR": 0})
		makeContract(ada, apptest.Object{"plan_id": free, "currency": "EUR"}).Want(201).WantAt("data.status", "active")
		ada.AwaitNotifications()
		one := contractPath(ada) + "/" + ada.Subscriptions().Str("data.0.id")
		drop := func() apptest.Reply { return s.Call("DELETE", one+"/pending-change", s.Admin(), nil) }
		change := func() string {
			t.Helper()
			waits := s.Call("POST", one+"/change-plan", s.Admin(), apptest.Object{"new_plan_id": starter}).Want(200)
			return waits.WantAt("data.action", "confirmation_required").Str("data.payment_action.url")
		}

		link := change()
		drop().Want(204)
		drop().Want(204)
		if e := audited(s, "subscription.plan_change_dropped"); e["actor_id"] != float64(s.UserID(s.Admin())) {
			t.Errorf("the entry: %v", e)
		}
		s.AwaitJobs()
		s.Submit(link, apptest.Card(apptest.CardPays))
		if last := ada.ProviderObjects(ada.Owner, "invoice")[1]; last.At("status") != "void" {
			t.Errorf("the invoice is %s", last.Text)
		}
		ada.AwaitNotifications()
		ada.Subscription(ada.Owner).WantAt("data.plan.id", free).WantAt("data.status", "active")

		s.Chaos(apptest.ChaosNoWebhooks)
		s.Submit(change(), apptest.Card(apptest.CardPays)).Want(http.StatusSeeOther)
		drop().WantRefused(422, "plan_change_error")
		s.Chaos(nil)
		ada.Subscription(ada.Owner).WantAt("data.plan.id", starter).WantAt("data.status", "active")
	})
}

// If a change from a free plan is dropped while it is paid, the change is made or the payment is returned.
// The tenant always has one of the two subscriptions.
func TestActingDropsAChangeDuringItsPayment(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		starter := s.PlanID(ada.Owner, "starter")
		k := s.CatalogAdmin()
		free := k.CreatePricedPlan(k.CreateProduct("gratis"), "gratis", map[string]int{"EUR": 0})
		for n := range 8 {
			c := s.NewCustomer(fmt.Sprintf("bob-%d", n))
			makeContract(c, apptest.Object{"plan_id": free, "currency": "EUR"}).Want(201)
			one := contractPath(c) + "/" + c.Subscriptions().Str("data.0.id")
			link := s.Call("POST", one+"/change-plan", s.Admin(), apptest.Object{"new_plan_id": starter}).Want(200).Str("data.payment_action.url")
			var both sync.WaitGroup
			both.Go(func() {
				time.Sleep(time.Duration(n) * 4 * time.Millisecond)
				s.Submit(link, apptest.Card(apptest.CardPays))
			})
			both.Go(func() { s.Call("DELETE", one+"/pending-change", s.Admin(), nil) })
			both.Wait()
			c.AwaitNotifications()
			s.AwaitJobs()
			c.AwaitNotifications()
			kept := c.Subscription(c.Owner).WantAt("data.status", "active").At("data.plan.id")
			last := newestInvoice(c)
			paid := last.At("data.0.status") == "paid" && last.At("data.0.refunded.amount_cents") == 0.0
			if paid != (kept == starter) {
				t.Errorf("%d: the plan is %v, the invoice %s", n, kept, last.Text)
			}
		}
	})
}

// A contract can redeem a promotion code (rules: subscription#contracts). The redemption is held while
// the subscription is incomplete, counts once it is paid, and is free again once it has expired.
func TestContractWithAPromotionCode(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		starter := s.PlanID(ada.Owner, "starter")
		k := s.CatalogAdmin()
		discount := k.AdminCall("POST", "/discounts", apptest.Object{
			"code": "HALF", "name": apptest.Object{"en": "Half"}, "percent_off": 50, "duration": "forever", "max_redemptions": 1, "max_per_tenant": nil,
		}).Want(http.StatusCreated).Str("data.id")
		redeemed := func(want float64) {
			t.Helper()
			k = s.CatalogAdmin()
			k.AdminCall("GET", "/discounts/"+discount, nil).Want(200).WantAt("data.redemptions", want)
		}
		body := apptest.Object{"plan_id": starter, "currency": "EUR", "promotion_code": " half "}
		preview := func(c *apptest.Customer, body apptest.Object) apptest.Reply {
			t.Helper()
			return c.Call("POST", contractPath(c)+"/preview", c.Admin(), body)
		}
		full := preview(ada, apptest.WithChanges(body, apptest.Object{"promotion_code": nil})).Want(200).At("data.due_now.cents").(float64)
		preview(ada, body).Want(200).WantAt("data.due_now.cents", full/2).WantAt("data.discount.cents", full/2)
		preview(ada, apptest.WithChanges(body, apptest.Object{"price_cents": 1000, "trial_days": 7})).Want(200).
			WantAt("data.due_now.cents", 0.0).WantAt("data.total.cents", 500.0)
		preview(ada, apptest.WithChanges(body, apptest.Object{"promotion_code": "none"})).WantInvalid("promotion_code")
		makeContract(ada, apptest.WithChanges(body, apptest.Object{"promotion_code": "none"})).WantInvalid("promotion_code")
		if n := len(ada.Subscriptions().At("data").([]any)); n != 0 {
			t.Errorf("%d subscriptions", n)
		}
		makeContract(ada, body).Want(201).WantAt("data.status", "incomplete")
		redeemed(0)
		makeContract(bob, body).WantInvalid("promotion_code")
		preview(bob, body).WantInvalid("promotion_code")
		s.Advance(23*time.Hour + time.Minute)
		ada.AwaitNotifications()
		ada.LogInAgain()
		ada.Subscriptions().WantAt("data.0.status", "incomplete_expired")
		redeemed(0)
		made := makeContract(bob, body).Want(201)
		s.Submit(made.Str("data.payment_action.url"), apptest.Card(apptest.CardPays)).Want(303)
		bob.AwaitNotifications()
		bob.LogInAgain()
		bob.WantStatus("active")
		bob.Subscription(bob.Owner).WantAt("data.discount.code", "HALF")
		newestInvoice(bob).WantAt("data.0.total.amount_cents", full/2)
		redeemed(1)
		makeContract(ada, body).WantInvalid("promotion_code")
	})
}
