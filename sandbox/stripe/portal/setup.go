package portal

import (
	"context"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// SetupPath is the path of the control that sets whether the portal is configured.
const SetupPath = kernel.OwnRoot + "/portal"

type setup struct {
	Configured bool `json:"configured"`
}

// ShowSetup returns the handler of GET /sandbox/stripe/portal.
func ShowSetup(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cfg, err := Configurations.Get(r.Context(), e.Read().Q, defaultConfiguration, "id")
		if err != nil {
			kernel.FailControl(w, r, e.Log(), err)
			return
		}
		kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: setup{cfg.Active}})
	}
}

// ChangeSetup returns the handler of PUT /sandbox/stripe/portal. If configured is false, the
// account behaves as if its portal settings had never been saved.
func ChangeSetup(e *kernel.Engine) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wanted := setup{Configured: true}
		if !kernel.ReadControl(w, r, &wanted) {
			return
		}
		err := e.Write(r.Context(), func(ctx context.Context, st *kernel.Step) error {
			cfg, err := Configurations.Get(ctx, st.Q, defaultConfiguration, "id")
			if err != nil {
				return err
			}
			cfg.Active = wanted.Configured
			return kernel.Put(ctx, st.Q, cfg)
		})
		if err != nil {
			kernel.FailControl(w, r, e.Log(), err)
			return
		}
		kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: wanted})
	}
}

// requireSetup refuses a session, with Stripe's message, if the portal is not configured or its
// configuration lacks the feature of the flow. flow can be nil.
func requireSetup(ctx context.Context, c *kernel.Call, flow *flow) error {
	cfg, err := Configurations.Get(ctx, c.Q, defaultConfiguration, "configuration")
	if err == nil && !cfg.Active {
		return form.Refuse("", "", "No configuration provided and your test mode default configuration has not been created. Provide a configuration or create your default by saving your customer portal settings in test mode at https://dashboard.stripe.com/test/settings/billing/portal.")
	}
	if err == nil && flow != nil && !cfg.Features.PaymentMethodUpdate.Enabled {
		return form.Refuse("flow_data[type]", "", "The payment_method_update feature is disabled in the portal configuration, and the flow needs it.")
	}
	return err
}
