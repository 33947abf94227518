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

// An override of the seats survives a scheduled change to a smaller plan and a change in progress. An
// override that expires before the change does not.
func TestSeatOverrideDuringAChange(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"team-members": 8})
		s.AddPlan("duo", "seat", "month", 1000, 0, map[string]int{"team-members": 2})
		override := func(c *apptest.Customer, value any, expiresAt any) {
			t.Helper()
			c.Call("PUT", "/api/v1/admin/tenants/"+c.Tenant+"/limits/team-members", c.Admin(), apptest.Object{
				"type": "quota", "value": value, "expires_at": expiresAt, "reason": "agreed",
			}).Want(200)
		}
		limit := func(when string, c *apptest.Customer, want any) {
			t.Helper()
			c.Call("GET", c.Path("/team/stats"), c.Token, nil).As(when).Want(200).WantAt("data.limit", want)
		}
		scheduled := func(name string, value, expiresAt any) *apptest.Customer {
			t.Helper()
			c := s.NewCustomer(name)
			s.BuyPlan(c.Owner, "crew")
			override(c, value, expiresAt)
			later(c, s.PlanID(c.Owner, "duo")).Want(200)
			return c
		}
		ada := scheduled("ada", 4, nil)
		limit("an override", ada, 4.0)
		invite := func(email string) apptest.Reply {
			return ada.Call("POST", ada.Path("/team/invitations"), ada.Token, apptest.Object{"email": email, "role": "member"})
		}
		for _, email := range []string{"one@example.com", "two@example.com", "three@example.com"} {
			invite(email).Want(201)
		}
		invite("four@example.com").WantRefused(422, "SEAT_LIMIT_REACHED")
		limit("an unlimited override", scheduled("bob", nil, nil), nil)
		limit("an override that expires before the change", scheduled("eve", 4, s.Now().Add(apptest.Day)), 2.0)

		dan := s.NewCustomer("dan")
		s.BuyPlan(dan.Owner, "crew")
		override(dan, 4, nil)
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		w.Tamper(apptest.ForEndpoint(apptest.LoseAnswer, "POST", "/subscriptions/"))
		dan.Call("POST", dan.Path("/subscription/change-plan"), dan.Token, apptest.Object{"new_plan_id": s.PlanID(dan.Owner, "duo")}).
			WantRefused(502, "psp_error")
		limit("a change in progress", dan, 4.0)
		dan.Call("DELETE", "/api/v1/admin/tenants/"+dan.Tenant+"/limits/team-members", dan.Admin(), nil).Want(204)
		limit("a change in progress without an override", dan, 2.0)
	})
}
