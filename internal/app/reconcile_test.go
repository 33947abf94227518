package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The command repairs the differences after missed notifications: the renewal of a plan with
// metered usage, and an unknown subscription with a trial. A second run finds no difference.
func TestReconcileCommand(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("machines")
		metered := k.CreatePricedPlan(product, "metered", map[string]int{"EUR": 1000}, apptest.Object{"pricing_type": "usage"})
		tried := k.CreatePricedPlan(product, "tried", map[string]int{"EUR": 2000}, apptest.Object{"trial_days": 14})
		renewed, lost := s.NewCustomer("renewed"), s.NewCustomer("lost")
		renewed.Buy(metered, "EUR", apptest.Card(apptest.CardPays))
		lost.Buy(tried, "EUR", apptest.Card(apptest.CardPays))
		s.AwaitNotifications()
		want := renewed.Subscription(renewed.Owner).Str("data.current_period_start")
		before := s.Now().Add(-31 * apptest.Day)
		apptest.Exec(t, s.DB(), `UPDATE subscriptions SET current_period_start = $1, current_period_end = $2 WHERE tenant_id = $3`,
			before, s.Now(), renewed.Tenant)
		for _, table := range []string{"trials", "subscriptions"} {
			apptest.Exec(t, s.DB(), `DELETE FROM `+table+` WHERE tenant_id = $1`, lost.Tenant)
		}

		run := func(dryRun bool, ends string) {
			t.Helper()
			var out strings.Builder
			err := app.Reconcile(t.Context(), s.CLISettings(), &out, dryRun)
			if err != nil || !strings.HasSuffix(out.String(), ends+"\n") {
				t.Errorf("the command ended with %v and wrote\n%s", err, out.String())
			}
		}
		run(true, "3 differences, 0 repaired")
		run(false, "3 differences, 3 repaired")
		run(false, "0 differences, 0 repaired")
		renewed.Subscription(renewed.Owner).WantAt("data.current_period_start", want)
		lost.Subscription(lost.Owner).WantAt("data.status", "trialing")
		if n := s.CountRows(`SELECT count(*) FROM trials WHERE tenant_id = $1`, lost.Tenant); n != 1 {
			t.Errorf("%d trials are recorded", n)
		}
	})
}

// The command reports a customer of an unknown tenant and the steps to take, again in each run.
func TestReconcileCommandOfUnknownTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		sold := k.AddSubscriber("sold", "starter")
		missing := uuid.NewString()
		customer := s.AtProvider("POST", "/customers", "name", "A customer").Str("id")
		bought := k.SubscribeAtProvider(customer, sold.Str("items.data.0.price.id"), "metadata[tenant_id]", missing,
			"metadata[plan_id]", sold.Str("metadata.plan_id"), "metadata[checkout_id]", uuid.NewString())
		s.AwaitNotifications()

		line := fmt.Sprintf("unknown_tenant: subscription %s of tenant %s and customer %s (not repaired: cancel and refund it in Stripe's dashboard, "+
			"or create the customer again and import the subscription)\n", bought, missing, customer)
		for _, dryRun := range []bool{true, false, false} {
			var out strings.Builder
			err := app.Reconcile(t.Context(), s.CLISettings(), &out, dryRun)
			if err != nil || !strings.HasPrefix(out.String(), line) || !strings.HasSuffix(out.String(), "1 difference, 0 repaired\n") {
				t.Errorf("the command ended with %v and wrote\n%s\nwithout\n%s", err, out.String(), line)
			}
		}
	})
}
