package stripe

import (
	"context"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

var (
	subscriptions     = kernel.Kind[subscription]{Name: "subscription", Prefix: "sub", Label: "subscription", Path: "/v1/subscriptions"}
	subscriptionItems = kernel.Kind[subscriptionItem]{Name: "subscription_item", Prefix: "si", Label: "subscription item", Path: "/v1/subscription_items"}
)

// The states of a subscription.
const (
	subscriptionActive            = "active"
	subscriptionCanceled          = "canceled"
	subscriptionIncomplete        = "incomplete"
	subscriptionIncompleteExpired = "incomplete_expired"
	subscriptionPastDue           = "past_due"
	subscriptionPaused            = "paused"
	subscriptionTrialing          = "trialing"
	subscriptionUnpaid            = "unpaid"
)

// subscription is what a customer pays for again and again.
type subscription struct {
	kernel.Header
	Application           form.Null                   `json:"application"`
	ApplicationFeePercent form.Null                   `json:"application_fee_percent"`
	AutomaticTax          subscriptionTax             `json:"automatic_tax"`
	BillingCycleAnchor    int64                       `json:"billing_cycle_anchor"`
	AnchorConfig          form.Null                   `json:"billing_cycle_anchor_config"`
	BillingMode           billingMode                 `json:"billing_mode"`
	BillingSchedules      form.None                   `json:"billing_schedules"`
	BillingThresholds     form.Null                   `json:"billing_thresholds"`
	CancelAt              *int64                      `json:"cancel_at"`
	CancelAtPeriodEnd     bool                        `json:"cancel_at_period_end"`
	CanceledAt            *int64                      `json:"canceled_at"`
	CancellationDetails   cancellation                `json:"cancellation_details"`
	CollectionMethod      string                      `json:"collection_method"`
	Currency              string                      `json:"currency"`
	Customer              string                      `json:"customer"`
	DaysUntilDue          form.Null                   `json:"days_until_due"`
	DefaultPaymentMethod  *string                     `json:"default_payment_method"`
	DefaultSource         form.Null                   `json:"default_source"`
	DefaultTaxRates       form.None                   `json:"default_tax_rates"`
	Description           *string                     `json:"description"`
	Discounts             form.None                   `json:"discounts"`
	EndedAt               *int64                      `json:"ended_at"`
	InvoiceSettings       subscriptionInvoices        `json:"invoice_settings"`
	Items                 form.List[subscriptionItem] `json:"items"`
	LatestInvoice         *string                     `json:"latest_invoice"`
	Metadata              map[string]string           `json:"metadata"`
	NextPendingInvoice    form.Null                   `json:"next_pending_invoice_item_invoice"`
	OnBehalfOf            form.Null                   `json:"on_behalf_of"`
	PauseCollection       form.Null                   `json:"pause_collection"`
	PaymentSettings       subscriptionPayments        `json:"payment_settings"`
	PendingInterval       form.Null                   `json:"pending_invoice_item_interval"`
	PendingSetupIntent    form.Null                   `json:"pending_setup_intent"`
	PendingUpdate         form.Null                   `json:"pending_update"`
	Schedule              form.Null                   `json:"schedule"`
	StartDate             int64                       `json:"start_date"`
	Status                string                      `json:"status"`
	TestClock             form.Null                   `json:"test_clock"`
	TransferData          form.Null                   `json:"transfer_data"`
	TrialEnd              *int64                      `json:"trial_end"`
	TrialSettings         trialSettings               `json:"trial_settings"`
	TrialStart            *int64                      `json:"trial_start"`
}

// subscriptionItem is one price of a subscription, with its current period.
type subscriptionItem struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	BillingThresholds  form.Null         `json:"billing_thresholds"`
	Created            int64             `json:"created"`
	CurrentPeriodEnd   int64             `json:"current_period_end"`
	CurrentPeriodStart int64             `json:"current_period_start"`
	Discounts          form.None         `json:"discounts"`
	Metadata           map[string]string `json:"metadata"`
	Price              catalog.Price     `json:"price"`
	Quantity           int64             `json:"quantity,omitempty"` // none of a metered price
	Subscription       string            `json:"subscription"`
	TaxRates           form.None         `json:"tax_rates"`
}

func (i subscriptionItem) Head() kernel.Header {
	return kernel.Header{ID: i.ID, Object: i.Object, Created: i.Created}
}

// clone is a copy that changes to the subscription leave as it is.
func (sub *subscription) clone() *subscription {
	was := *sub
	was.Items.Data = slices.Clone(sub.Items.Data)
	return &was
}

// amount is what the item costs for one period, in minor units.
func (i subscriptionItem) amount() int64 { return form.Times(i.Price.UnitAmountDecimal, i.Quantity) }

// newCycle is how periods follow each other for a recurring price.
func newCycle(anchor int64, p catalog.Price) billing.Cycle {
	return billing.Cycle{Anchor: anchor, Every: billing.Interval{Unit: p.Recurring.Interval, Count: p.Recurring.IntervalCount}}
}

// cycle is how the subscription's periods follow each other. All its prices have
// the same interval.
func (sub *subscription) cycle() billing.Cycle {
	return newCycle(sub.BillingCycleAnchor, sub.Items.Data[0].Price)
}

