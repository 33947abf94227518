package psp

import (
	"context"

	"github.com/stripe/stripe-go/v85"
)

// PortalParams describes a session of the hosted billing portal.
type PortalParams struct {
	Key        string // idempotency key
	CustomerID string
	ReturnURL  string // where the return link leads
	Locale     string // language of the page; empty follows the customer
	// Flow is the provider's name of the only task of the session, such as payment_method_update,
	// after which the customer returns to ReturnURL
	// (https://docs.stripe.com/customer-management/portal-deep-links). Empty opens the whole portal.
	Flow string
}

// CreatePortal opens the hosted billing portal for a customer and returns its URL, which is valid
// for a short time. It returns ErrNotFound if the customer does not exist, and ErrPortalUnset if
// the portal was never set up.
func (c *Client) CreatePortal(ctx context.Context, p PortalParams) (string, error) {
	params := &stripe.BillingPortalSessionCreateParams{
		Params:    idempotencyParams(p.Key),
		Customer:  stripe.String(p.CustomerID),
		ReturnURL: stripe.String(p.ReturnURL),
		Locale:    stringOrNil(p.Locale),
	}
	if p.Flow != "" {
		params.FlowData = &stripe.BillingPortalSessionCreateFlowDataParams{
			Type: stripe.String(p.Flow),
			AfterCompletion: &stripe.BillingPortalSessionCreateFlowDataAfterCompletionParams{
				Type:     stripe.String(stripe.BillingPortalSessionFlowAfterCompletionTypeRedirect),
				Redirect: &stripe.BillingPortalSessionCreateFlowDataAfterCompletionRedirectParams{ReturnURL: stripe.String(p.ReturnURL)},
			},
		}
	}
	return write(ctx, c, "create portal", p.Key, func(ctx context.Context) (string, error) {
		s, err := c.api.V1BillingPortalSessions.Create(ctx, params)
		if err != nil {
			return "", err
		}
		return s.URL, nil
	})
}
