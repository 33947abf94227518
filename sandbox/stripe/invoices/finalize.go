package invoices

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// Finalize numbers a draft, applies the customer's balance and opens a payment for the amount due.
// If the amount due is zero, it marks the invoice as paid.
func Finalize(ctx context.Context, st *kernel.Step, in *Invoice) error {
	cu, err := customers.All.Get(ctx, st.Q, in.Customer, "customer")
	if err != nil {
		return err
	}
	if err := remeasure(ctx, st, in); err != nil {
		return err
	}
	before := *cu
	number := fmt.Sprintf("%s-%04d", cu.InvoicePrefix, cu.NextInvoiceSequence)
	left := in.SetBalance(cu)
	cu.NextInvoiceSequence++
	cu.Currency, cu.Balance = &in.Currency, left
	if err := st.Change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	if err := in.SetCustomer(ctx, st, cu); err != nil {
		return err
	}
	now := st.Now
	in.Status, in.Number, in.EndingBalance = StatusOpen, &number, &left
	in.link(st.Site)
	in.EffectiveAt, in.StatusTransitions.FinalizedAt, in.AutomaticallyFinalizes = &now, &now, nil
	if err := in.setDueDate(ctx, st); err != nil {
		return err
	}
	if err := st.StopTimer(ctx, TimerFinalizes, in.ID); err != nil {
		return err
	}
	if err := st.Create(ctx, "invoice.finalized", in); err != nil {
		return err
	}
	if in.AmountDue == 0 {
		in.Attempted = true
		return markPaid(ctx, st, in)
	}
	description := map[string]string{
		ReasonCreate: "Subscription creation", ReasonCycle: "Subscription renewal", ReasonUpdate: "Subscription update",
		ReasonPending: "Subscription update",
	}[in.BillingReason]
	pi, err := payments.Create(ctx, st, in.AmountDue, in.Currency, description, in.Customer)
	if err != nil {
		return err
	}
	payment := Payment{
		Header: Payments.Start(now), AmountRequested: in.AmountDue,
		Currency: in.Currency, Invoice: in.ID, IsDefault: true, Status: "open",
	}
	payment.Payment.Type, payment.Payment.PaymentIntent = "payment_intent", pi.ID
	return kernel.Put(ctx, st.Q, payment)
}

// setDueDate moves the due date of a sent invoice that is being finalized, and sets its timer. The
// days until due count from now instead of from the creation of the draft.
func (in *Invoice) setDueDate(ctx context.Context, st *kernel.Step) error {
	if in.DueDate == nil {
		return nil
	}
	due := st.Now + *in.DueDate - in.Created
	in.DueDate, in.NextPaymentAttempt = &due, nil
	return st.SetTimer(ctx, TimerDue, in.ID, due)
}

// markPaid marks an invoice as paid.
func markPaid(ctx context.Context, st *kernel.Step, in *Invoice) error {
	now := st.Now
	in.Status, in.StatusTransitions.PaidAt = StatusPaid, &now
	in.AmountPaid, in.AmountRemaining, in.NextPaymentAttempt = in.AmountDue, 0, nil
	for _, timer := range []string{TimerRetries, TimerDue} {
		if err := st.StopTimer(ctx, timer, in.ID); err != nil {
			return err
		}
	}
	if err := st.Create(ctx, "invoice.paid", in); err != nil {
		return err
	}
	return st.Emit(ctx, "invoice.payment_succeeded", in, nil)
}

// Collect tries to pay an open invoice. It returns the reason if the payment was refused, or nil. A
// nil pm counts as refused. A debit leaves the invoice open until it is settled; other payments of
// the invoice are refused until then.
func Collect(ctx context.Context, st *kernel.Step, in *Invoice, pm *customers.PaymentMethod, present customers.Presence) (refused *customers.PaymentError, err error) {
	payment, pi, err := openPayment(ctx, st, in)
	if err != nil {
		return nil, err
	}
	if pi.Status == payments.StatusProcessing {
		return nil, form.Refuse("", "payment_intent_unexpected_state", "A payment of this invoice is still processing.")
	}
	in.Attempted, in.AttemptCount = true, max(in.AttemptCount, 1)
	if pm != nil {
		if err := payments.Pay(ctx, st, pi, pm, present); err != nil {
			return nil, err
		}
	}
	if pi.Status == payments.StatusProcessing {
		return nil, kernel.Put(ctx, st.Q, in)
	}
	switch {
	case pm == nil:
		return customers.NewNoPaymentMethodError(), nil
	case pi.Status == payments.StatusRequiresAction:
		return customers.NewUnconfirmedError(), nil
	case pi.Status != "succeeded":
		return pi.LastPaymentError, nil
	}
	return nil, CompletePayment(ctx, st, payment, in)
}

