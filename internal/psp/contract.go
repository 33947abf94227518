package psp

import (
	"context"
	"errors"
	"strings"

	"github.com/stripe/stripe-go/v85"
)

// Metadata of a subscription that the platform has made.
const (
	// MetaPurchaseOrder is the customer's purchase order.
	MetaPurchaseOrder = "purchase_order"
	// MetaCustomPrice marks a subscription whose price was agreed with the customer.
	MetaCustomPrice = "custom_price"
)

// CustomPrice is a price of one subscription, which is not in any list.
type CustomPrice struct {
	ProductID     string
	Amount        int64  // per unit, in minor units
	Currency      string // ISO 4217
	IntervalUnit  string
	IntervalCount int64
}

// Contract describes a subscription that is made without a checkout, for a customer who is absent.
type Contract struct {
	CheckoutParams

	Price *CustomPrice // instead of PriceID; nil for the price of a list
	// IsSent sends invoices instead of charging them. They are due after DaysUntilDue.
	IsSent       bool
	DaysUntilDue int64
	// PaymentMethodID pays a subscription whose invoices are not sent. If it is empty, the
	// subscription is incomplete until its first invoice is paid.
	PaymentMethodID string
}

// CreateContract starts a subscription. If the payment fails, the subscription is incomplete.
func (c *Client) CreateContract(ctx context.Context, k Contract) (Subscription, error) {
	params := newSubscriptionParams(k.CheckoutParams)
	if k.Price != nil {
		units, err := c.UnitsRead(ctx, k.Price.Currency)
		if err != nil {
			return Subscription{}, err
		}
		amount, err := units.ToProvider(k.Price.Amount)
		if err != nil {
			return Subscription{}, err
		}
		params.Items[0].Price = nil
		params.Items[0].PriceData = &stripe.SubscriptionCreateItemPriceDataParams{
			Currency: stripe.String(strings.ToLower(k.Price.Currency)), Product: stripe.String(k.Price.ProductID), UnitAmount: stripe.Int64(amount),
			Recurring: &stripe.SubscriptionCreateItemPriceDataRecurringParams{
				Interval: stripe.String(k.Price.IntervalUnit), IntervalCount: stripe.Int64(k.Price.IntervalCount),
			},
		}
	}
	switch {
	case k.IsSent:
		params.CollectionMethod = stripe.String(stripe.SubscriptionCollectionMethodSendInvoice)
		params.DaysUntilDue = stripe.Int64(k.DaysUntilDue)
	case k.PaymentMethodID != "":
		params.DefaultPaymentMethod, params.PaymentBehavior = stripe.String(k.PaymentMethodID), stripe.String("allow_incomplete")
	default:
		params.PaymentBehavior = stripe.String("default_incomplete")
	}
	return c.createSubscription(ctx, k.CheckoutParams, params)
}

// SavedPaymentMethod returns the ID of a customer's payment method for charges without the
// customer: the customer's default, otherwise the payment method of the latest subscription that has
// one. It returns "" if there is none.
func (c *Client) SavedPaymentMethod(ctx context.Context, customerID string) (string, error) {
	return read(ctx, c, "get saved payment method", customerID, func(ctx context.Context) (string, error) {
		customer, err := c.api.V1Customers.Retrieve(ctx, customerID, nil)
		if err != nil {
			return "", err
		}
		if s := customer.InvoiceSettings; s != nil && s.DefaultPaymentMethod != nil {
			return s.DefaultPaymentMethod.ID, nil
		}
		list := c.api.V1Subscriptions.List(ctx, &stripe.SubscriptionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, Customer: stripe.String(customerID), Status: stripe.String("all"),
		})
		for s, err := range list.All(ctx) { // newest first
			if err != nil {
				return "", err
			}
			if s.DefaultPaymentMethod != nil {
				return s.DefaultPaymentMethod.ID, nil
			}
		}
		return "", nil
	})
}

// Terms are the terms of a subscription that affect only later invoices.
type Terms struct {
	IsSent          bool
	DaysUntilDue    int64  // of sent invoices
	PaymentMethodID string // for invoices that are charged; empty leaves it unchanged
	PurchaseOrder   string // empty removes it
}

// SetTerms changes the terms of a subscription. A trial without a payment method is not canceled if
// its invoices are sent.
func (c *Client) SetTerms(ctx context.Context, id string, t Terms, key string) (Subscription, error) {
	params := &stripe.SubscriptionUpdateParams{
		Params: idempotencyParams(key), Metadata: map[string]string{MetaPurchaseOrder: t.PurchaseOrder},
		CollectionMethod: stripe.String(stripe.SubscriptionCollectionMethodChargeAutomatically), DefaultPaymentMethod: stringOrNil(t.PaymentMethodID),
	}
	if t.IsSent {
		params.CollectionMethod = stripe.String(stripe.SubscriptionCollectionMethodSendInvoice)
		params.DaysUntilDue = stripe.Int64(t.DaysUntilDue)
		params.TrialSettings = &stripe.SubscriptionUpdateTrialSettingsParams{EndBehavior: &stripe.SubscriptionUpdateTrialSettingsEndBehaviorParams{
			MissingPaymentMethod: stripe.String(stripe.SubscriptionTrialSettingsEndBehaviorMissingPaymentMethodCreateInvoice),
		}}
	}
	set := func(s Subscription) bool {
		return s.IsSent == t.IsSent && (!t.IsSent || s.DaysUntilDue == t.DaysUntilDue) && s.Metadata[MetaPurchaseOrder] == t.PurchaseOrder
	}
	return c.updateSubscription(ctx, "set terms", id, set, params)
}

// HasEnded reports whether a subscription has ended.
func (c *Client) HasEnded(ctx context.Context, subscriptionID string) (bool, error) {
	sub, err := c.GetSubscription(ctx, subscriptionID)
	return sub.Status == statusCanceled, err
}

// The billing reasons of invoices that are sent as soon as they are created.
const (
	reasonCreate = string(stripe.InvoiceBillingReasonSubscriptionCreate)
	reasonUpdate = string(stripe.InvoiceBillingReasonSubscriptionUpdate)
)

// IsSentAtOnce reports whether the invoice is a draft that is sent without the provider's delay: the
// first invoice of a subscription or the invoice of a change.
func (in Invoice) IsSentAtOnce() bool {
	return in.IsSent && in.Status == string(stripe.InvoiceStatusDraft) && (in.BillingReason == reasonCreate || in.BillingReason == reasonUpdate)
}

// FinalizeInvoice finalizes a draft. It does nothing if the invoice is not a draft. It is idempotent
// because its key is fixed.
func (c *Client) FinalizeInvoice(ctx context.Context, id string) error {
	return ignoreFinalAnswer(c.finalize(context.WithValue(ctx, refusable{}, true), id, true, "send-"+id))
}

// SendInvoices finalizes the drafts of a subscription that are sent at once, and all drafts if the
// subscription has ended, because the provider does not finalize them.
func (c *Client) SendInvoices(ctx context.Context, subscriptionID string, ended bool) error {
	drafts, err := c.invoicesOf(ctx, subscriptionID, stripe.InvoiceStatusDraft)
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		in := newInvoice(draft)
		if in.IsSentAtOnce() || ended && in.IsSent {
			err = errors.Join(err, c.FinalizeInvoice(ctx, in.ID))
		}
	}
	return err
}
