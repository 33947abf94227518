package psp

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// The provider's values for prorations, and for changes that cannot be paid.
const (
	invoiceProrations = "always_invoice"      // invoice immediately
	collectProrations = "create_prorations"   // add to the next invoice
	noProrations      = "none"                // no prorations
	paidOrNothing     = "error_if_incomplete" // a declined payment changes nothing
	paidOrPending     = "pending_if_incomplete"
)

// Change sets another price and quantity for the plan of a subscription.
type Change struct {
	SubscriptionID string
	ItemID         string // Subscription.ItemID
	PriceID        string
	// KeepsPrice changes the quantity only. The price is then omitted, because the provider rejects
	// a price that is no longer active.
	KeepsPrice bool
	Quantity   int64 // always sent, because the provider assumes 1 for another price
	// ProrationDate is the time from which unused and new time are calculated. The same time in a
	// preview and in the change gives the same amounts.
	ProrationDate time.Time
	// Unprorated makes the change without crediting or charging the rest of the current period. The
	// new price is billed from the next period.
	Unprorated bool
	// TrialEnd starts a trial with the change; zero starts no trial. The rest of the period is
	// credited, and the first period at the new price begins when the trial ends.
	TrialEnd time.Time
	// Metered are the changes of the metered items. Usage at the removed prices is invoiced with
	// the change, unless Unprorated is set.
	Metered []MeteredChange
	// UnpaidCredit is the part of the credit for unused time that was never paid, in minor units of
	// Currency (ISO 4217). The change charges it again, in the same request, as an item of
	// ProductID.
	UnpaidCredit        int64
	Currency, ProductID string
	PeriodEnd           time.Time // of the current period
	// IsSent means that the invoice of the change is sent instead of being charged.
	IsSent bool
	// PromotionCodeID is the promotion code whose discount replaces the current discount; if it is
	// empty, the discount stays. RemovesDiscount removes the discount instead.
	PromotionCodeID string
	RemovesDiscount bool
	// Waiting are amounts that become pending items of the subscription before the change is made.
	// They are used only in previews.
	Waiting PendingAmounts
}

// PendingAmounts are amounts that are pending for the next invoice, in the provider's minor units.
// Credit is zero or negative.
type PendingAmounts struct {
	Credit, Charge int64
	Currency       string // lower case
}

// newPrice returns the price to send, or nil to keep the current one.
func (ch Change) newPrice() *string {
	if ch.KeepsPrice {
		return nil
	}
	return stripe.String(ch.PriceID)
}

// trialEnd returns the end of the trial that the change starts, or nil.
func (ch Change) trialEnd() *int64 {
	if ch.TrialEnd.IsZero() {
		return nil
	}
	return stripe.Int64(ch.TrialEnd.Unix())
}

// proration returns the proration behavior and the proration date.
func (ch Change) proration() (behavior *string, date *int64) {
	if ch.Unprorated {
		return stripe.String(noProrations), nil
	}
	return stripe.String(invoiceProrations), stripe.Int64(ch.ProrationDate.Unix())
}

// ChangeSubscription makes a change and collects its payment immediately. The metadata is added to
// the subscription's metadata in the same step. If the payment is declined, nothing is changed and
// it returns ErrDeclined. If the payer has to confirm the payment, the error is also
// ErrActionRequired.
func (c *Client) ChangeSubscription(
	ctx context.Context, ch Change, metadata map[string]string, key string,
) (Subscription, error) {
	params, err := c.changeParams(ctx, ch, paidOrNothing, key)
	if err != nil {
		return Subscription{}, err
	}
	if params.Metadata = metadata; ch.IsSent {
		params.PaymentBehavior = nil
	}
	return c.updateSubscription(ctx, "change subscription", ch.SubscriptionID, ch.isAppliedTo, params)
}

func (c *Client) changeParams(ctx context.Context, ch Change, payment, key string) (*stripe.SubscriptionUpdateParams, error) {
	behavior, date := ch.proration()
	again, err := c.unpaidItems(ctx, ch)
	plan := &stripe.SubscriptionUpdateItemParams{ID: stripe.String(ch.ItemID), Price: ch.newPrice(), Quantity: stripe.Int64(ch.Quantity)}
	params := &stripe.SubscriptionUpdateParams{
		Params:            idempotencyParams(key),
		Items:             append([]*stripe.SubscriptionUpdateItemParams{plan}, meteredParams(ch.Metered)...),
		ProrationBehavior: behavior, ProrationDate: date, PaymentBehavior: stripe.String(payment), TrialEnd: ch.trialEnd(),
		AddInvoiceItems: again,
	}
	if ch.RemovesDiscount {
		params.UnsetFields = append(params.UnsetFields, stripe.SubscriptionUpdateParamsUnsetFieldDiscounts)
	}
	if ch.PromotionCodeID != "" {
		params.Discounts = []*stripe.SubscriptionUpdateDiscountParams{{PromotionCode: stripe.String(ch.PromotionCodeID)}}
	}
	return params, err
}

