package blackbox_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// cardFreeShop has the default plan free and plans with trials: trial and other, of one product, with
// 14 days without a card; short with 5 days without a card; and carded with 14 days and a card.
type cardFreeShop struct{ trial, other, short, carded, free string }

func newCardFreeShop(s *apptest.Server) cardFreeShop {
	s.T.Helper()
	k := s.CatalogAdmin()
	product, free := newDefaultPlan(k)
	plan := func(product, slug string, days int, requiresCard bool) string {
		return k.CreatePricedPlan(product, slug, map[string]int{"EUR": 2000}, apptest.Object{"trial_days": days, "trial_requires_card": requiresCard})
	}
	return cardFreeShop{
		trial: plan(product, "trial", 14, false), other: plan(product, "more", 14, false),
		short: plan(k.CreateProduct("second"), "short", 5, false), carded: plan(k.CreateProduct("third"), "carded", 14, true),
		free: free,
	}
}

// newVerified registers a customer with a verified email.
func newVerified(s *apptest.Server, name string) *apptest.Customer {
	s.T.Helper()
	c := s.NewCustomer(name)
	s.VerifyEmail(c.Token, c.Email)
	return c
}

func startTrial(c *apptest.Customer, plan string) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/subscription/trial"), c.Token, apptest.Object{"plan_id": plan, "currency": "EUR"})
}

// moveTrial moves the end of the trial of a customer's newest subscription.
func moveTrial(c *apptest.Customer, end any) apptest.Reply {
	c.T.Helper()
	id := c.Subscriptions().Str("data.0.id")
	return c.Call("PATCH", "/api/v1/admin/tenants/"+c.Tenant+"/subscriptions/"+id, c.Admin(), apptest.Object{"trial_ends_at": end})
}

// A trial without a card asks for a card seven days before its end, and is canceled without one
// (rules: subscription#trials-without-a-card). The default plan then applies.
func TestTrialWithoutACardEnds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		begun := startTrial(ada, shop.trial).Want(http.StatusCreated)
		begun.WantAt("data.status", "trialing").WantAt("data.payment_action", nil).WantAt("data.plan.id", shop.trial).WantAt("data.quantity", 1.0)
		if got, want := begun.TimeAt("data.trial_ends_at"), s.Now().AddDate(0, 0, 14); got.Sub(want).Abs() > time.Minute {
			t.Errorf("the trial ends at %v, want %v", got, want)
		}
		if n := len(ada.ProviderObjects(ada.Owner, "payment_method")); n != 0 {
			t.Errorf("%d payment methods", n)
		}
		s.Advance(6 * apptest.Day)
		ada.LogInAgain()
		ada.Subscription(ada.Owner).WantAt("data.payment_action", nil)
		s.Advance(apptest.Day + time.Hour)
		ada.LogInAgain()
		action := ada.Subscription(ada.Owner).WantAt("data.payment_action.type", "add_card").Str("data.payment_action.url")
		apptest.Eventually(t, "the mail that asks for a card", func() bool { return countMails(s, billingEmail, "Add a card") == 1 })
		s.Advance(5 * apptest.Day) // past the provider's notification that the trial ends
		ada.LogInAgain()
		ada.Subscription(ada.Owner).WantAt("data.payment_action.url", action)
		s.Advance(2*apptest.Day + 2*time.Hour)
		ada.LogInAgain()
		ada.Subscriptions().WantAt("data.0.status", "canceled")
		ada.Subscription(ada.Owner).WantAt("data", nil)
		s.Call("GET", ada.Path("/entitlements"), ada.Token, nil).Want(200).WantAt("data.0.limit", 10.0)
		if n := len(ada.ProviderObjects(ada.Owner, "charge")); n != 0 {
			t.Errorf("%d payments", n)
		}
		for subject, want := range map[string]int{"Add a card": 1, "ends soon": 0} {
			if n := countMails(s, billingEmail, subject); n != want {
				t.Errorf("%d mails with the subject %q, want %d", n, subject, want)
			}
		}
	})
}

// billingEmail is the billing address of registered tenants.
const billingEmail = "billing@example.com"

// countMails counts the mails to an address whose subject contains a text.
func countMails(s *apptest.Server, address, subject string) (n int) {
	s.T.Helper()
	for _, m := range s.Mails(address) {
		if strings.Contains(m["subject"].(string), subject) {
			n++
		}
	}
	return n
}

