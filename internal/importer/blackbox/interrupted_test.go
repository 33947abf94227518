package blackbox_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// If an import fails at any request to Stripe, repeating it imports the subscription exactly once.
// This includes a failure after the customer was stored, but before the subscription was stored.
func TestInterruptedSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, proxy *apptest.Proxy) {
		k := s.Customers()
		k.AddSubscriber("other", "starter")
		price := s.ProviderPriceOf(s.PlanID(k.Names["other"], "starter"))
		customer := s.AtProvider("POST", "/customers", "name", "Cobol Ltd").Str("id")
		sub := k.SubscribeAtProvider(customer, price)
		s.AwaitNotifications()
		f := company(t)
		want(s, f, "tenants: 1 created, 0 updated, 0 unchanged")
		f["subscriptions"] = "tenant,psp_subscription_id,psp_customer_id\nc1," + sub + "," + customer + "\n"

		customers := s.CountRows(`SELECT count(*) FROM psp_customers`)
		subscriptions := s.CountRows(`SELECT count(*) FROM subscriptions`)
		kept := false
		for stop := int64(1); ; stop++ {
			var asked atomic.Int64
			proxy.Tamper(func(r *http.Request) apptest.Verdict {
				if strings.Contains(r.URL.Path, sub) && asked.Add(1) >= stop {
					return apptest.Refuse
				}
				return apptest.Pass
			})
			said, err := run(s, f, false)
			proxy.Tamper(nil)
			kept = kept || s.CountRows(`SELECT count(*) FROM psp_customers`) > customers && s.CountRows(`SELECT count(*) FROM subscriptions`) == subscriptions
			if err == nil && strings.Contains(said, "subscriptions: 1 created, 0 updated, 0 unchanged\n") {
				break
			}
			if err == nil || stop > 5 {
				t.Fatalf("stopped at question %d: %v\n%s", stop, err, said)
			}
		}
		if !kept {
			t.Error("no import ended between the customer and the subscription")
		}
		if n := s.CountRows(`SELECT count(*) FROM subscriptions`); n != subscriptions+1 {
			t.Errorf("%d subscriptions, want one more than %d", n, subscriptions)
		}
		want(s, f, "subscriptions: 0 created, 0 updated, 1 unchanged")
	})
}
