package stripe

import (
	"context"
	"fmt"
)

// bill makes the first invoice of a subscription, finalizes it and has it paid
// by pm, which may be nil when nothing is due. It tells of each stage.
func (st *step) bill(ctx context.Context, sub *subscription, names []string, cu *customer, pm *paymentMethod) (*invoice, error) {
	in := newInvoice(sub, names, cu, st.now)
	if err := st.create(ctx, "invoice.created", in); err != nil {
		return nil, err
	}
	if err := st.finalize(ctx, in, cu); err != nil {
		return nil, err
	}
	if in.AmountDue > 0 {
		if err := st.payInvoice(ctx, in, pm); err != nil {
			return nil, err
		}
	}
	now := st.now
	in.Status, in.Attempted, in.StatusTransitions.PaidAt = invoicePaid, true, &now
	in.AmountPaid, in.AmountRemaining = in.AmountDue, 0
	if err := st.create(ctx, "invoice.paid", in); err != nil {
		return nil, err
	}
	return in, st.emit(ctx, "invoice.payment_succeeded", in, nil)
}

// newInvoice drafts the invoice for the current period of a subscription; names
// are those of the products of its items.
func newInvoice(sub *subscription, names []string, cu *customer, now int64) *invoice {
	in := &invoice{
		header: invoices.start(now), AccountCountry: accountCountry, AccountName: accountName, AutoAdvance: true,
		BillingReason: "subscription_create", CollectionMethod: sub.CollectionMethod, Currency: sub.Currency,
		Customer: cu.ID, CustomerAddress: cu.Address, CustomerEmail: cu.Email, CustomerName: cu.Name,
		CustomerPhone: cu.Phone, CustomerTaxExempt: cu.TaxExempt, Issuer: self{"self"},
		Metadata: map[string]string{}, PeriodStart: now, PeriodEnd: now, Status: invoiceDraft,
	}
	in.Parent.Type = "subscription_details"
	in.Parent.SubscriptionDetails.Subscription = sub.ID
	in.Parent.SubscriptionDetails.Metadata = sub.Metadata
	lines := make([]invoiceLine, 0, len(sub.Items.Data))
	for i, item := range sub.Items.Data {
		line := newInvoiceLine(sub, item, names[i])
		line.Invoice = in.ID
		in.Total += line.Amount
		lines = append(lines, line)
	}
	in.Lines = newList("/v1/invoices/"+in.ID+"/lines", lines)
	in.Subtotal, in.SubtotalExcludingTax, in.TotalExcludingTax = in.Total, in.Total, in.Total
	in.AmountDue, in.AmountRemaining = in.Total, in.Total
	return in
}

func newInvoiceLine(sub *subscription, item subscriptionItem, name string) invoiceLine {
	line := invoiceLine{
		ID: newID(invoiceLines.prefix), Object: invoiceLines.name, Currency: sub.Currency, Discountable: true,
		Metadata: sub.Metadata, Period: linePeriod{Start: item.CurrentPeriodStart, End: item.CurrentPeriodEnd},
		Quantity: item.Quantity, Subscription: sub.ID,
	}
	line.Parent.Type = "subscription_item_details"
	line.Parent.SubscriptionItemDetails.Subscription = sub.ID
	line.Parent.SubscriptionItemDetails.SubscriptionItem = item.ID
	line.Pricing.Type = "price_details"
	line.Pricing.PriceDetails.Price, line.Pricing.PriceDetails.Product = item.Price.ID, item.Price.Product
	if sub.Status == subscriptionTrialing {
		line.Description = "Trial period for " + name
		line.Pricing.UnitAmountDecimal = "0"
		return line
	}
	line.Amount = times(item.Price.UnitAmountDecimal, item.Quantity)
	line.Subtotal = line.Amount
	line.Pricing.UnitAmountDecimal = item.Price.UnitAmountDecimal
	line.Description = fmt.Sprintf("%d × %s (at %s)", item.Quantity, name, describePrice(item.Price))
	return line
}

// finalize numbers an invoice and makes it due.
func (st *step) finalize(ctx context.Context, in *invoice, cu *customer) error {
	before := *cu
	number := fmt.Sprintf("%s-%04d", cu.InvoicePrefix, cu.NextInvoiceSequence)
	cu.NextInvoiceSequence++
	cu.Currency = &in.Currency
	if err := st.change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	now, balance, pdf := st.now, int64(0), st.site+invoicePDFPath(in.ID)
	in.Status, in.Number, in.InvoicePDF, in.EndingBalance = invoiceOpen, &number, &pdf, &balance
	in.EffectiveAt, in.StatusTransitions.FinalizedAt = &now, &now
	return st.create(ctx, "invoice.finalized", in)
}

// payInvoice pays what is due with a card.
func (st *step) payInvoice(ctx context.Context, in *invoice, pm *paymentMethod) error {
	pi, err := st.pay(ctx, in.AmountDue, in.Currency, "Subscription creation", pm)
	if err != nil {
		return err
	}
	in.AttemptCount++
	now, amount := st.now, in.AmountDue
	payment := invoicePayment{
		header: invoicePayments.start(now), AmountPaid: &amount, AmountRequested: amount,
		Currency: in.Currency, Invoice: in.ID, IsDefault: true, Status: "paid",
	}
	payment.Payment.Type, payment.Payment.PaymentIntent = "payment_intent", pi.ID
	payment.StatusTransitions.PaidAt = &now
	return st.create(ctx, "invoice_payment.paid", payment)
}

// describePrice tells people what a price is, as in 10.00 EUR / 3 months.
func describePrice(p price) string {
	amount := formatDecimal(p.UnitAmountDecimal, p.Currency)
	if p.Recurring == nil {
		return amount
	}
	if p.Recurring.IntervalCount == 1 {
		return amount + " / " + p.Recurring.Interval
	}
	return fmt.Sprintf("%s / %d %ss", amount, p.Recurring.IntervalCount, p.Recurring.Interval)
}
