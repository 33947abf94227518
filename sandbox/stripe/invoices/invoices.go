package invoices

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// The collections of invoices, lines and payments.
var (
	All      = kernel.Kind[Invoice]{Name: "invoice", Prefix: "in", Label: "invoice", Path: "/v1/invoices"}
	Lines    = kernel.Kind[Line]{Name: "line_item", Prefix: "il", Label: "invoice line item", Path: ""}
	Payments = kernel.Kind[Payment]{Name: "invoice_payment", Prefix: "inpay", Label: "invoice_payment", Path: "/v1/invoice_payments"}
)

// The statuses of an invoice.
const (
	StatusDraft         = "draft"
	StatusOpen          = "open"
	StatusPaid          = "paid"
	StatusVoid          = "void"
	StatusUncollectible = "uncollectible"
)

// The billing reasons of an invoice.
const (
	ReasonCreate   = "subscription_create"
	ReasonCycle    = "subscription_cycle"
	ReasonUpdate   = "subscription_update"
	ReasonPending  = "automatic_pending_invoice_item_invoice"
	ReasonUpcoming = "upcoming" // previews only
)

// Invoice is a bill. Its lines and customer details are snapshots from the time of its creation.
type Invoice struct {
	kernel.Header
	AccountCountry          string                `json:"account_country"`
	AccountName             string                `json:"account_name"`
	AccountTaxIDs           form.Null             `json:"account_tax_ids"`
	AmountDue               int64                 `json:"amount_due"`
	AmountOverpaid          int64                 `json:"amount_overpaid"`
	AmountPaid              int64                 `json:"amount_paid"`
	AmountPaidOffStripe     int64                 `json:"amount_paid_off_stripe"`
	AmountRemaining         int64                 `json:"amount_remaining"`
	AmountShipping          int64                 `json:"amount_shipping"`
	Application             form.Null             `json:"application"`
	AttemptCount            int64                 `json:"attempt_count"`
	Attempted               bool                  `json:"attempted"`
	AutoAdvance             bool                  `json:"auto_advance"`
	AutomaticTax            automaticTax          `json:"automatic_tax"`
	AutomaticallyFinalizes  *int64                `json:"automatically_finalizes_at"`
	BillingReason           string                `json:"billing_reason"`
	CollectionMethod        string                `json:"collection_method"`
	Currency                string                `json:"currency"`
	CustomFields            form.Null             `json:"custom_fields"`
	Customer                string                `json:"customer"`
	CustomerAddress         *form.Address         `json:"customer_address"`
	CustomerEmail           *string               `json:"customer_email"`
	CustomerName            *string               `json:"customer_name"`
	CustomerPhone           *string               `json:"customer_phone"`
	CustomerShipping        form.Null             `json:"customer_shipping"`
	CustomerTaxExempt       string                `json:"customer_tax_exempt"`
	CustomerTaxIDs          []customers.TaxIDLine `json:"customer_tax_ids"`
	DefaultPaymentMethod    form.Null             `json:"default_payment_method"`
	DefaultSource           form.Null             `json:"default_source"`
	DefaultTaxRates         form.None             `json:"default_tax_rates"`
	Description             *string               `json:"description"`
	Discounts               discounts.IDs         `json:"discounts"`
	DueDate                 *int64                `json:"due_date"` // null unless the invoice is sent
	EffectiveAt             *int64                `json:"effective_at"`
	EndingBalance           *int64                `json:"ending_balance"`
	Footer                  *string               `json:"footer"`
	FromInvoice             form.Null             `json:"from_invoice"`
	HostedInvoiceURL        *string               `json:"hosted_invoice_url"`
	InvoicePDF              *string               `json:"invoice_pdf"`
	Issuer                  form.Self             `json:"issuer"`
	LastFinalizationError   form.Null             `json:"last_finalization_error"`
	LatestRevision          form.Null             `json:"latest_revision"`
	Lines                   form.List[Line]       `json:"lines"`
	Metadata                map[string]string     `json:"metadata"`
	NextPaymentAttempt      *int64                `json:"next_payment_attempt"`
	Number                  *string               `json:"number"`
	OnBehalfOf              form.Null             `json:"on_behalf_of"`
	Parent                  *parent               `json:"parent"` // null for an invoice without a subscription
	PaymentSettings         paymentSettings       `json:"payment_settings"`
	PeriodEnd               int64                 `json:"period_end"`
	PeriodStart             int64                 `json:"period_start"`
	PostPaymentCreditNotes  int64                 `json:"post_payment_credit_notes_amount"`
	PrePaymentCreditNotes   int64                 `json:"pre_payment_credit_notes_amount"`
	ReceiptNumber           form.Null             `json:"receipt_number"`
	Rendering               form.Null             `json:"rendering"`
	ShippingCost            form.Null             `json:"shipping_cost"`
	ShippingDetails         form.Null             `json:"shipping_details"`
	StartingBalance         int64                 `json:"starting_balance"`
	StatementDescriptor     form.Null             `json:"statement_descriptor"`
	Status                  string                `json:"status"`
	StatusTransitions       transitions           `json:"status_transitions"`
	Subtotal                int64                 `json:"subtotal"`
	SubtotalExcludingTax    int64                 `json:"subtotal_excluding_tax"`
	TestClock               *string               `json:"test_clock"`
	Total                   int64                 `json:"total"`
	TotalDiscountAmounts    discounts.Amounts     `json:"total_discount_amounts"`
	TotalExcludingTax       int64                 `json:"total_excluding_tax"`
	TotalPretaxCreditAmount form.None             `json:"total_pretax_credit_amounts"`
	TotalTaxes              form.None             `json:"total_taxes"`
	WebhooksDeliveredAt     form.Null             `json:"webhooks_delivered_at"`
}

