package subscriptions

import (
	"context"
	"slices"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// All is the collection of subscriptions. itemKind describes their items.
var (
	All      = kernel.Kind[Subscription]{Name: "subscription", Prefix: "sub", Label: "subscription", Path: "/v1/subscriptions"}
	itemKind = kernel.Kind[Item]{Name: "subscription_item", Prefix: "si", Label: "subscription item", Path: "/v1/subscription_items"}
)

// The statuses of a subscription.
const (
	StatusActive            = "active"
	StatusCanceled          = "canceled"
	StatusIncomplete        = "incomplete"
	StatusIncompleteExpired = "incomplete_expired"
	StatusPastDue           = "past_due"
	StatusPaused            = "paused"
	StatusTrialing          = "trialing"
	StatusUnpaid            = "unpaid"
)

// Subscription is a recurring purchase of a customer.
type Subscription struct {
	kernel.Header
	Application           form.Null         `json:"application"`
	ApplicationFeePercent form.Null         `json:"application_fee_percent"`
	AutomaticTax          automaticTax      `json:"automatic_tax"`
	BillingCycleAnchor    int64             `json:"billing_cycle_anchor"`
	AnchorConfig          form.Null         `json:"billing_cycle_anchor_config"`
	BillingMode           billingMode       `json:"billing_mode"`
	BillingSchedules      form.None         `json:"billing_schedules"`
	BillingThresholds     form.Null         `json:"billing_thresholds"`
	CancelAt              *int64            `json:"cancel_at"`
	CancelAtPeriodEnd     bool              `json:"cancel_at_period_end"`
	CanceledAt            *int64            `json:"canceled_at"`
	CancellationDetails   cancellation      `json:"cancellation_details"`
	CollectionMethod      string            `json:"collection_method"`
	Currency              string            `json:"currency"`
	Customer              string            `json:"customer"`
	DaysUntilDue          *int64            `json:"days_until_due"` // null unless invoices are sent
	DefaultPaymentMethod  *string           `json:"default_payment_method"`
	DefaultSource         form.Null         `json:"default_source"`
	DefaultTaxRates       form.None         `json:"default_tax_rates"`
	Description           *string           `json:"description"`
	Discounts             discounts.IDs     `json:"discounts"`
	EndedAt               *int64            `json:"ended_at"`
	InvoiceSettings       invoiceSettings   `json:"invoice_settings"`
	Items                 form.List[Item]   `json:"items"`
	LatestInvoice         *string           `json:"latest_invoice"`
	Metadata              map[string]string `json:"metadata"`
	NextPendingInvoice    *int64            `json:"next_pending_invoice_item_invoice"`
	OnBehalfOf            form.Null         `json:"on_behalf_of"`
	PauseCollection       form.Null         `json:"pause_collection"`
	PaymentSettings       paymentSettings   `json:"payment_settings"`
	PendingInterval       *pendingInterval  `json:"pending_invoice_item_interval"`
	PendingSetupIntent    form.Null         `json:"pending_setup_intent"`
	PendingUpdate         *pendingUpdate    `json:"pending_update"`
	Schedule              *string           `json:"schedule"`
	StartDate             int64             `json:"start_date"`
	Status                string            `json:"status"`
	TestClock             *string           `json:"test_clock"`
	TransferData          form.Null         `json:"transfer_data"`
	TrialEnd              *int64            `json:"trial_end"`
	TrialSettings         trialSettings     `json:"trial_settings"`
	TrialStart            *int64            `json:"trial_start"`

	off *discounts.ActiveDiscount // the discount, once loadDiscount has loaded it
}

// Item is one price of a subscription, with its current period.
type Item struct {
	ID                 string            `json:"id"`
	Object             string            `json:"object"`
	BillingThresholds  form.Null         `json:"billing_thresholds"`
	Created            int64             `json:"created"`
	CurrentPeriodEnd   int64             `json:"current_period_end"`
	CurrentPeriodStart int64             `json:"current_period_start"`
	Discounts          form.None         `json:"discounts"`
	Metadata           map[string]string `json:"metadata"`
	Price              catalog.Price     `json:"price"`
	Quantity           int64             `json:"quantity,omitempty"` // omitted for a metered price
	Subscription       string            `json:"subscription"`
	TaxRates           form.None         `json:"tax_rates"`

	usageFrom int64 // the time from which the item bills usage after a change; 0 if unchanged
}

// Head implements kernel.Object.
func (i Item) Head() kernel.Header {
	return kernel.Header{ID: i.ID, Object: i.Object, Created: i.Created}
}

// Clone returns a copy that shares no items with the subscription.
func (sub *Subscription) Clone() *Subscription {
	was := *sub
	was.Items.Data = slices.Clone(sub.Items.Data)
	return &was
}

// amount returns the price of the item for one period, in minor units.
func (i Item) amount() int64 { return form.Times(i.Price.UnitAmountDecimal, i.Quantity) }

// newCycle returns the billing cycle of a recurring price.
func newCycle(anchor int64, p catalog.Price) billing.Cycle {
	return billing.Cycle{Anchor: anchor, Every: billing.Interval{Unit: p.Recurring.Interval, Count: p.Recurring.IntervalCount}}
}

// cycle returns the subscription's billing cycle. All its prices have the same interval.
func (sub *Subscription) cycle() billing.Cycle {
	return newCycle(sub.BillingCycleAnchor, sub.Items.Data[0].Price)
}

// Period returns the current period, which all items share, in seconds since the epoch.
func (sub *Subscription) Period() (start, end int64) {
	return sub.Items.Data[0].CurrentPeriodStart, sub.Items.Data[0].CurrentPeriodEnd
}

// duePeriod returns the billed part of the current period. The part is shorter if the subscription
// ends within the period.
func (sub *Subscription) duePeriod() (start, end int64) {
	start, end = sub.Period()
	if sub.CancelAt != nil {
		end = min(end, *sub.CancelAt)
	}
	return start, end
}

// isEnding reports whether the subscription ends with or within its current period.
func (sub *Subscription) isEnding() bool {
	_, end := sub.Period()
	return sub.CancelAt != nil && *sub.CancelAt <= end
}

// setPeriod sets the period of all items.
func (sub *Subscription) setPeriod(start, end int64) {
	for i := range sub.Items.Data {
		sub.Items.Data[i].CurrentPeriodStart, sub.Items.Data[i].CurrentPeriodEnd = start, end
	}
	if sub.CancelAtPeriodEnd {
		sub.CancelAt = &end
	}
}

// IsRunning reports whether the subscription is renewed at the end of its period.
func (sub *Subscription) IsRunning() bool {
	switch sub.Status {
	case StatusActive, StatusPastDue, StatusTrialing, StatusUnpaid:
		return true
	}
	return false
}

// IsEnded reports whether the subscription has ended permanently.
func (sub *Subscription) IsEnded() bool {
	return sub.Status == StatusCanceled || sub.Status == StatusIncompleteExpired
}

type automaticTax struct {
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

type invoiceSettings struct {
	AccountTaxIDs form.Null `json:"account_tax_ids"`
	CustomFields  form.Null `json:"custom_fields"`
	Description   form.Null `json:"description"`
	Footer        form.Null `json:"footer"`
	Issuer        form.Self `json:"issuer"`
}

type paymentSettings struct {
	PaymentMethodOptions form.Null `json:"payment_method_options"`
	PaymentMethodTypes   []string  `json:"payment_method_types"`
	SaveDefault          string    `json:"save_default_payment_method"`
}

type trialSettings struct {
	EndBehavior struct {
		MissingPaymentMethod string `json:"missing_payment_method"`
	} `json:"end_behavior"`
}

// New returns the subscription of a purchase. Its first period lasts until the trial ends, or for
// one interval of its prices.
func New(customerID string, o Purchase, now int64) *Subscription {
	sub := &Subscription{
		Header: All.Start(now), BillingCycleAnchor: now, StartDate: now,
		CollectionMethod: billing.ChargeAutomatically, Currency: o.Items[0].Currency, Customer: customerID,
		Description: o.Description, InvoiceSettings: invoiceSettings{Issuer: form.Self{Type: "self"}},
		Metadata:        o.Metadata,
		PaymentSettings: paymentSettings{PaymentMethodTypes: []string{"card"}, SaveDefault: saveNever},
		Status:          StatusActive, PendingInterval: o.PendingInterval,
	}
	sub.BillingMode.Type = "flexible"
	sub.BillingMode.Flexible.ProrationDiscounts = "included"
	sub.TrialSettings.EndBehavior.MissingPaymentMethod = o.WhenNoMethod
	end := newCycle(now, o.Items[0].Price).Boundary(1)
	if o.TrialDays > 0 {
		end = time.Unix(now, 0).UTC().AddDate(0, 0, int(o.TrialDays)).Unix()
		sub.Status, sub.TrialStart, sub.TrialEnd, sub.BillingCycleAnchor = StatusTrialing, &now, &end, end
	}
	items := make([]Item, 0, len(o.Items))
	for _, sold := range o.Items {
		items = append(items, Item{
			ID: form.NewID(itemKind.Prefix), Object: itemKind.Name, Created: now,
			CurrentPeriodStart: now, CurrentPeriodEnd: end, Metadata: map[string]string{},
			Price: sold.Price, Quantity: sold.Quantity, Subscription: sub.ID,
		})
	}
	sub.Items = form.NewList("/v1/subscription_items?subscription="+sub.ID, items)
	return sub
}

// getSubscription handles GET /v1/subscriptions/{id}.
func getSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, All)
}

