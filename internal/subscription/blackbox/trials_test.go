package blackbox_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// trialShop is a catalog of two products, whose plans begin with trials of 10 and 20 days.
type trialShop struct{ one, more, other, free string }

func newTrialShop(s *apptest.Server) trialShop {
	s.T.Helper()
	k := s.CatalogAdmin()
	first, second := k.CreateProduct("first"), k.CreateProduct("second")
	plan := func(product, slug string, cents, days int) string {
		return k.CreatePricedPlan(product, slug, map[string]int{"EUR": cents}, apptest.Object{"trial_days": days})
	}
	return trialShop{
		one: plan(first, "one", 1000, 10), more: plan(first, "more", 3000, 10), other: plan(second, "other", 2000, 20),
		free: k.CreatePricedPlan(first, "nothing", map[string]int{"EUR": 0}),
	}
}

// try buys a plan and reports whether the subscription begins with a trial.
func try(l *apptest.Customer, plan string) bool {
	l.T.Helper()
	offered := offersTrial(l, plan)
	l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
	sub := l.Subscription(l.Owner)
	status := sub.At("data.status")
	if (status == "trialing") != (sub.At("data.trial_ends_at") != nil) {
		l.T.Errorf("%s: %s", l.Email, sub.Text)
	}
	if offered != (status == "trialing") {
		l.T.Errorf("%s: a trial was offered: %v, and it began: %v", l.Email, offered, status == "trialing")
	}
	if offersTrial(l, plan) {
		l.T.Errorf("%s: a trial of a product that the tenant has is offered", l.Email)
	}
	return status == "trialing"
}

// offersTrial reports whether the tenant's list of plans offers a trial of the plan.
func offersTrial(l *apptest.Customer, plan string) bool {
	l.T.Helper()
	for _, row := range l.Call("GET", l.Path("/plans?currency=EUR"), l.Token, nil).Want(200).At("data").([]any) {
		if offered := row.(apptest.Object); offered["id"] == plan {
			return offered["trial_days"].(float64) > 0
		}
	}
	l.T.Fatalf("%s is not offered", plan)
	return false
}

func quit(l *apptest.Customer) {
	l.T.Helper()
	l.Call("POST", l.Path("/subscription/cancel"), l.Token, apptest.Object{"immediately": true}).Want(200)
	l.AwaitNotifications()
}

func wantTrial(l *apptest.Customer, what, plan string, want bool) {
	l.T.Helper()
	if got := try(l, plan); got != want {
		l.T.Errorf("%s: a trial is %v, want %v", what, got, want)
	}
	quit(l)
}

// A tenant can have one trial of each product, regardless of its later plans.
func TestOneTrialOfAProduct(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newTrialShop(s)

		l := s.NewCustomer("roundabout")
		if !try(l, shop.one) {
			t.Fatal("no trial for a newcomer")
		}
		end := l.Subscription(l.Owner).At("data.trial_ends_at")
		l.ChangePlan(l.Owner, "other", nil).Want(200).WantAt("data.subscription.trial_ends_at", end).WantAt("data.subscription.status", "trialing")
		quit(l)
		wantTrial(l, "the first product after a change to the second", shop.one, false)
		wantTrial(l, "the other plan of the first product", shop.more, false)
		wantTrial(l, "the second product, which another one's trial led to", shop.other, true)
		wantTrial(l, "the second product again", shop.other, false)

		later := s.NewCustomer("later")
		try(later, shop.one)
		later.Advance(11 * apptest.Day)
		later.WantStatus("active")
		later.LogInAgain()
		begun := later.Now().Truncate(time.Second)
		changed := later.ChangePlan(later.Owner, "other", nil).Want(200).WantAt("data.subscription.status", "trialing")
		ends, err := time.Parse(time.RFC3339, changed.Str("data.subscription.trial_ends_at"))
		if first := begun.AddDate(0, 0, 20); err != nil || ends.Before(first) || ends.After(first.Add(time.Minute)) {
			t.Errorf("the trial of the second product ends at %v (%v), want %v", ends, err, first)
		}
		later.ChangePlan(later.Owner, "more", nil).Want(200).WantAt("data.subscription.status", "trialing").
			WantAt("data.subscription.trial_ends_at", changed.At("data.subscription.trial_ends_at"))
		later.Advance(21 * apptest.Day)
		later.LogInAgain()
		later.WantStatus("active")
		later.ChangePlan(later.Owner, "other", nil).Want(200).WantAt("data.subscription.status", "active")
		quit(later)
		wantTrial(later, "the second product after a change began its trial", shop.other, false)

		free := s.NewCustomer("free")
		free.Buy(shop.free, "EUR", nil)
		page := free.ChangePlan(free.Owner, "more", apptest.ReturnURLs).Want(200).Str("data.checkout_url")
		free.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
		free.AwaitNotifications()
		free.Subscription(free.Owner).WantAt("data.status", "trialing").WantAt("data.plan.id", shop.more)
		quit(free)
		wantTrial(free, "after the trial that took the free plan's place", shop.one, false)
	})
}

