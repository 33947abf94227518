package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// retryDays returns the number of days before each retry of a failed payment. If the last attempt
// fails, the dunning settings apply.
func retryDays() []int64 { return []int64{3, 5, 7} }

// dunningOutcomes returns the possible statuses of a subscription after the last failed attempt.
func dunningOutcomes() []string {
	return []string{StatusCanceled, StatusUnpaid, StatusPastDue}
}

var dunningRecords = kernel.Kind[dunning]{Name: "sandbox.dunning"}

// dunning is the setting for unpaid subscriptions.
type dunning struct {
	kernel.Header
	Outcome string `json:"outcome"`
}

// readDunning reads the setting. The default outcome is canceled.
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

// finalizeDue finalizes and collects a draft when its timer fires.
func finalizeDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.StatusDraft {
		return err
	}
	if in.IsSent() {
		return finalizeSent(ctx, st, in)
	}
	return settleInvoiceDue(ctx, st, in)
}

// retryDue retries the collection of an invoice.
func retryDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.StatusOpen {
		return err
	}
	in.AttemptCount++
	return settleInvoiceDue(ctx, st, in)
}

// settleInvoiceDue collects an invoice and stores its subscription, unless a debit for it is
// pending.
func settleInvoiceDue(ctx context.Context, st *kernel.Step, in *invoices.Invoice) error {
	if status, err := invoices.PaymentStatus(ctx, st, in); err != nil || status == payments.StatusProcessing {
		return err
	}
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if _, err := settleInvoice(ctx, st, sub, in); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// paymentFailed records the failed payment of an open invoice and schedules the next attempt. It
// changes the subscription's status; the caller stores it.
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

// storeFailure stores an invoice whose payment failed and emits the events.
func storeFailure(ctx context.Context, st *kernel.Step, in *invoices.Invoice, why *customers.PaymentError) error {
	before, err := invoices.All.Get(ctx, st.Q, in.ID, "id")
	if err != nil {
		return err
	}
	if err := st.Change(ctx, "invoice.updated", before, in); err != nil {
		return err
	}
	if why.RequiresAction() {
		if err := st.Emit(ctx, "invoice.payment_action_required", in, nil); err != nil {
			return err
		}
	}
	return st.Emit(ctx, "invoice.payment_failed", in, nil)
}

// planRetry sets the time of the next attempt, unless it is already set. It reports whether this
// was the last attempt.
func planRetry(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (last bool, err error) {
	planned, days := in.NextPaymentAttempt, retryDays()
	switch {
	case planned != nil && *planned > st.Now:
		return false, nil // this was a manual attempt
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

// endDunning applies the dunning settings to the subscription after the last failed attempt.
func endDunning(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	settings, err := readDunning(ctx, st)
	if err != nil || sub.Status != StatusPastDue {
		return err
	}
	switch settings.Outcome {
	case StatusCanceled:
		sub.cancel(canceledByFailure, st.Now)
		return nil // storing the canceled subscription stops the collection of its invoices
	case StatusUnpaid:
		sub.Status = StatusUnpaid
		return stopCollecting(ctx, st, sub)
	}
	return nil
}
