// Package subscriptions makes changes of subscriptions at the provider that need several objects:
// contracts, changes at the end of the period, and invoice items.
package subscriptions

import (
	"context"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// pageSize is the number of subscriptions read at once.
const pageSize = 100

// Contracts makes and changes subscriptions with agreed terms, for customers who are absent.
type Contracts struct{ Client *psp.Client }

// Metadata of a subscription that the platform has made.
const (
	// MetaPurchaseOrder is the customer's purchase order.
	MetaPurchaseOrder = "purchase_order"
	// MetaCustomPrice marks a subscription whose price was agreed with the customer.
	MetaCustomPrice = "custom_price"
)

// CustomPrice is a price that belongs to one subscription and is not in the catalog.
type CustomPrice struct {
	ProductID     string
	Amount        int64  // per unit, in minor units
	Currency      string // ISO 4217
	IntervalUnit  string
	IntervalCount int64
}

// ContractParams describes a subscription that is made without a checkout, for a customer who is absent.
type ContractParams struct {
	psp.CheckoutParams

	Price *CustomPrice // instead of PriceID; nil for a price of the catalog
	// IsSent sends invoices instead of charging them. They are due after DaysUntilDue.
	IsSent       bool
	DaysUntilDue int64
	// PaymentMethodID pays a subscription whose invoices are not sent. If it is empty, the
	// subscription is incomplete until its first invoice is paid.
	PaymentMethodID string
}

// Create starts a subscription. If the payment fails, the subscription is incomplete.
func (c Contracts) Create(ctx context.Context, k ContractParams) (psp.Subscription, error) {
	params := k.SubscriptionParams()
	if k.Price != nil {
		units, err := c.Client.UnitsRead(ctx, k.Price.Currency)
		if err != nil {
			return psp.Subscription{}, err
		}
		amount, err := units.ToProvider(k.Price.Amount)
		if err != nil {
			return psp.Subscription{}, err
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
	return c.Client.CreateSubscriptionWith(ctx, k.CheckoutParams, params)
}

// SavedPaymentMethod returns the ID of the payment method to charge while the customer is absent:
// the customer's default, or else the payment method of the latest subscription that has one, or
// else "".
func (c Contracts) SavedPaymentMethod(ctx context.Context, customerID string) (string, error) {
	id, _, err := psp.Call(ctx, c.Client, "get saved payment method", func(ctx context.Context, api *calls.API) (string, error) {
		customer, err := api.V1Customers.Retrieve(ctx, customerID, nil)
		if err != nil {
			return "", err
		}
		if s := customer.InvoiceSettings; s != nil && s.DefaultPaymentMethod != nil {
			return s.DefaultPaymentMethod.ID, nil
		}
		list := api.V1Subscriptions.List(ctx, &stripe.SubscriptionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(pageSize)}, Customer: stripe.String(customerID), Status: stripe.String("all"),
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
	return id, err
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
func (c Contracts) SetTerms(ctx context.Context, id string, t Terms, key string) error {
	params := &stripe.SubscriptionUpdateParams{
		Params: stripe.Params{IdempotencyKey: stripe.String(key)}, Metadata: map[string]string{MetaPurchaseOrder: t.PurchaseOrder},
		CollectionMethod: stripe.String(stripe.SubscriptionCollectionMethodChargeAutomatically),
	}
	if t.PaymentMethodID != "" {
		params.DefaultPaymentMethod = stripe.String(t.PaymentMethodID)
	}
	if t.IsSent {
		params.CollectionMethod = stripe.String(stripe.SubscriptionCollectionMethodSendInvoice)
		params.DaysUntilDue = stripe.Int64(t.DaysUntilDue)
		params.TrialSettings = &stripe.SubscriptionUpdateTrialSettingsParams{EndBehavior: &stripe.SubscriptionUpdateTrialSettingsEndBehaviorParams{
			MissingPaymentMethod: stripe.String(stripe.SubscriptionTrialSettingsEndBehaviorMissingPaymentMethodCreateInvoice),
		}}
	}
	_, err := psp.Write(ctx, c.Client, "set terms", key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1Subscriptions.Update(ctx, id, params)
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		sub, err := c.Client.GetSubscription(ctx, id)
		if err == nil && !t.holdIn(sub) {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

func (t Terms) holdIn(s psp.Subscription) bool {
	return s.IsSent == t.IsSent && (!t.IsSent || s.DaysUntilDue == t.DaysUntilDue) && s.Metadata[MetaPurchaseOrder] == t.PurchaseOrder
}
