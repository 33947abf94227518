package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

// TestTheConfiguredEndpointFollowsTheSettings changes and removes the configured endpoint.
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
		list.CheckValues(t, "set to "+c.url, "data.0.url", c.want)
	}
	var left int
	if err := w.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_deliveries`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d deliveries left without an endpoint (%v)", left, err)
	}
}