// ChangesDiscount reports whether the change replaces or removes the discount.
func (ch Change) ChangesDiscount() bool { return ch.PromotionCodeID != "" || ch.RemovesDiscount }

// unpaidItems returns the item that charges UnpaidCredit again, or nil for 0. It covers the same
// time as the credit and, like the credit, is net of the discount, so that the two cancel out.
func (c *Client) unpaidItems(ctx context.Context, ch Change) ([]*stripe.SubscriptionUpdateAddInvoiceItemParams, error) {
	if ch.UnpaidCredit == 0 {
		return nil, nil
	}
	units, err := c.UnitsRead(ctx, ch.Currency)
	if err != nil {
		return nil, err
	}
	amount, err := units.ToProvider(ch.UnpaidCredit)
	if err != nil {
		return nil, err
	}
	const byTimestamp = "timestamp"
	return []*stripe.SubscriptionUpdateAddInvoiceItemParams{{
		Quantity: stripe.Int64(1), Discountable: stripe.Bool(false),
		PriceData: &stripe.InvoiceItemPriceDataParams{
			Currency: stripe.String(strings.ToLower(ch.Currency)), Product: stripe.String(ch.ProductID), UnitAmount: stripe.Int64(amount),
		},
		Period: &stripe.SubscriptionUpdateAddInvoiceItemPeriodParams{
			Start: &stripe.SubscriptionUpdateAddInvoiceItemPeriodStartParams{Type: stripe.String(byTimestamp), Timestamp: stripe.Int64(ch.ProrationDate.Unix())},
			End:   &stripe.SubscriptionUpdateAddInvoiceItemPeriodEndParams{Type: stripe.String(byTimestamp), Timestamp: stripe.Int64(ch.PeriodEnd.Unix())},
		},
		Metadata: map[string]string{MetaUnpaid: ch.ItemID},
	}}, nil
}

// isAppliedTo reports whether a subscription has the change.
func (ch Change) isAppliedTo(s Subscription) bool {
	return s.PriceID == ch.PriceID && s.Quantity == ch.Quantity && s.hasMetered(ch.Metered)
}

// AwaitChange makes a change that takes effect once its invoice is paid. Until then the
// subscription is unchanged and has the change in Pending. The provider accepts neither metadata
// nor bank debits for such a change.
func (c *Client) AwaitChange(ctx context.Context, ch Change, key string) (Subscription, error) {
	waitsOrMade := func(s Subscription) bool {
		return ch.isAppliedTo(s) || s.Pending != nil && s.Pending.PriceID == ch.PriceID && s.Pending.Quantity == ch.Quantity
	}
	params, err := c.changeParams(ctx, ch, paidOrPending, key)
	if err != nil {
		return Subscription{}, err
	}
	waiting, err := c.updateSubscription(ctx, "await change", ch.SubscriptionID, waitsOrMade, params)
	if err != nil || waiting.Pending == nil {
		return waiting, err
	}
	return c.GetSubscription(ctx, ch.SubscriptionID) // including the action that its invoice requires
}

// SetQuantity sets the quantity of an item. The difference is charged or credited with the next
// invoice. If monthly is set, pending items are invoiced every month even if the period is longer.
// It keeps the price: PriceID and TrialEnd of ch are ignored.
func (c *Client) SetQuantity(ctx context.Context, ch Change, monthly bool, key string) (Subscription, error) {
	again, err := c.unpaidItems(ctx, ch)
	if err != nil {
		return Subscription{}, err
	}
	set := func(s Subscription) bool { return s.Quantity == ch.Quantity }
	params := &stripe.SubscriptionUpdateParams{
		Params:            idempotencyParams(key),
		Items:             []*stripe.SubscriptionUpdateItemParams{{ID: stripe.String(ch.ItemID), Quantity: stripe.Int64(ch.Quantity)}},
		ProrationBehavior: stripe.String(collectProrations),
		AddInvoiceItems:   again,
	}
	if ch.Unprorated {
		params.ProrationBehavior = stripe.String(noProrations)
	}
	if monthly {
		params.PendingInvoiceItemInterval = &stripe.SubscriptionUpdatePendingInvoiceItemIntervalParams{Interval: stripe.String(IntervalMonth)}
	}
	return c.updateSubscription(ctx, "set quantity", ch.SubscriptionID, set, params)
}

