package invoices

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// AddLine adds the line of a one-time price to a new invoice.
func (in *Invoice) AddLine(price catalog.Price, name string, quantity, amount int64) {
	in.Lines.Data = append(in.Lines.Data, Line{
		ID: form.NewID(Lines.Prefix), Object: Lines.Name, Amount: amount, Currency: price.Currency, Description: name, Discountable: true,
		Invoice: in.ID, Metadata: map[string]string{}, Period: Period{Start: in.Created, End: in.Created}, Pricing: NewPricing(price),
		Quantity: quantity, Subtotal: amount,
		Parent: lineParent{Type: "invoice_item_details", InvoiceItemDetails: &invoiceItemDetails{InvoiceItem: form.NewID(Items.Prefix)}},
	})
	in.Lines = form.NewList("/v1/invoices/"+in.ID+"/lines", in.Lines.Data)
	in.Total += amount
	in.Subtotal, in.SubtotalExcludingTax, in.TotalExcludingTax, in.AmountDue, in.AmountRemaining = in.Total, in.Total, in.Total, in.Total, in.Total
}

// Issue stores and numbers the invoice of a payment that has succeeded, and marks it as paid. It
// does not apply the customer's balance.
func (in *Invoice) Issue(ctx context.Context, st *kernel.Step, cu *customers.Customer, pi *payments.Intent) error {
	if err := in.SetCustomer(ctx, st, cu); err != nil {
		return err
	}
	if err := st.Create(ctx, "invoice.created", in); err != nil {
		return err
	}
	before, now := *cu, st.Now
	number := fmt.Sprintf("%s-%04d", cu.InvoicePrefix, cu.NextInvoiceSequence)
	cu.NextInvoiceSequence++
	if err := st.Change(ctx, "customer.updated", before, cu); err != nil {
		return err
	}
	in.Status, in.Number, in.EndingBalance, in.Attempted = StatusOpen, &number, &in.StartingBalance, true
	in.link(st.Site)
	in.EffectiveAt, in.StatusTransitions.FinalizedAt = &now, &now
	if err := st.Create(ctx, "invoice.finalized", in); err != nil {
		return err
	}
	payment := Payment{
		Header: Payments.Start(now), AmountPaid: &in.AmountDue, AmountRequested: in.AmountDue,
		Currency: in.Currency, Invoice: in.ID, IsDefault: true, Status: "paid",
	}
	payment.Payment.Type, payment.Payment.PaymentIntent, payment.StatusTransitions.PaidAt = "payment_intent", pi.ID, &now
	if err := st.Create(ctx, "invoice_payment.paid", payment); err != nil {
		return err
	}
	return markPaid(ctx, st, in)
}
