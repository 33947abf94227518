package psp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// statusCanceled is the one status that this package has to know.
const statusCanceled = string(stripe.SubscriptionStatusCanceled)

// Subscription is a subscription at the provider, with its first item: the ones
// that this service starts bill their plan by it.
type Subscription struct {
	ID            string
	CustomerID    string
	Status        string // as the spec's statuses, and "paused"
	Currency      string // ISO 4217, upper case
	ItemID        string
	PriceID       string
	UnitAmount    int64 // minor units; 0 also for a price without one whole amount
	Quantity      int64
	IntervalUnit  string
	IntervalCount int
	PeriodStart   time.Time
	PeriodEnd     time.Time
	TrialEnd      *time.Time
	BillingAnchor time.Time
	// CancelAtPeriodEnd tells that it ends with the current period, whichever of
	// the provider's two ways to say so was used.
	CancelAtPeriodEnd bool
	CanceledAt        *time.Time // when the end was asked for
	Metadata          map[string]string
	LatestInvoiceID   string
	CreatedAt         time.Time
}

// GetSubscription reads a subscription; ErrNotFound if there is none. A canceled
// one can still be read.
func (c *Client) GetSubscription(ctx context.Context, id string) (Subscription, error) {
	return read(ctx, c, "get subscription", id, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Retrieve(ctx, id, nil)
		if err != nil {
			return Subscription{}, err
		}
		return newSubscription(s)
	})
}

// CancelSubscription ends a subscription at once, without a final invoice. One
// that is canceled already is returned as it is: the provider calls it missing,
// and after an attempt of unknown outcome it is what was asked for.
func (c *Client) CancelSubscription(ctx context.Context, id, key string) (Subscription, error) {
	if id == "" {
		return Subscription{}, c.failure(ctx, "cancel subscription", errNoID)
	}
	canceled, err := write(ctx, c, "cancel subscription", key, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Cancel(ctx, id, &stripe.SubscriptionCancelParams{Params: keyed(key)})
		if err != nil {
			return Subscription{}, err
		}
		return newSubscription(s)
	})
	if errors.Is(err, ErrNotFound) {
		if s, readErr := c.GetSubscription(ctx, id); readErr == nil && s.Status == statusCanceled {
			return s, nil
		}
	}
	return canceled, err
}

func newSubscription(s *stripe.Subscription) (Subscription, error) {
	if s.Items == nil || len(s.Items.Data) == 0 || s.Items.Data[0].Price == nil {
		return Subscription{}, errUnreadable
	}
	item := s.Items.Data[0]
	sub := Subscription{
		ID:            s.ID,
		Status:        string(s.Status),
		Currency:      strings.ToUpper(string(s.Currency)),
		ItemID:        item.ID,
		PriceID:       item.Price.ID,
		UnitAmount:    item.Price.UnitAmount,
		Quantity:      item.Quantity,
		PeriodStart:   at(item.CurrentPeriodStart),
		PeriodEnd:     at(item.CurrentPeriodEnd),
		TrialEnd:      atOrNil(s.TrialEnd),
		BillingAnchor: at(s.BillingCycleAnchor),
		CancelAtPeriodEnd: s.CancelAtPeriodEnd ||
			s.CancelAt != 0 && s.CancelAt == item.CurrentPeriodEnd,
		CanceledAt: atOrNil(s.CanceledAt),
		Metadata:   s.Metadata,
		CreatedAt:  at(s.Created),
	}
	if s.Customer != nil {
		sub.CustomerID = s.Customer.ID
	}
	if r := item.Price.Recurring; r != nil {
		sub.IntervalUnit, sub.IntervalCount = string(r.Interval), int(r.IntervalCount)
	}
	if s.LatestInvoice != nil {
		sub.LatestInvoiceID = s.LatestInvoice.ID
	}
	return sub, nil
}

// SetCancelAtPeriodEnd has a subscription end with its current period, or takes
// that back.
func (c *Client) SetCancelAtPeriodEnd(ctx context.Context, id string, ends bool, key string) (Subscription, error) {
	if id == "" {
		return Subscription{}, c.failure(ctx, "schedule cancellation", errNoID)
	}
	return write(ctx, c, "schedule cancellation", key, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Update(ctx, id, &stripe.SubscriptionUpdateParams{
			Params: keyed(key), CancelAtPeriodEnd: stripe.Bool(ends),
		})
		if err != nil {
			return Subscription{}, err
		}
		return newSubscription(s)
	})
}
