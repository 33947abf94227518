package blackbox_test

import (
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// endInPortal cancels the subscription in the provider's portal.
func endInPortal(c *apptest.Customer) {
	c.T.Helper()
	page := c.Call("POST", c.Path("/docs/billing/portal"), c.Token, nil).Want(200).Str("data.url")
	c.Submit(page+"/cancel", url.Values{"subscription": {c.ProviderObjects(c.Owner, "subscription")[0].Str("id")}}).Want(303)
	c.AwaitNotifications()
}

// wantGoesOn fails the test if an end is scheduled, here or at the provider.
func wantGoesOn(c *apptest.Customer, shown apptest.Reply) {
	c.T.Helper()
	wantAll(shown.Want(200), map[string]any{
		"data.cancel_at_period_end": false, "data.cancel_at": nil, "data.canceled_at": nil, "data.cancellation_reason": nil,
	})
	wantAll(c.ProviderObjects(c.Owner, "subscription")[0], map[string]any{"cancel_at": nil, "cancel_at_period_end": false})
}

// An end that the provider schedules in any way is shown with its date, and resume clears it.
func TestScheduledEnds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "starter")
		s.AwaitNotifications()
		remote := c.ProviderObjects(c.Owner, "subscription")[0].Str("id")
		end := s.Subscription(c.Owner).At("data.current_period_end")
		wantEnds := func(at any, withPeriod bool) {
			t.Helper()
			wantAll(s.Subscription(c.Owner), map[string]any{"data.cancel_at_period_end": true, "data.cancel_at": at, "data.status": "active"})
			wantAll(c.ProviderObjects(c.Owner, "subscription")[0], map[string]any{"cancel_at_period_end": withPeriod})
		}
		s.Cancel(c.Owner, false).Want(200)
		wantEnds(end, true)
		wantGoesOn(c, s.Resume(c.Owner))

		endInPortal(c)
		wantEnds(end, false)
		wantGoesOn(c, s.Resume(c.Owner))
		s.Resume(c.Owner).WantRefused(422, "subscription_not_resumable")

		// Schedule an end in the dashboard, at a date after the next renewal.
		later := s.Now().Add(45 * apptest.Day).Truncate(time.Second)
		s.AtProvider("POST", "/subscriptions/"+remote, "cancel_at", strconv.FormatInt(later.Unix(), 10))
		s.AwaitProvider()
		wantEnds(later.UTC().Format("2006-01-02T15:04:05.000000Z"), false)
		s.Advance(35 * apptest.Day)
		c.WantStatus("active")
		// Canceling for an earlier time replaces the date.
		s.Cancel(c.Owner, false).Want(200)
		wantEnds(s.Subscription(c.Owner).At("data.current_period_end"), true)
		wantGoesOn(c, s.Resume(c.Owner))

		// After a cancellation through the API, an end is scheduled in the portal, and no notification
		// has reported it yet. The response to the resumption reveals it.
		s.Cancel(c.Owner, false).Want(200)
		s.AwaitNotifications()
		s.Chaos(apptest.Object{"webhooks": apptest.Object{"drop": 1}})
		s.AtProvider("POST", "/subscriptions/"+remote, "cancel_at_period_end", "false")
		s.AtProvider("POST", "/subscriptions/"+remote, "cancel_at", strconv.FormatInt(s.Now().Add(3*apptest.Day).Unix(), 10))
		wantGoesOn(c, s.Resume(c.Owner))
		s.Chaos(nil)

		// A date within the period ends the subscription on that day.
		s.AtProvider("POST", "/subscriptions/"+remote, "cancel_at", strconv.FormatInt(s.Now().Add(3*apptest.Day).Unix(), 10))
		s.AwaitProvider()
		s.Advance(4 * apptest.Day)
		c.WantStatus("canceled")
	})
}

// An immediate cancellation bills the pending items and does not refund unused time.
func TestCancelNowBillsPendingItems(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		for _, tt := range []struct {
			name          string
			seats, joined int
			left          bool
		}{{name: "owes", seats: 1, joined: 2}, {name: "has-credit", seats: 2, joined: 1, left: true}, {name: "is-even", seats: 1}} {
			t.Run(tt.name, func(t *testing.T) {
				c := s.NewCustomer(tt.name)
				page := s.Call("POST", c.Path("/checkout"), c.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
					"plan_id": s.PlanID(c.Owner, "crew"), "currency": "EUR", "quantity": tt.seats,
				})).Want(200).Str("data.url")
				s.Pay(page, apptest.CardPays).Want(303)
				apptest.Eventually(t, "the activation", func() bool { return s.Subscription(c.Owner).At("data.status") == "active" })
				var last int64
				for i := range tt.joined {
					name := tt.name + strconv.Itoa(i)
					_, last = s.Join(c.Owner, name, name+"@example.com", "member")
				}
				seats := 1 + tt.joined
				if tt.left {
					s.Call("DELETE", c.Path("/team/members/")+strconv.FormatInt(last, 10), c.Token, nil).Want(200)
					seats--
				}
				apptest.Eventually(t, "the seats", func() bool { return s.Subscription(c.Owner).At("data.quantity") == float64(seats) })
				s.AwaitNotifications()
				before := len(c.ProviderObjects(c.Owner, "invoice"))
				s.Cancel(c.Owner, true).Want(200).WantAt("data.status", "canceled")
				made := c.ProviderObjects(c.Owner, "invoice")[before:]
				balance := c.ProviderObjects(c.Owner, "customer")[0].At("balance").(float64)
				if !tt.left && tt.joined == 0 {
					if len(made) != 0 || balance != 0 {
						t.Errorf("%d invoices, balance %v", len(made), balance)
					}
					return
				}
				if len(made) != 1 || made[0].At("status") != "paid" {
					t.Fatalf("%d final invoices: %+v", len(made), made)
				}
				// The final invoice charges two added seats, or credits a removed seat, for the whole
				// period except for the elapsed seconds.
				total := made[0].At("total").(float64)
				if tt.left && (total > -2990 || total < -3000 || balance != total) || !tt.left && (total < 5990 || total > 6000 || balance != 0) {
					t.Errorf("the final invoice is of %v, the balance %v", total, balance)
				}
				if list := s.Invoices(c.Owner, before+1); list[0].(map[string]any)["status"] != "paid" {
					t.Errorf("the final invoice: %v", list[0])
				}
			})
		}
	})
}
