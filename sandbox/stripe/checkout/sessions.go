package checkout

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// Sessions is the collection of checkout sessions.
var Sessions = kernel.Kind[Session]{Name: "checkout.session", Prefix: "cs", Label: "checkout.session", Path: "/v1/checkout/sessions"}

// The statuses of a checkout session and of its payment.
const (
	statusOpen     = "open"
	statusComplete = "complete"
	statusExpired  = "expired"

	paymentUnpaid    = "unpaid"
	paymentPaid      = "paid"
	paymentNotNeeded = "no_payment_required"
)

// Session is one purchase on the hosted page.
type Session struct {
	kernel.Header
	AdaptivePricing          form.Null         `json:"adaptive_pricing"`
	AfterExpiration          form.Null         `json:"after_expiration"`
	AllowPromotionCodes      form.Null         `json:"allow_promotion_codes"`
	AmountSubtotal           int64             `json:"amount_subtotal"`
	AmountTotal              int64             `json:"amount_total"`
	AutomaticTax             automaticTax      `json:"automatic_tax"`
	BillingAddressCollection form.Null         `json:"billing_address_collection"`
	CancelURL                *string           `json:"cancel_url"`
	ClientReferenceID        *string           `json:"client_reference_id"`
	ClientSecret             form.Null         `json:"client_secret"`
	CollectedInformation     form.Null         `json:"collected_information"`
	Consent                  form.Null         `json:"consent"`
	ConsentCollection        form.Null         `json:"consent_collection"`
	Currency                 string            `json:"currency"`
	CurrencyConversion       form.Null         `json:"currency_conversion"`
	CustomFields             form.None         `json:"custom_fields"`
	CustomText               customText        `json:"custom_text"`
	Customer                 string            `json:"customer"`
	CustomerCreation         form.Null         `json:"customer_creation"`
	CustomerDetails          *customerDetails  `json:"customer_details"`
	CustomerEmail            form.Null         `json:"customer_email"`
	Discounts                sessionDiscounts  `json:"discounts"`
	ExpiresAt                int64             `json:"expires_at"`
	Invoice                  *string           `json:"invoice"`
	InvoiceCreation          *invoiceCreation  `json:"invoice_creation"` // null unless the mode is payment
	Locale                   *string           `json:"locale"`
	Metadata                 map[string]string `json:"metadata"`
	Mode                     string            `json:"mode"`
	PaymentIntent            *string           `json:"payment_intent"` // null until a session in the mode payment is complete
	PaymentLink              form.Null         `json:"payment_link"`
	PaymentMethodCollection  string            `json:"payment_method_collection"`
	PaymentMethodConfig      form.Null         `json:"payment_method_configuration_details"`
	PaymentMethodOptions     struct{}          `json:"payment_method_options"`
	PaymentMethodTypes       []string          `json:"payment_method_types"`
	PaymentStatus            string            `json:"payment_status"`
	Permissions              form.Null         `json:"permissions"`
	PhoneNumberCollection    enabledFlag       `json:"phone_number_collection"`
	RecoveredFrom            form.Null         `json:"recovered_from"`
	SavedPaymentMethods      form.Null         `json:"saved_payment_method_options"`
	SetupIntent              form.Null         `json:"setup_intent"`
	ShippingAddress          form.Null         `json:"shipping_address_collection"`
	ShippingCost             form.Null         `json:"shipping_cost"`
	ShippingOptions          form.None         `json:"shipping_options"`
	Status                   string            `json:"status"`
	SubmitType               form.Null         `json:"submit_type"`
	Subscription             *string           `json:"subscription"`
	SuccessURL               *string           `json:"success_url"`
	TotalDetails             totals            `json:"total_details"`
	UIMode                   string            `json:"ui_mode"`
	URL                      *string           `json:"url"` // null unless the session is open
	WalletOptions            form.Null         `json:"wallet_options"`
}

// sessionDiscounts is the discount of a session, in a list.
type sessionDiscounts []discounts.DiscountChoice

// MarshalJSON writes an empty list for nil.
func (d sessionDiscounts) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]discounts.DiscountChoice{}, d...)) //nolint:wrapcheck // cannot fail
}

type enabledFlag struct {
	Enabled bool `json:"enabled"`
}

type automaticTax struct {
	Enabled   bool      `json:"enabled"`
	Liability form.Null `json:"liability"`
	Provider  form.Null `json:"provider"`
	Status    form.Null `json:"status"`
}

type customText struct {
	AfterSubmit             form.Null `json:"after_submit"`
	ShippingAddress         form.Null `json:"shipping_address"`
	Submit                  form.Null `json:"submit"`
	TermsOfServiceAgreement form.Null `json:"terms_of_service_acceptance"`
}

type totals struct {
	AmountDiscount int64 `json:"amount_discount"`
	AmountShipping int64 `json:"amount_shipping"`
	AmountTax      int64 `json:"amount_tax"`
}

type customerDetails struct {
	Address      *form.Address `json:"address"`
	BusinessName form.Null     `json:"business_name"`
	Email        *string       `json:"email"`
	Individual   form.Null     `json:"individual_name"`
	Name         *string       `json:"name"`
	Phone        *string       `json:"phone"`
	TaxExempt    string        `json:"tax_exempt"`
	TaxIDs       form.None     `json:"tax_ids"`
}

