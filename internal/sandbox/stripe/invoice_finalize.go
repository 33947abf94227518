package stripe

import (
	"context"
	"fmt"
)

// finalize numbers an invoice, settles it with the customer's balance and makes
// the rest due. One with nothing due is paid by that.
func (st *step) finalize(ctx context.Context, in *invoice) error {
	cu, err := customers.get(ctx, st.q, in.Customer, "customer")
	if err != nil {
		return err
	}
	if err := st.measureAgain(ctx, in); err != nil {
		return err
	}
	before := *cu
	number := fmt.Sprintf("%s-%04d", cu.InvoicePrefix, cu.NextInvoiceSequence)
	left := in.setBalance(cu)
	cu.NextInvoiceSequence++
	cu.Currency, cu.Balance = &in.Currency, left
	if err := st.change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	now, pdf := st.now, st.site+invoicePDFPath(in.ID)
	in.Status, in.Number, in.InvoicePDF, in.EndingBalance = invoiceOpen, &number, &pdf, &left
	in.EffectiveAt, in.StatusTransitions.FinalizedAt, in.AutomaticallyFinalizes = &now, &now, nil
	if err := st.stopTimer(ctx, timerInvoiceFinalizes, in.ID); err != nil {
		return err
	}
	if err := st.create(ctx, "invoice.finalized", in); err != nil {
		return err
	}
	if in.AmountDue == 0 {
		in.Attempted = true
		return st.markPaid(ctx, in)
	}
	description := map[string]string{
		reasonCreate: "Subscription creation", reasonCycle: "Subscription renewal", reasonUpdate: "Subscription update",
	}[in.BillingReason]
	pi, err := st.intend(ctx, in.AmountDue, in.Currency, description, in.Customer)
	if err != nil {
		return err
	}
	payment := invoicePayment{
		header: invoicePayments.start(now), AmountRequested: in.AmountDue,
		Currency: in.Currency, Invoice: in.ID, IsDefault: true, Status: "open",
	}
	payment.Payment.Type, payment.Payment.PaymentIntent = "payment_intent", pi.ID
	return put(ctx, st.q, payment)
}

// markPaid ends an invoice well.
func (st *step) markPaid(ctx context.Context, in *invoice) error {
	now := st.now
	in.Status, in.StatusTransitions.PaidAt = invoicePaid, &now
	in.AmountPaid, in.AmountRemaining, in.NextPaymentAttempt = in.AmountDue, 0, nil
	if err := st.stopTimer(ctx, timerInvoiceRetries, in.ID); err != nil {
		return err
	}
	if err := st.create(ctx, "invoice.paid", in); err != nil {
		return err
	}
	return st.emit(ctx, "invoice.payment_succeeded", in, nil)
}

// collect has an open invoice paid with a card, and returns the refusal of it.
// Without a card there is no payment to try, which is a refusal, too. A debit of
// a bank account leaves the invoice open until it is settled, and nothing else
// may pay it as long.
func (st *step) collect(ctx context.Context, in *invoice, pm *paymentMethod, present presence) (refused *paymentError, err error) {
	payment, pi, err := st.openPayment(ctx, in)
	if err != nil {
		return nil, err
	}
	if pi.Status == paymentProcessing {
		return nil, refuse("", "payment_intent_unexpected_state", "A payment of this invoice is still processing.")
	}
	in.Attempted, in.AttemptCount = true, max(in.AttemptCount, 1)
	if pm != nil {
		if err := st.try(ctx, pi, pm, present); err != nil {
			return nil, err
		}
	}
	if pi.Status == paymentProcessing {
		return nil, put(ctx, st.q, in)
	}
	if pi.Status != "succeeded" {
		if refused = pi.LastPaymentError; refused == nil || pm == nil {
			refused = noPaymentMethod()
		}
		return refused, nil
	}
	return nil, st.paid(ctx, payment, in)
}

// paid ends an invoice whose payment has succeeded.
func (st *step) paid(ctx context.Context, payment *invoicePayment, in *invoice) error {
	now, amount := st.now, in.AmountDue
	payment.Status, payment.AmountPaid, payment.StatusTransitions.PaidAt = "paid", &amount, &now
	if err := st.create(ctx, "invoice_payment.paid", payment); err != nil {
		return err
	}
	if err := st.markPaid(ctx, in); err != nil {
		return err
	}
	return st.setDelinquent(ctx, in.Customer, false)
}

// underWay tells that an open invoice waits for the end of a debit.
func (st *step) underWay(ctx context.Context, in *invoice) (bool, error) {
	if in.Status != invoiceOpen {
		return false, nil
	}
	_, pi, err := st.openPayment(ctx, in)
	return err == nil && pi.Status == paymentProcessing, err
}

func noPaymentMethod() *paymentError {
	return &paymentError{
		Code: "resource_missing", Type: "invalid_request_error",
		Message: "This customer has no attached payment source or default payment method.",
	}
}

// openPayment finds the payment that an open invoice waits for.
func (st *step) openPayment(ctx context.Context, in *invoice) (*invoicePayment, *paymentIntent, error) {
	open, err := invoicePayments.where(ctx, st.q, `doc ->> '$.invoice' = ? AND doc ->> '$.status' = 'open'`, in.ID)
	if err != nil {
		return nil, nil, err
	}
	if len(open) != 1 {
		return nil, nil, fmt.Errorf("invoice %s has %d open payments", in.ID, len(open))
	}
	pi, err := paymentIntents.get(ctx, st.q, open[0].Payment.PaymentIntent, "payment_intent")
	return open[0], pi, err
}