// period is the subscription's current one, which all its items share.
func (sub *subscription) period() (start, end int64) {
	return sub.Items.Data[0].CurrentPeriodStart, sub.Items.Data[0].CurrentPeriodEnd
}

// setPeriod begins another period for all items.
func (sub *subscription) setPeriod(start, end int64) {
	for i := range sub.Items.Data {
		sub.Items.Data[i].CurrentPeriodStart, sub.Items.Data[i].CurrentPeriodEnd = start, end
	}
	if sub.CancelAtPeriodEnd {
		sub.CancelAt = &end
	}
}

// running tells that the subscription's periods pass.
func (sub *subscription) running() bool {
	switch sub.Status {
	case subscriptionActive, subscriptionPastDue, subscriptionTrialing, subscriptionUnpaid:
		return true
	}
	return false
}

// ended tells that nothing will come of the subscription any more.
func (sub *subscription) ended() bool {
	return sub.Status == subscriptionCanceled || sub.Status == subscriptionIncompleteExpired
}

type subscriptionTax struct {
	DisabledReason form.Null `json:"disabled_reason"`
	Enabled        bool      `json:"enabled"`
	Liability      form.Null `json:"liability"`
}

type billingMode struct {
	Flexible struct {
		ProrationDiscounts string `json:"proration_discounts"`
	} `json:"flexible"`
	Type string `json:"type"`
}

type cancellation struct {
	Comment  *string `json:"comment"`
	Feedback *string `json:"feedback"`
	Reason   *string `json:"reason"`
}

type subscriptionInvoices struct {
	AccountTaxIDs form.Null `json:"account_tax_ids"`
	CustomFields  form.Null `json:"custom_fields"`
	Description   form.Null `json:"description"`
	Footer        form.Null `json:"footer"`
	Issuer        form.Self `json:"issuer"`
}

type subscriptionPayments struct {
	PaymentMethodOptions form.Null `json:"payment_method_options"`
	PaymentMethodTypes   []string  `json:"payment_method_types"`
	SaveDefault          string    `json:"save_default_payment_method"`
}

type trialSettings struct {
	EndBehavior struct {
		MissingPaymentMethod string `json:"missing_payment_method"`
	} `json:"end_behavior"`
}

// newSubscription is what an order becomes. Its first period lasts until the
// trial ends, or for one interval of its prices.
func newSubscription(customerID string, o order, now int64) *subscription {
	sub := &subscription{
		Header: subscriptions.Start(now), BillingCycleAnchor: now, StartDate: now,
		CollectionMethod: "charge_automatically", Currency: o.Items[0].Currency, Customer: customerID,
		Description: o.Description, InvoiceSettings: subscriptionInvoices{Issuer: form.Self{Type: "self"}},
		Metadata:        o.Metadata,
		PaymentSettings: subscriptionPayments{PaymentMethodTypes: []string{"card"}, SaveDefault: "off"},
		Status:          subscriptionActive,
	}
	sub.BillingMode.Type = "flexible"
	sub.BillingMode.Flexible.ProrationDiscounts = "included"
	sub.TrialSettings.EndBehavior.MissingPaymentMethod = o.WhenNoMethod
	end := newCycle(now, o.Items[0].Price).Boundary(1)
	if o.TrialDays > 0 {
		end = time.Unix(now, 0).UTC().AddDate(0, 0, int(o.TrialDays)).Unix()
		sub.Status, sub.TrialStart, sub.TrialEnd, sub.BillingCycleAnchor = subscriptionTrialing, &now, &end, end
	}
	items := make([]subscriptionItem, 0, len(o.Items))
	for _, sold := range o.Items {
		items = append(items, subscriptionItem{
			ID: form.NewID(subscriptionItems.Prefix), Object: subscriptionItems.Name, Created: now,
			CurrentPeriodStart: now, CurrentPeriodEnd: end, Metadata: map[string]string{},
			Price: sold.Price, Quantity: sold.Quantity, Subscription: sub.ID,
		})
	}
	sub.Items = form.NewList("/v1/subscription_items?subscription="+sub.ID, items)
	return sub
}

func getSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, subscriptions)
}

func listSubscriptions(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.Equals(c.Params, "customer", "$.customer")
	if id, ok := c.Params.Filled("price"); ok {
		f.And(`EXISTS (SELECT 1 FROM json_each(doc, '$.items.data') WHERE value ->> '$.price.id' = ?)`, id)
	}
	status := ""
	c.Params.Choice("status", &status, "active", "all", "canceled", "ended", "incomplete",
		"incomplete_expired", "past_due", "paused", "trialing", "unpaid")
	switch status {
	case "":
		f.And(`doc ->> '$.status' <> 'canceled'`)
	case "all":
	case "ended":
		f.And(`doc ->> '$.status' IN ('canceled', 'incomplete_expired')`)
	default:
		f.And(`doc ->> '$.status' = ?`, status)
	}
	return subscriptions.Page(ctx, c, f)
}

// subscriptionsOf lists the subscriptions of a customer that are not canceled.
func subscriptionsOf(ctx context.Context, q kernel.Querier, customerID string) (any, error) {
	return kernel.ReadList(ctx, q, subscriptions, "/v1/customers/"+customerID+"/subscriptions",
		`doc ->> '$.customer' = ? AND doc ->> '$.status' <> 'canceled'`, customerID)
}
