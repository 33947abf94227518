package blackbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// wantViolations fails the test unless the request is rejected with these violations.
func wantViolations(a apptest.Reply, want ...any) {
	a.T.Helper()
	a.WantRefused(422, "plan_change_error")
	if diff := cmp.Diff(any(want), a.At("violations")); diff != "" {
		a.T.Errorf("violations (-want +got)\n%s", diff)
	}
}

func violation(feature string, usage, limit float64) any {
	return apptest.Object{"feature_code": feature, "current_usage": usage, "plan_limit": limit}
}

// Like a change of plan, a checkout is rejected if the tenant uses more than the plan allows.
// Pending invitations take seats in both cases.
func TestCheckoutNeedsEligibility(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pair", "flat", "month", 100, 0, map[string]int{"team-members": 2})
		s.AddPlan("no-seat", "flat", "month", 100, 0, map[string]int{"team-members": 0})
		o := s.Register("ada@example.com", true)
		checkout := func(slug string) apptest.Reply {
			t.Helper()
			return s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
				"plan_id": s.PlanID(o, slug), "currency": "EUR",
			}))
		}
		retry := func(slug string) apptest.Reply {
			t.Helper()
			return s.Call("POST", "/api/v1/onboarding/retry-checkout", o.Token, apptest.Object{"plan_slug": slug, "currency": "EUR"})
		}
		checkout("pair").Want(200)
		invited, _ := s.Invite(o, "grace@example.com", "member")
		checkout("pair").Want(200) // exactly the number of seats
		s.Invite(o, "edith@example.com", "member")
		seats := violation("team-members", 3, 2)
		wantViolations(checkout("pair"), seats)
		wantViolations(retry("pair"), seats)
		checkout("starter").Want(200)
		s.Call("DELETE", o.Path("/team/invitations/")+invited, o.Token, nil).Want(200)
		checkout("pair").Want(200)
		retry("pair").Want(200)

		s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "quantity": 100.5}).Want(201)
		wantViolations(checkout("free"), violation("api-calls", 101, 100))
		// Errors in the request itself are reported first.
		s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(o, "free"), "currency": "GBP",
		})).WantRefused(422, "plan_not_available_in_currency")

		s.BuyPlan(o, "starter")
		s.Invite(o, "jean@example.com", "member")
		wantViolations(s.ChangePlan(o, "pair", nil), seats)
		s.Advance(8 * apptest.Day) // the invitations have expired
		o.Token = s.LogIn("ada@example.com")
		s.ChangePlan(o, "pair", nil).Want(200)

		// A new tenant takes one seat.
		start := apptest.Registration("new@example.com", apptest.Object{"plan_slug": "no-seat", "currency": "EUR"})
		wantViolations(s.Call("POST", "/api/v1/onboarding/start", "", start), violation("team-members", 1, 0))
		start["plan_slug"] = "pair"
		s.Call("POST", "/api/v1/onboarding/start", "", start).Want(201)
	})
}
