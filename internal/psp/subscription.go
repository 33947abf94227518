package psp

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/money"
)

// statusCanceled is the only status that this package has to know.
const statusCanceled = string(stripe.SubscriptionStatusCanceled)

// Subscription is a subscription at the provider, with the item that bills its plan:
// the one that is sold by quantity. It may have further items that bill reported
// usage, in any order.
type Subscription struct {
	ID            string
	CustomerID    string
	Status        string // one of the statuses of a subscription (rules: subscription#statuses)
	Currency      string // ISO 4217, upper case
	ItemID        string
	PriceID       string
	ProductID     string // of the price
	UnitAmount    int64  // minor units; 0 also for a price without one whole amount
	Quantity      int64
	IntervalUnit  string
	IntervalCount int
	PeriodStart   time.Time
	PeriodEnd     time.Time
	TrialEnd      *time.Time
	BillingAnchor time.Time
	// CancelAt is when the subscription ends, nil while it is to go on. The provider
	// has two ways to schedule that, and each is taken back in its own way: with
	// CancelAtPeriodEnd it ends with its current period, else at a date that was set.
	CancelAt          *time.Time
	CancelAtPeriodEnd bool
	CanceledAt        *time.Time // when the end was asked for
	Metadata          map[string]string
	LatestInvoiceID   string
	// Action is what the latest invoice asks of a person; only GetSubscription reads it.
	Action money.PaymentAction
	// Pending is a change that waits for the latest invoice to be paid; nil for none.
	Pending   *PendingChange
	CreatedAt time.Time
	// Metered are the items that bill usage.
	Metered []MeteredItem
}

// PendingChange is a change that waits for its invoice; voiding that drops it.
type PendingChange struct {
	PriceID   string
	Quantity  int64
	ExpiresAt time.Time
}

// MeteredItem is an item of a subscription that bills usage.
type MeteredItem struct {
	ID      string `json:"id"`
	PriceID string `json:"price_id"`
	// CreatedAt is zero for items that were stored without it.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

func meteredItems(items []*stripe.SubscriptionItem) []MeteredItem {
	var metered []MeteredItem
	for _, item := range items {
		if item.Price != nil && isMetered(item.Price) {
			metered = append(metered, MeteredItem{ID: item.ID, PriceID: item.Price.ID, CreatedAt: timeFromUnix(item.Created)})
		}
	}
	return metered
}

// GetSubscription reads a subscription; ErrNotFound if there is none. A canceled
// one can still be read.
func (c *Client) GetSubscription(ctx context.Context, id string) (Subscription, error) {
	var latest *stripe.Invoice
	sub, err := read(ctx, c, "get subscription", id, func(ctx context.Context) (Subscription, error) {
		params := &stripe.SubscriptionRetrieveParams{}
		params.AddExpand("latest_invoice.payments")
		s, err := c.api.V1Subscriptions.Retrieve(ctx, id, params)
		if err != nil {
			return Subscription{}, err
		}
		latest = s.LatestInvoice
		return c.newSubscription(ctx, s)
	})
	if err == nil {
		sub.Action, _, err = c.paymentAction(ctx, latest)
	}
	return sub, err
}

// CancelSubscription ends a subscription at once, without a final invoice. A
// subscription that is canceled already is returned as it is: the provider says that
// it does not exist, but after an attempt of unknown outcome that is a success.
func (c *Client) CancelSubscription(ctx context.Context, id, key string) (Subscription, error) {
	return c.cancelSubscription(ctx, id, &stripe.SubscriptionCancelParams{Params: idempotencyParams(key)})
}

// EndSubscription is CancelSubscription with a final invoice, which is made at once:
// what was used so far and changes that waited for the next invoice. A sum below zero
// becomes the customer's credit. Time that is paid and not used is not given back. An
// invoice that waits for its automatic collection is collected before.
func (c *Client) EndSubscription(ctx context.Context, id, key string) (Subscription, error) {
	if id == "" {
		return Subscription{}, c.failure(ctx, "end subscription", errNoID)
	}
	if err := c.CollectDue(ctx, id, key); err != nil {
		return Subscription{}, err
	}
	return c.cancelSubscription(ctx, id, &stripe.SubscriptionCancelParams{
		Params: idempotencyParams(key), InvoiceNow: stripe.Bool(true), Prorate: stripe.Bool(false),
	})
}

func (c *Client) cancelSubscription(ctx context.Context, id string, params *stripe.SubscriptionCancelParams) (Subscription, error) {
	if id == "" {
		return Subscription{}, c.failure(ctx, "cancel subscription", errNoID)
	}
	canceled, err := write(ctx, c, "cancel subscription", *params.IdempotencyKey, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Cancel(ctx, id, params)
		if err != nil {
			return Subscription{}, err
		}
		return c.newSubscription(ctx, s)
	})
	if !errors.Is(err, ErrNotFound) {
		return canceled, err
	}
	// One that has ended answers like one that never was. Only its state tells which.
	s, readErr := c.GetSubscription(ctx, id)
	switch {
	case readErr != nil:
		return Subscription{}, readErr
	case s.Status == statusCanceled:
		return s, nil
	default:
		return Subscription{}, err
	}
}