func newCustomerDetails(cu *customers.Customer) *customerDetails {
	return &customerDetails{Address: cu.Address, Email: cu.Email, Name: cu.Name, Phone: cu.Phone, TaxExempt: cu.TaxExempt}
}

var sales = kernel.Kind[pendingPurchase]{Name: "sandbox.checkout", Label: "checkout.session"}

// pendingPurchase is the purchase of a session. It is internal and stored under the session's id.
type pendingPurchase struct {
	kernel.Header
	subscriptions.Purchase
	Payment paymentData `json:"payment"` // only in the mode payment
}

// hasMeteredPrice reports whether the sale has a metered price.
func (state *pendingPurchase) hasMeteredPrice() bool {
	return slices.ContainsFunc(state.Items, func(item subscriptions.LineItem) bool { return item.Price.IsMetered() })
}

// acceptsMethod reports whether the session accepts a payment method.
func (cs *Session) acceptsMethod(method string) bool {
	return slices.Contains(cs.PaymentMethodTypes, method)
}

// amountDue returns the amount to pay now, in minor units. It is zero with a trial.
func (cs *Session) amountDue() int64 { return cs.AmountTotal }

// needsCard reports whether the page requires a payment method.
func (cs *Session) needsCard() bool {
	return cs.amountDue() > 0 || cs.PaymentMethodCollection == "always"
}

// successURL returns the URL to which the buyer is redirected after the payment.
func (cs *Session) successURL() string {
	return strings.NewReplacer(
		"{CHECKOUT_SESSION_ID}", cs.ID, "%7BCHECKOUT_SESSION_ID%7D", cs.ID,
	).Replace(*cs.SuccessURL)
}

// Path returns the path of a session's page.
func Path(id string) string { return "/sandbox/checkout/" + id }

// Get handles GET /v1/checkout/sessions/{id}.
func Get(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Sessions)
}

// List handles GET /v1/checkout/sessions.
func List(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "payment_intent", "$.payment_intent")
	f.AddEqual(c.Params, "subscription", "$.subscription")
	f.AddOneOf(c.Params, "status", "$.status", "complete", "expired", "open")
	return Sessions.Page(ctx, c, f)
}

// ListItems handles GET /v1/checkout/sessions/{id}/line_items.
func ListItems(ctx context.Context, c *kernel.Call) (any, error) {
	state, err := sales.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	return kernel.SlicePage(c, "/v1/checkout/sessions/"+c.ID+"/line_items", "item", state.Items)
}

// TimerExpires fires when an open session expires.
const TimerExpires = "checkout.expires"

// Expire handles POST /v1/checkout/sessions/{id}/expire.
func Expire(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	cs, err := Sessions.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	if cs.Status != statusOpen {
		return nil, form.Refuse("", "", "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of %s.", cs.Status)
	}
	return cs, closeSession(ctx, c.Step, cs)
}

// ExpireDue expires a session when its timer fires.
func ExpireDue(ctx context.Context, st *kernel.Step, id string) error {
	cs, err := Sessions.Get(ctx, st.Q, id, "id")
	if err != nil || cs.Status != statusOpen {
		return err
	}
	return closeSession(ctx, st, cs)
}

// closeSession expires an open session.
func closeSession(ctx context.Context, st *kernel.Step, cs *Session) error {
	cs.Status, cs.URL = statusExpired, nil
	if err := kernel.Put(ctx, st.Q, cs); err != nil {
		return err
	}
	if err := st.StopTimer(ctx, TimerExpires, cs.ID); err != nil {
		return err
	}
	return st.Emit(ctx, "checkout.session.expired", cs, nil)
}

// ItemsOf returns the line items of a session, as in checkout.session.line_items.
func ItemsOf(ctx context.Context, q kernel.Querier, sessionID string) (any, error) {
	state, err := sales.Get(ctx, q, sessionID, "id")
	if err != nil {
		return nil, err
	}
	return form.NewList("/v1/checkout/sessions/"+sessionID+"/line_items", state.Items), nil
}

// CloseAll expires all open sessions of a customer.
func CloseAll(ctx context.Context, st *kernel.Step, cu *customers.Customer) error {
	open, err := Sessions.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.status' = 'open'`, cu.ID)
	if err != nil {
		return err
	}
	for _, session := range open {
		if err := closeSession(ctx, st, session); err != nil {
			return err
		}
	}
	return nil
}

// recordOutcome records the outcome of the debit that pays a subscription's first invoice. It does
// nothing if the invoice does not belong to a session.
func recordOutcome(ctx context.Context, st *kernel.Step, in *invoices.Invoice, paid bool) error {
	waiting, err := Sessions.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.invoice' = ? AND doc ->> '$.payment_status' = ?`,
		in.Customer, in.ID, paymentUnpaid)
	if err != nil || len(waiting) == 0 {
		return err
	}
	return waiting[0].settle(ctx, st, paid)
}

// settle records the outcome of a delayed payment and emits the session's event.
func (cs *Session) settle(ctx context.Context, st *kernel.Step, paid bool) error {
	if !paid {
		return st.Create(ctx, "checkout.session.async_payment_failed", cs)
	}
	cs.PaymentStatus = paymentPaid
	return st.Create(ctx, "checkout.session.async_payment_succeeded", cs)
}
