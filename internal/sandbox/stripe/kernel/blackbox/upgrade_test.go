package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/sandbox/stripe"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/stripetest"
)

// TestAnOlderDatabaseIsUpgraded starts on the tables of a version that had one
// receiver of events and one clock, with an event on its way and a timer.
func TestAnOlderDatabaseIsUpgraded(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, func(c *stripe.Config) {
		_, err := c.DB.ExecContext(t.Context(), `
			CREATE TABLE stripe_timers (kind TEXT NOT NULL, object TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (kind, object));
			CREATE INDEX stripe_timers_at ON stripe_timers (at);
			INSERT INTO stripe_timers VALUES ('checkout.expires', 'cs_old', 4000000000);
			CREATE TABLE stripe_deliveries (seq INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, object TEXT NOT NULL,
				attempts INTEGER NOT NULL, queued_at INTEGER NOT NULL, next_at INTEGER NOT NULL);
			INSERT INTO stripe_deliveries (event, object, attempts, queued_at, next_at) VALUES ('evt_old', 'cus_old', 1, 0, 0);`)
		if err != nil {
			t.Fatal(err)
		}
		c.WebhookURL, c.WebhookSecret = "http://service.example.test/hooks", secret
	})
	var endpoint, clock string
	if err := w.DB.QueryRowContext(t.Context(), `SELECT (SELECT endpoint FROM stripe_deliveries WHERE event = 'evt_old'), (SELECT clock FROM stripe_timers)`).Scan(&endpoint, &clock); err != nil {
		t.Fatal(err)
	}
	if endpoint != "we_sandbox" || clock != "" {
		t.Errorf("the delivery goes to %q, the timer by %q", endpoint, clock)
	}
	w.Get("/v1/webhook_endpoints/we_sandbox").Shows(t, "the receiver", "url", "http://service.example.test/hooks", "status", "enabled")
	w.Customer() // what is new works as well
}

// TestTheConfiguredEndpointFollowsTheSettings changes and removes the setting.
func TestTheConfiguredEndpointFollowsTheSettings(t *testing.T) {
	t.Parallel()
	var kept stripe.Config
	w := stripetest.New(t, func(c *stripe.Config) {
		c.WebhookURL, c.WebhookSecret = "http://first.example.test", secret
		kept = *c
	})
	w.Customer()
	for _, c := range []struct{ url, want string }{{"http://second.example.test", "http://second.example.test"}, {"", "null"}} {
		kept.WebhookURL = c.url
		server, err := stripe.New(kept)
		if err != nil {
			t.Fatal(err)
		}
		w.Server = server
		list := w.Get("/v1/webhook_endpoints")
		list.Shows(t, "set to "+c.url, "data.0.url", c.want)
	}
	var left int
	if err := w.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_deliveries`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d deliveries are left for nobody (%v)", left, err)
	}
}
