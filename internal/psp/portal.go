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
}

// CreatePortal opens the hosted billing portal for a customer and returns its URL, which is valid
// for a short time. It returns ErrNotFound if the customer does not exist, and ErrPortalUnset if
// the portal was never set up.
func (c *Client) CreatePortal(ctx context.Context, p PortalParams) (string, error) {
	return write(ctx, c, "create portal", p.Key, func(ctx context.Context) (string, error) {
		s, err := c.api.V1BillingPortalSessions.Create(ctx, &stripe.BillingPortalSessionCreateParams{
			Params:    idempotencyParams(p.Key),
			Customer:  stripe.String(p.CustomerID),
			ReturnURL: stripe.String(p.ReturnURL),
			Locale:    stringOrNil(p.Locale),
		})
		if err != nil {
			return "", err
		}
		return s.URL, nil
	})
}
