package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// schedules is the collection of subscription schedules. The sandbox creates them only for existing
// subscriptions (https://docs.stripe.com/billing/subscriptions/subscription-schedules).
var schedules = kernel.Kind[schedule]{Name: "subscription_schedule", Prefix: "sub_sched", Label: "subscription schedule", Path: "/v1/subscription_schedules"}

// The statuses of a schedule.
const (
	scheduleActive   = "active"
	scheduleCanceled = "canceled"
	scheduleReleased = "released"
)

// timerScheduleEnds fires at the end of the last phase of a schedule.
const timerScheduleEnds = "subscription_schedule.ends"

// schedule changes a subscription at the start of each of its phases.
type schedule struct {
	kernel.Header
	Application          form.Null         `json:"application"`
	BillingMode          billingMode       `json:"billing_mode"`
	CanceledAt           *int64            `json:"canceled_at"`
	CompletedAt          *int64            `json:"completed_at"`
	CurrentPhase         *currentPhase     `json:"current_phase"`
	Customer             string            `json:"customer"`
	CustomerAccount      form.Null         `json:"customer_account"`
	DefaultSettings      scheduleDefaults  `json:"default_settings"`
	EndBehavior          string            `json:"end_behavior"`
	Metadata             map[string]string `json:"metadata"`
	Phases               []phase           `json:"phases"`
	ReleasedAt           *int64            `json:"released_at"`
	ReleasedSubscription *string           `json:"released_subscription"`
	Status               string            `json:"status"`
	Subscription         *string           `json:"subscription"`
	TestClock            *string           `json:"test_clock"`
}

type currentPhase struct {
	EndDate   int64 `json:"end_date"`
	StartDate int64 `json:"start_date"`
}

type scheduleDefaults struct {
	ApplicationFeePercent form.Null      `json:"application_fee_percent"`
	BillingCycleAnchor    string         `json:"billing_cycle_anchor"`
	BillingThresholds     form.Null      `json:"billing_thresholds"`
	CollectionMethod      string         `json:"collection_method"`
	DefaultPaymentMethod  *string        `json:"default_payment_method"`
	Description           *string        `json:"description"`
	InvoiceSettings       phaseInvoicing `json:"invoice_settings"`
	OnBehalfOf            form.Null      `json:"on_behalf_of"`
	TransferData          form.Null      `json:"transfer_data"`
}

type phaseInvoicing struct {
	AccountTaxIDs form.Null `json:"account_tax_ids"`
	DaysUntilDue  *int64    `json:"days_until_due"`
	Issuer        form.Self `json:"issuer"`
}

// phase is a span of time in which a subscription has certain items.
type phase struct {
	AddInvoiceItems       form.None         `json:"add_invoice_items"`
	ApplicationFeePercent form.Null         `json:"application_fee_percent"`
	BillingCycleAnchor    form.Null         `json:"billing_cycle_anchor"`
	BillingThresholds     form.Null         `json:"billing_thresholds"`
	CollectionMethod      *string           `json:"collection_method"`
	Currency              string            `json:"currency"`
	DefaultPaymentMethod  *string           `json:"default_payment_method"`
	DefaultTaxRates       form.None         `json:"default_tax_rates"`
	Description           *string           `json:"description"`
	Discounts             []phaseDiscount   `json:"discounts"`
	EndDate               int64             `json:"end_date"`
	InvoiceSettings       *phaseInvoicing   `json:"invoice_settings"`
	Items                 []phaseItem       `json:"items"`
	Metadata              map[string]string `json:"metadata"`
	OnBehalfOf            form.Null         `json:"on_behalf_of"`
	ProrationBehavior     string            `json:"proration_behavior"`
	StartDate             int64             `json:"start_date"`
	TransferData          form.Null         `json:"transfer_data"`
	TrialEnd              *int64            `json:"trial_end"`
}

