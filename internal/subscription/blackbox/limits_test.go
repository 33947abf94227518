package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant that does not pay loses the features of its plan but keeps the limits.
func TestLimitsApplyToInactiveFeatures(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		quotas := map[string]int{"api-calls": 10, "team-members": 2}
		s.AddPlan("small", "flat", "month", 2000, 0, quotas)
		s.AddPlan("tried", "flat", "month", 2000, 1, quotas)
		s.SetDunning("unpaid")
		holds := func(l *apptest.Customer, status string) {
			t.Helper()
			l.WantStatus(status) // and grants no access
			use := func(n int) apptest.Reply {
				return l.Call("POST", l.Path("/usage"), l.Token, apptest.Object{"meter_code": "api-calls", "quantity": n})
			}
			use(10).Want(201)
			use(1).WantRefused(429, "QUOTA_EXCEEDED")
			invite := func(email string) apptest.Reply {
				return l.Call("POST", l.Path("/team/invitations"), l.Token, apptest.Object{"email": email, "role": "member"})
			}
			first := invite(status + "1@example.com").Want(201).Str("data.id")
			invite(status+"2@example.com").WantRefused(422, "SEAT_LIMIT_REACHED")
			l.Call("GET", l.Path("/team/stats"), l.Token, nil).Want(200).WantAt("data.limit", 2.0).WantAt("data.available", 0.0)
			l.Call("DELETE", l.Path("/team/invitations/")+first, l.Token, nil).Want(200)
		}
		paused := s.NewCustomer("paused")
		subscribeAtProvider(paused, s.PlanID(paused.Owner, "tried"), "trial_period_days", "1", "trial_settings[end_behavior][missing_payment_method]", "pause")
		s.Advance(25 * time.Hour)
		holds(paused, "paused")

		l := s.NewCustomer("late")
		l.Buy(s.PlanID(l.Owner, "small"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(month)
		holds(l, "past_due")
		s.Advance(16 * apptest.Day)
		l.WantStatus("unpaid")
		s.Advance(16 * apptest.Day) // into the next period
		holds(l, "unpaid")

		// A subscription that is over sets no limits.
		gone := s.NewCustomer("gone")
		gone.Buy(s.PlanID(gone.Owner, "small"), "EUR", apptest.Card(apptest.CardPays))
		quit(gone)
		gone.Call("POST", gone.Path("/usage"), gone.Token, apptest.Object{"meter_code": "api-calls", "quantity": 11}).Want(201)
	})
}
