package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// customers has tenants with subscriptions, and what the provider knows them by.
type customers struct {
	*server
	names map[string]owner
}

// customer registers a tenant that the provider knows and that has bought nothing.
func (k customers) customer(name string) (id string) {
	o := k.register(name+"@example.com", true)
	k.names[name] = o
	k.checkout(o, "starter")
	return k.held(o, "customer")[0].str("id")
}

// subscriber registers a tenant with a subscription, and returns the provider's.
func (k customers) subscriber(name, slug string) reply {
	o := k.register(name+"@example.com", true)
	k.names[name] = o
	k.subscribe(o, slug)
	return k.held(o, "subscription")[0]
}

// madeByHand starts a trial at the provider, and returns the subscription's id.
func (k customers) madeByHand(customer, price string, more ...string) string {
	return k.byHand("POST", "/subscriptions", append([]string{
		"customer", customer, "items[0][price]", price, "items[0][quantity]", "1", "trial_period_days", "7",
	}, more...)...).str("id")
}

// What was made and changed at the provider without a notification is found and
// taken over, and nothing else is.
func TestReconcile(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		ends, over, moves := k.subscriber("ends", "starter"), k.subscriber("over", "starter"), k.subscriber("moves", "starter")
		s.sell("huge", "fixed", "month", 90_00, 0, nil)
		huge := k.subscriber("huge", "huge")
		s.settled()
		s.chaos(noWebhooks)
		if found := s.reconcile(false); len(found) != 0 {
			t.Fatalf("before anything was changed: %v", found)
		}
		starter := ends.str("items.data.0.price.id")
		made := s.byHand("POST", "/prices", "product", ends.str("items.data.0.price.product"), "currency", "eur",
			"unit_amount", "1234", "recurring[interval]", "month").str("id")

		s.byHand("POST", "/subscriptions/"+ends.str("id"), "cancel_at_period_end", "true")
		s.byHand("DELETE", "/subscriptions/"+over.str("id"))
		s.byHand("POST", "/subscriptions/"+moves.str("id"), "items[0][id]", moves.str("items.data.0.id"),
			"items[0][price]", huge.str("items.data.0.price.id"), "items[0][quantity]", "3", "proration_behavior", "none")
		byCustomer := k.madeByHand(k.customer("customer"), starter)
		k.names["metadata"] = s.register("metadata@example.com", true)
		alone := s.byHand("POST", "/customers", "name", "Somebody").str("id")
		byMetadata := k.madeByHand(alone, made, "metadata[tenant_id]", k.names["metadata"].tenant, "metadata[plan_id]", s.plan(k.names["metadata"], "huge"))
		k.madeByHand(s.byHand("POST", "/customers", "name", "A stranger").str("id"), starter)
		// A tenant's customer counts for more than what somebody wrote beside another.
		k.madeByHand(s.byHand("POST", "/customers", "name", "An impostor").str("id"), starter, "metadata[tenant_id]", k.names["ends"].tenant)
		noPlan := k.madeByHand(k.customer("planless"), made, "metadata[plan_id]", "01990000-0000-7000-8000-000000000000")
		second := k.madeByHand(huge.str("customer"), starter)

		want := map[string][]string{
			ends.str("id"):  {"differs cancel_at_period_end", "differs canceled_at"},
			over.str("id"):  {"differs status", "differs canceled_at"},
			moves.str("id"): {"differs plan", "differs price", "differs quantity"},
			byCustomer:      {"missing_here"},
			byMetadata:      {"missing_here"},
			noPlan:          {"not_taken_over price"},
			second:          {"not_taken_over subscription"},
		}
		left := map[string][]string{noPlan: want[noPlan], second: want[second]}
		before := s.stored()
		same(t, "a dry run", s.reconcile(true), want)
		if after := s.stored(); after != before {
			t.Errorf("a dry run made\n%s\nof\n%s", after, before)
		}
		for id, differences := range want {
			if left[id] == nil {
				want[id] = mapped(differences, func(d string) string { return d + " repaired" })
			}
		}
		same(t, "the reconciliation", s.reconcile(false), want)
		same(t, "another one", s.reconcile(false), left)

		for name, shown := range map[string]map[string]any{
			"ends":     {"data.cancel_at_period_end": true, "data.status": "active", "data.plan.name": "Starter"},
			"over":     {"data": nil},
			"moves":    {"data.plan.name": "huge", "data.price_cents": 9000.0, "data.quantity": 3.0},
			"customer": {"data.plan.name": "Starter", "data.status": "trialing"},
			"metadata": {"data.plan.name": "huge", "data.price_cents": 1234.0, "data.status": "trialing"},
			"planless": {"data": nil},
			"huge":     {"data.plan.name": "huge", "data.status": "active"},
		} {
			a := s.subscription(k.names[name])
			for at, v := range shown {
				if got := a.at(at); got != v {
					t.Errorf("%s: %s is %v, want %v", name, at, got, v)
				}
			}
		}
		// The adopted customer is the tenant's from now on.
		if got := s.byHand("GET", "/subscriptions/"+byMetadata).str("customer"); got != alone {
			t.Fatalf("customer %s", got)
		}
		m := k.names["metadata"]
		s.call("POST", "/api/v1/tenant/"+m.tenant+"/docs/billing/portal", m.token, nil).want(200)
		// Nobody canceled what the operator made.
		if got := s.byHand("GET", "/subscriptions/"+second).str("status"); got != "trialing" {
			t.Errorf("the second subscription is %s", got)
		}
	})
}