type phaseItem struct {
	BillingThresholds form.Null         `json:"billing_thresholds"`
	Discounts         form.None         `json:"discounts"`
	Metadata          map[string]string `json:"metadata"`
	Price             string            `json:"price"`
	Quantity          int64             `json:"quantity,omitempty"` // omitted for a metered price
	TaxRates          form.None         `json:"tax_rates"`
}

type phaseDiscount struct {
	Coupon        form.Null `json:"coupon"`
	Discount      string    `json:"discount"`
	PromotionCode form.Null `json:"promotion_code"`
}

// phaseItems returns the items of a subscription as the items of a phase.
func phaseItems(items []Item) []phaseItem {
	list := make([]phaseItem, 0, len(items))
	for _, item := range items {
		list = append(list, phaseItem{Metadata: map[string]string{}, Price: item.Price.ID, Quantity: item.Quantity})
	}
	return list
}

// phaseDiscounts returns the discounts of a subscription as the discounts of a phase.
func phaseDiscounts(ids discounts.IDs) []phaseDiscount {
	list := make([]phaseDiscount, 0, len(ids))
	for _, id := range ids {
		list = append(list, phaseDiscount{Discount: id})
	}
	return list
}

// createSchedule handles POST /v1/subscription_schedules. With from_subscription, no other parameter
// can be set, and a subscription has at most one schedule
// (https://docs.stripe.com/api/subscription_schedules/create, from_subscription).
func createSchedule(ctx context.Context, c *kernel.Call) (any, error) {
	var id string
	p := c.Params
	p.Require("from_subscription")
	p.Text("from_subscription", &id)
	for _, key := range p.Keys() {
		if p.Has("from_subscription") && key != "from_subscription" && key != "expand" {
			return nil, form.Refuse(key, "parameter_unknown", "You cannot set `%s` if `from_subscription` is set.", key)
		}
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	sub, err := All.Get(ctx, c.Q, id, "from_subscription")
	if err != nil {
		return nil, err
	}
	switch {
	case sub.Schedule != nil:
		return nil, form.Refuse("from_subscription", "", "You cannot migrate a subscription that is already attached to a schedule: `%s`.", *sub.Schedule)
	case !sub.IsRunning():
		return nil, form.Refuse("from_subscription", "", "You cannot migrate a subscription that is %s.", sub.Status)
	}
	before := sub.Clone()
	start, end := sub.Period()
	sched := &schedule{
		Header: schedules.Start(c.Now), BillingMode: sub.BillingMode, CurrentPhase: &currentPhase{StartDate: start, EndDate: end},
		Customer: sub.Customer, EndBehavior: "release", Metadata: map[string]string{}, Status: scheduleActive, Subscription: &sub.ID, TestClock: sub.TestClock,
		DefaultSettings: scheduleDefaults{
			BillingCycleAnchor: "automatic", CollectionMethod: sub.CollectionMethod, DefaultPaymentMethod: sub.DefaultPaymentMethod,
			InvoiceSettings: phaseInvoicing{DaysUntilDue: sub.DaysUntilDue, Issuer: form.Self{Type: "self"}},
		},
	}
	first := phase{
		Currency: sub.Currency, StartDate: start, EndDate: end, Items: phaseItems(sub.Items.Data), Metadata: map[string]string{},
		Discounts:         phaseDiscounts(sub.Discounts),
		ProrationBehavior: prorationsPending,
	}
	if sub.Status == StatusTrialing {
		first.TrialEnd = sub.TrialEnd
	}
	sched.Phases = []phase{first}
	sub.Schedule = &sched.ID
	if err := c.Create(ctx, "subscription_schedule.created", sched); err != nil {
		return nil, err
	}
	if err := c.SetTimer(ctx, timerScheduleEnds, sched.ID, end+1); err != nil {
		return nil, err
	}
	return sched, Save(ctx, c.Step, before, sub)
}

// getSchedule handles GET /v1/subscription_schedules/{id}.
func getSchedule(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, schedules)
}

// listSchedules handles GET /v1/subscription_schedules.
func listSchedules(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	return schedules.Page(ctx, c, f)
}
