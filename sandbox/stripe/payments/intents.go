package payments

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The collections of payment intents and charges.
var (
	Intents = kernel.Kind[Intent]{Name: "payment_intent", Prefix: "pi", Label: "payment_intent", Path: "/v1/payment_intents"}
	Charges = kernel.Kind[Charge]{Name: "charge", Prefix: "ch", Label: "charge", Path: "/v1/charges"}
)

// The statuses of a payment in progress.
const (
	// StatusProcessing means that the outcome of a debit is not known yet.
	StatusProcessing = "processing"
	// StatusRequiresAction means that the payer has to confirm the payment.
	StatusRequiresAction = "requires_action"

	requiresMethod = "requires_payment_method"
)

// Intent is an amount to pay.
type Intent struct {
	kernel.Header
	Amount               int64                   `json:"amount"`
	AmountCapturable     int64                   `json:"amount_capturable"`
	AmountDetails        amountDetails           `json:"amount_details"`
	AmountReceived       int64                   `json:"amount_received"`
	Application          form.Null               `json:"application"`
	ApplicationFeeAmount form.Null               `json:"application_fee_amount"`
	AutomaticMethods     form.Null               `json:"automatic_payment_methods"`
	CanceledAt           *int64                  `json:"canceled_at"`
	CancellationReason   *string                 `json:"cancellation_reason"`
	CaptureMethod        string                  `json:"capture_method"`
	ClientSecret         string                  `json:"client_secret"`
	ConfirmationMethod   string                  `json:"confirmation_method"`
	Currency             string                  `json:"currency"`
	Customer             string                  `json:"customer"`
	Description          *string                 `json:"description"`
	LastPaymentError     *customers.PaymentError `json:"last_payment_error"`
	LatestCharge         *string                 `json:"latest_charge"`
	Metadata             map[string]string       `json:"metadata"`
	NextAction           *nextAction             `json:"next_action"`
	OnBehalfOf           form.Null               `json:"on_behalf_of"`
	PaymentMethod        *string                 `json:"payment_method"`
	MethodConfiguration  form.Null               `json:"payment_method_configuration_details"`
	PaymentMethodOptions struct{}                `json:"payment_method_options"`
	PaymentMethodTypes   []string                `json:"payment_method_types"`
	Processing           form.Null               `json:"processing"`
	ReceiptEmail         *string                 `json:"receipt_email"`
	Review               form.Null               `json:"review"`
	SetupFutureUsage     *string                 `json:"setup_future_usage"`
	Shipping             form.Null               `json:"shipping"`
	StatementDescriptor  form.Null               `json:"statement_descriptor"`
	StatementSuffix      form.Null               `json:"statement_descriptor_suffix"`
	Status               string                  `json:"status"`
	TransferData         form.Null               `json:"transfer_data"`
	TransferGroup        form.Null               `json:"transfer_group"`
}

type amountDetails struct {
	Tip struct{} `json:"tip"`
}

// Charge is one attempt to pay an intent.
type Charge struct {
	kernel.Header
	Amount               int64                    `json:"amount"`
	AmountCaptured       int64                    `json:"amount_captured"`
	AmountRefunded       int64                    `json:"amount_refunded"`
	Application          form.Null                `json:"application"`
	ApplicationFee       form.Null                `json:"application_fee"`
	ApplicationFeeAmount form.Null                `json:"application_fee_amount"`
	BalanceTransaction   form.Null                `json:"balance_transaction"`
	BillingDetails       customers.BillingDetails `json:"billing_details"`
	StatementCalculated  string                   `json:"calculated_statement_descriptor"`
	Captured             bool                     `json:"captured"`
	Currency             string                   `json:"currency"`
	Customer             string                   `json:"customer"`
	Description          *string                  `json:"description"`
	Disputed             bool                     `json:"disputed"`
	FailureTransaction   form.Null                `json:"failure_balance_transaction"`
	FailureCode          *string                  `json:"failure_code"`
	FailureMessage       *string                  `json:"failure_message"`
	FraudDetails         struct{}                 `json:"fraud_details"`
	Metadata             map[string]string        `json:"metadata"`
	OnBehalfOf           form.Null                `json:"on_behalf_of"`
	Outcome              chargeOutcome            `json:"outcome"`
	Paid                 bool                     `json:"paid"`
	PaymentIntent        string                   `json:"payment_intent"`
	PaymentMethod        string                   `json:"payment_method"`
	PaymentMethodDetails chargeMethod             `json:"payment_method_details"`
	ReceiptEmail         *string                  `json:"receipt_email"`
	ReceiptNumber        form.Null                `json:"receipt_number"`
	ReceiptURL           form.Null                `json:"receipt_url"`
	Refunded             bool                     `json:"refunded"`
	Review               form.Null                `json:"review"`
	Shipping             form.Null                `json:"shipping"`
	SourceTransfer       form.Null                `json:"source_transfer"`
	StatementDescriptor  form.Null                `json:"statement_descriptor"`
	StatementSuffix      form.Null                `json:"statement_descriptor_suffix"`
	Status               string                   `json:"status"`
	TransferData         form.Null                `json:"transfer_data"`
	TransferGroup        form.Null                `json:"transfer_group"`
}

