package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// wantSubscriptions compares the fields of the customers' subscriptions, by name.
func wantSubscriptions(s *apptest.Server, k apptest.Customers, want map[string]map[string]any) {
	s.T.Helper()
	for name, fields := range want {
		a := s.Subscription(k.Names[name])
		for at, v := range fields {
			if got := a.At(at); got != v {
				s.T.Errorf("%s: %s is %v, want %v", name, at, got, v)
			}
		}
	}
}

// Subscriptions that were created or changed at the provider without a notification are found and
// stored, and no others.
func TestReconcile(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		ends, over, moves := k.AddSubscriber("ends", "starter"), k.AddSubscriber("over", "starter"), k.AddSubscriber("moves", "starter")
		s.AddPlan("huge", "flat", "month", 90_00, 0, nil)
		huge := k.AddSubscriber("huge", "huge")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		if found := s.Reconcile(false); len(found) != 0 {
			t.Fatalf("before anything was changed: %v", found)
		}
		starter := ends.Str("items.data.0.price.id")
		made := s.AtProvider("POST", "/prices", "product", ends.Str("items.data.0.price.product"), "currency", "eur",
			"unit_amount", "1234", "recurring[interval]", "month").Str("id")

		s.AtProvider("POST", "/subscriptions/"+ends.Str("id"), "cancel_at_period_end", "true")
		s.AtProvider("DELETE", "/subscriptions/"+over.Str("id"))
		s.AtProvider("POST", "/subscriptions/"+moves.Str("id"), "items[0][id]", moves.Str("items.data.0.id"),
			"items[0][price]", huge.Str("items.data.0.price.id"), "items[0][quantity]", "3", "proration_behavior", "none")
		byCustomer := k.SubscribeAtProvider(k.Add("customer"), starter)
		k.Names["metadata"] = s.Register("metadata@example.com", true)
		alone := s.AtProvider("POST", "/customers", "name", "Somebody").Str("id")
		byMetadata := k.SubscribeAtProvider(alone, made, "metadata[tenant_id]", k.Names["metadata"].Tenant, "metadata[plan_id]", s.PlanID(k.Names["metadata"], "huge"))
		k.SubscribeAtProvider(s.AtProvider("POST", "/customers", "name", "A stranger").Str("id"), starter)
		// A tenant's customer takes precedence over the metadata of another customer's
		// subscription.
		k.SubscribeAtProvider(s.AtProvider("POST", "/customers", "name", "An impostor").Str("id"), starter, "metadata[tenant_id]", k.Names["ends"].Tenant)
		noPlan := k.SubscribeAtProvider(k.Add("planless"), made, "metadata[plan_id]", "01990000-0000-7000-8000-000000000000")
		second := k.SubscribeAtProvider(huge.Str("customer"), starter)

		want := map[string][]string{
			ends.Str("id"):  {"differs cancel_at", "differs cancel_at_period_end", "differs canceled_at"},
			over.Str("id"):  {"differs status", "differs canceled_at"},
			moves.Str("id"): {"differs plan", "differs price", "differs quantity"},
			byCustomer:      {"missing_here"},
			byMetadata:      {"missing_here"},
			noPlan:          {"not_taken_over price"},
			second:          {"not_taken_over subscription"},
		}
		left := map[string][]string{noPlan: want[noPlan], second: want[second]}
		s.AwaitJobs()
		before := s.StoredBilling()
		apptest.SameDifferences(t, "a dry run", s.Reconcile(true), want)
		if after := s.StoredBilling(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		for id, differences := range want {
			if left[id] == nil {
				want[id] = apptest.MarkRepaired(differences)
			}
		}
		apptest.SameDifferences(t, "the reconciliation", s.Reconcile(false), want)
		apptest.SameDifferences(t, "another one", s.Reconcile(false), left)

		wantSubscriptions(s, k, map[string]map[string]any{
			"ends":     {"data.cancel_at_period_end": true, "data.status": "active", "data.plan.name": "Starter"},
			"over":     {"data": nil},
			"moves":    {"data.plan.name": "huge", "data.price_cents": 9000.0, "data.quantity": 3.0},
			"customer": {"data.plan.name": "Starter", "data.status": "trialing"},
			"metadata": {"data.plan.name": "huge", "data.price_cents": 1234.0, "data.status": "trialing"},
			"planless": {"data": nil},
			"huge":     {"data.plan.name": "huge", "data.status": "active"},
		})
		// The adopted customer now belongs to the tenant.
		if got := s.AtProvider("GET", "/subscriptions/"+byMetadata).Str("customer"); got != alone {
			t.Fatalf("customer %s", got)
		}
		m := k.Names["metadata"]
		s.Call("POST", m.Path("/docs/billing/portal"), m.Token, nil).Want(200)
		// The operator's subscription was not canceled.
		if got := s.AtProvider("GET", "/subscriptions/"+second).Str("status"); got != "trialing" {
			t.Errorf("the second subscription is %s", got)
		}
	})
}

