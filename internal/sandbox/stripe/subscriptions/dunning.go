package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// retryDays is how many days after each failure of an invoice's payment it is
// tried again. After the last of them the dunning settings decide.
func retryDays() []int64 { return []int64{3, 5, 7} }

// dunningOutcomes are what a subscription can become when the last retry has
// failed.
func dunningOutcomes() []string {
	return []string{Canceled, Unpaid, PastDue}
}

var dunningRecords = kernel.Kind[dunning]{Name: "sandbox.dunning"}

// dunning is the setting of what happens to subscriptions that nobody pays.
type dunning struct {
	kernel.Header
	Outcome string `json:"outcome"`
}

func readDunning(ctx context.Context, st *kernel.Step) (dunning, error) {
	kept, err := dunningRecords.Find(ctx, st.Q, dunningRecords.Name)
	if err == nil && kept != nil {
		return *kept, nil
	}
	return dunning{Outcome: Canceled}, err
}

// invoiceFinalizes ends the time in which an invoice was a draft.
func FinalizeDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.Draft {
		return err
	}
	return settleInvoiceDue(ctx, st, in, customers.BuyerAbsent)
}

// invoiceRetries tries again what could not be paid before.
func RetryDue(ctx context.Context, st *kernel.Step, id string) error {
	in, err := invoices.All.Get(ctx, st.Q, id, "id")
	if err != nil || in.Status != invoices.Open {
		return err
	}
	in.AttemptCount++
	return settleInvoiceDue(ctx, st, in, customers.BuyerAbsent)
}

// demandDue collects an invoice whose time has come, unless a debit for it is
// under way.
func settleInvoiceDue(ctx context.Context, st *kernel.Step, in *invoices.Invoice, present customers.Presence) error {
	if waiting, err := invoices.DebitPending(ctx, st, in); err != nil || waiting {
		return err
	}
	sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if _, err := settleInvoiceWith(ctx, st, sub, in, nil, present); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// paymentFailed keeps an open invoice that could not be paid and plans the next
// attempt. The subscription's state follows; the caller stores it.
func paymentFailed(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) error {
	before, err := invoices.All.Get(ctx, st.Q, in.ID, "id")
	if err != nil {
		return err
	}
	last, err := planRetry(ctx, st, sub, in)
	if err != nil {
		return err
	}
	if sub.Status == Active {
		sub.Status = PastDue
	}
	if err := st.Change(ctx, "invoice.updated", before, in); err != nil {
		return err
	}
	if err := st.Emit(ctx, "invoice.payment_failed", in, nil); err != nil {
		return err
	}
	if err := customers.SetDelinquent(ctx, st, sub.Customer, true); err != nil || !last {
		return err
	}
	return endDunning(ctx, st, sub)
}

// planRetry sets when an invoice is tried again, unless that is set already. It
// tells whether this was the last time.
func planRetry(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (last bool, err error) {
	planned, days := in.NextPaymentAttempt, retryDays()
	switch {
	case planned != nil && *planned > st.Now:
		return false, nil // somebody tried in between
	case !in.AutoAdvance || !sub.Running():
		return false, nil
	case in.AttemptCount > int64(len(days)):
		in.NextPaymentAttempt = nil
		return planned != nil, nil
	}
	next := st.Now + days[in.AttemptCount-1]*24*60*60
	in.NextPaymentAttempt = &next
	return false, st.SetTimer(ctx, invoices.TimerRetries, in.ID, next)
}

// giveUp is what happens once the last retry has failed.
func endDunning(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	settings, err := readDunning(ctx, st)
	if err != nil || sub.Status != PastDue {
		return err
	}
	switch settings.Outcome {
	case Canceled:
		sub.cancel(canceledByFailure, st.Now)
		return nil // its invoices are left alone once it is stored
	case Unpaid:
		sub.Status = Unpaid
		return stopCollecting(ctx, st, sub)
	}
	return nil
}
