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
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// The statuses that this package interprets.
const (
	statusCanceled = string(stripe.SubscriptionStatusCanceled)
	statusTrialing = string(stripe.SubscriptionStatusTrialing)
)

// Subscription is a subscription at the provider. Its ItemID, PriceID and Quantity belong to the
// item that bills the plan, which is the item sold by quantity. It can have additional items that
// bill reported usage, in any order.
type Subscription struct {
	ID            string
	CustomerID    string
	Status        string // one of the statuses of a subscription (rules: subscription#statuses)
	Currency      string // ISO 4217, upper case
	ItemID        string
	PriceID       string
	ProductID     string // of the price
	UnitAmount    int64  // minor units; also 0 for a price without a single whole amount
	Quantity      int64
	IntervalUnit  string
	IntervalCount int
	PeriodStart   time.Time
	PeriodEnd     time.Time
	TrialEnd      *time.Time
	BillingAnchor time.Time
	// CancelAt is when the subscription ends, or nil if no end is scheduled. The provider has two
	// ways to schedule an end, and each is undone separately: with CancelAtPeriodEnd, the
	// subscription ends with its current period, otherwise at a date.
	CancelAt          *time.Time
	CancelAtPeriodEnd bool
	CanceledAt        *time.Time // when the cancellation was requested
	EndedAt           *time.Time // when it ended, or nil
	// CanceledByRequest and CanceledForPayment are the provider's reason for the end: a request, or
	// failed payments. Both are false without a stated reason.
	CanceledByRequest, CanceledForPayment bool
	// IsSent means that invoices are sent to the customer instead of being charged. They are due
	// after DaysUntilDue.
	IsSent          bool
	DaysUntilDue    int64
	Metadata        map[string]string
	LatestInvoiceID string
	// Action is the action that the latest invoice requires from the payer. Only GetSubscription
	// sets it.
	Action money.PaymentAction
	// HasPaymentMethod reports whether the subscription, or else its customer, has a payment method
	// for automatic payments. Only GetSubscription sets it.
	HasPaymentMethod bool
	// Pending is a change that waits for the latest invoice to be paid, or nil.
	Pending *PendingChange
	// ScheduleID is the schedule that manages the subscription, or empty. Scheduled is the change that
	// the schedule makes at the end of the period, or nil. Only reads set Scheduled.
	ScheduleID string
	Scheduled  *PendingChange
	// DiscountID is the first discount, or empty. CouponID and PromotionCodeID are its coupon and its
	// promotion code, empty if the coupon was applied directly. DiscountEndsAt is nil for a discount
	// without a fixed end. Only reads set these fields.
	DiscountID, CouponID, PromotionCodeID string
	DiscountEndsAt                        *time.Time
	CreatedAt                             time.Time
	// Metered are the items that bill usage.
	Metered []MeteredItem
}

// PendingChange is a change that waits for its invoice to be paid or for the end of the period.
// Voiding the invoice drops a change that waits for it.
type PendingChange struct {
	PriceID    string
	UnitAmount int64 // minor units; 0 in lists
	Quantity   int64
	ExpiresAt  time.Time // zero for a scheduled change
	// EffectiveAt, Metadata and Notes belong to a scheduled change. Metadata is the metadata that the
	// subscription gets with the change, Notes the metadata of the schedule.
	EffectiveAt     time.Time
	Metadata, Notes map[string]string
}

