package payments

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// nextAction is the step that a payer has to take before a payment succeeds. Its contents are for
// Stripe's browser scripts; the sandbox uses a hosted page.
type nextAction struct {
	Type         string `json:"type"`
	UseStripeSDK struct {
		Type   string `json:"type"`
		Source string `json:"source"`
	} `json:"use_stripe_sdk"`
}

// authentication describes how the payer of a charge was authenticated.
type authentication struct {
	Flow          string  `json:"authentication_flow"`
	Indicator     *string `json:"electronic_commerce_indicator"`
	Exemption     *string `json:"exemption_indicator"`
	Result        string  `json:"result"`
	ResultReason  *string `json:"result_reason"`
	TransactionID *string `json:"transaction_id"`
	Version       string  `json:"version"`
}

// requireConfirmation makes a payment wait for the payer's confirmation.
func requireConfirmation(ctx context.Context, st *kernel.Step, pi *Intent, pm *customers.PaymentMethod) error {
	pi.Status, pi.PaymentMethod, pi.LastPaymentError = StatusRequiresAction, &pm.ID, nil
	pi.NextAction = &nextAction{Type: "use_stripe_sdk"}
	pi.NextAction.UseStripeSDK.Type, pi.NextAction.UseStripeSDK.Source = "three_d_secure_redirect", pi.ID
	return st.Create(ctx, "payment_intent.requires_action", pi)
}

// Confirm pays an intent that the payer has confirmed.
func Confirm(ctx context.Context, st *kernel.Step, pi *Intent) error {
	pm, err := customers.PaymentMethods.Get(ctx, st.Q, *pi.PaymentMethod, "payment_method")
	if err != nil {
		return err
	}
	return pi.succeed(ctx, st, newCharge(pi, pm, st.Now))
}

// FailConfirmation ends a payment attempt that the payer did not confirm. The intent can be paid by
// another attempt.
func FailConfirmation(ctx context.Context, st *kernel.Step, pi *Intent) error {
	return pi.fail(ctx, st, customers.NewAuthenticationError())
}
