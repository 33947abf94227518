package payments

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// debitTakes is how long it takes until it is known whether a debit of a bank
// account succeeded, by the injected clock.
const debitTakes = 5 * 24 * time.Hour

// TimerDebitSettles goes off when that is known of a payment.
const TimerDebitSettles = "payment_intent.settles"

// chargeDebit is a bank account as a charge shows it.
type chargeDebit struct {
	BankCode    string    `json:"bank_code"`
	BranchCode  string    `json:"branch_code"`
	Country     string    `json:"country"`
	Fingerprint string    `json:"fingerprint"`
	Last4       string    `json:"last4"`
	Mandate     form.Null `json:"mandate"`
}

// debit begins a payment from a bank account, of which the timer tells the end.
func startDebit(ctx context.Context, st *kernel.Step, pi *Intent, pm *customers.PaymentMethod) error {
	ch := newCharge(pi, pm, st.Now)
	ch.Status, ch.Paid = "pending", false
	pi.Status, pi.LatestCharge, pi.PaymentMethod, pi.LastPaymentError = Processing, &ch.ID, &pm.ID, nil
	pi.PaymentMethodTypes = []string{customers.MethodDebit}
	if err := st.Create(ctx, "charge.pending", ch); err != nil {
		return err
	}
	if err := st.Create(ctx, "payment_intent.processing", pi); err != nil {
		return err
	}
	return st.SetTimer(ctx, TimerDebitSettles, pi.ID, st.Now+int64(debitTakes/time.Second))
}
