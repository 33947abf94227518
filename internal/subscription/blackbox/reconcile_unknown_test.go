package blackbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// unknownTenant is the log message about a subscription of a tenant that does not exist here.
const unknownTenant = "unexpected subscription at the payment provider: tenant is unknown"

// metadata returns the metadata that the service set on a subscription, for another tenant and
// without some of the keys.
func metadata(sub apptest.Reply, tenant string, without ...string) []string {
	var form []string
	for key, value := range sub.At("metadata").(map[string]any) {
		if key == "tenant_id" {
			value = tenant
		}
		if !strings.Contains(strings.Join(without, " "), key) {
			form = append(form, "metadata["+key+"]", value.(string))
		}
	}
	return form
}

// logLines returns the lines of the log with a message.
func logLines(s *apptest.Server, message string) []string {
	var found []string
	for line := range strings.Lines(s.Log()) {
		if strings.Contains(line, message) {
			found = append(found, line)
		}
	}
	return found
}

// After a restore, the provider can have subscriptions of tenants that were created after the
// backup. They are reported until they end, and nothing is changed.
func TestReconcileUnknownTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		sold := k.AddSubscriber("sold", "starter")
		starter := sold.Str("items.data.0.price.id")
		purged := s.Register("purged@example.com", true)
		apptest.Exec(t, s.DB(), `UPDATE tenants SET deleted_at = $1, purged_at = $1 WHERE id = $2`, s.Now(), purged.Tenant)
		s.AwaitNotifications()
		s.Chaos(apptest.ChaosNoWebhooks)
		subscribe := func(form ...string) string {
			return k.SubscribeAtProvider(s.AtProvider("POST", "/customers", "name", "A customer").Str("id"), starter, form...)
		}
		missing := uuid.NewString()

		bought := subscribe(metadata(sold, missing)...)
		free := subscribe(metadata(sold, missing, "checkout_id")...)
		over := subscribe(metadata(sold, missing)...)
		s.AtProvider("DELETE", "/subscriptions/"+over)
		ofPurged := subscribe(metadata(sold, purged.Tenant)...)
		// These subscriptions belong to other programs in the same account.
		subscribe()
		subscribe("metadata[tenant_id]", missing)
		subscribe(metadata(sold, "acme")...)
		subscribe(append(metadata(sold, missing, "tenant_id"), "metadata[tenant]", missing)...)

		want := map[string][]string{bought: {"unknown_tenant"}, ofPurged: {"not_taken_over subscription"}}
		s.AwaitJobs()
		before := s.StoredBilling()
		apptest.SameDifferences(t, "while an organization is created", s.Reconcile(true), want)
		if after := s.StoredBilling(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		want[free] = []string{"unknown_tenant"}
		awaitComparisons(s, 2)
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "11m"}).Want(200)
		awaitComparisons(s, 0)
		apptest.SameDifferences(t, "a dry run", s.Reconcile(true), want)
		apptest.SameDifferences(t, "the reconciliation", s.Reconcile(false), want)
		apptest.SameDifferences(t, "another one", s.Reconcile(false), want)
		for _, table := range []string{"subscriptions", "psp_customers", "audit_logs"} {
			if n := s.CountRows(`SELECT count(*) FROM `+table+` WHERE tenant_id = $1`, missing); n != 0 {
				t.Errorf("the unknown tenant has %d rows in %s", n, table)
			}
		}
		for _, id := range []string{bought, free} {
			if got := s.AtProvider("GET", "/subscriptions/"+id).Str("status"); got != "trialing" {
				t.Errorf("at the provider, %s is %s", id, got)
			}
		}

		s.AtProvider("DELETE", "/subscriptions/"+bought)
		delete(want, bought)
		apptest.SameDifferences(t, "after its end", s.Reconcile(false), want)
	})
}

// A notification about a subscription of an unknown tenant is logged as a warning and is not
// retried. The daily comparison logs it as well.
func TestNotificationOfUnknownTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		sold := k.AddSubscriber("sold", "starter")
		s.AwaitNotifications()
		missing := uuid.NewString()
		customer := s.AtProvider("POST", "/customers", "name", "A customer").Str("id")
		bought := k.SubscribeAtProvider(customer, sold.Str("items.data.0.price.id"), metadata(sold, missing)...)
		foreign := k.SubscribeAtProvider(customer, sold.Str("items.data.0.price.id"))
		s.AwaitNotifications()

		lines := logLines(s, unknownTenant)
		if len(lines) != 1 || !strings.Contains(lines[0], `"level":"WARN"`) || !strings.Contains(lines[0], bought) ||
			!strings.Contains(lines[0], missing) || !strings.Contains(lines[0], customer) {
			t.Errorf("the log has %d warnings about %s: %v", len(lines), bought, lines)
		}
		if n := s.CountRows(`SELECT count(*) FROM jobs WHERE last_error IS NOT NULL`); n != 0 {
			t.Errorf("%d jobs failed", n)
		}
		if n := s.CountRows(`SELECT count(*) FROM subscriptions WHERE psp_subscription_id IN ($1, $2)`, bought, foreign); n != 0 {
			t.Errorf("%d subscriptions were stored", n)
		}

		awaitComparisons(s, 2)
		s.Advance(25 * time.Hour)
		apptest.Eventually(t, "the daily comparison", func() bool {
			for _, line := range logLines(s, "difference from the payment provider") {
				if strings.Contains(line, "unknown_tenant: subscription "+bought) {
					return true
				}
			}
			return false
		})
	})
}
