package payments

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// debitDuration is the time until the outcome of a debit is known, by the injected clock.
const debitDuration = 5 * 24 * time.Hour

// TimerDebitSettles fires when the outcome of a debit is known.
const TimerDebitSettles = "payment_intent.settles"

// chargeDebit is the bank account of a charge.
type chargeDebit struct {
	BankCode    string    `json:"bank_code"`
	BranchCode  string    `json:"branch_code"`
	Country     string    `json:"country"`
	Fingerprint string    `json:"fingerprint"`
	Last4       string    `json:"last4"`
	Mandate     form.Null `json:"mandate"`
}

// startDebit starts a payment from a bank account and sets the timer for its outcome.
func startDebit(ctx context.Context, st *kernel.Step, pi *Intent, pm *customers.PaymentMethod) error {
	ch := newCharge(pi, pm, st.Now)
	ch.Status, ch.Paid = "pending", false
	pi.Status, pi.LatestCharge, pi.PaymentMethod, pi.LastPaymentError, pi.NextAction = StatusProcessing, &ch.ID, &pm.ID, nil, nil
	pi.PaymentMethodTypes = []string{customers.MethodDebit}
	if err := st.Create(ctx, "charge.pending", ch); err != nil {
		return err
	}
	if err := st.Create(ctx, "payment_intent.processing", pi); err != nil {
		return err
	}
	return st.SetTimer(ctx, TimerDebitSettles, pi.ID, st.Now+int64(debitDuration/time.Second))
}

// Debit is a payment from a bank account whose outcome becomes known.
type Debit struct {
	Intent *Intent
	charge *Charge
}

// FindDebit returns the debit of an intent. It returns kernel.ErrNotFound if the intent is not
// processing.
func FindDebit(ctx context.Context, st *kernel.Step, intentID string) (Debit, error) {
	pi, err := Intents.Get(ctx, st.Q, intentID, "id")
	if err != nil {
		return Debit{}, err
	}
	if pi.Status != StatusProcessing {
		return Debit{}, kernel.ErrNotFound
	}
	ch, err := Charges.Get(ctx, st.Q, *pi.LatestCharge, "charge")
	return Debit{pi, ch}, err
}

// Settle records the outcome of a debit, which depends on the test account. It reports whether the
// intent is paid.
func (d Debit) Settle(ctx context.Context, st *kernel.Step) (paid bool, err error) {
	if d.charge.PaymentMethodDetails.SepaDebit.Last4 == "3001" {
		return false, d.fail(ctx, st)
	}
	d.charge.Status, d.charge.Paid = "succeeded", true
	if err := st.Create(ctx, "charge.succeeded", d.charge); err != nil {
		return false, err
	}
	d.Intent.Status, d.Intent.AmountReceived = "succeeded", d.Intent.Amount
	return true, st.Create(ctx, "payment_intent.succeeded", d.Intent)
}

func (d Debit) fail(ctx context.Context, st *kernel.Step) error {
	ch, pi := d.charge, d.Intent
	code, message := "insufficient_funds", "The customer's account has insufficient funds to cover this payment."
	ch.Status, ch.Captured, ch.AmountCaptured = "failed", false, 0
	ch.FailureCode, ch.FailureMessage = &code, &message
	if err := st.Create(ctx, "charge.failed", ch); err != nil {
		return err
	}
	pi.Status, pi.PaymentMethod = requiresMethod, nil
	pi.LastPaymentError = &customers.PaymentError{Charge: ch.ID, Code: code, Message: message, Type: "invalid_request_error"}
	return st.Create(ctx, "payment_intent.payment_failed", pi)
}