// IsSent reports whether the customer receives the invoice to pay it, instead of being charged.
func (in *Invoice) IsSent() bool { return in.CollectionMethod == billing.SendInvoice }

type automaticTax struct {
	DisabledReason form.Null `json:"disabled_reason"`
	Enabled        bool      `json:"enabled"`
	Liability      form.Null `json:"liability"`
	Provider       form.Null `json:"provider"`
	Status         form.Null `json:"status"`
}

type parent struct {
	QuoteDetails        form.Null `json:"quote_details"`
	SubscriptionDetails struct {
		Metadata     map[string]string `json:"metadata"`
		Subscription string            `json:"subscription"`
	} `json:"subscription_details"`
	Type string `json:"type"`
}

// SetSubscription sets the subscription that the invoice bills, with its metadata.
func (in *Invoice) SetSubscription(id string, metadata map[string]string) {
	in.Parent = &parent{Type: "subscription_details"}
	in.Parent.SubscriptionDetails.Subscription, in.Parent.SubscriptionDetails.Metadata = id, metadata
}

// SubscriptionID returns the subscription that the invoice bills, or "".
func (in *Invoice) SubscriptionID() string {
	if in.Parent == nil {
		return ""
	}
	return in.Parent.SubscriptionDetails.Subscription
}

type paymentSettings struct {
	DefaultMandate       form.Null `json:"default_mandate"`
	PaymentMethodOptions form.Null `json:"payment_method_options"`
	PaymentMethodTypes   form.Null `json:"payment_method_types"`
}

type transitions struct {
	FinalizedAt           *int64 `json:"finalized_at"`
	MarkedUncollectibleAt *int64 `json:"marked_uncollectible_at"`
	PaidAt                *int64 `json:"paid_at"`
	VoidedAt              *int64 `json:"voided_at"`
}

// Line charges one subscription item for a period, or is a proration.
type Line struct {
	ID                  string            `json:"id"`
	Object              string            `json:"object"`
	Amount              int64             `json:"amount"`
	Currency            string            `json:"currency"`
	Description         string            `json:"description"`
	DiscountAmounts     discounts.Amounts `json:"discount_amounts"`
	Discountable        bool              `json:"discountable"`
	Discounts           form.None         `json:"discounts"`
	Invoice             string            `json:"invoice"`
	Livemode            bool              `json:"livemode"`
	Metadata            map[string]string `json:"metadata"`
	Parent              lineParent        `json:"parent"`
	Period              Period            `json:"period"`
	PretaxCreditAmounts form.None         `json:"pretax_credit_amounts"`
	Pricing             Pricing           `json:"pricing"`
	Quantity            int64             `json:"quantity"`
	QuantityDecimal     *string           `json:"quantity_decimal,omitempty"` // exact; only for metered usage
	Subscription        *string           `json:"subscription"`
	Subtotal            int64             `json:"subtotal"`
	Taxes               form.None         `json:"taxes"`
}

// Head implements kernel.Object.
func (l Line) Head() kernel.Header { return kernel.Header{ID: l.ID, Object: l.Object} }

type lineParent struct {
	InvoiceItemDetails      *invoiceItemDetails      `json:"invoice_item_details"`
	SubscriptionItemDetails *subscriptionItemDetails `json:"subscription_item_details"`
	Type                    string                   `json:"type"`
}

// invoiceItemDetails describe the line of an invoice item that a client created.
type invoiceItemDetails struct {
	InvoiceItem      string            `json:"invoice_item"`
	Proration        bool              `json:"proration"`
	ProrationDetails *prorationDetails `json:"proration_details"`
	Subscription     *string           `json:"subscription"`
}

type subscriptionItemDetails struct {
	InvoiceItem      *string           `json:"invoice_item"`
	Proration        bool              `json:"proration"`
	ProrationDetails *prorationDetails `json:"proration_details"`
	Subscription     string            `json:"subscription"`
	SubscriptionItem string            `json:"subscription_item"`
}

// SetSubscriptionItem sets the subscription item that the line bills.
func (l *Line) SetSubscriptionItem(subscription, item string) {
	l.Parent = lineParent{Type: "subscription_item_details", SubscriptionItemDetails: &subscriptionItemDetails{
		Subscription: subscription, SubscriptionItem: item,
	}}
}

// prorationDetails refer to the lines that a credit reverses. The sandbox does not record them.
type prorationDetails struct {
	CreditedItems form.Null `json:"credited_items"`
}