// Subscriptions iterates over a customer's subscriptions in every status, the newest
// first; over everybody's with "" for the customer. It begins after the subscription
// with the id after, or with the first for "". It ends after an error.
func (c *Client) Subscriptions(ctx context.Context, customerID, after string) iter.Seq2[Subscription, error] {
	id := func(s Subscription) string { return s.ID }
	return walk(after, id, func(cursor string) (page[Subscription], error) {
		return call(ctx, c, "list subscriptions", func(ctx context.Context) (page[Subscription], error) {
			list := c.api.V1Subscriptions.List(ctx, &stripe.SubscriptionListParams{
				ListParams: stripe.ListParams{Limit: stripe.Int64(listPage), StartingAfter: stringOrNil(cursor)},
				Customer:   stringOrNil(customerID),
				Status:     stripe.String("all"),
			})
			if err := list.Err(); err != nil {
				return page[Subscription]{}, err
			}
			p := page[Subscription]{more: list.Meta().HasMore}
			for _, s := range list.Data() {
				sub, err := c.newSubscription(ctx, s)
				if err != nil {
					return page[Subscription]{}, err
				}
				p.items = append(p.items, sub)
			}
			return p, nil
		})
	})
}

// items returns all items of a subscription, which has only its first ones itself.
func (c *Client) items(ctx context.Context, s *stripe.Subscription) ([]*stripe.SubscriptionItem, error) {
	if s.Items == nil {
		return nil, errUnreadable
	}
	if !s.Items.HasMore {
		return s.Items.Data, nil
	}
	var items []*stripe.SubscriptionItem
	all := c.api.V1SubscriptionItems.List(ctx, &stripe.SubscriptionItemListParams{
		ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, Subscription: stripe.String(s.ID),
	})
	for item, err := range all.All(ctx) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// planItem returns the item that bills the plan: the one sold by quantity, or one that
// bills usage if there is no other.
func planItem(items []*stripe.SubscriptionItem) (*stripe.SubscriptionItem, error) {
	i := slices.IndexFunc(items, func(item *stripe.SubscriptionItem) bool { return item.Price != nil && !isMetered(item.Price) })
	if i = max(i, 0); i >= len(items) || items[i].Price == nil {
		return nil, errUnreadable
	}
	return items[i], nil
}

func isMetered(p *stripe.Price) bool {
	return p.Recurring != nil && p.Recurring.UsageType == stripe.PriceRecurringUsageTypeMetered
}

func (c *Client) newSubscription(ctx context.Context, s *stripe.Subscription) (Subscription, error) {
	items, err := c.items(ctx, s)
	if err != nil {
		return Subscription{}, err
	}
	item, err := planItem(items)
	if err != nil {
		return Subscription{}, err
	}
	units, err := c.UnitsRead(ctx, string(s.Currency))
	if err != nil {
		return Subscription{}, err
	}
	sub := Subscription{
		ID:                s.ID,
		Status:            string(s.Status),
		Currency:          strings.ToUpper(string(s.Currency)),
		ItemID:            item.ID,
		PriceID:           item.Price.ID,
		UnitAmount:        units.FromProvider(item.Price.UnitAmount),
		Quantity:          item.Quantity,
		PeriodStart:       timeFromUnix(item.CurrentPeriodStart),
		PeriodEnd:         timeFromUnix(item.CurrentPeriodEnd),
		TrialEnd:          timeFromUnixOrNil(s.TrialEnd),
		BillingAnchor:     timeFromUnix(s.BillingCycleAnchor),
		CancelAt:          timeFromUnixOrNil(s.CancelAt),
		CancelAtPeriodEnd: s.CancelAtPeriodEnd,
		CanceledAt:        timeFromUnixOrNil(s.CanceledAt),
		Metadata:          s.Metadata,
		CreatedAt:         timeFromUnix(s.Created),
		Metered:           meteredItems(items),
	}
	if s.CancelAtPeriodEnd && sub.CancelAt == nil {
		sub.CancelAt = &sub.PeriodEnd
	}
	if s.Customer != nil {
		sub.CustomerID = s.Customer.ID
	}
	if p := item.Price.Product; p != nil {
		sub.ProductID = p.ID
	}
	if isMetered(item.Price) {
		sub.Quantity = 1 // an item that is billed by usage has none
	}
	if r := item.Price.Recurring; r != nil {
		sub.IntervalUnit, sub.IntervalCount = string(r.Interval), int(r.IntervalCount)
	}
	if s.LatestInvoice != nil {
		sub.LatestInvoiceID = s.LatestInvoice.ID
	}
	if u := s.PendingUpdate; u != nil {
		sub.Pending = &PendingChange{ExpiresAt: timeFromUnix(u.ExpiresAt)}
		for _, item := range u.SubscriptionItems {
			if item.Price != nil && !isMetered(item.Price) {
				sub.Pending.PriceID, sub.Pending.Quantity = item.Price.ID, item.Quantity
			}
		}
	}
	return sub, nil
}
