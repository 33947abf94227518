package psp

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/money"
)

// The ways in which a meter aggregates the events of a period.
const (
	AggregateSum   = "sum"
	AggregateCount = "count"
	AggregateLast  = "last"
)

// The payload keys of a usage event, which are the provider's defaults.
const (
	payloadCustomer = "stripe_customer_id"
	payloadValue    = "value"
)

// Meter is a billing meter. Metered prices refer to a meter, and usage is reported to its event
// name.
type Meter struct {
	ID          string
	EventName   string
	Name        string
	Aggregation string // AggregateSum and so on
	Active      bool
}

// MeterParams describes a billing meter.
type MeterParams struct {
	Key         string // idempotency key
	EventName   string // unique among active meters
	Name        string
	Aggregation string
}

// CreateMeter creates a billing meter.
func (c *Client) CreateMeter(ctx context.Context, p MeterParams) (Meter, error) {
	return write(ctx, c, "create meter", p.Key, func(ctx context.Context) (Meter, error) {
		m, err := c.api.V1BillingMeters.Create(ctx, &stripe.BillingMeterCreateParams{
			Params:             idempotencyParams(p.Key),
			DisplayName:        stripe.String(p.Name),
			EventName:          stripe.String(p.EventName),
			DefaultAggregation: &stripe.BillingMeterCreateDefaultAggregationParams{Formula: stripe.String(p.Aggregation)},
		})
		if err != nil {
			return Meter{}, err
		}
		return newMeter(m), nil
	})
}

// GetMeter returns a billing meter, or ErrNotFound.
func (c *Client) GetMeter(ctx context.Context, id string) (Meter, error) {
	return read(ctx, c, "get meter", id, func(ctx context.Context) (Meter, error) {
		m, err := c.api.V1BillingMeters.Retrieve(ctx, id, nil)
		if err != nil {
			return Meter{}, err
		}
		return newMeter(m), nil
	})
}

func newMeter(m *stripe.BillingMeter) Meter {
	meter := Meter{
		ID: m.ID, EventName: m.EventName, Name: m.DisplayName,
		Active: m.Status == stripe.BillingMeterStatusActive,
	}
	if m.DefaultAggregation != nil {
		meter.Aggregation = string(m.DefaultAggregation.Formula)
	}
	return meter
}

// UsageReport is billable usage of one customer.
type UsageReport struct {
	EventName  string // of the meter
	CustomerID string
	Quantity   money.Quantity
	// Identifier makes the report count once, no matter how often it is sent within IdentifierLife.
	Identifier string
	At         time.Time // at most 35 days ago, in seconds resolution
}

// IdentifierLife is how long the provider remembers the identifier of a report.
const IdentifierLife = 24 * time.Hour

// ReportUsage reports usage to a meter. If the identifier was reported before, it returns nil.
// Every call uses a new idempotency key, because for a used key the provider would only replay its
// first answer, even if that was a failure.
func (c *Client) ReportUsage(ctx context.Context, u UsageReport) error {
	key := ""
	if u.Identifier != "" {
		key = u.Identifier + "-" + rand.Text()
	}
	_, err := write(ctx, c, "report usage", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1BillingMeterEvents.Create(ctx, &stripe.BillingMeterEventCreateParams{
			Params:     idempotencyParams(key),
			EventName:  stripe.String(u.EventName),
			Identifier: stripe.String(u.Identifier),
			Timestamp:  stripe.Int64(u.At.Unix()),
			Payload:    map[string]string{payloadCustomer: u.CustomerID, payloadValue: u.Quantity.String()},
		})
		if isDuplicateUsage(err) {
			return struct{}{}, nil
		}
		return struct{}{}, err
	})
	return err
}

// How the provider reports that it already has the identifier of a usage event. The API returns the
// message without a code. The code is documented for errors that are found asynchronously. The
// library has no constant for either.
const (
	codeDuplicateUsage    = "duplicate_meter_event"
	messageDuplicateUsage = "An event already exists with identifier"
)

// isDuplicateUsage reports whether err means that the usage was reported before. The provider has
// then counted it, and the response to that call was lost. If it were treated as a refusal, the
// usage would be listed as not billed, and it would be billed twice if it were reported again after
// IdentifierLife.
func isDuplicateUsage(err error) bool {
	var refusal *stripe.Error
	if !errors.As(err, &refusal) || refusal.Type != stripe.ErrorTypeInvalidRequest {
		return false
	}
	return refusal.Code == codeDuplicateUsage || strings.HasPrefix(refusal.Msg, messageDuplicateUsage)
}
