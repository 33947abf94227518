package blackbox_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// failing is a provider that fails three calls out of ten: one before it takes effect, one after
// it, and one by a timeout although it took effect.
var failing = apptest.Object{"api": apptest.Object{"fail_before": 0.1, "fail_after": 0.1, "timeout_after": 0.1, "timeout_ms": 50}, "seed": 7}

// customer is a tenant that constantly changes its subscription.
type customer struct {
	*apptest.Customer
	chance *rand.Rand
	// The number of actions by audit action, and the current state of the subscription.
	done   map[string]int
	plan   string
	ending bool
	team   []int64 // members other than the owner
	guests []guest // users who can join
}

// guest is an invited user: a login token and the invitation.
type guest struct{ token, invitation string }

// invites prepares users who can join, before the provider fails.
func (c *customer) invites(n int) {
	c.T.Helper()
	for i := range n {
		email := fmt.Sprintf("guest%d-%s", i, c.Email)
		token := c.RegisterAlone("Grace", email)
		_, invitation := c.Invite(c.Owner, email, "member")
		c.guests = append(c.guests, guest{token, invitation})
	}
}

// insist repeats a request until it is answered, as a client does after a 502.
func (c *customer) insist(method, path string, body any) apptest.Reply {
	c.T.Helper()
	var a apptest.Reply
	for range 100 {
		if a = c.Call(method, path, c.Token, body); a.Status != http.StatusBadGateway {
			return a.Want(200)
		}
		c.done["502"]++
	}
	c.T.Fatalf("%s %s keeps failing: %s", method, path, a.Text)
	return a
}

// act performs one action that the subscription allows.
func (c *customer) act() {
	c.T.Helper()
	switch n := c.chance.IntN(10); {
	case c.plan == "":
		c.plan = c.PlanID(c.Owner, "one")
		page := c.insist("POST", c.Path("/checkout"), apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": c.plan, "currency": "EUR"})).Str("data.url")
		c.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		apptest.Eventually(c.T, "the activation", func() bool { return c.Subscription(c.Owner).At("data.status") == "active" })
		c.done["checkout.opened"]++
	case n < 3 && c.ending:
		c.insist("POST", c.Path("/subscription/resume"), nil).WantAt("data.cancel_at_period_end", false)
		c.ending = false
		c.done["subscription.resumed"]++
	case n < 3:
		c.insist("POST", c.Path("/subscription/cancel"), apptest.Object{"reason": "trouble"}).WantAt("data.cancel_at_period_end", true).WantAt("data.cancellation_reason", "trouble")
		c.ending = true
		c.done["subscription.canceled"]++
	case n < 5 && len(c.guests) > 0 && len(c.team) < 2:
		c.Call("POST", "/api/v1/invitations/"+c.guests[0].invitation+"/accept", c.guests[0].token, nil).Want(200)
		c.team = append(c.team, c.UserID(c.guests[0].token))
		c.guests = c.guests[1:]
	case n < 5 && len(c.team) > 0:
		c.Call("DELETE", fmt.Sprintf("%s/members/%d", c.Owner.Path("/team"), c.team[0]), c.Token, nil).Want(200)
		c.team = c.team[1:]
	default:
		others := []string{c.PlanID(c.Owner, "one"), c.PlanID(c.Owner, "two"), c.PlanID(c.Owner, "seats")}
		others = slices.DeleteFunc(others, func(plan string) bool { return plan == c.plan })
		plan := others[c.chance.IntN(len(others))]
		c.insist("POST", c.Path("/subscription/change-plan"), apptest.Object{"new_plan_id": plan}).WantAt("data.subscription.plan.id", plan)
		c.plan = plan
		c.done["subscription.plan_changed"]++
	}
}

// If a provider fails three calls out of ten, even after they took effect, nothing is lost or
// duplicated as long as callers retry the failed requests. Routes that do not need the provider are
// not slowed down: they are as fast as under the same load with a healthy provider.
func TestFailingProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("trouble")
		k.CreatePricedPlan(product, "one", map[string]int{"EUR": 1000})
		k.CreatePricedPlan(product, "two", map[string]int{"EUR": 2000})
		k.CreatePricedPlan(product, "seats", map[string]int{"EUR": 300}, apptest.Object{"pricing_type": "seat"})
		customers := make([]*customer, dbtest.Rounds(10, 20))
		for i := range customers {
			customers[i] = &customer{
				Customer: s.NewCustomer(fmt.Sprintf("c%d", i)), chance: rand.New(rand.NewPCG(uint64(i), 1)), done: map[string]int{},
			}
			customers[i].invites(dbtest.Rounds(1, 4))
		}
		// In the long form, each call of paced performs 200 operations. Six of the calls, 1,200
		// operations, run while the provider fails.
		things := dbtest.Rounds(3, 10)
		s.Chaos(failing)
		paced(customers, things) // including the checkouts, which take longer than the later actions
		var well, ill []time.Duration
		for range dbtest.Rounds(1, 5) {
			for _, round := range []struct {
				chaos apptest.Object
				took  *[]time.Duration
			}{{nil, &well}, {failing, &ill}} {
				s.Chaos(round.chaos)
				over := make(chan struct{})
				go func() { paced(customers, things); close(over) }()
				*round.took = append(*round.took, percentile(s, customers[0].Token, over))
			}
		}
		s.Chaos(nil)
		slices.Sort(well)
		slices.Sort(ill)
		calm, trouble := well[len(well)/2], ill[len(ill)/2]
		t.Logf("GET /auth/me, 99th percentile, the median of %d rounds: %v, while the provider fails %v (%+.0f%%); all: %v and %v",
			len(well), calm, trouble, 100*(float64(trouble)/float64(calm)-1), well, ill)
		// On a busy machine, a few measurements prove nothing.
		if dbtest.Rounds(0, 1) == 1 && trouble > 10*calm+2*time.Second {
			t.Errorf("reading takes %v during the outage, %v otherwise", trouble, calm)
		}

		failures := 0
		for _, c := range customers {
			c.settledAs(t)
			failures += c.done["502"]
		}
		t.Logf("%d operations while it failed, %d answers were 502", len(customers)*things*(1+len(ill)), failures)
		noDuplicates(s, t)
	})
}