// listSubscriptions handles GET /v1/subscriptions.
func listSubscriptions(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.OnClock(c.Params, !c.Params.Has("customer"))
	if id, ok := c.Params.ReadFilled("price"); ok {
		f.AddCondition(`EXISTS (SELECT 1 FROM json_each(doc, '$.items.data') WHERE value ->> '$.price.id' = ?)`, id)
	}
	status := ""
	c.Params.Choice("status", &status, "active", "all", "canceled", "ended", "incomplete",
		"incomplete_expired", "past_due", "paused", "trialing", "unpaid")
	switch status {
	case "":
		f.AddCondition(`doc ->> '$.status' <> 'canceled'`)
	case "all":
	case "ended":
		f.AddCondition(`doc ->> '$.status' IN ('canceled', 'incomplete_expired')`)
	default:
		f.AddCondition(`doc ->> '$.status' = ?`, status)
	}
	return All.Page(ctx, c, f)
}

// ListOfCustomer returns the subscriptions of a customer that are not canceled, as in
// customer.subscriptions.
func ListOfCustomer(ctx context.Context, q kernel.Querier, customerID string) (any, error) {
	return kernel.ReadList(ctx, q, All, "/v1/customers/"+customerID+"/subscriptions",
		`doc ->> '$.customer' = ? AND doc ->> '$.status' <> 'canceled'`, customerID)
}
