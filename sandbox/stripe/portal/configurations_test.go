package portal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// TestTheConfiguration reads and changes the portal's settings.
func TestTheConfiguration(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	const path = "/v1/billing_portal/configurations/bpc_sandbox"
	w.Get(path).CheckValues(t, "at first", "object", "billing_portal.configuration", "active", "true", "is_default", "true", "features.subscription_cancel.enabled", "true",
		"features.subscription_cancel.mode", "at_period_end", "features.subscription_update.enabled", "false", "features.subscription_update.default_allowed_updates", "[]")
	for query, want := range map[string][]string{
		"": {"bpc_sandbox"}, "?is_default=true&active=true": {"bpc_sandbox"}, "?is_default=false": nil, "?active=false": nil,
	} {
		if diff := cmp.Diff(want, w.IDs("/v1/billing_portal/configurations"+query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	w.Post(path, "features[subscription_update][enabled]=true&features[subscription_update][default_allowed_updates][]=price&features[subscription_cancel][mode]=immediately&features[invoice_history][enabled]=false").
		CheckValues(t, "changed", "features.subscription_update.enabled", "true", "features.subscription_update.default_allowed_updates", `["price"]`,
			"features.subscription_cancel.mode", "immediately", "features.invoice_history.enabled", "false", "features.payment_method_update.enabled", "true")
	w.CheckRefused(
		stripetest.Refusal{Name: "a mode", Method: "POST", Path: path, Body: "features[subscription_cancel][mode]=never", Param: "features[subscription_cancel][mode]"},
		stripetest.Refusal{Name: "a feature", Method: "POST", Path: path, Body: "features[games][enabled]=true", Code: "parameter_unknown", Param: "features[games]"},
		stripetest.Refusal{Name: "an unknown one", Method: "GET", Path: "/v1/billing_portal/configurations/bpc_x", Status: 404, Code: "resource_missing", Param: "id"},
	)
}
