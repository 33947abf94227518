package blackbox_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// answersAreLost returns a verdict that drops the responses to the requests to one endpoint.
func answersAreLost(method, path string) func(r *http.Request) apptest.Verdict {
	return apptest.ForEndpoint(apptest.LoseAnswer, method, path)
}

// If the provider's response is lost, the retry returns the created subscription. The subscription is
// created once, with one audit entry, and another request does not create a second one.
func TestLostAnswerToAContract(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		s.Chaos(apptest.ChaosNoWebhooks)
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		body := byInvoice(s.PlanID(ada.Owner, "starter"))
		p.Tamper(answersAreLost("POST", "/subscriptions"))
		makeContract(ada, body).WantRefused(502, "psp_error")
		makeContract(bob, body).WantRefused(502, "psp_error")
		p.Tamper(nil)
		s.RetryWhileDown(func() apptest.Reply { return makeContract(ada, body) }).Want(201).WantAt("data.status", "active")
		makeContract(bob, apptest.WithChanges(body, apptest.Object{"price_cents": 1000})).WantRefused(422, "subscription_already_exists")
		for _, c := range []*apptest.Customer{ada, bob} {
			c.Subscriptions().WantAt("data.0.price_cents", 1234.0)
			if n, m := len(c.ProviderObjects(c.Owner, "subscription")), s.CountAudited(c.Owner, "subscription.created"); n != 1 || m != 1 {
				t.Errorf("%d subscriptions, %d audit entries", n, m)
			}
		}
	})
}

// If the response to marking an invoice as paid is lost, the retry succeeds once, even if a
// notification has stored the outcome first.
func TestLostAnswerToAMarking(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		ada := s.NewCustomer("ada")
		makeContract(ada, byInvoice(s.PlanID(ada.Owner, "starter"))).Want(201)
		ada.AwaitNotifications()
		id := newestInvoice(ada).Str("data.0.id")
		mark := func(reference string) apptest.Reply {
			return ada.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+id+"/mark-paid", ada.Admin(), apptest.Object{"reference": reference})
		}
		p.Tamper(answersAreLost("POST", "/invoices/"))
		mark("TR 1").WantRefused(502, "psp_error")
		p.Tamper(nil)
		ada.AwaitNotifications()
		s.RetryWhileDown(func() apptest.Reply { return mark("TR 2") }).WantRefused(409, "invoice_not_payable")
		mark("TR 1").Want(200).WantAt("data.payment_reference", "TR 1")
		mark("TR 1").WantRefused(409, "invoice_not_payable")
		if n := s.CountAudited(ada.Owner, "invoice.marked_paid"); n != 1 {
			t.Errorf("%d audit entries", n)
		}
	})
}

// The provider created the subscription, but its response was lost. If the customer's card changes
// before the retry, the provider rejects the idempotency key, and the retry finds the subscription.
// Source: https://docs.stripe.com/error-low-level#idempotency
func TestContractRetriedWithAnotherCard(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		s.Chaos(apptest.ChaosNoWebhooks)
		ada := s.NewCustomer("ada")
		body := apptest.Object{"plan_id": s.PlanID(ada.Owner, "starter"), "currency": "EUR", "price_cents": 500}
		p.Tamper(answersAreLost("POST", "/subscriptions"))
		makeContract(ada, body).WantRefused(502, "psp_error")
		p.Tamper(nil)
		customer := ada.ProviderObjects(ada.Owner, "customer")[0].Str("id")
		card := s.AtProvider("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).Str("id")
		s.AtProvider("POST", "/customers/"+customer, "invoice_settings[default_payment_method]", card)
		s.RetryWhileDown(func() apptest.Reply { return makeContract(ada, body) }).Want(201)
		makeContract(ada, body).WantRefused(422, "subscription_already_exists")
		if n := len(ada.ProviderObjects(ada.Owner, "subscription")); n != 1 {
			t.Errorf("%d subscriptions at the provider", n)
		}
	})
}

// A subscription that was refused, because a trial began first, is not returned, even if it was stored
// and canceled before its request reads it, and even if the request can be repeated.
func TestRefusedContractIsNotReturned(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		shop := newCardFreeShop(s)
		ada := newVerified(s, "ada")
		var asked atomic.Bool
		asking, began := make(chan struct{}), make(chan struct{})
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/subscriptions") || asked.Swap(true) {
				return apptest.Pass
			}
			close(asking)
			<-began
			return apptest.HoldAnswer
		})
		made := make(chan apptest.Reply)
		go func() {
			r := ada.NewRequest(http.MethodPost, contractPath(ada), ada.Admin(), byInvoice(shop.other))
			r.Header.Set("Idempotency-Key", "contract")
			made <- ada.Do(r)
		}()
		<-asking
		startTrial(ada, shop.trial).Want(201)
		close(began)
		apptest.Eventually(t, "the canceled subscription", func() bool {
			return strings.Contains(ada.Subscriptions().Want(200).Text, `"status":"canceled"`)
		})
		p.ReleaseAnswers()
		(<-made).WantRefused(422, "subscription_already_exists")
		ada.Subscription(ada.Owner).WantAt("data.status", "trialing")
	})
}
