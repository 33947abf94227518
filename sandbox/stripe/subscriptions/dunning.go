package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// retryDays is how many days pass after each failure of an invoice's payment
// before the next attempt. After the last attempt the dunning settings decide.
func retryDays() []int64 { return []int64{3, 5, 7} }

// dunningOutcomes are the statuses that a subscription can get when the last
// attempt has failed.
func dunningOutcomes() []string {
	return []string{StatusCanceled, StatusUnpaid, StatusPastDue}
}

var dunningRecords = kernel.Kind[dunning]{Name: "sandbox.dunning"}

// dunning is the setting for subscriptions that are not paid.
type dunning struct {
	kernel.Header
	Outcome string `json:"outcome"`
}

// readDunning reads the setting; canceled is the default.
func readDunning(ctx context.Context, st *kernel.Step) (dunning, error) {
	kept, err := dunningRecords.Find(ctx, st.Q, dunningRecords.Name)
	if errors.Is(err, kernel.ErrNotFound) {
		return dunning{Outcome: StatusCanceled}, nil
	}
	if err != nil {
		return dunning{}, err
	}
	return *kept, nil
}

// FinalizeDue finalizes and collects an invoice once it has been a draft for
// long enough.
func FinalizeDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.StatusDraft {
		return err
	}
	return settleInvoiceDue(ctx, st, in)
}

// RetryDue tries again to collect an invoice.
func RetryDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.StatusOpen {
		return err
	}
	in.AttemptCount++
	return settleInvoiceDue(ctx, st, in)
}

// settleInvoiceDue collects an invoice and stores its subscription, unless a
// debit for it is pending.
func settleInvoiceDue(ctx context.Context, st *kernel.Step, in *invoices.Invoice) error {
	if status, err := invoices.PaymentStatus(ctx, st, in); err != nil || status == payments.StatusProcessing {
		return err
	}
	sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if _, err := settleInvoice(ctx, st, sub, in); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// paymentFailed records that an open invoice could not be paid and plans the
// next attempt. It changes the subscription's status; the caller stores it.
func paymentFailed(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice, why *customers.PaymentError) error {
	last, err := planRetry(ctx, st, sub, in)
	if err != nil {
		return err
	}
	if sub.Status == StatusActive {
		sub.Status = StatusPastDue
	}
	if err := storeFailure(ctx, st, in, why); err != nil {
		return err
	}
	if err := customers.SetDelinquent(ctx, st, sub.Customer, true); err != nil || !last {
		return err
	}
	return endDunning(ctx, st, sub)
}

// storeFailure stores an invoice that could not be paid, with the events about
// that.
func storeFailure(ctx context.Context, st *kernel.Step, in *invoices.Invoice, why *customers.PaymentError) error {
	before, err := invoices.All.Get(ctx, st.Q, in.ID, "id")
	if err != nil {
		return err
	}
	if err := st.Change(ctx, "invoice.updated", before, in); err != nil {
		return err
	}
	if why.Waits() {
		if err := st.Emit(ctx, "invoice.payment_action_required", in, nil); err != nil {
			return err
		}
	}
	return st.Emit(ctx, "invoice.payment_failed", in, nil)
}

// planRetry sets the time of the next attempt, unless it is already set. It
// reports whether this was the last attempt.
func planRetry(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (last bool, err error) {
	planned, days := in.NextPaymentAttempt, retryDays()
	switch {
	case planned != nil && *planned > st.Now:
		return false, nil // this was an attempt by hand
	case !in.AutoAdvance || !sub.IsRunning():
		return false, nil
	case in.AttemptCount > int64(len(days)):
		in.NextPaymentAttempt = nil
		return planned != nil, nil
	}
	next := st.Now + days[in.AttemptCount-1]*24*60*60
	in.NextPaymentAttempt = &next
	return false, st.SetTimer(ctx, invoices.TimerRetries, in.ID, next)
}

// endDunning changes the subscription as the settings say, once the last
// attempt has failed.
func endDunning(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	settings, err := readDunning(ctx, st)
	if err != nil || sub.Status != StatusPastDue {
		return err
	}
	switch settings.Outcome {
	case StatusCanceled:
		sub.cancel(canceledByFailure, st.Now)
		return nil // storing it stops the collection of its invoices
	case StatusUnpaid:
		sub.Status = StatusUnpaid
		return stopCollecting(ctx, st, sub)
	}
	return nil
}