// Notifications about manual changes at the provider have the same effect. None of them ends as a
// failed job.
func TestNotificationsOfTheDashboard(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		known := k.AddSubscriber("known", "starter")
		starter := known.Str("items.data.0.price.id")
		k.SubscribeAtProvider(k.Add("customer"), starter)
		stranger := s.AtProvider("POST", "/customers", "name", "A stranger").Str("id")
		k.SubscribeAtProvider(stranger, starter)
		k.SubscribeAtProvider(known.Str("customer"), starter)
		made := s.AtProvider("POST", "/prices", "product", known.Str("items.data.0.price.product"), "currency", "eur",
			"unit_amount", "1234", "recurring[interval]", "month").Str("id")
		k.SubscribeAtProvider(k.Add("planless"), made)
		s.AwaitNotifications()
		if a := s.Subscription(k.Names["customer"]); a.At("data.status") != "trialing" {
			t.Errorf("by the customer: %s", a.Text)
		}
		if a := s.Subscription(k.Names["planless"]); a.At("data") != nil {
			t.Errorf("without a plan: %s", a.Text)
		}
		var dead int
		row := s.DB().Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM jobs WHERE last_error IS NOT NULL`)
		if err := row.Scan(&dead); err != nil || dead != 0 {
			t.Errorf("%d jobs failed: %v", dead, err)
		}
	})
}

// A subscription that is missing at the provider ends here, but not if all of them are missing:
// then the key belongs to another account.
func TestReconcileLostSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		lost := k.AddSubscriber("lost", "starter").Str("id")
		k.AddSubscriber("kept", "starter")
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		apptest.Exec(t, s.SandboxDB(), `UPDATE stripe_objects SET kind = 'hidden' WHERE kind = 'subscription'`)
		if a := s.Call("POST", "/sandbox/stripe/reconcile", "", nil).Want(502); !strings.Contains(a.Str("message"), "different account") {
			t.Errorf("the wrong account: %s", a.Text)
		}
		for _, o := range k.Names {
			if a := s.Subscription(o); a.At("data.status") != "active" {
				t.Errorf("in the wrong account: %s", a.Text)
			}
		}
		apptest.Exec(t, s.SandboxDB(), `UPDATE stripe_objects SET kind = 'subscription' WHERE kind = 'hidden' AND id <> $1`, lost)
		apptest.SameDifferences(t, "a dry run", s.Reconcile(true), map[string][]string{lost: {"missing_there"}})
		apptest.SameDifferences(t, "the reconciliation", s.Reconcile(false), map[string][]string{lost: {"missing_there repaired"}})
		apptest.SameDifferences(t, "another one", s.Reconcile(false), map[string][]string{})
		if a := s.Subscription(k.Names["lost"]); a.At("data") != nil {
			t.Errorf("lost: %s", a.Text)
		}
		if a := s.Subscription(k.Names["kept"]); a.At("data.status") != "active" {
			t.Errorf("kept: %s", a.Text)
		}
		if n := s.CountAudited(k.Names["lost"], "subscription.canceled"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// awaitComparisons waits until n background comparisons are enqueued: at first 2, which begin after
// ten minutes, and 0 once they are done.
func awaitComparisons(s *apptest.Server, n int) {
	s.T.Helper()
	apptest.Eventually(s.T, "the comparisons in the background", func() bool {
		return s.CountRows(`SELECT count(*) FROM jobs WHERE kind IN ('subscription.reconcile', 'invoice.reconcile')`) == n
	})
}

// The comparison runs automatically every day.
func TestReconcileDaily(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		id := k.AddSubscriber("ada", "starter").Str("id")
		s.AwaitNotifications()
		// Neither a notification nor the list of events reports this.
		apptest.Exec(t, s.DB(), `UPDATE subscriptions SET quantity = 7, updated_at = $2 WHERE psp_subscription_id = $1`,
			id, clock.System().Now())
		apptest.Exec(t, s.DB(), `UPDATE invoices SET status = 'open' WHERE tenant_id = $1`, k.Names["ada"].Tenant)
		awaitComparisons(s, 2) // a comparison that is enqueued after the clock has advanced begins too late
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "25h"}).Want(200)
		apptest.Eventually(t, "the comparison", func() bool {
			o := apptest.Owner{Token: s.LogIn("ada@example.com"), Tenant: k.Names["ada"].Tenant}
			return s.Subscription(o).At("data.quantity") == 1.0 &&
				s.CountRows(`SELECT count(*) FROM invoices WHERE tenant_id = $1 AND status = 'paid'`, o.Tenant) == 1
		})
	}, apptest.WithPlatformInvoices)
}
