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
