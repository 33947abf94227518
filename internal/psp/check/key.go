package check

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// Limits for the deviation of the machine's clock. From a deviation of five minutes on, the
// signatures of notifications are rejected.
const (
	skewWarning = time.Minute
	skewError   = 5 * time.Minute
)

// key checks the secret key, its account and the clock. It reports whether the key works.
func (c *checker) key(ctx context.Context) bool {
	what := "a key of " + c.Client.Mode() + " mode"
	if c.Client.Mode() == "" {
		what = "a key in an unknown format"
	}
	if c.Client.HasRestrictedKey() {
		what = "a restricted key of " + c.Client.Mode() + " mode"
	}
	account, status, err := psp.Call(ctx, c.Client, "get account", func(ctx context.Context, api *calls.API) (*stripe.Account, error) {
		return api.V1Accounts.Retrieve(ctx, nil)
	})
	switch {
	case status == http.StatusUnauthorized:
		c.note("key", StatusError, "Stripe rejected the secret key", "Set TENANTRY_STRIPE_SECRET_KEY to a key from Stripe's dashboard: Developers, API keys.")
		return false
	case err != nil && status != http.StatusForbidden:
		c.note("key", StatusError, "Stripe is unreachable: "+err.Error(), "Check that this machine can reach https://api.stripe.com, and try again.")
		return false
	}
	c.ok("key", what)
	if err != nil {
		c.failed("account", status, err)
		return true
	}
	c.account(account)
	c.clock(account)
	return true
}

func (c *checker) account(a *stripe.Account) {
	switch {
	case a.ChargesEnabled:
		c.ok("account", "account "+a.ID+" can charge")
	case c.Client.Mode() == psp.TestMode:
		c.note("account", StatusWarning, "account "+a.ID+" cannot charge yet", "Before going live, complete the account details: Settings, Business.")
	default:
		c.note("account", StatusError, "account "+a.ID+" cannot charge", "Complete the account details: Settings, Business.")
	}
}

func (c *checker) clock(a *stripe.Account) {
	if a.LastResponse == nil {
		return
	}
	theirs, err := http.ParseTime(a.LastResponse.Header.Get("Date"))
	if err != nil {
		c.note("clock", StatusWarning, "Stripe did not return the time", "")
		return
	}
	off := c.Now().Sub(theirs).Round(time.Second)
	detail := "this machine's clock is off by " + off.Abs().String()
	const fix = "Set the clock, preferably with NTP. Notifications are rejected if it is off by five minutes."
	switch {
	case off.Abs() >= skewError:
		c.note("clock", StatusError, detail, fix)
	case off.Abs() >= skewWarning:
		c.note("clock", StatusWarning, detail, fix)
	default:
		c.ok("clock", "this machine's clock agrees with Stripe's")
	}
}

// permission is a resource that the key must be able to read. Write access cannot be checked
// without a write.
type permission struct {
	name string // as in Stripe's dashboard
	list func(ctx context.Context, api *calls.API, one stripe.ListParams) error
}

// readFirst reads the first page of a list.
func readFirst[T any](list *stripe.V1List[T]) error { return list.Err() }

func permissions() []permission {
	return []permission{
		{"Customers", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Customers.List(ctx, &stripe.CustomerListParams{ListParams: one}))
		}},
		{"Products", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Products.List(ctx, &stripe.ProductListParams{ListParams: one}))
		}},
		{"Prices", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Prices.List(ctx, &stripe.PriceListParams{ListParams: one}))
		}},
		{"Checkout Sessions", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1CheckoutSessions.List(ctx, &stripe.CheckoutSessionListParams{ListParams: one}))
		}},
		{"Subscriptions", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Subscriptions.List(ctx, &stripe.SubscriptionListParams{ListParams: one}))
		}},
		{"Invoices", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Invoices.List(ctx, &stripe.InvoiceListParams{ListParams: one}))
		}},
		{"Invoice items", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1InvoiceItems.List(ctx, &stripe.InvoiceItemListParams{ListParams: one}))
		}},
		{"Charges and Refunds", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Refunds.List(ctx, &stripe.RefundListParams{ListParams: one}))
		}},
		{"Payment Intents", func(ctx context.Context, api *calls.API, _ stripe.ListParams) error {
			// The service reads only single payment intents, so read a missing one. With the
			// permission, the error is that the object is missing.
			_, err := api.V1PaymentIntents.Retrieve(ctx, "pi_none", nil)
			if e, ok := errors.AsType[*stripe.Error](err); ok && e.Code == stripe.ErrorCodeResourceMissing {
				return nil
			}
			return err
		}},
		{"Payment Methods", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1PaymentMethods.List(ctx, &stripe.PaymentMethodListParams{ListParams: one}))
		}},
		{"Billing Meters", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1BillingMeters.List(ctx, &stripe.BillingMeterListParams{ListParams: one}))
		}},
		{"Events", func(ctx context.Context, api *calls.API, one stripe.ListParams) error {
			return readFirst(api.V1Events.List(ctx, &stripe.EventListParams{ListParams: one}))
		}},
	}
}

// permissions checks the read permissions of the key by reading at most one object of each kind.
func (c *checker) permissions(ctx context.Context) {
	for _, p := range permissions() {
		name := "permission: " + p.name
		_, status, err := psp.Call(ctx, c.Client, "list "+p.name, func(ctx context.Context, api *calls.API) (struct{}, error) {
			return struct{}{}, p.list(ctx, api, stripe.ListParams{Limit: stripe.Int64(1)})
		})
		switch {
		case err == nil:
			c.ok(name, "readable")
		case status == http.StatusForbidden:
			c.note(name, StatusError, "the key does not have the permission", "Give the restricted key the permission "+p.name+" (see docs/stripe.md).")
		default:
			c.failed(name, status, err)
		}
	}
}