type chargeOutcome struct {
	AdviceCode         form.Null `json:"advice_code"`
	NetworkAdviceCode  form.Null `json:"network_advice_code"`
	NetworkDeclineCode form.Null `json:"network_decline_code"`
	NetworkStatus      string    `json:"network_status"`
	Reason             *string   `json:"reason"`
	RiskLevel          string    `json:"risk_level"`
	RiskScore          int       `json:"risk_score"`
	SellerMessage      string    `json:"seller_message"`
	Type               string    `json:"type"`
}

type chargeMethod struct {
	Card      *chargeCard  `json:"card,omitempty"`
	SepaDebit *chargeDebit `json:"sepa_debit,omitempty"`
	Type      string       `json:"type"`
}

type chargeCard struct {
	AmountAuthorized int64                `json:"amount_authorized"`
	Brand            string               `json:"brand"`
	Checks           customers.CardChecks `json:"checks"`
	Country          string               `json:"country"`
	ExpMonth         int                  `json:"exp_month"`
	ExpYear          int                  `json:"exp_year"`
	Fingerprint      string               `json:"fingerprint"`
	Funding          string               `json:"funding"`
	Installments     form.Null            `json:"installments"`
	Last4            string               `json:"last4"`
	Mandate          form.Null            `json:"mandate"`
	Network          string               `json:"network"`
	ThreeDSecure     *authentication      `json:"three_d_secure"`
	Wallet           form.Null            `json:"wallet"`
}

// UsageOffSession is the setup_future_usage of a payment that saves its payment method for payments
// without the customer.
const UsageOffSession = "off_session"

// Create stores an intent for an amount of an invoice, in minor units of the currency. It does not
// start a payment.
func Create(ctx context.Context, st *kernel.Step, amount int64, code, description, customerID string) (*Intent, error) {
	saves := UsageOffSession
	pi := NewIntent(st, amount, code, customerID)
	pi.Description, pi.SetupFutureUsage = &description, &saves
	return pi, st.Create(ctx, "payment_intent.created", pi)
}

// NewIntent returns an intent without storing it.
func NewIntent(st *kernel.Step, amount int64, code, customerID string) *Intent {
	pi := &Intent{
		Header: Intents.Start(st.Now), Amount: amount, Currency: code, Customer: customerID,
		CaptureMethod: "automatic", ConfirmationMethod: "automatic",
		Metadata: map[string]string{}, PaymentMethodTypes: []string{"card"}, Status: requiresMethod,
	}
	pi.ClientSecret = pi.ID + "_secret_" + form.RandomText(24, form.Alphanumeric)
	return pi
}

// Pay tries to pay an intent and records each stage. pi.Status is then the result; a debit is still
// processing.
func Pay(ctx context.Context, st *kernel.Step, pi *Intent, pm *customers.PaymentMethod, present customers.Presence) error {
	if pm.IsDelayed() {
		return startDebit(ctx, st, pi, pm)
	}
	if pm.Authenticates() {
		return requireConfirmation(ctx, st, pi, pm)
	}
	ch := newCharge(pi, pm, st.Now)
	if pm.Declines(present) {
		why := customers.NewDeclinedError()
		why.Charge = ch.ID
		ch.fail(why)
		pi.LatestCharge = &ch.ID
		if err := st.Create(ctx, "charge.failed", ch); err != nil {
			return err
		}
		return pi.fail(ctx, st, why)
	}
	return pi.succeed(ctx, st, ch)
}

