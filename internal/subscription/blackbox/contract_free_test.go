package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A price after a price of 0 needs a saved payment method, unless the subscription is paid by invoice.
func TestPriceAfterAFreeContractNeedsACard(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := monthly(s, "pro", 1000)
		newFree := func(name string) *apptest.Customer {
			c := s.NewCustomer(name)
			makeContract(c, apptest.Object{"plan_id": plan, "currency": "EUR", "price_cents": 0}).Want(201).WantAt("data.status", "active")
			s.AwaitNotifications()
			return c
		}
		ada := newFree("ada")
		for _, price := range []any{500, nil} {
			patchContract(ada, apptest.Object{"price_cents": price}).WantRefused(422, "plan_change_error")
		}
		patchContract(ada, apptest.Object{"price_cents": 0}).Want(200)
		s.Subscription(ada.Owner).WantAt("data.pending_change", nil)
		ada.ReplaceCard(apptest.CardPays)
		patchContract(ada, apptest.Object{"price_cents": 500}).Want(200).WantAt("data.pending_change.price_cents", 500.0)

		bob := newFree("bob")
		patchContract(bob, apptest.Object{"price_cents": 500, "collection": "invoice"}).Want(200).WantAt("data.pending_change.price_cents", 500.0)
	})
}
