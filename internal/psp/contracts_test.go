package psp_test

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// contractsWork makes a subscription whose invoices are sent, marks its invoice as paid, and then
// changes its terms to automatic charges.
func contractsWork(step func(string, func(ctx context.Context) error), is func(string, bool), p counterpart, price string) {
	made := subscriptions.Contracts{Client: p.Client}
	k := subscriptions.ContractParams{IsSent: true, DaysUntilDue: 14, CheckoutParams: psp.CheckoutParams{
		Key: "contract", PriceID: price, Quantity: 1, Metadata: map[string]string{"checkout_id": "0198c6fa"},
	}}
	var sub psp.Subscription
	step("CreateSubscriptionWith", func(ctx context.Context) (err error) {
		if k.CustomerID, err = p.CreateCustomer(ctx, psp.CustomerParams{Key: "of a contract", Name: "Contract", Email: "billing@contract.test"}); err == nil {
			sub, err = made.Create(ctx, k)
		}
		is("a contract is not active", sub.Status == "active" && sub.IsSent && sub.DaysUntilDue == 14)
		if !p.remembers {
			sub.LatestInvoiceID = "in_1" // the mock does not set it
		}
		return err
	})
	step("FindSubscription", func(ctx context.Context) error {
		found, err := p.FindSubscription(ctx, k.CustomerID, k.Metadata)
		is("another subscription is found", found.ID == sub.ID)
		if !p.remembers {
			err = nil // the example of the mock has other metadata
		}
		return err
	})
	step("HasEnded", func(ctx context.Context) error {
		ended, err := p.HasEnded(ctx, sub.ID)
		is("a contract has ended", !ended)
		return err
	})
	step("SendInvoices", func(ctx context.Context) error { return p.SendInvoices(ctx, sub.ID, false) })
	step("FinalizeInvoice", func(ctx context.Context) error { return p.FinalizeInvoice(ctx, sub.LatestInvoiceID) })
	step("MarkPaid", func(ctx context.Context) error {
		err := p.MarkPaid(ctx, sub.LatestInvoiceID, "mark")
		if err == nil && p.remembers && !errors.Is(p.MarkPaid(ctx, sub.LatestInvoiceID, "mark again"), psp.ErrRefused) {
			is("a paid invoice was marked as paid", false)
		}
		return err
	})
	step("RefundInvoice", func(ctx context.Context) error { return p.RefundInvoice(ctx, sub.LatestInvoiceID, "refund contract") })
	step("SetTerms", func(ctx context.Context) error {
		if err := made.SetTerms(ctx, sub.ID, subscriptions.Terms{PurchaseOrder: "PO 1"}, "terms"); err != nil {
			return err
		}
		s, err := p.GetSubscription(ctx, sub.ID)
		is("the terms did not change", !s.IsSent && s.Metadata[subscriptions.MetaPurchaseOrder] == "PO 1")
		return err
	})
}