// succeed records the charge that pays an intent.
func (pi *Intent) succeed(ctx context.Context, st *kernel.Step, ch *Charge) error {
	if err := st.Create(ctx, "charge.succeeded", ch); err != nil {
		return err
	}
	pi.Status, pi.AmountReceived, pi.LatestCharge, pi.PaymentMethod = "succeeded", pi.Amount, &ch.ID, &ch.PaymentMethod
	pi.LastPaymentError, pi.NextAction = nil, nil
	return st.Create(ctx, "payment_intent.succeeded", pi)
}

// fail records why a payment attempt failed.
func (pi *Intent) fail(ctx context.Context, st *kernel.Step, why *customers.PaymentError) error {
	pi.Status, pi.LastPaymentError, pi.PaymentMethod, pi.NextAction = requiresMethod, why, nil, nil
	return st.Create(ctx, "payment_intent.payment_failed", pi)
}

// fail turns a new charge into a declined charge.
func (ch *Charge) fail(why *customers.PaymentError) {
	ch.Status, ch.Paid, ch.Captured, ch.AmountCaptured = "failed", false, false, 0
	ch.FailureCode, ch.FailureMessage = &why.Code, &why.Message
	ch.Outcome.NetworkStatus, ch.Outcome.Reason, ch.Outcome.Type = "declined_by_network", &why.DeclineCode, "issuer_declined"
	ch.Outcome.SellerMessage = "The bank did not return any further details with this decline."
	ch.PaymentMethodDetails.Card.AmountAuthorized = 0
}

// newCharge returns a successful charge.
func newCharge(pi *Intent, pm *customers.PaymentMethod, now int64) *Charge {
	ch := &Charge{
		Header: Charges.Start(now), Amount: pi.Amount, AmountCaptured: pi.Amount, Captured: true,
		BillingDetails: pm.BillingDetails, StatementCalculated: "SANDBOX", Currency: pi.Currency,
		Customer: pi.Customer, Description: pi.Description, Metadata: pi.Metadata, Paid: true,
		PaymentIntent: pi.ID, PaymentMethod: pm.ID, Status: "succeeded",
		Outcome: chargeOutcome{
			NetworkStatus: "approved_by_network", RiskLevel: "normal", RiskScore: 1,
			SellerMessage: "Payment complete.", Type: "authorized",
		},
		PaymentMethodDetails: chargeMethod{Type: pm.Type},
	}
	if a := pm.SepaDebit; a != nil {
		ch.PaymentMethodDetails.SepaDebit = &chargeDebit{
			BankCode: a.BankCode, BranchCode: a.BranchCode, Country: a.Country, Fingerprint: a.Fingerprint, Last4: a.Last4,
		}
		return ch
	}
	ch.PaymentMethodDetails.Card = &chargeCard{
		AmountAuthorized: pi.Amount, Brand: pm.Card.Brand, Checks: pm.Card.Checks, Country: pm.Card.Country,
		ExpMonth: pm.Card.ExpMonth, ExpYear: pm.Card.ExpYear, Fingerprint: pm.Card.Fingerprint,
		Funding: pm.Card.Funding, Last4: pm.Card.Last4, Network: "visa",
	}
	if pm.Authenticates() {
		ch.PaymentMethodDetails.Card.ThreeDSecure = &authentication{Flow: "challenge", Result: "authenticated", Version: "2.2.0"}
	}
	return ch
}

// GetIntent handles GET /v1/payment_intents/{id}.
func GetIntent(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Intents)
}

// GetCharge handles GET /v1/charges/{id}.
func GetCharge(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Charges)
}

// ListCharges handles GET /v1/charges.
func ListCharges(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "payment_intent", "$.payment_intent")
	return Charges.Page(ctx, c, f)
}
