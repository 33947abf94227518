package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

const (
	// maxSilence is the time without a notification that causes a warning.
	maxSilence = 7 * 24 * time.Hour
	// retryPeriod is how long Stripe retries the delivery of an event.
	retryPeriod = 3 * 24 * time.Hour
	// deliveryGrace is the age from which an event should have been delivered.
	deliveryGrace = 10 * time.Minute
	// typesMax is the maximum number of types in one list of events.
	typesMax = 20
	// sandboxEndpoint is the endpoint that a sandbox is started with. It always receives all events.
	sandboxEndpoint = "we_sandbox"
)

// webhook checks the endpoint that sends notifications to this service.
func (c *checker) webhook(ctx context.Context) {
	all, status, err := psp.Call(ctx, c.Client, "list webhook endpoints", func(ctx context.Context, api *calls.API) ([]*stripe.WebhookEndpoint, error) {
		var all []*stripe.WebhookEndpoint
		list := api.V1WebhookEndpoints.List(ctx, &stripe.WebhookEndpointListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}})
		for endpoint, err := range list.All(ctx) {
			if err != nil {
				return nil, err
			}
			all = append(all, endpoint)
		}
		return all, nil
	})
	if err != nil {
		c.failed("webhook", status, err)
		return
	}
	if c.WebhookURL == "" {
		c.note("webhook", StatusWarning, "the URL of this service is unknown, so its endpoint cannot be checked",
			"Set TENANTRY_PUBLIC_URL and run the check again.")
		return
	}
	i := slices.IndexFunc(all, func(e *stripe.WebhookEndpoint) bool { return e.URL == c.WebhookURL && e.Status == "enabled" })
	if i < 0 {
		i = slices.IndexFunc(all, func(e *stripe.WebhookEndpoint) bool { return e.URL == c.WebhookURL })
	}
	if i < 0 {
		c.note("webhook", StatusError, "no endpoint sends notifications to "+c.WebhookURL,
			"Add an endpoint with this URL (Developers, Webhooks) and the events "+strings.Join(c.Types, ", ")+
				", and set TENANTRY_STRIPE_WEBHOOK_SECRET to its signing secret.")
		return
	}
	if all[i].Status != "enabled" {
		c.note("webhook", StatusError, "the endpoint "+all[i].ID+" is "+all[i].Status, "Enable it: Developers, Webhooks. Missed events are fetched automatically.")
	} else {
		c.ok("webhook", "the endpoint "+all[i].ID+" sends to "+c.WebhookURL)
	}
	c.events(all[i])
	c.received(all[i])
}

// events compares the event types that an endpoint sends with the types that are handled.
func (c *checker) events(e *stripe.WebhookEndpoint) {
	if e.ID == sandboxEndpoint {
		c.ok("missing events", "the sandbox sends all events")
		return
	}
	missing := missingFrom(c.Types, e.EnabledEvents)
	superfluous := missingFrom(e.EnabledEvents, c.Types)
	if slices.Contains(e.EnabledEvents, "*") {
		missing = nil
		superfluous = []string{"all events"}
	}
	if len(missing) > 0 {
		c.note("missing events", StatusError, "not sent: "+strings.Join(missing, ", "), "Select them for the endpoint "+e.ID+": Developers, Webhooks.")
	} else {
		c.ok("missing events", fmt.Sprintf("all %d required events are sent", len(c.Types)))
	}
	if len(superfluous) > 0 {
		c.note("superfluous events", StatusWarning, "sent but not used: "+strings.Join(superfluous, ", "),
			"They are harmless, but cause unnecessary requests. Select only "+strings.Join(c.Types, ", ")+".")
	} else {
		c.ok("superfluous events", "not sent")
	}
}

// missingFrom returns the elements of a that are not in b.
func missingFrom(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// received reports when the last notification was received from an endpoint.
func (c *checker) received(e *stripe.WebhookEndpoint) {
	const name = "last notification"
	fix := "Send a test event to the endpoint and check that it returns 200: Developers, Webhooks."
	if e.ID == sandboxEndpoint {
		fix = "Buy a plan, or resend an event in the sandbox's dashboard, and check that the endpoint returns 200."
	}
	if c.LastReceived.IsZero() {
		c.note(name, StatusWarning, "not received yet", fix)
		return
	}
	ago := c.Now().Sub(c.LastReceived)
	detail := fmt.Sprintf("received %s ago, at %s", max(ago, 0).Round(time.Second), c.LastReceived.UTC().Format(time.RFC3339))
	if ago > maxSilence {
		c.note(name, StatusWarning, detail, fix)
		return
	}
	c.ok(name, detail)
}

// checkUndelivered checks whether events are waiting to be delivered.
func (c *checker) checkUndelivered(ctx context.Context) {
	const name = "undelivered events"
	n, oldest := 0, time.Time{}
	for types := range slices.Chunk(c.Types, typesMax) {
		found, status, err := psp.Call(ctx, c.Client, "list undelivered events", func(ctx context.Context, api *calls.API) ([]*stripe.Event, error) {
			list := api.V1Events.List(ctx, &stripe.EventListParams{
				ListParams:      stripe.ListParams{Limit: stripe.Int64(100)},
				CreatedRange:    &stripe.RangeQueryParams{GreaterThanOrEqual: c.Now().Add(-retryPeriod).Unix()},
				Types:           stripe.StringSlice(types),
				DeliverySuccess: stripe.Bool(false),
			})
			if err := list.Err(); err != nil {
				return nil, err
			}
			return list.Data(), nil
		})
		if err != nil {
			c.failed(name, status, err)
			return
		}
		for _, e := range found {
			created := time.Unix(e.Created, 0)
			if c.Now().Sub(created) < deliveryGrace {
				continue
			}
			if n++; oldest.IsZero() || created.Before(oldest) {
				oldest = created
			}
		}
	}
	if n == 0 {
		c.ok(name, "none in the last three days")
		return
	}
	count := fmt.Sprintf("%d in the last three days", n)
	if n >= 100 {
		count = "100 or more in the last three days"
	}
	c.note(name, StatusWarning, count+", oldest from "+oldest.UTC().Format(time.RFC3339),
		"Check why the endpoint rejects them: Developers, Webhooks. The service fetches missed events within an hour.")
}