// Period is the billed time span of a line, in seconds since the epoch. End is exclusive.
type Period struct {
	End   int64 `json:"end"`
	Start int64 `json:"start"`
}

// Pricing is the price of a line.
type Pricing struct {
	PriceDetails struct {
		Price   string `json:"price"`
		Product string `json:"product"`
	} `json:"price_details"`
	Type              string `json:"type"`
	UnitAmountDecimal string `json:"unit_amount_decimal"`
}

// Payment links an invoice to a payment intent.
type Payment struct {
	kernel.Header
	AmountPaid      *int64 `json:"amount_paid"`
	AmountRequested int64  `json:"amount_requested"`
	Currency        string `json:"currency"`
	Invoice         string `json:"invoice"`
	IsDefault       bool   `json:"is_default"`
	Payment         struct {
		PaymentIntent string `json:"payment_intent"`
		Type          string `json:"type"`
	} `json:"payment"`
	Status            string `json:"status"`
	StatusTransitions struct {
		CanceledAt *int64 `json:"canceled_at"`
		PaidAt     *int64 `json:"paid_at"`
	} `json:"status_transitions"`
}

// Get handles GET /v1/invoices/{id}.
func Get(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, All)
}

// List handles GET /v1/invoices.
func List(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "subscription", "$.parent.subscription_details.subscription")
	f.AddOneOf(c.Params, "status", "$.status", "draft", "open", "paid", "uncollectible", "void")
	return All.Page(ctx, c, f)
}

// ListLines handles GET /v1/invoices/{id}/lines.
func ListLines(ctx context.Context, c *kernel.Call) (any, error) {
	var after string
	if c.Params.Text("starting_after", &after); after != "" && strings.HasPrefix(c.ID, upcoming) {
		// A preview has new ids each time it is computed.
		return nil, form.Refuse("starting_after", "resource_missing", "Invoice %s does not have a line item %s", c.ID, after)
	}
	in, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	return kernel.SlicePage(c, in.Lines.URL, Lines.Label, in.Lines.Data)
}

// GetPayment handles GET /v1/invoice_payments/{id}.
func GetPayment(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Payments)
}

// ListPayments handles GET /v1/invoice_payments.
func ListPayments(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "invoice", "$.invoice")
	f.AddOneOf(c.Params, "status", "$.status", "canceled", "open", "paid")
	if of := c.Params.Hash("payment"); of != nil {
		f.AddOneOf(of, "type", "$.payment.type", "payment_intent", "payment_record")
		f.AddEqual(of, "payment_intent", "$.payment.payment_intent")
	}
	return Payments.Page(ctx, c, f)
}

// PaymentsOf returns the payments of an invoice, as in invoice.payments.
func PaymentsOf(ctx context.Context, q kernel.Querier, invoiceID string) (any, error) {
	return kernel.ReadList(ctx, q, Payments, Payments.Path, `doc ->> '$.invoice' = ?`, invoiceID)
}

// NewPricing returns a line's pricing for a price.
func NewPricing(p catalog.Price) Pricing {
	pricing := Pricing{Type: "price_details", UnitAmountDecimal: p.UnitAmountDecimal}
	pricing.PriceDetails.Price, pricing.PriceDetails.Product = p.ID, p.Product
	return pricing
}

// upcoming is the prefix of the ids of previews.
const upcoming = "upcoming_"

// Preview gives a draft an id that cannot be retrieved.
func (in *Invoice) Preview() *Invoice {
	in.ID = upcoming + in.ID
	in.Lines.URL = strings.Replace(in.Lines.URL, "/in_", "/upcoming_in_", 1)
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		line.Invoice, line.ID = in.ID, strings.Replace(line.ID, "il_", "il_tmp_", 1)
	}
	return in
}

// upcomingInvoice is a draft in the event invoice.upcoming.
type upcomingInvoice struct{ *Invoice }

// AsUpcoming returns a draft in the form of the event invoice.upcoming: without an id.
func (in *Invoice) AsUpcoming() kernel.Object { return upcomingInvoice{in.Preview()} }

// MarshalJSON omits the id.
func (a upcomingInvoice) MarshalJSON() ([]byte, error) {
	doc, err := json.Marshal(a.Invoice)
	if err != nil {
		return nil, fmt.Errorf("encode invoice: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc, &fields); err != nil {
		return nil, fmt.Errorf("decode invoice: %w", err)
	}
	delete(fields, "id")
	return json.Marshal(fields)
}

// The timers of an invoice.
const (
	TimerFinalizes = "invoice.finalizes"
	TimerRetries   = "invoice.retries"
	TimerDue       = "invoice.due"
)

// PaidFor returns the payment and the invoice of an intent.
func PaidFor(ctx context.Context, st *kernel.Step, pi *payments.Intent) (*Payment, *Invoice, error) {
	found, err := Payments.FindWhere(ctx, st.Q, `doc ->> '$.payment.payment_intent' = ?`, pi.ID)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, form.NewMissing(Payments.Label, pi.ID, "payment_intent")
	}
	in, err := All.Get(ctx, st.Q, found[0].Invoice, "invoice")
	return found[0], in, err
}