// MeteredChange adds a metered item, changes its price, or removes it.
type MeteredChange struct {
	ItemID  string `json:"item_id,omitempty"`  // empty for a new item
	PriceID string `json:"price_id,omitempty"` // empty to remove the item
}

// ChangeMetered changes the metered items. From then on, the items bill usage that is reported for
// later times. Usage that was already reported for the current period is not billed at all, so the
// caller must not have reported usage for it.
func (c *Client) ChangeMetered(ctx context.Context, id string, changes []MeteredChange, key string) (Subscription, error) {
	params := &stripe.SubscriptionUpdateParams{Params: idempotencyParams(key), Items: meteredParams(changes), ProrationBehavior: stripe.String(noProrations)}
	return c.updateSubscription(ctx, "change metered items", id, func(s Subscription) bool { return s.hasMetered(changes) }, params)
}

func meteredParams(changes []MeteredChange) (items []*stripe.SubscriptionUpdateItemParams) {
	for _, ch := range changes {
		item := &stripe.SubscriptionUpdateItemParams{ID: stringOrNil(ch.ItemID), Price: stringOrNil(ch.PriceID)}
		if ch.PriceID == "" {
			item.Deleted = stripe.Bool(true)
		}
		items = append(items, item)
	}
	return items
}

// hasMetered reports whether a subscription has the changes.
func (s Subscription) hasMetered(changes []MeteredChange) bool {
	for _, ch := range changes {
		has := slices.ContainsFunc(s.Metered, func(m MeteredItem) bool {
			return m.PriceID == ch.PriceID || ch.PriceID == "" && m.ID == ch.ItemID
		})
		if has != (ch.PriceID != "") {
			return false
		}
	}
	return true
}

// ClearCancelAt removes the date at which a subscription ends. It has no effect on a subscription
// that ends with its period: see SetCancelAtPeriodEnd.
func (c *Client) ClearCancelAt(ctx context.Context, id, key string) (Subscription, error) {
	cleared := func(s Subscription) bool { return s.CancelAt == nil }
	return c.updateSubscription(ctx, "clear the date of the end", id, cleared, &stripe.SubscriptionUpdateParams{
		Params: idempotencyParams(key), UnsetFields: []stripe.SubscriptionUpdateParamsUnsetField{stripe.SubscriptionUpdateParamsUnsetFieldCancelAt},
	})
}

// SetCancelAtPeriodEnd schedules or unschedules the end of a subscription with its current period.
// It does not remove a date: see ClearCancelAt.
func (c *Client) SetCancelAtPeriodEnd(ctx context.Context, id string, ends bool, key string) (Subscription, error) {
	scheduled := func(s Subscription) bool { return s.CancelAtPeriodEnd == ends }
	return c.updateSubscription(ctx, "schedule cancellation", id, scheduled, &stripe.SubscriptionUpdateParams{
		Params: idempotencyParams(key), CancelAtPeriodEnd: stripe.Bool(ends),
	})
}

// SetTrialEnd moves the end of a trial. A zero end ends the trial now, which starts the first paid
// period and charges it.
func (c *Client) SetTrialEnd(ctx context.Context, id string, end time.Time, key string) (Subscription, error) {
	params := &stripe.SubscriptionUpdateParams{Params: idempotencyParams(key), ProrationBehavior: stripe.String(noProrations)}
	moved := func(s Subscription) bool { return s.TrialEnd != nil && s.TrialEnd.Equal(end) }
	if end.IsZero() {
		params.TrialEndNow = stripe.Bool(true)
		moved = func(s Subscription) bool { return s.Status != statusTrialing }
	} else {
		params.TrialEnd = stripe.Int64(end.Unix())
	}
	return c.updateSubscription(ctx, "set the end of a trial", id, moved, params)
}

// updateSubscription updates a subscription. updated reports whether a subscription already has the
// update.
func (c *Client) updateSubscription(
	ctx context.Context, op, id string, updated func(Subscription) bool, params *stripe.SubscriptionUpdateParams,
) (Subscription, error) {
	if id == "" {
		return Subscription{}, c.failure(ctx, op, errNoID)
	}
	return writeOnce(ctx, c, op, *params.IdempotencyKey, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Update(ctx, id, params)
		if err != nil {
			return Subscription{}, err
		}
		return c.newSubscription(ctx, s)
	}, func(ctx context.Context) (Subscription, error) {
		s, err := c.GetSubscription(ctx, id)
		if err == nil && !updated(s) {
			err = ErrNotDone
		}
		return s, err
	})
}
