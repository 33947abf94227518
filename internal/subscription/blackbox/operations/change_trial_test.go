package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A change from a paid plan to a plan of another product starts its trial, once. The rest of the
// paid period is credited, as the preview shows. The new plan is charged from the end of the trial,
// after that credit is used.
func TestAChangeToAnotherProductBeginsItsTrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		first, second := k.CreateProduct("first"), k.CreateProduct("second")
		paid := k.CreatePricedPlan(first, "paid", map[string]int{"EUR": 3000})
		other := k.CreatePricedPlan(second, "tried", map[string]int{"EUR": 5000}, apptest.Object{"trial_days": 14})
		k.CreatePricedPlan(second, "years", map[string]int{"EUR": 60000}, apptest.Object{"trial_days": 14, "billing_cycle": "yearly"})
		c := s.NewCustomer("ada")
		c.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		s.Advance(10 * apptest.Day)
		c.LogInAgain()
		shown := s.PreviewChange(c.Owner, "tried", 0)
		net := wantAmounts(shown)
		credit := shown.At("data.credit.cents").(float64)
		if net != -credit || credit < 1950 || credit > 2050 {
			t.Errorf("the change is shown as %s", shown.Text)
		}
		begun := s.Now().Truncate(time.Second)
		c.ChangePlan(c.Owner, "tried", nil).Want(200).WantAt("data.subscription.status", "trialing").WantAt("data.subscription.plan.id", other)
		s.AwaitNotifications()
		if balance := s.ProviderObjects(c.Owner, "customer")[0].At("balance"); balance != net {
			t.Errorf("the balance is %v, the preview was %v", balance, net)
		}
		sub := s.Subscription(c.Owner)
		for _, field := range []string{"trial_ends_at", "current_period_end"} {
			ends, err := time.Parse(time.RFC3339, sub.Str("data."+field))
			if want := begun.AddDate(0, 0, 14); err != nil || ends.Before(want.Add(-time.Minute)) || ends.After(want.Add(time.Minute)) {
				t.Errorf("%s is %v, want %v", field, ends, want)
			}
		}
		s.Advance(14*apptest.Day + 2*time.Hour)
		c.LogInAgain()
		c.WantStatus("active")
		invoices := s.ProviderObjects(c.Owner, "invoice")
		invoices[len(invoices)-1].WantAt("total", 5000.0).WantAt("amount_paid", 5000+net)
		// Switching back and forth, another plan of the same product, and a subscription with a
		// scheduled end start no other trial.
		for _, plan := range []string{"paid", "tried", "years"} {
			c.ChangePlan(c.Owner, plan, nil).Want(200).WantAt("data.subscription.status", "active")
			s.Advance(apptest.Day)
			c.LogInAgain()
		}
		ends := s.NewCustomer("ends")
		ends.Buy(paid, "EUR", apptest.Card(apptest.CardPays))
		s.Cancel(ends.Owner, false).Want(200)
		ends.ChangePlan(ends.Owner, "tried", nil).Want(200).WantAt("data.subscription.status", "active").
			WantAt("data.subscription.cancel_at_period_end", true)
	})
}
