package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A change is previewed and charged on the provider's state, even if the service has not received
// the last renewals yet.
func TestChangeBeforeTheRenewalIsSynced(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("annual", "flat", "year", 40000, 0, nil)
		for _, tt := range []struct {
			name, plan string
			months     int // the number of missed renewals
			least      float64
			most       float64
		}{
			{"another-interval", "annual", 1, 40000, 40000},
			{"two-renewals", "annual", 2, 40000, 40000},
			{"same-interval", "pro", 1, 4500, 4900},
			{"two-renewals-more", "pro", 2, 4500, 4900},
		} {
			t.Run(tt.name, func(t *testing.T) {
				b := buyer{s.NewCustomer(tt.name)}
				s.BuyPlan(b.Owner, "starter")
				s.AwaitNotifications()
				id, known := b.Subscription(b.Owner).Str("data.id"), b.Subscription(b.Owner)
				start, end := known.TimeAt("data.current_period_start"), known.TimeAt("data.current_period_end")
				forget := func() { // as if the notifications were late
					apptest.Exec(t, s.DB(), `UPDATE subscriptions SET current_period_start = $1, current_period_end = $2 WHERE psp_subscription_id = $3`,
						start.AddDate(0, -tt.months, 0), end.AddDate(0, -tt.months, 0), b.ProviderObjects(b.Owner, "subscription")[0].Str("id"))
				}
				forget()
				shown := b.sees(tt.plan, 0)
				if shown.charge < tt.least || shown.charge > tt.most || shown.credit < 1800 || shown.credit > 1900 {
					t.Errorf("shown is %+v", shown)
				}
				forget()
				b.changes(tt.plan, nil, shown)
				after := b.Subscription(b.Owner)
				after.WantAt("data.id", id).WantAt("data.plan.id", s.PlanID(b.Owner, tt.plan))
			})
		}
		// There was no preview, and the subscription has ended in the meantime.
		b := buyer{s.NewCustomer("ended")}
		s.BuyPlan(b.Owner, "starter")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		s.AtProvider("DELETE", "/subscriptions/"+b.ProviderObjects(b.Owner, "subscription")[0].Str("id"))
		b.PreviewChange(b.Owner, "pro", 0).Want(404)
		s.Chaos(nil)
	})
}