// Authenticate records whether the payer of an open invoice confirmed the payment. It returns the
// reason why the invoice is not paid, or nil. It returns kernel.ErrNotFound if the payment does not
// wait for a confirmation.
func Authenticate(ctx context.Context, st *kernel.Step, in *Invoice, confirmed bool) (refused *customers.PaymentError, err error) {
	payment, pi, err := openPayment(ctx, st, in)
	switch {
	case err != nil:
		return nil, err
	case pi.Status != payments.StatusRequiresAction:
		return nil, kernel.ErrNotFound
	case !confirmed:
		return customers.NewAuthenticationError(), payments.FailConfirmation(ctx, st, pi)
	}
	if err := payments.Confirm(ctx, st, pi); err != nil {
		return nil, err
	}
	return nil, CompletePayment(ctx, st, payment, in)
}

// CompletePayment marks an invoice and its payment as paid.
func CompletePayment(ctx context.Context, st *kernel.Step, payment *Payment, in *Invoice) error {
	now, amount := st.Now, in.AmountDue
	payment.Status, payment.AmountPaid, payment.StatusTransitions.PaidAt = "paid", &amount, &now
	if err := st.Create(ctx, "invoice_payment.paid", payment); err != nil {
		return err
	}
	if err := markPaid(ctx, st, in); err != nil {
		return err
	}
	return customers.SetDelinquent(ctx, st, in.Customer, false)
}

// PayOutOfBand marks an open invoice as paid outside of Stripe. It cancels the payment, so that no
// charge is made.
func (in *Invoice) PayOutOfBand(ctx context.Context, st *kernel.Step) error {
	if err := cancelPayment(ctx, st, in, nil); err != nil {
		return err
	}
	in.Attempted = true
	if err := markPaid(ctx, st, in); err != nil {
		return err
	}
	return customers.SetDelinquent(ctx, st, in.Customer, false)
}

// PaymentStatus returns the status of an open invoice's payment. It returns "" for all other
// invoices.
func PaymentStatus(ctx context.Context, st *kernel.Step, in *Invoice) (string, error) {
	if in.Status != StatusOpen {
		return "", nil
	}
	_, pi, err := openPayment(ctx, st, in)
	if err != nil {
		return "", err
	}
	return pi.Status, nil
}

// openPayment returns the open payment of an invoice.
func openPayment(ctx context.Context, st *kernel.Step, in *Invoice) (*Payment, *payments.Intent, error) {
	open, err := Payments.FindWhere(ctx, st.Q, `doc ->> '$.invoice' = ? AND doc ->> '$.status' = 'open'`, in.ID)
	if err != nil {
		return nil, nil, err
	}
	if len(open) != 1 {
		return nil, nil, fmt.Errorf("invoice %s has %d open payments", in.ID, len(open))
	}
	pi, err := payments.Intents.Get(ctx, st.Q, open[0].Payment.PaymentIntent, "payment_intent")
	return open[0], pi, err
}

// SetCustomer copies the customer's details to the invoice. A draft follows changes of the
// customer; a finalized invoice does not.
func (in *Invoice) SetCustomer(ctx context.Context, st *kernel.Step, cu *customers.Customer) error {
	in.CustomerAddress, in.CustomerEmail, in.CustomerName, in.CustomerPhone = cu.Address, cu.Email, cu.Name, cu.Phone
	in.CustomerTaxExempt = cu.TaxExempt
	var err error
	in.CustomerTaxIDs, err = customers.TaxIDLines(ctx, st.Q, cu.ID)
	return err
}

// SetBalance applies the customer's current balance to the invoice and returns the remaining
// balance.
func (in *Invoice) SetBalance(cu *customers.Customer) (left int64) {
	in.StartingBalance = cu.Balance
	in.AmountDue, left = billing.ApplyBalance(in.Total, cu.Balance)
	in.AmountRemaining = in.AmountDue
	return left
}

// link sets the URLs of an invoice's pages.
func (in *Invoice) link(site string) {
	page, pdf := site+PagePath(in.ID), site+PDFPath(in.ID)
	in.HostedInvoiceURL, in.InvoicePDF = &page, &pdf
}

// MoveLinks updates the links of all invoices to the sandbox's current address, which may have
// changed since they were finalized.
func MoveLinks(ctx context.Context, st *kernel.Step) error {
	moved, err := All.FindWhere(ctx, st.Q, `doc ->> '$.hosted_invoice_url' IS NOT NULL AND doc ->> '$.hosted_invoice_url' <> ? || id`, st.Site+PagePath(""))
	if err != nil {
		return err
	}
	for _, in := range moved {
		in.link(st.Site)
		if err := kernel.Put(ctx, st.Q, *in); err != nil {
			return err
		}
	}
	return nil
}
