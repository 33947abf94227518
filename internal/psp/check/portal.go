package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

const portalSettings = "Settings, Billing, Customer portal"

// portal checks the settings of the billing portal.
func (c *checker) portal(ctx context.Context) {
	found, status, err := psp.Call(ctx, c.Client, "list portal configurations", func(ctx context.Context, api *calls.API) ([]*stripe.BillingPortalConfiguration, error) {
		list := api.V1BillingPortalConfigurations.List(ctx, &stripe.BillingPortalConfigurationListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(1)}, IsDefault: stripe.Bool(true), Active: stripe.Bool(true),
		})
		if err := list.Err(); err != nil {
			return nil, err
		}
		return list.Data(), nil
	})
	switch {
	case err != nil:
		c.failed("portal", status, err)
	case len(found) == 0:
		c.note("portal", StatusError, "the billing portal is not configured", "Save its settings once: "+portalSettings+".")
	case found[0].Features == nil:
		c.note("portal", StatusWarning, "the features are not configured", "See "+portalSettings+".")
	default:
		c.ok("portal", "configured")
		c.portalFeatures(found[0].Features)
	}
}

func (c *checker) portalFeatures(f *stripe.BillingPortalConfigurationFeatures) {
	switch cancel := f.SubscriptionCancel; {
	case cancel == nil || !cancel.Enabled:
		c.note("portal: cancellation", StatusWarning, "customers cannot cancel in the portal", "Allow cancellation at the end of the period: "+portalSettings+", Cancellations.")
	case cancel.Mode != stripe.BillingPortalConfigurationFeaturesSubscriptionCancelModeAtPeriodEnd:
		c.note("portal: cancellation", StatusError, "cancellations in the portal take effect immediately, without billing usage and seats",
			"Select the end of the billing period: "+portalSettings+", Cancellations.")
	default:
		c.ok("portal: cancellation", "at the end of the period")
	}
	if update := f.SubscriptionUpdate; update != nil && update.Enabled {
		what := []string{"plans"}
		for _, allowed := range update.DefaultAllowedUpdates {
			what = append(what, string(allowed))
		}
		c.note("portal: changes", StatusError, fmt.Sprintf("customers can change their subscription in the portal (%s), which bypasses the limits of plans and seats", strings.Join(what, ", ")),
			"Disable switching plans and changing quantities: "+portalSettings+", Subscriptions.")
	} else {
		c.ok("portal: changes", "switching plans and quantities is disabled")
	}
	if card := f.PaymentMethodUpdate; card == nil || !card.Enabled {
		c.note("portal: cards", StatusWarning, "customers cannot change their card in the portal", "Allow it: "+portalSettings+", Payment methods.")
	} else {
		c.ok("portal: cards", "can be changed")
	}
}
