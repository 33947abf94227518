package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// invoiceOf returns the invoice in the request's path and its subscription. The subscription is nil
// for the invoice of a one-time payment, which is always paid.
func invoiceOf(ctx context.Context, c *kernel.Call) (*invoices.Invoice, *Subscription, error) {
	in, err := invoices.All.Get(ctx, c.Q, c.ID, "id")
	if err != nil || in.SubscriptionID() == "" {
		return in, nil, err
	}
	sub, err := All.Get(ctx, c.Q, in.SubscriptionID(), "subscription")
	return in, sub, err
}

// finalizeInvoice handles POST /v1/invoices/{id}/finalize. It finalizes a draft early. If automatic
// collection is on, the invoice is collected an hour later.
func finalizeInvoice(ctx context.Context, c *kernel.Call) (any, error) {
	in, sub, err := invoiceOf(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Params.Boolean("auto_advance", &in.AutoAdvance)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if in.Status != invoices.StatusDraft {
		return nil, form.Refuse("", "invoice_not_editable", "This invoice is already finalized, you can't re-finalize a non-draft invoice.")
	}
	if in.NextPaymentAttempt = nil; in.AutoAdvance && !sub.IsEnded() && !in.IsSent() {
		next := c.Now + draftLife
		in.NextPaymentAttempt = &next
		if err := c.SetTimer(ctx, invoices.TimerRetries, in.ID, next); err != nil {
			return nil, err
		}
	}
	before := sub.Clone()
	if err := invoices.Finalize(ctx, c.Step, in); err != nil {
		return nil, err
	}
	if in.Status == invoices.StatusPaid {
		if err := paymentSucceeded(ctx, c.Step, sub); err != nil {
			return nil, err
		}
	}
	return in, Save(ctx, c.Step, before, sub)
}

// payInvoice handles POST /v1/invoices/{id}/pay. It collects an invoice now, with the given payment
// method or else the subscription's. A declined payment returns 402 but is recorded.
func payInvoice(ctx context.Context, c *kernel.Call) (any, error) {
	in, sub, err := invoiceOf(ctx, c)
	if err != nil {
		return nil, err
	}
	var given *string
	absent := true
	c.Params.ReadClearable("payment_method", &given)
	c.Params.Boolean("off_session", &absent)
	outOfBand := false
	c.Params.Boolean("paid_out_of_band", &outOfBand)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	switch in.Status {
	case invoices.StatusPaid:
		return nil, form.Refuse("", "", "Invoice is already paid")
	case invoices.StatusVoid:
		return nil, form.Refuse("", "invoice_not_editable", "You can only pay an invoice that is open, draft or uncollectible. This invoice is void.")
	}
	if err := customers.CheckCard(ctx, c.Step, given, in.Customer, "payment_method"); err != nil {
		return nil, err
	}
	before := sub.Clone()
	if outOfBand {
		if err := payOutOfBand(ctx, c.Step, sub, in); err != nil {
			return nil, err
		}
		return in, Save(ctx, c.Step, before, sub)
	}
	refused, err := settleInvoiceWith(ctx, c.Step, sub, in, given, customers.BuyerAbsent)
	if err != nil {
		return nil, err
	}
	if err := Save(ctx, c.Step, before, sub); err != nil {
		return nil, err
	}
	if refused != nil {
		return refused.Answer(customers.PaysInvoice), nil
	}
	return in, nil
}

// payOutOfBand records that an invoice was paid outside of Stripe, without a charge
// (https://docs.stripe.com/api/invoices/pay, paid_out_of_band). It finalizes a draft first. The
// caller stores the subscription.
func payOutOfBand(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) error {
	if in.Status == invoices.StatusDraft {
		if err := invoices.Finalize(ctx, st, in); err != nil {
			return err
		}
	}
	if in.Status != invoices.StatusPaid {
		if err := in.PayOutOfBand(ctx, st); err != nil {
			return err
		}
	}
	return recordOutcome(ctx, st, sub, in, nil)
}

// CompleteCredited marks an open invoice as paid after credit notes have reduced its amount due to
// zero (https://docs.stripe.com/api/credit_notes/create).
func CompleteCredited(ctx context.Context, st *kernel.Step, in *invoices.Invoice) error {
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil {
		return err
	}
	before := sub.Clone()
	if err := payOutOfBand(ctx, st, sub, in); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}

// voidInvoice handles POST /v1/invoices/{id}/void. It voids an open invoice and restores the
// customer's balance.
func voidInvoice(ctx context.Context, c *kernel.Call) (any, error) {
	in, sub, err := invoiceOf(ctx, c)
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoices.StatusOpen && in.Status != invoices.StatusUncollectible {
		return nil, form.Refuse("", "invoice_not_editable", "You can only pass in open invoices. This invoice isn't open.")
	}
	return in, closeUnpaid(ctx, c.Step, in, sub, invoices.StatusVoid)
}

// deleteInvoice handles DELETE /v1/invoices/{id} and always refuses the request. Only drafts
// without a subscription can be deleted, and the sandbox drafts invoices only for subscriptions.
func deleteInvoice(ctx context.Context, c *kernel.Call) (any, error) {
	in, _, err := invoiceOf(ctx, c)
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoices.StatusDraft {
		return nil, form.Refuse("", "invoice_not_editable", "You can only delete draft invoices. This invoice is %s.", in.Status)
	}
	return nil, form.Refuse("", "", "You can't delete an invoice of a subscription. Finalize it and void it instead.")
}

// markUncollectible handles POST /v1/invoices/{id}/mark_uncollectible. It writes off an open
// invoice.
func markUncollectible(ctx context.Context, c *kernel.Call) (any, error) {
	in, sub, err := invoiceOf(ctx, c)
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoices.StatusOpen {
		return nil, form.Refuse("", "invoice_not_editable", "You can only pass in open invoices. This invoice isn't open.")
	}
	return in, closeUnpaid(ctx, c.Step, in, sub, invoices.StatusUncollectible)
}

// closeUnpaid closes an invoice without a payment. If the subscription was waiting for the payment,
// it becomes active, or expires if this was the first payment.
func closeUnpaid(ctx context.Context, st *kernel.Step, in *invoices.Invoice, sub *Subscription, status string) error {
	before := sub.Clone()
	if status == invoices.StatusVoid && sub.waitsFor(in) {
		if err := dropPendingOf(ctx, st, sub, in); err != nil {
			return err
		}
		return Save(ctx, st, before, sub)
	}
	if err := invoices.Close(ctx, st, in, status); err != nil {
		return err
	}
	if sub.Status == StatusIncomplete {
		sub.expire(st.Now)
	} else if err := paymentSucceeded(ctx, st, sub); err != nil {
		return err
	}
	return Save(ctx, st, before, sub)
}