// paced lets all customers perform this many actions at a fixed pace. The pace is slow enough that a
// failing provider does not reduce it.
func paced(customers []*customer, times int) {
	pace := time.Duration(dbtest.Rounds(300, 1000)) * time.Millisecond
	starts := time.NewTicker(pace / time.Duration(len(customers)))
	defer starts.Stop()
	var busy sync.WaitGroup
	for _, c := range customers {
		<-starts.C
		busy.Go(func() {
			turns := time.NewTicker(pace)
			defer turns.Stop()
			for range times {
				c.act()
				<-turns.C
			}
		})
	}
	busy.Wait()
}

// settledAs fails the test unless the service and the provider have the state from the customer's
// responses, and the audit trail has each action once.
func (c *customer) settledAs(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "the seats follow "+c.Email, func() bool { return seatsOf(c.Server, c.Owner).At("data.is_synced") == true })
	local := c.Subscription(c.Owner)
	local.WantAt("data.plan.id", c.plan).WantAt("data.cancel_at_period_end", c.ending)
	if n := len(c.ProviderObjects(c.Owner, "customer")); n != 1 {
		t.Errorf("%s is %d customers", c.Email, n)
	}
	subs := c.ProviderObjects(c.Owner, "subscription")
	if len(subs) != 1 {
		t.Fatalf("%s has %d subscriptions", c.Email, len(subs))
	}
	subs[0].WantAt("metadata.plan_id", c.plan).WantAt("cancel_at_period_end", c.ending).
		WantAt("items.data.0.quantity", local.At("data.quantity")).
		WantAt("items.data.0.price.unit_amount", local.At("data.price_cents"))
	if n := len(c.ProviderObjects(c.Owner, "checkout.session")); n != 1 {
		t.Errorf("%s has %d checkouts", c.Email, n)
	}
	for _, action := range []string{"checkout.opened", "subscription.canceled", "subscription.resumed", "subscription.plan_changed"} {
		n := c.CountRows(`SELECT count(*) FROM audit_logs WHERE tenant_id = $1 AND action = $2`, c.Tenant, action)
		if n != c.done[action] {
			t.Errorf("%s: %d times %s in the audit log, done %d times", c.Email, n, action, c.done[action])
		}
	}
}

