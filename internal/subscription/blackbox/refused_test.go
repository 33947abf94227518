package blackbox_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// taken returns the amount that the provider took from a tenant by card or debit, minus refunds.
func taken(l *apptest.Customer) (net float64) {
	l.T.Helper()
	for _, charge := range l.ProviderObjects(l.Owner, "charge") {
		if charge.At("status") == "succeeded" {
			net += charge.At("amount").(float64) - charge.At("amount_refunded").(float64)
		}
	}
	return net
}

// credit returns the tenant's credit at the provider.
func credit(l *apptest.Customer) float64 {
	l.T.Helper()
	return -l.ProviderObjects(l.Owner, "customer")[0].At("balance").(float64)
}

// addCredit gives a tenant credit at the provider, as the account owner can.
func addCredit(l *apptest.Customer, cents int, currency string) {
	l.T.Helper()
	customer := l.ProviderObjects(l.Owner, "customer")[0].Str("id")
	l.AtProvider("POST", "/customers/"+customer+"/balance_transactions", "amount", strconv.Itoa(-cents), "currency", currency)
}

// If two checkouts are paid, the payment of the second one is refunded once: card payments to the
// card, and credit to the balance. This also applies if both are paid concurrently and
// notifications are repeated.
func TestSecondCheckoutGivesBack(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const price = 1900
		type books struct{ credit, card float64 } // the remaining credit, and the amount taken by card
		kept := map[*apptest.Customer]books{}
		for _, c := range []struct {
			given  int
			atOnce bool
		}{{0, false}, {1000, true}, {2500, false}, {2500, true}, {5000, false}} {
			l := s.NewCustomer(fmt.Sprintf("twice-%d-%v", c.given, c.atOnce))
			plan := s.PlanID(l.Owner, "starter")
			pages := []string{l.OpenCheckout(plan, "EUR").Want(200).Str("data.url"), l.OpenCheckout(plan, "EUR").Want(200).Str("data.url")}
			if c.given > 0 {
				addCredit(l, c.given, "eur")
			}
			var wg sync.WaitGroup
			for _, page := range pages {
				wg.Go(func() { l.Submit(page, apptest.Card(apptest.CardPays)).Want(303) })
				if !c.atOnce {
					wg.Wait()
					s.AwaitNotifications()
				}
			}
			wg.Wait()
			// The checkout that stays has taken its price, by credit and card.
			apptest.Eventually(t, fmt.Sprint("the refund of ", c.given), func() bool {
				canceled := 0
				for _, sub := range l.ProviderObjects(l.Owner, "subscription") {
					if sub.At("status") == "canceled" {
						canceled++
					}
				}
				return canceled == 1 && float64(c.given)-credit(l)+taken(l) == price
			})
			kept[l] = books{credit(l), taken(l)}
			if want := (books{float64(max(c.given-price, 0)), float64(max(price-c.given, 0))}); !c.atOnce && kept[l] != want {
				t.Errorf("%d of credit: the books are %v, want %v", c.given, kept[l], want)
			}
			l.Subscription(l.Owner).WantAt("data.status", "active")
		}
		s.Call("POST", "/sandbox/stripe/replay", "", apptest.Object{"times": 2, "shuffle": true}).Want(200)
		s.AwaitNotifications()
		for l, before := range kept {
			if got := (books{credit(l), taken(l)}); got != before {
				t.Errorf("%s after repeated notifications: %v, before %v", l.Email, got, before)
			}
		}
	})
}

// A bank debit of a refused checkout arrives after the refusal and is refunded.
func TestSecondCheckoutByDebit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		l := s.NewCustomer("debited")
		plan := s.PlanID(l.Owner, "starter")
		second := l.OpenCheckout(plan, "EUR").Want(200).Str("data.url")
		l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		l.Submit(second, apptest.Debit(apptest.DebitPays)).Want(303)
		s.AwaitNotifications()
		apptest.Eventually(t, "the refusal", func() bool { return l.ProviderObjects(l.Owner, "subscription")[1].At("status") == "canceled" })
		s.Advance(6 * apptest.Day)
		apptest.Eventually(t, "the refund of the debit", func() bool {
			charges := l.ProviderObjects(l.Owner, "charge")
			return len(charges) == 2 && charges[1].At("refunded") == true
		})
		if got := taken(l); got != 1900 {
			t.Errorf("%v were accepted", got)
		}
		l.LogInAgain()
		l.Subscription(l.Owner).WantAt("data.status", "active")
	})
}

// A tenant cannot subscribe in a currency while it has credit or an unpaid amount in another one,
// because that credit would be unusable.
func TestCurrencyMismatch(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		refuses := func(what string, l *apptest.Customer) {
			t.Helper()
			plan := s.PlanID(l.Owner, "starter")
			refused := l.OpenCheckout(plan, "USD").As(what)
			refused.WantRefused(422, "currency_mismatch")
			refused.WantAt("currency", "EUR")
			l.Call("POST", "/api/v1/onboarding/retry-checkout", l.Token, apptest.Object{"plan_slug": "starter", "currency": "USD"}).
				WantRefused(422, "currency_mismatch")
			l.OpenCheckout(plan, "EUR").As(what).Want(200)
		}
		l := s.NewCustomer("ada")
		plan := s.PlanID(l.Owner, "starter")
		l.OpenCheckout(plan, "USD").Want(200) // creates the customer
		addCredit(l, 500, "eur")
		refuses("with credit", l)
		addCredit(l, -500, "eur")
		l.OpenCheckout(plan, "USD").Want(200)

		paid := s.NewCustomer("paid")
		paid.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		quit(paid)
		paid.Buy(plan, "USD", apptest.Card(apptest.CardPays)) // no credit or debt in euros remains
		paid.Subscription(paid.Owner).WantAt("data.currency", "USD")

		owing := s.NewCustomer("owing")
		owing.Buy(plan, "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(month)
		owing.WantStatus("past_due")
		quit(owing)
		refuses("with an unpaid invoice", owing)
	})
}
