package portal

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Configurations is the collection of portal configurations. It has one element.
var Configurations = kernel.Kind[Configuration]{
	Name: "billing_portal.configuration", Prefix: "bpc", Label: "configuration", Path: "/v1/billing_portal/configurations",
}

// defaultConfiguration is the id of the only configuration.
const defaultConfiguration = "bpc_sandbox"

// Configuration configures the features of the portal. The sandbox's page always shows the same
// forms; clients can read the settings.
type Configuration struct {
	kernel.Header
	Active           bool              `json:"active"`
	Application      form.Null         `json:"application"`
	BusinessProfile  businessProfile   `json:"business_profile"`
	DefaultReturnURL *string           `json:"default_return_url"`
	Features         features          `json:"features"`
	IsDefault        bool              `json:"is_default"`
	LoginPage        loginPage         `json:"login_page"`
	Metadata         map[string]string `json:"metadata"`
	Name             *string           `json:"name"`
	Updated          int64             `json:"updated"`
}

type businessProfile struct {
	Headline          *string `json:"headline"`
	PrivacyPolicyURL  *string `json:"privacy_policy_url"`
	TermsOfServiceURL *string `json:"terms_of_service_url"`
}

type loginPage struct {
	Enabled bool      `json:"enabled"`
	URL     form.Null `json:"url"`
}

type features struct {
	CustomerUpdate struct {
		AllowedUpdates []string `json:"allowed_updates"`
		Enabled        bool     `json:"enabled"`
	} `json:"customer_update"`
	InvoiceHistory      feature `json:"invoice_history"`
	PaymentMethodUpdate struct {
		feature
		Methods form.Null `json:"payment_method_configuration"`
	} `json:"payment_method_update"`
	SubscriptionCancel struct {
		feature
		CancellationReason struct {
			feature
			Options []string `json:"options"`
		} `json:"cancellation_reason"`
		Mode              string `json:"mode"`
		ProrationBehavior string `json:"proration_behavior"`
	} `json:"subscription_cancel"`
	SubscriptionUpdate struct {
		feature
		BillingCycleAnchor    form.Null `json:"billing_cycle_anchor"`
		DefaultAllowedUpdates []string  `json:"default_allowed_updates"`
		Products              form.None `json:"products"`
		ProrationBehavior     string    `json:"proration_behavior"`
		ScheduleAtPeriodEnd   struct {
			Conditions form.None `json:"conditions"`
		} `json:"schedule_at_period_end"`
		TrialUpdateBehavior string `json:"trial_update_behavior"`
	} `json:"subscription_update"`
}

type feature struct {
	Enabled bool `json:"enabled"`
}

// Install stores the default configuration, unless it exists. It corresponds to an account whose
// portal settings have been saved.
func Install(ctx context.Context, st *kernel.Step) error {
	_, err := Configurations.Find(ctx, st.Q, defaultConfiguration)
	if !errors.Is(err, kernel.ErrNotFound) {
		return err
	}
	c := Configuration{Header: Configurations.Start(st.Now), Active: true, IsDefault: true, Metadata: map[string]string{}, Updated: st.Now}
	c.ID = defaultConfiguration
	f := &c.Features
	f.CustomerUpdate.AllowedUpdates = []string{}
	f.InvoiceHistory.Enabled, f.PaymentMethodUpdate.Enabled, f.SubscriptionCancel.Enabled = true, true, true
	f.SubscriptionCancel.CancellationReason.Options = []string{}
	f.SubscriptionCancel.Mode, f.SubscriptionCancel.ProrationBehavior = "at_period_end", "none"
	f.SubscriptionUpdate.DefaultAllowedUpdates = []string{}
	f.SubscriptionUpdate.ProrationBehavior, f.SubscriptionUpdate.TrialUpdateBehavior = "none", "end_trial"
	return kernel.Put(ctx, st.Q, c)
}

// GetConfiguration handles GET /v1/billing_portal/configurations/{id}.
func GetConfiguration(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Configurations)
}

// ListConfigurations handles GET /v1/billing_portal/configurations.
func ListConfigurations(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddBool(c.Params, "active", "$.active")
	f.AddBool(c.Params, "is_default", "$.is_default")
	return Configurations.Page(ctx, c, f)
}

// UpdateConfiguration handles POST /v1/billing_portal/configurations/{id}. It enables or disables
// features.
func UpdateConfiguration(ctx context.Context, c *kernel.Call) (any, error) {
	cfg, err := Configurations.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *cfg
	p := c.Params
	p.Metadata(&cfg.Metadata)
	p.URL("default_return_url", &cfg.DefaultReturnURL)
	if given := p.Hash("features"); given != nil {
		cfg.Features.read(given)
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	cfg.Updated = c.Now
	return cfg, c.Change(ctx, "billing_portal.configuration.updated", before, cfg)
}

func (f *features) read(p *form.Params) {
	for key, on := range map[string]*bool{
		"customer_update": &f.CustomerUpdate.Enabled, "invoice_history": &f.InvoiceHistory.Enabled,
		"payment_method_update": &f.PaymentMethodUpdate.Enabled,
	} {
		if given := p.Hash(key); given != nil {
			given.Boolean("enabled", on)
		}
	}
	if given := p.Hash("subscription_cancel"); given != nil {
		cancel := &f.SubscriptionCancel
		given.Boolean("enabled", &cancel.Enabled)
		given.Choice("mode", &cancel.Mode, "at_period_end", "immediately")
		given.Choice("proration_behavior", &cancel.ProrationBehavior, "none", "create_prorations", "always_invoice")
	}
	if given := p.Hash("subscription_update"); given != nil {
		update := &f.SubscriptionUpdate
		given.Boolean("enabled", &update.Enabled)
		given.Choice("proration_behavior", &update.ProrationBehavior, "none", "create_prorations", "always_invoice")
		if given.Has("default_allowed_updates") {
			update.DefaultAllowedUpdates = append([]string{}, given.Texts("default_allowed_updates")...)
		}
	}
}