// noDuplicates fails the test if the provider has duplicates of an object that the service has
// once.
func noDuplicates(s *apptest.Server, t *testing.T) {
	t.Helper()
	for kind, key := range map[string]string{
		"customer": "metadata.tenant_id", "product": "metadata.plan_id", "price": "metadata.price_id",
		"checkout.session": "metadata.checkout_id", "subscription": "metadata.checkout_id",
	} {
		seen := map[any]bool{}
		for _, o := range s.AllProviderObjects(kind) {
			if id := o.At(key); seen[id] {
				t.Errorf("the provider has more than one %s of %v", kind, id)
			} else {
				seen[id] = true
			}
		}
		if len(seen) == 0 {
			t.Errorf("no %s at the provider", kind)
		}
	}
}

// percentile requests the current user repeatedly until over is closed, and returns the 99th
// percentile of the latency.
func percentile(s *apptest.Server, token string, over <-chan struct{}) time.Duration {
	s.T.Helper()
	var took []time.Duration
	for {
		began := clock.System().Now()
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		took = append(took, clock.System().Now().Sub(began))
		select {
		case <-over:
			slices.Sort(took)
			return took[len(took)*99/100]
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// lost makes calls take effect and drops their responses.
var lost = apptest.Object{"api": apptest.Object{"fail_after": 1, "status": 0}}

// A retry of a checkout whose response was lost opens the same checkout. After a response, the next
// request opens a new one.
func TestRepeatedCheckout(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("trouble")
		plan, other := k.CreatePricedPlan(product, "one", map[string]int{"EUR": 1000}), k.CreatePricedPlan(product, "two", map[string]int{"EUR": 2000})
		l := s.NewCustomer("repeats")
		sessions := func(want int) {
			t.Helper()
			if n := len(l.ProviderObjects(l.Owner, "checkout.session")); n != want {
				t.Errorf("%d checkouts at the provider, want %d", n, want)
			}
		}
		// First the response to the creation of the customer is lost. Before the retry, the
		// tenant's details are corrected and another language is requested.
		p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/customers"))
		l.OpenCheckout(plan, "EUR").WantRefused(502, "psp_error")
		p.Tamper(nil)
		l.Call("PATCH", "/api/v1/onboarding/complete-setup", l.Token, apptest.Object{"city": "Paris", "country": "FR"}).Want(200)
		again := l.NewRequest("POST", l.Path("/checkout"), l.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{"plan_id": plan, "currency": "EUR"}))
		again.Header.Set("Accept-Language", "fr")
		first := s.Do(again).Want(200).Str("data.session_id")
		sessions(1)
		customers := l.ProviderObjects(l.Owner, "customer")
		if len(customers) != 1 {
			t.Fatalf("%d customers", len(customers))
		}
		customers[0].WantAt("address.city", "Paris").WantAt("address.country", "FR").WantAt("email", "billing@example.com").
			WantAt("metadata.tenant_id", l.Tenant)

		p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/checkout/sessions"))
		l.OpenCheckout(plan, "EUR").WantRefused(502, "psp_error")
		sessions(2)
		p.Tamper(nil)
		second := l.OpenCheckout(plan, "EUR").Want(200).Str("data.session_id")
		sessions(2)
		third := l.OpenCheckout(plan, "EUR").Want(200).Str("data.session_id")
		sessions(3)
		if first == second || second == third {
			t.Errorf("the checkouts are %s, %s and %s", first, second, third)
		}
		if n := s.CountAudited(l.Owner, "checkout.opened"); n != 3 {
			t.Errorf("%d checkouts in the audit log", n)
		}
		// Different parameters open another checkout, and an old checkout has expired.
		p.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/checkout/sessions"))
		l.OpenCheckout(plan, "EUR").WantRefused(502, "psp_error")
		p.Tamper(nil)
		l.OpenCheckout(other, "EUR").Want(200)
		sessions(5)
		s.Advance(2 * time.Hour)
		l.LogInAgain()
		fresh := l.OpenCheckout(plan, "EUR").Want(200)
		sessions(6)
		l.Submit(fresh.Str("data.url"), apptest.Card(apptest.CardPays)).Want(303)
		apptest.Eventually(t, "the activation", func() bool { return l.Subscription(l.Owner).At("data.status") == "active" })
	})
}
