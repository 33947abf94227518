package app

import (
	"testing"
)

// A tenant that owes for its period can change its plan, but gets nothing back for
// time that it has not paid for, and no access before it has paid.
func TestChangeWhileOverdue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("mini", "flat", "month", 900, 0, map[string]int{"api-calls": 100})
		s.sell("pro", "flat", "month", 4900, 0, nil)
		k := customers{s, map[string]owner{}}
		open := k.owing("ada", "eve")
		o := k.names["ada"]
		stays := func(plan string) {
			t.Helper()
			s.subscription(o).same("data.status", "past_due").same("data.plan.name", plan)
			if list := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200).at("data").([]any); len(list) != 0 {
				t.Errorf("%d features are granted", len(list))
			}
			if n := len(s.held(o, "invoice")); n != 2 {
				t.Errorf("%d invoices", n)
			}
			s.held(o, "customer")[0].same("balance", 0.0)
		}
		stays("Starter")
		// More is paid at once, or nothing happens.
		s.preview(o, "pro", 0).figures()
		s.changeTo(o, "pro", nil).refused(422, "plan_change_error")
		stays("Starter")
		if net := s.preview(o, "mini", 0).figures(); net != 0 {
			t.Errorf("less comes to %v", net)
		}
		s.changeTo(o, "mini", nil).want(200).same("data.action", "updated").same("data.subscription.status", "past_due")
		stays("mini")
		s.payByHand(open["ada"])
		s.settled()
		s.subscription(o).same("data.status", "active").same("data.plan.name", "mini").same("data.price_cents", 900.0)

		// What costs nothing begins at once, as it would for anybody; what is owed
		// stays so.
		o = k.names["eve"]
		if net := s.preview(o, "free", 0).figures(); net != 0 {
			t.Errorf("the free plan comes to %v", net)
		}
		s.changeTo(o, "free", nil).want(200)
		s.settled()
		s.subscription(o).same("data.plan.name", "Free").same("data.price_cents", 0.0)
		s.held(o, "customer")[0].same("balance", 0.0)
		if got := s.states(o)[open["eve"]]; got != "open" {
			t.Errorf("the invoice is %s", got)
		}
	})
}