// Notifications about what was made at the provider take the same way: none of
// them ends as a job that somebody has to look after.
func TestNotificationsOfTheDashboard(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		known := k.subscriber("known", "starter")
		starter := known.str("items.data.0.price.id")
		k.madeByHand(k.customer("customer"), starter)
		stranger := s.byHand("POST", "/customers", "name", "A stranger").str("id")
		k.madeByHand(stranger, starter)
		k.madeByHand(known.str("customer"), starter)
		made := s.byHand("POST", "/prices", "product", known.str("items.data.0.price.product"), "currency", "eur",
			"unit_amount", "1234", "recurring[interval]", "month").str("id")
		k.madeByHand(k.customer("planless"), made)
		s.settled()
		if a := s.subscription(k.names["customer"]); a.at("data.status") != "trialing" {
			t.Errorf("by the customer: %s", a.text)
		}
		if a := s.subscription(k.names["planless"]); a.at("data") != nil {
			t.Errorf("without a plan: %s", a.text)
		}
		var dead int
		row := dbtest.Open(t, s.database).Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM jobs WHERE last_error IS NOT NULL`)
		if err := row.Scan(&dead); err != nil || dead != 0 {
			t.Errorf("%d jobs failed: %v", dead, err)
		}
	})
}

// A subscription that the provider lost ends here, but not when it lost all: then
// somebody gave the key of another account.
func TestReconcileLostSubscriptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		lost := k.subscriber("lost", "starter").str("id")
		k.subscriber("kept", "starter")
		s.settled()
		s.chaos(noWebhooks)
		execute(t, s.sandbox(), `UPDATE stripe_objects SET kind = 'hidden' WHERE kind = 'subscription'`)
		if a := s.call("POST", "/sandbox/stripe/reconcile", "", nil).want(502); !strings.Contains(a.str("message"), "another account") {
			t.Errorf("the wrong account: %s", a.text)
		}
		for _, o := range k.names {
			if a := s.subscription(o); a.at("data.status") != "active" {
				t.Errorf("in the wrong account: %s", a.text)
			}
		}
		execute(t, s.sandbox(), `UPDATE stripe_objects SET kind = 'subscription' WHERE kind = 'hidden' AND id <> $1`, lost)
		same(t, "a dry run", s.reconcile(true), map[string][]string{lost: {"missing_there"}})
		same(t, "the reconciliation", s.reconcile(false), map[string][]string{lost: {"missing_there repaired"}})
		same(t, "another one", s.reconcile(false), map[string][]string{})
		if a := s.subscription(k.names["lost"]); a.at("data") != nil {
			t.Errorf("lost: %s", a.text)
		}
		if a := s.subscription(k.names["kept"]); a.at("data.status") != "active" {
			t.Errorf("kept: %s", a.text)
		}
		if n := s.recorded(k.names["lost"], "subscription.canceled"); n != 1 {
			t.Errorf("%d entries in the trail", n)
		}
	})
}

// The comparison runs by itself every day.
func TestReconcileDaily(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := customers{s, map[string]owner{}}
		id := k.subscriber("ada", "starter").str("id")
		s.settled()
		// Neither a notification nor the list of events tells of this.
		execute(t, dbtest.Open(t, s.database), `UPDATE subscriptions SET quantity = 7, updated_at = $2 WHERE psp_subscription_id = $1`,
			id, clock.System().Now())
		execute(t, dbtest.Open(t, s.database), `UPDATE invoices SET status = 'open' WHERE tenant_id = $1`, k.names["ada"].tenant)
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "25h"}).want(200)
		eventually(t, "the comparison", func() bool {
			o := owner{token: s.login("ada@example.com"), tenant: k.names["ada"].tenant}
			return s.subscription(o).at("data.quantity") == 1.0 &&
				s.count(`SELECT count(*) FROM invoices WHERE tenant_id = $1 AND status = 'paid'`, o.tenant) == 1
		})
	}, platformManaged)
}

func same(t *testing.T, what string, got, want map[string][]string) {
	t.Helper()
	for id := range want {
		if !slices.Equal(got[id], want[id]) {
			t.Errorf("%s: %s: %v, want %v", what, id, got[id], want[id])
		}
	}
	for id := range got {
		if want[id] == nil {
			t.Errorf("%s: %s: %v, want nothing", what, id, got[id])
		}
	}
}

func mapped(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = f(s)
	}
	return out
}