// A card that is added in the portal ends the request for a card, and pays when the trial ends.
func TestCardIsAddedDuringTheTrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		startTrial(ada, shop.short).Want(201).WantAt("data.payment_action.type", "add_card") // shorter than seven days
		apptest.Eventually(t, "the mail that asks for a card", func() bool { return countMails(s, billingEmail, "Add a card") == 1 })
		portal := func(flow any) apptest.Reply {
			return ada.Call("POST", ada.Path("/docs/billing/portal"), ada.Token, apptest.Object{"flow": flow})
		}
		portal("subscription_cancel").WantInvalid("flow")
		portal("").WantInvalid("flow")
		page := portal("payment_method_update").Want(200).Str("data.url")
		ada.Submit(page+"/card", apptest.Card(apptest.CardPays)).Want(303)
		ada.AwaitNotifications()
		ada.Subscription(ada.Owner).WantAt("data.status", "trialing").WantAt("data.payment_action", nil)
		s.Advance(5*apptest.Day + 2*time.Hour)
		ada.LogInAgain()
		ada.WantStatus("active")
		if n := len(ada.ProviderObjects(ada.Owner, "charge")); n != 1 {
			t.Errorf("%d payments", n)
		}

		// A card that is set only for the provider's customer also ends the request, although the
		// subscription does not change.
		bob := newVerified(s, "bob")
		startTrial(bob, shop.short).Want(201)
		customer := bob.ProviderObjects(bob.Owner, "customer")[0].Str("id")
		card := s.AtProvider("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).Str("id")
		s.AtProvider("POST", "/customers/"+customer, "invoice_settings[default_payment_method]", card)
		bob.AwaitNotifications()
		bob.Subscription(bob.Owner).WantAt("data.payment_action", nil)
	})
}

// The refusals of the trial route.
func TestTrialWithoutACardIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		unverified := s.NewCustomer("unverified")
		startTrial(unverified, shop.trial).WantRefused(403, "EMAIL_NOT_VERIFIED")
		startTrial(ada, apptest.NoSuchID).WantInvalid("plan_id")
		startTrial(ada, shop.free).WantRefused(422, "plan_change_error")
		startTrial(ada, shop.carded).WantRefused(422, "trial_not_available")
		ada.Call("POST", ada.Path("/subscription/trial"), ada.Token, apptest.Object{"plan_id": shop.trial, "currency": "XXX"}).WantInvalid("currency")
		ada.Call("POST", ada.Path("/subscription/trial"), ada.Token, apptest.Object{}).WantInvalid("plan_id", "currency")
		startTrial(ada, shop.trial).Want(201)
		startTrial(ada, shop.trial).WantRefused(422, "trial_not_available")
		startTrial(ada, shop.other).WantRefused(422, "trial_not_available") // a plan of the same product
		startTrial(ada, shop.short).WantRefused(422, "subscription_already_exists")
		quit(ada)
		startTrial(ada, shop.other).WantRefused(422, "trial_not_available")
		// Once the trial is used up, the checkout takes a card.
		page := ada.OpenCheckout(shop.trial, "EUR").Want(200).Str("data.url")
		ada.Submit(page, nil).Want(422)
		ada.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		ada.AwaitNotifications()
		ada.WantStatus("active")

		// A trial with a card uses up the trial of the product as well.
		bob := newVerified(s, "bob")
		bob.Buy(shop.carded, "EUR", apptest.Card(apptest.CardPays))
		bob.WantStatus("trialing")
		quit(bob)
		s.CatalogAdmin().AdminCall("PATCH", "/plans/"+shop.carded, apptest.Object{"trial_requires_card": false}).Want(200)
		startTrial(bob, shop.carded).WantRefused(422, "trial_not_available")
	})
}

// An owner who had a trial as the owner of an earlier tenant gets no second one.
func TestTrialOfAnEarlierTenantOfTheOwner(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		startTrial(ada, shop.trial).Want(201)
		quit(ada)
		bob, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "admin")
		ada.Call("POST", ada.Path("/transfer-ownership"), ada.Token, apptest.Object{"user_id": s.UserID(bob), "current_password": apptest.AdaLogin["password"]}).Want(200)
		ada.LogInAgain()
		ada.Call("POST", ada.Path("/leave"), ada.Token, nil).Want(204)
		again := s.Call("POST", "/api/v1/admin/tenants", s.Admin(), apptest.Object{"name": "Again", "owner": apptest.Object{"email": ada.Email}}).Want(201)
		ada.Tenant = again.Str("data.id")
		ada.LogInAgain()
		startTrial(ada, shop.other).WantRefused(422, "trial_not_available")
		startTrial(ada, shop.short).Want(201)
	})
}