// MeteredItem is an item of a subscription that bills usage.
type MeteredItem struct {
	ID      string `json:"id"`
	PriceID string `json:"price_id"`
	// CreatedAt is zero for items that were stored before the field existed.
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

// GetSubscription returns a subscription, or ErrNotFound. It also returns canceled subscriptions.
func (c *Client) GetSubscription(ctx context.Context, id string) (Subscription, error) {
	var latest *stripe.Invoice
	var hasMethod bool
	sub, err := read(ctx, c, "get subscription", id, func(ctx context.Context) (Subscription, error) {
		params := &stripe.SubscriptionRetrieveParams{}
		params.AddExpand("latest_invoice.payments")
		params.AddExpand("customer")
		params.AddExpand("discounts")
		params.AddExpand("schedule.phases.items.price")
		s, err := c.api.V1Subscriptions.Retrieve(ctx, id, params)
		if err != nil {
			return Subscription{}, err
		}
		latest, hasMethod = s.LatestInvoice, hasPaymentMethod(s)
		return c.newSubscription(ctx, s)
	})
	if err != nil {
		return sub, err
	}
	sub.HasPaymentMethod = hasMethod
	var inProgress bool
	sub.Action, inProgress, err = c.paymentAction(ctx, latest)
	if err == nil && sub.IsSent && sub.Action == (money.PaymentAction{}) && !inProgress {
		sub.Action, err = c.actionOfSent(ctx, id)
	}
	return sub, err
}

// actionOfSent returns the action that the newest open invoice of a subscription requires, if the
// latest invoice requires no action.
func (c *Client) actionOfSent(ctx context.Context, id string) (action money.PaymentAction, _ error) {
	open, err := c.invoicesOf(ctx, id, stripe.InvoiceStatusOpen)
	for _, in := range slices.Backward(open) {
		if action, _, err = c.paymentAction(ctx, in); err != nil || action != (money.PaymentAction{}) {
			break
		}
	}
	return action, err
}

// hasPaymentMethod reports whether a subscription with its customer expanded has a payment method.
// The order is described at
// https://docs.stripe.com/billing/subscriptions/payment-methods-setting#payment-method-priority.
func hasPaymentMethod(s *stripe.Subscription) bool {
	if s.DefaultPaymentMethod != nil || s.DefaultSource != nil {
		return true
	}
	customer := s.Customer
	return customer != nil && (customer.DefaultSource != nil ||
		customer.InvoiceSettings != nil && customer.InvoiceSettings.DefaultPaymentMethod != nil)
}

// CancelSubscription ends a subscription immediately, without a final invoice. If the subscription
// is already canceled, it returns the subscription: the provider reports that it does not exist,
// but after an attempt with an unknown outcome that is a success.
func (c *Client) CancelSubscription(ctx context.Context, id, key string) (Subscription, error) {
	return c.cancelSubscription(ctx, id, &stripe.SubscriptionCancelParams{Params: idempotencyParams(key)})
}

// EndSubscription is CancelSubscription with a final invoice, which is created immediately and
// bills the usage so far and the pending items. A negative total becomes the customer's credit.
// Unused paid time is not refunded. Invoices that are due for automatic collection are collected
// first.
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
	// The provider's response is the same for an ended subscription and for a subscription that never
	// existed. Only the state of the subscription distinguishes them.
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

// Subscriptions iterates over a customer's subscriptions in all statuses, newest first. If
// customerID is "", it iterates over the subscriptions of all customers. It starts after the
// subscription with the ID after, or at the beginning if after is "". It stops after an error.
func (c *Client) Subscriptions(ctx context.Context, customerID, after string) iter.Seq2[Subscription, error] {
	id := func(s Subscription) string { return s.ID }
	return walk(after, id, func(cursor string) (page[Subscription], error) {
		return call(ctx, c, "list subscriptions", func(ctx context.Context) (page[Subscription], error) {
			params := &stripe.SubscriptionListParams{
				ListParams: stripe.ListParams{Limit: stripe.Int64(listPage), StartingAfter: stringOrNil(cursor)},
				Customer:   stringOrNil(customerID),
				Status:     stripe.String("all"),
			}
			params.AddExpand("data.discounts")
			params.AddExpand("data.schedule")
			list := c.api.V1Subscriptions.List(ctx, params)
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

// items returns all items of a subscription. The object of the subscription contains only the first
// items.
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

// planItem returns the item that bills the plan: the item sold by quantity, or a metered item if
// there is no other.
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

// setDiscount sets the first discount. It ignores the response of a write, which contains only the
// IDs of discounts.
func (s *Subscription) setDiscount(discounts []*stripe.Discount) {
	if len(discounts) == 0 || discounts[0].Source == nil || discounts[0].Source.Coupon == nil {
		return
	}
	d := discounts[0]
	s.DiscountID, s.CouponID, s.DiscountEndsAt = d.ID, d.Source.Coupon.ID, timeFromUnixOrNil(d.End)
	if d.PromotionCode != nil {
		s.PromotionCodeID = d.PromotionCode.ID
	}
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
		EndedAt:           timeFromUnixOrNil(s.EndedAt),
		Metadata:          s.Metadata,
		CreatedAt:         timeFromUnix(s.Created),
		Metered:           meteredItems(items),
		IsSent:            s.CollectionMethod == stripe.SubscriptionCollectionMethodSendInvoice,
		DaysUntilDue:      s.DaysUntilDue,
	}
	if s.CancelAtPeriodEnd && sub.CancelAt == nil {
		sub.CancelAt = &sub.PeriodEnd
	}
	sub.setCancelReason(s.CancellationDetails)
	if s.Customer != nil {
		sub.CustomerID = s.Customer.ID
	}
	if p := item.Price.Product; p != nil {
		sub.ProductID = p.ID
	}
	if isMetered(item.Price) {
		sub.Quantity = 1 // a metered item has no quantity
	}
	if r := item.Price.Recurring; r != nil {
		sub.IntervalUnit, sub.IntervalCount = string(r.Interval), int(r.IntervalCount)
	}
	sub.setDiscount(s.Discounts)
	if s.LatestInvoice != nil {
		sub.LatestInvoiceID = s.LatestInvoice.ID
	}
	sub.Pending = newPendingChange(s.PendingUpdate, units)
	sub.setSchedule(s.Schedule, units)
	return sub, nil
}

func (s *Subscription) setCancelReason(d *stripe.SubscriptionCancellationDetails) {
	if d == nil {
		return
	}
	s.CanceledByRequest = d.Reason == stripe.SubscriptionCancellationDetailsReasonCancellationRequested
	s.CanceledForPayment = d.Reason == stripe.SubscriptionCancellationDetailsReasonPaymentFailed
}

// newPendingChange returns a change that waits for its payment, or nil.
func newPendingChange(u *stripe.SubscriptionPendingUpdate, units charge.Units) *PendingChange {
	if u == nil {
		return nil
	}
	pending := &PendingChange{ExpiresAt: timeFromUnix(u.ExpiresAt)}
	for _, item := range u.SubscriptionItems {
		if item.Price != nil && !isMetered(item.Price) {
			pending.PriceID, pending.Quantity, pending.UnitAmount = item.Price.ID, item.Quantity, units.FromProvider(item.Price.UnitAmount)
		}
	}
	return pending
}

// setSchedule sets the schedule of a subscription and the change at the start of its next phase.
func (s *Subscription) setSchedule(managed *stripe.SubscriptionSchedule, units charge.Units) {
	if managed == nil {
		return
	}
	s.ScheduleID = managed.ID
	for _, p := range managed.Phases {
		if managed.CurrentPhase == nil || p.StartDate <= managed.CurrentPhase.StartDate || s.Scheduled != nil {
			continue
		}
		for _, item := range p.Items {
			if item.Quantity == 0 || item.Price == nil { // a metered item
				continue
			}
			s.Scheduled = &PendingChange{
				PriceID: item.Price.ID, UnitAmount: units.FromProvider(item.Price.UnitAmount), Quantity: item.Quantity,
				EffectiveAt: timeFromUnix(p.StartDate), Metadata: p.Metadata, Notes: managed.Metadata,
			}
			break
		}
	}
}
