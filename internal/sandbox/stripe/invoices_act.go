package stripe

import (
	"context"
)

// invoiceOf reads the invoice that a call is about, and its subscription.
func (c *call) invoiceOf(ctx context.Context) (*invoice, *subscription, error) {
	in, err := invoices.get(ctx, c.q, c.id, "id")
	if err != nil {
		return nil, nil, err
	}
	sub, err := subscriptions.get(ctx, c.q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	return in, sub, err
}

// finalizeInvoice makes a draft due before its time. It is collected, if at all,
// an hour later.
func finalizeInvoice(ctx context.Context, c *call) (any, error) {
	in, sub, err := c.invoiceOf(ctx)
	if err != nil {
		return nil, err
	}
	c.params.boolean("auto_advance", &in.AutoAdvance)
	if err := c.params.done(); err != nil {
		return nil, err
	}
	if in.Status != invoiceDraft {
		return nil, refuse("", "invoice_not_editable", "This invoice is already finalized, you can't re-finalize a non-draft invoice.")
	}
	if in.NextPaymentAttempt = nil; in.AutoAdvance && !sub.ended() {
		next := c.now + draftLife
		in.NextPaymentAttempt = &next
		if err := c.setTimer(ctx, timerInvoiceRetries, in.ID, next); err != nil {
			return nil, err
		}
	}
	before := sub.clone()
	if err := c.finalize(ctx, in); err != nil {
		return nil, err
	}
	if in.Status == invoicePaid {
		if err := c.paymentMade(ctx, sub); err != nil {
			return nil, err
		}
	}
	return in, c.keep(ctx, before, sub)
}

// payInvoice collects an invoice now, with the subscription's card or a given
// one. A declined payment is answered with 402 and leaves its traces.
func payInvoice(ctx context.Context, c *call) (any, error) {
	in, sub, err := c.invoiceOf(ctx)
	if err != nil {
		return nil, err
	}
	var given *string
	absent := true
	c.params.clearable("payment_method", &given)
	c.params.boolean("off_session", &absent)
	if err := c.params.done(); err != nil {
		return nil, err
	}
	switch in.Status {
	case invoicePaid:
		return nil, refuse("", "", "Invoice is already paid")
	case invoiceVoid:
		return nil, refuse("", "invoice_not_editable", "You can only pay an invoice that is open, draft or uncollectible. This invoice is void.")
	}
	if err := c.checkCard(ctx, given, in.Customer, "payment_method"); err != nil {
		return nil, err
	}
	before := sub.clone()
	refused, err := c.demandWith(ctx, sub, in, given, buyerAbsent)
	if err != nil {
		return nil, err
	}
	if err := c.keep(ctx, before, sub); err != nil {
		return nil, err
	}
	if refused != nil {
		return refused.answer(), nil
	}
	return in, nil
}

// voidInvoice takes an open invoice back, and gives back what it took from the
// customer's balance.
func voidInvoice(ctx context.Context, c *call) (any, error) {
	in, sub, err := c.invoiceOf(ctx)
	if err == nil {
		err = c.params.done()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoiceOpen && in.Status != invoiceUncollectible {
		return nil, refuse("", "invoice_not_editable", "You can only pass in open invoices. This invoice isn't open.")
	}
	return in, c.giveUpInvoice(ctx, in, sub, invoiceVoid)
}

// deleteInvoice refuses: only a draft that bills no subscription can be deleted, and
// all invoices here bill one.
func deleteInvoice(ctx context.Context, c *call) (any, error) {
	in, _, err := c.invoiceOf(ctx)
	if err == nil {
		err = c.params.done()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoiceDraft {
		return nil, refuse("", "invoice_not_editable", "You can only delete draft invoices. This invoice is %s.", in.Status)
	}
	return nil, refuse("", "", "You can't delete an invoice of a subscription. Finalize it and void it instead.")
}

// writeOffInvoice stops expecting an open invoice to be paid.
func writeOffInvoice(ctx context.Context, c *call) (any, error) {
	in, sub, err := c.invoiceOf(ctx)
	if err == nil {
		err = c.params.done()
	}
	if err != nil {
		return nil, err
	}
	if in.Status != invoiceOpen {
		return nil, refuse("", "invoice_not_editable", "You can only pass in open invoices. This invoice isn't open.")
	}
	return in, c.giveUpInvoice(ctx, in, sub, invoiceUncollectible)
}

// giveUpInvoice ends an invoice without a payment. A subscription that waited
// for it goes on, or never begins.
func (st *step) giveUpInvoice(ctx context.Context, in *invoice, sub *subscription, status string) error {
	before := sub.clone()
	if err := st.closeInvoice(ctx, in, status); err != nil {
		return err
	}
	if sub.Status == subscriptionIncomplete {
		sub.expire(st.now)
	} else if err := st.paymentMade(ctx, sub); err != nil {
		return err
	}
	return st.keep(ctx, before, sub)
}

// closeInvoice voids an invoice or writes it off.
func (st *step) closeInvoice(ctx context.Context, in *invoice, status string) error {
	now := st.now
	in.Status, in.NextPaymentAttempt, in.AutoAdvance = status, nil, false
	if err := st.stopTimer(ctx, timerInvoiceRetries, in.ID); err != nil {
		return err
	}
	if status == invoiceUncollectible {
		in.StatusTransitions.MarkedUncollectibleAt = &now
		return st.create(ctx, "invoice.marked_uncollectible", in)
	}
	payment, pi, err := st.openPayment(ctx, in)
	switch {
	case err != nil:
		return err
	case pi.Status == paymentProcessing:
		return refuse("", "payment_intent_unexpected_state", "A payment of this invoice is still processing.")
	}
	reason := "void_invoice"
	pi.Status, pi.CanceledAt, pi.CancellationReason = "canceled", &now, &reason
	if err := st.create(ctx, "payment_intent.canceled", pi); err != nil {
		return err
	}
	payment.Status, payment.StatusTransitions.CanceledAt = "canceled", &now
	if err := put(ctx, st.q, payment); err != nil {
		return err
	}
	if err := st.giveBackBalance(ctx, in); err != nil {
		return err
	}
	in.StatusTransitions.VoidedAt = &now
	return st.create(ctx, "invoice.voided", in)
}

func (st *step) giveBackBalance(ctx context.Context, in *invoice) error {
	cu, err := customers.get(ctx, st.q, in.Customer, "customer")
	if err != nil || cu.Deleted {
		return err
	}
	before := *cu
	cu.Balance += in.StartingBalance - *in.EndingBalance
	return st.change(ctx, "customer.updated", before, cu)
}