// Checkout and onboarding take no card for such a trial.
func TestCheckoutOfATrialWithoutACard(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		ada.Buy(shop.trial, "EUR", nil)
		ada.WantStatus("trialing")
		s.Advance(14*apptest.Day + 2*time.Hour)
		ada.LogInAgain()
		ada.Subscriptions().WantAt("data.0.status", "canceled")
		bob := newVerified(s, "bob")
		page := bob.OpenCheckout(shop.carded, "EUR").Want(200).Str("data.url")
		bob.Submit(page, nil).Want(422)
	})
}

// The platform moves the end of a trial, or ends it now.
func TestMovedTrialEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		startTrial(ada, shop.trial).Want(201)
		for _, invalid := range []any{"", "soon", nil, 5, s.Now().Add(-time.Hour).Format(time.RFC3339), s.Now().AddDate(0, 0, 731).Format(time.RFC3339)} {
			moveTrial(ada, invalid).WantInvalid("trial_ends_at")
		}
		end := s.Now().AddDate(0, 0, 30).Truncate(time.Second)
		moved := moveTrial(ada, end.Format(time.RFC3339)).Want(200)
		moved.WantAt("data.status", "trialing").WantAt("data.payment_action", nil)
		if got := moved.TimeAt("data.trial_ends_at"); !got.Equal(end) {
			t.Errorf("the trial ends at %v, want %v", got, end)
		}
		apptest.Eventually(t, "the mail about the new end", func() bool { return countMails(s, ada.Email, "has a new end") == 1 })
		s.Advance(22 * apptest.Day)
		ada.LogInAgain()
		ada.Subscription(ada.Owner).WantAt("data.status", "trialing").WantAt("data.payment_action", nil)
		if n := countMails(s, billingEmail, "Add a card"); n != 0 {
			t.Errorf("%d mails ask for a card before the moved end", n)
		}
		moveTrial(ada, "now").Want(200).WantAt("data.status", "canceled")
		moveTrial(ada, "now").WantRefused(409, "subscription_not_trialing")
		apptest.Eventually(t, "the mail about the end", func() bool { return countMails(s, ada.Email, "has ended") == 1 })
		wantText(s, ada.Email, "Trial ended on: "+s.Now().Format("2 January 2006"))

		bob := newVerified(s, "bob")
		bob.Buy(shop.carded, "EUR", apptest.Card(apptest.CardPays))
		moveTrial(bob, "now").Want(200).WantAt("data.status", "active")
		if n := len(bob.ProviderObjects(bob.Owner, "charge")); n != 1 {
			t.Errorf("%d payments", n)
		}
		trail := s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+"/audit-log?filter[action]=subscription.updated", s.Admin(), nil)
		if trail.Status == 200 && len(trail.At("data").([]any)) != 2 {
			t.Errorf("the audit log contains %s", trail.Text)
		}
		other := "/api/v1/admin/tenants/" + bob.Tenant + "/subscriptions/" + ada.Subscriptions().Str("data.0.id")
		s.Call("PATCH", other, s.Admin(), apptest.Object{"trial_ends_at": "now"}).WantRefused(404, "")
	})
}

// Several concurrent starts begin one trial, and repeated requests return the same trial.
func TestTrialsWithoutACardAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		var wg sync.WaitGroup
		for _, plan := range []string{shop.trial, shop.other, shop.trial, shop.short} {
			wg.Go(func() {
				if a := startTrial(ada, plan); a.Status != 201 && a.Status != 422 {
					t.Errorf("%d: %s", a.Status, a.Text)
				}
			})
		}
		wg.Wait()
		apptest.Eventually(t, "one trial", func() bool {
			live := 0
			for _, sub := range ada.ProviderObjects(ada.Owner, "subscription") {
				if sub.At("status") == "trialing" {
					live++
				}
			}
			return live == 1
		})
		ada.Subscription(ada.Owner).WantAt("data.status", "trialing")
	})
}

// Of the trials of two plans that start at the same time, one is refused, even if it was stored and
// canceled before its request reads it.
func TestRefusedTrialIsNotReturned(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		var created sync.WaitGroup
		created.Add(2)
		w.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/subscriptions") {
				return apptest.Pass
			}
			created.Done()
			created.Wait()
			return apptest.HoldAnswer
		})
		started := make(chan apptest.Reply, 2)
		for _, plan := range []string{shop.trial, shop.other} {
			go func() { started <- startTrial(ada, plan) }()
		}
		apptest.Eventually(t, "one running and one canceled trial", func() bool {
			all := ada.Subscriptions().Want(200).Text
			return strings.Contains(all, `"status":"trialing"`) && strings.Contains(all, `"status":"canceled"`)
		})
		w.ReleaseAnswers()
		first, second := <-started, <-started
		if first.Status == 422 {
			first, second = second, first
		}
		first.Want(201).WantAt("data.status", "trialing")
		second.WantRefused(422, "subscription_already_exists")
	})
}
