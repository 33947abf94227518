package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// buysWith buys a plan with a promotion code.
func (u unpaid) buysWith(slug string, quantity int, code string) unpaid {
	u.T.Helper()
	page := u.Call("POST", u.Path("/checkout"), u.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
		"plan_id": u.PlanID(u.Owner, slug), "currency": "EUR", "quantity": quantity, "promotion_code": code,
	})).Want(200).Str("data.url")
	u.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
	u.is("active")
	return u
}

// wantNet previews a change, expects its net amount in cents, and makes the change at that amount.
func (u unpaid) wantNet(what, slug string, net float64) {
	u.T.Helper()
	shown, _ := u.PreviewChange(u.Owner, slug, 0).As(what).Want(200).At("data.net.cents").(float64)
	if shown > net+60 || shown < net-60 {
		u.T.Errorf("%s: net %v is shown, want %v", what, shown, net)
	}
	u.ChangePlan(u.Owner, slug, nil).As(what).Want(200)
	u.AwaitNotifications()
	all := u.ProviderObjects(u.Owner, "invoice")
	if got := all[len(all)-1].At("total"); got != shown {
		u.T.Errorf("%s: %v is charged, %v was shown", what, got, shown)
	}
}

// The paid part of a period with a discount is measured against the discounted price, also after a change
// of plan and after members have left.
func TestPaidPartOfADiscountedPeriod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("small", "flat", "month", 20000, 0, nil)
		s.AddPlan("large", "flat", "month", 50000, 0, nil)
		s.AddPlan("huge", "flat", "month", 100000, 0, nil)
		s.AddPlan("crew", "seat", "month", 10000, 0, nil)
		s.CatalogAdmin().AdminCall("POST", "/discounts", apptest.Object{
			"code": "HALF", "name": apptest.Object{"en": "Half"}, "percent_off": 50, "duration": "forever",
		}).Want(201)

		// 20,000 and 5,000 were paid for a price of 25,000. 4,000 are refunded.
		twice := unpaid{s.NewCustomer("twice")}.buys("small", 1, apptest.Card(apptest.CardPays))
		twice.Call("POST", twice.Path("/subscription/change-plan"), twice.Token, apptest.Object{
			"new_plan_id": twice.PlanID(twice.Owner, "large"), "promotion_code": "HALF",
		}).Want(200)
		twice.AwaitNotifications()
		twice.credits("4000")
		twice.wantNet("a code with a change, then a refund", "huge", 50000-21000)

		// 50,000 were paid for ten seats. A fifth is refunded, before or after nine seats are removed.
		before, after := unpaid{s.NewCustomer("before")}.buysWith("crew", 10, "HALF"), unpaid{s.NewCustomer("after")}.buysWith("crew", 10, "HALF")
		before.credits("10000")
		before.loses("leaves-before", 1)
		before.wantNet("a refund, then fewer seats", "large", 25000-40000)
		after.loses("leaves-after", 1)
		after.credits("10000")
		followed(s)
		after.wantNet("fewer seats, then a refund", "large", 25000-40000)
	})
}