// A checkout that was opened with a trial, but is paid after the tenant has used its trial, is refused:
// it does not start a second trial, and does not charge an amount that was not shown. Late and repeated
// notifications change nothing.
func TestTrialOfAnAbandonedCheckout(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newTrialShop(s)
		l := s.NewCustomer("patient")
		abandoned := l.OpenCheckout(shop.more, "EUR").Want(200).Str("data.url")
		if !try(l, shop.one) {
			t.Fatal("no trial")
		}
		quit(l)
		s.Chaos(apptest.ChaosNoWebhooks)
		l.Submit(abandoned, apptest.Card(apptest.CardPays)).Want(303)
		s.Chaos(nil)
		s.Advance(apptest.Day) // the notifications are late
		l.LogInAgain()
		s.Call("POST", "/sandbox/stripe/replay", "", apptest.Object{"times": 2, "shuffle": true}).Want(200)
		s.AwaitNotifications()
		wantNoneLeft := func() {
			t.Helper()
			apptest.Eventually(t, "the end of the second trial", func() bool {
				subs := l.ProviderObjects(l.Owner, "subscription")
				return len(subs) == 2 && subs[1].At("status") == "canceled"
			})
			l.Subscription(l.Owner).WantAt("data", nil)
		}
		wantNoneLeft()
		if n := s.CountRows(`SELECT count(*) FROM trials WHERE tenant_id = $1`, l.Tenant); n != 1 {
			t.Errorf("%d trials are recorded", n)
		}
		wantTrial(l, "the other product", shop.other, true)
		wantTrial(l, "after all that", shop.more, false)
	})
}

// Only one of several concurrently paid checkouts with trials starts its trial.
func TestTrialsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		shop := newTrialShop(s)
		for round := range dbtest.Rounds(2, 10) {
			l := s.NewCustomer(fmt.Sprint("hasty", round))
			var pages []string
			for _, plan := range []string{shop.one, shop.more, shop.one} {
				pages = append(pages, l.OpenCheckout(plan, "EUR").Want(200).Str("data.url"))
			}
			var wg sync.WaitGroup
			for _, page := range pages {
				wg.Go(func() { l.Submit(page, apptest.Card(apptest.CardPays)) })
			}
			wg.Wait()
			apptest.Eventually(t, "one trial", func() bool {
				live := 0
				subs := l.ProviderObjects(l.Owner, "subscription")
				for _, sub := range subs {
					if sub.At("status") == "trialing" {
						live++
					}
				}
				return len(subs) == 3 && live == 1
			})
			l.Subscription(l.Owner).WantAt("data.status", "trialing")
			quit(l)
			wantTrial(l, "after it", shop.more, false)
		}
	})
}
