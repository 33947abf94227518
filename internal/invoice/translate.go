package invoice

import (
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// fromProvider converts a provider invoice to an invoice of a tenant. locale is the language of the
// line descriptions.
func fromProvider(tenantID uuid.UUID, in psp.Invoice, refs references, locale string) Invoice {
	id := stableID(in.ID, in.CreatedAt)
	amount := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: in.Currency} }
	inv := Invoice{
		ID: id, TenantID: tenantID, PSPInvoiceID: in.ID, PSPPaymentIntentID: in.PaymentIntentID,
		Number: in.Number, Status: Status(in.Status),
		Subtotal: amount(in.Total - in.Tax), Tax: amount(in.Tax), Total: amount(in.Total), BalanceApplied: amount(in.BalanceApplied),
		Credited: amount(in.Credited), Refunded: amount(0),
		IssueDate: in.CreatedAt, DueDate: in.DueAt, PaidAt: in.PaidAt, HasPDF: in.PDFURL != "", Action: in.Action,
		Billed: BilledParty{
			Name: orNil(in.Billed.Name), Email: orNil(in.Billed.Email),
			Address: BilledAddress{
				Line1: orNil(in.Billed.Address.Line1), Line2: orNil(in.Billed.Address.Line2), City: orNil(in.Billed.Address.City),
				State: orNil(in.Billed.Address.State), PostalCode: orNil(in.Billed.Address.PostalCode), Country: orNil(in.Billed.Address.Country),
			},
		},
		PurchaseOrder: in.Metadata[subscriptions.MetaPurchaseOrder],
		CreatedAt:     in.CreatedAt, UpdatedAt: in.CreatedAt,
	}
	if in.FinalizedAt != nil {
		inv.IssueDate, inv.UpdatedAt = *in.FinalizedAt, *in.FinalizedAt
	}
	if in.PaidAt != nil {
		inv.UpdatedAt = *in.PaidAt
	}
	if inv.Number == "" {
		inv.Number = lineTexts.Text(locale, "draft", nil) // the number is assigned when the invoice is finalized
	}
	if ref, ok := refs.subscriptions[in.SubscriptionID]; ok {
		inv.SubscriptionID = &ref.id
	}
	for i, l := range in.Lines {
		line := lineFromProvider(l, refs, texts{locale, refs.minorUnits[in.Currency]})
		line.ID, line.Discount = lineID(in, i), l.Discount
		inv.Lines = append(inv.Lines, line)
	}
	if in.Discount > 0 {
		inv.Lines = append(inv.Lines, discountLine(in, refs, locale))
	}
	return inv
}

// discountLine returns the line with the discount of an invoice. The other lines have their full
// amounts.
func discountLine(in psp.Invoice, refs references, locale string) Line {
	off := money.Money{AmountCents: -in.Discount, Currency: in.Currency}
	description := lineTexts.Text(locale, "line.discount_without_code", nil)
	if code := refs.codes[in.CouponID]; code != "" {
		description = lineTexts.Text(locale, "line.discount", map[string]any{"code": code})
	}
	return Line{
		ID: stableID(in.ID+"/discount", in.CreatedAt), Description: description, Type: AdjustmentLine, Quantity: 1, UnitPrice: off, Amount: off,
	}
}

// isRefused reports whether the invoice bills a subscription that was refused, because the tenant
// paid for two. This service does not store such a subscription, and its payment is refunded.
func (inv Invoice) isRefused(in psp.Invoice) bool {
	return in.SubscriptionID != "" && inv.SubscriptionID == nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
